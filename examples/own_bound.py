"""A verdict on two bounds for local SGD: one forgets half of the noise, one is right.

python examples/own_bound.py
"""

import suffice as sf


def wrong(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (4 * mu)


def right(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)


def conditions(*, eta, beta):
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


for bound in (wrong, right):
    verdict = sf.check(bound, conditions=conditions, algorithm=sf.Local(), family=sf.families.quadratics())
    print(f"{bound.__name__}: {verdict}")
