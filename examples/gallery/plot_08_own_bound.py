"""
Check a bound of your own
=========================

``check`` takes a function of named scalars. It measures the exact expected excess on random, searched and sharp
instances, and reports a violation as a small instance evaluated at 50 digits.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf


def half(*, eta, mu, beta, e0, sigma2, T):
    """Contraction and half of the noise floor: too small."""
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (4 * mu)


def whole(*, eta, mu, beta, e0, sigma2, T):
    """Contraction (squared rate) and the noise floor of a constant step."""
    return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)


def conditions(*, eta, beta):
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


# %%

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for bound, axis in zip((half, whole), axes, strict=True):
    verdict = sf.check(bound, conditions=conditions)
    print(f"{bound.__name__}: {verdict}")
    points = np.array(verdict.points)
    above = points[:, 1] > points[:, 0] * (1 + 1e-9)
    axis.loglog(*points[~above].T, ".", label="measured <= bound")
    axis.loglog(*points[above].T, "x", color="C1", label="measured > bound")
    ends = [points.min(), points.max()]
    axis.plot(ends, ends, "k", lw=0.7)
    axis.set(xlabel="bound", ylabel="measured E[e_T]", title=f"{bound.__name__}: {verdict.outcome.value}")
    axis.legend()
