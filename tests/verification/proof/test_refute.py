"""False bounds: none is proved, and nearly all are violated by exact fractions."""

import json

import pytest

from suffice.simulate import Local
from suffice.simulate.algorithms.local_sgd import LocalSGD
from suffice.simulate.algorithms.momentum import Momentum
from suffice.verification import recheck

from .test_prove import BOX, SHORTER, limit, proof, steep


def sgd(a=1.0, b=1.0, power=1, offset=0, floor=True, rate=1.0):
    """a (1 - rate eta mu)^(power T + offset) e0 + b eta beta sigma2/(2 mu), or that less what has not come yet."""

    def bound(*, eta, mu, beta, e0, sigma2, T):
        left = (1 - rate * eta * mu) ** (power * T + offset)
        level = b * eta * beta * sigma2 / (2 * mu)
        return a * left * e0 + (level if floor else level * (1 - left))

    return bound


def at_most(limit):
    return lambda *, eta, beta: {"step": (eta, limit / beta)}


def below(power=1, rate=1.0, share=1.0):
    return lambda *, eta, beta, e0, T: share * (1 - rate * eta * beta) ** (power * T) * e0


def shared(a=1.0, b=1.0, c=1.0, power=2):
    def bound(*, eta, mu, beta, e0, sigma2, N, T, period):
        drift = c * eta**2 * beta * (period - 1) * sigma2 / 2
        return a * (1 - eta * mu) ** (power * T) * e0 + b * eta * beta * sigma2 / (2 * mu * N) + drift

    return bound


def falling(a=1.0, b=4.0, shift=4):
    return lambda *, eta, mu, beta, e0, sigma2, T: shift * a / (T + shift) * (e0 + b * eta * beta * sigma2 / mu)


def ball(a=4.0, b=40.0, q=0.753):
    return lambda *, eta, beta, e0, sigma2, T: a * q**T * e0 + b * eta**2 * beta * sigma2


def last(a=1.0, b=1.0, power=2):
    return lambda *, eta, mu, e0, T, beta: a * (1 - eta * mu) ** (power * T) * 2 * b * e0 / beta


SGD = {
    # attained at T = 0 or in the limit of one step: 1 % counts
    **{f"start times {a}": (sgd(a=a), limit) for a in (0.99, 0.5, 0.1)},
    **{f"start times {a}, twice the power": (sgd(a=a, power=2), limit) for a in (0.99, 0.5)},
    **{f"floor times {b}": (sgd(b=b, floor=False), limit) for b in (0.99, 0.5, 0.25)},
    **{f"flat floor times {b}": (sgd(b=b, power=2), limit) for b in (0.99, 0.5, 0.25)},
    "power 2T, floor with it": (sgd(b=0.5, power=2, floor=False), limit),
    **{f"power {n}": (sgd(power=n), limit) for n in (3, 4, 5)},
    **{f"T + {n}": (sgd(power=2, offset=n), limit) for n in (1, 2)},
    **{f"rate {r}": (sgd(rate=r, power=2), limit) for r in (1.01, 1.1, 1.5)},
    **{f"eta <= {r}/beta": (sgd(power=2), at_most(r)) for r in (2, 3, 2.2)},
    **{f"eta <= {r}/beta, floor": (sgd(floor=False), at_most(r)) for r in (1.1, 1.5, 1.9)},
    "no floor": (sgd(b=0.0), limit),
}
LOWER = {
    **{f"below to {r}/beta": (below(), at_most(r)) for r in (1.01, 1.2, 1.9)},
    "below twice": (below(power=2, share=1.01), at_most(1)),
    "below, power 1": (below(power=1), at_most(1)),
    "below, rate 0.99": (below(power=2, rate=0.99), at_most(1)),
}
OTHERS = {
    "shared, start": (shared(a=0.99), limit, LocalSGD(period=2)),
    "shared, floor": (shared(b=0.25), limit, LocalSGD(period=2)),
    "shared, no drift": (shared(c=0.0), limit, LocalSGD(period=4)),
    "shared, half the drift": (shared(b=0.5, c=0.5), limit, LocalSGD(period=2)),
    "shared, power 3": (shared(power=3), limit, LocalSGD(period=2)),
    "falling, start": (falling(a=0.25), steep, SHORTER),
    "falling, floor": (falling(b=0.5), steep, SHORTER),
    "ball, start": (ball(a=0.5), limit, Momentum(weight=0.3), BOX),
    "ball, rate": (ball(q=0.25), limit, Momentum(weight=0.3), BOX),
    "ball, floor": (ball(b=0.4), limit, Momentum(weight=0.3), BOX),
}
FALSE = {
    **{name: (bound, conditions, Local(), "upper", None) for name, (bound, conditions) in SGD.items()},
    **{name: (bound, conditions, Local(), "lower", None) for name, (bound, conditions) in LOWER.items()},
    **{name: (*given[:3], "upper", *(given[3:] or (None,))) for name, given in OTHERS.items()},
}


def test_a_floor_that_is_too_small_is_violated_late():
    """Noise of one curvature: eta sigma2 (1 - q^2T)/(2 (2 - eta h)), q = 1 - eta h; q^2T < .01 from T = 228 on."""

    def short(*, eta, mu, beta, e0, sigma2, T):
        return (1 - eta * mu) ** (2 * T) * e0 + 0.99 * eta * sigma2 / (2 * (2 - eta * beta))

    found = proof(short, at_most(0.01))
    assert found.outcome == "violated", found
    assert 228 <= found.counterexample["arguments"]["T"] <= 400


@pytest.mark.slow
def test_no_false_bound_is_proved_and_nearly_all_are_violated_exactly():
    found = {name: proof(*given) for name, given in FALSE.items()}
    assert len(found) >= 40
    assert [name for name, one in found.items() if one.outcome == "proved"] == []
    violated = [one for one in found.values() if one.outcome == "violated"]
    assert len(violated) >= 36, [name for name, one in found.items() if one.outcome != "violated"]
    assert not any(recheck.refusal(json.loads(json.dumps(one.certificates[0]))) for one in violated)
