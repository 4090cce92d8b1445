"""Bounds of order O(.): the least constant that is needed, which is known here, and whether it grows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from suffice.bounds import InputError
from suffice.simulate import LocalSGD
from suffice.verification import check
from suffice.verification.free_constant import _InstanceTable


def step(*, eta, beta, most=1):
    return {"step": (eta, most / beta)}


def noise(*, eta, mu, beta, e0, sigma2, T, C):
    """eta beta sigma2 / (2 mu), attained where mu = beta = 1/eta."""
    return (1 - eta * mu) ** (2 * T) * e0 + C * eta * beta * sigma2 / mu


def by_clients(*, eta, mu, beta, e0, sigma2, T, N, C):
    """As if clients that train alone averaged their noise."""
    return (1 - eta * mu) ** (2 * T) * e0 + C * eta * beta * sigma2 / (mu * N)


def drift(*, eta, mu, distance2, sigma2, zeta2, T, N, K, C):
    """Without beta/mu, by which models drift along flat directions."""
    return (1 - eta * mu) ** T * distance2 + C * (eta * sigma2 / (mu * N) + eta**2 * (K * sigma2 + K**2 * zeta2))


def late(*, eta, mu, beta, e0, sigma2, T, N, C):
    """What is needed is N/(N + 5) times as much: at N = 8 it still grows by a fifth when N doubles."""
    return (1 - eta * mu) ** (2 * T) * e0 + C * eta * beta * sigma2 / mu * (1 / N + 0.2)


def logarithm(*, eta, mu, beta, e0, sigma2, T, C):
    return (1 - eta * mu) ** (2 * T) * e0 + C * eta * beta * sigma2 / (mu * np.log(2 + T))


@pytest.mark.usefixtures("brief")
def test_the_least_constant_is_found_and_stands():
    found = check(noise, conditions=step, free="C")
    assert found.valid
    assert found.constant == pytest.approx(0.5, rel=1e-4)
    assert "it does not grow with kappa, N or T" in found.tried
    assert "whether C grows beyond N = 128; " in found.not_tried
    for C, stands in ((0.5 + 1e-6, True), (0.5 - 1e-4, False)):
        assert check(partial(noise, C=C), conditions=step).valid == stands


@pytest.mark.share(4)
@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    ("bound", "options", "says"),
    [
        (by_clients, {}, "it grows with N (8 up to 16, 16 up to 32, 32 up to 64, 64 up to 128)"),
        (drift, {"quantity": "global_distance", "algorithm": LocalSGD(period=3)}, "it grows with kappa"),
        pytest.param(late, {}, "it does not grow with kappa, N or T", marks=pytest.mark.slow),
        (logarithm, {}, "whether it levels off with T ("),
    ],
)
def test_an_order_is_told_by_what_its_constant_grows_with(bound, options, says):
    conditions = (lambda *, eta, beta, K: step(eta=eta * 8 * K, beta=beta)) if bound is drift else step
    found = check(bound, conditions=conditions, free="C", **options)
    assert says in (found.tried if bound is late else found.reason), str(found)
    assert found.valid == (bound is late)


@pytest.mark.parametrize(("key", "top"), [("kappa", 2.0**20), ("T", 1e4), ("N", 128.0)])
def test_growth_is_told_from_what_levels_off_late(key, top):
    """A scale's largest constant as a function of the scale s; s0 is where it turns."""
    level = [
        lambda s: 1 - 0.9 / s,
        lambda s: 2 - s**-0.75,
        *((lambda s, s0=s0: s / (s + s0)) for s0 in (1, 2, 4, 5)),
        lambda s: np.minimum(s, 30),
        lambda s: 7 + np.minimum(s, 20) ** 0.5,
        lambda s: np.exp(-3 / s),
        lambda s: np.tanh(s / 20),
        lambda s: 2 - 1 / (1 + s),
        lambda s: s**2 / (s**2 + 100),
    ]
    power = [
        *((lambda s, p=p: s**p) for p in (2, 1, 0.5, 0.25, 0.2)),
        lambda s: 1 + s**0.5,
        lambda s: 5 + s,
        lambda s: np.maximum(1, s / 30),
        lambda s: s / np.log(2 + s),
        lambda s: s**0.5 * np.log(2 + s),
        lambda s: 0.1 + s**0.25,
    ]
    slow = [
        lambda s: np.log(1 + s),
        np.log2,
        lambda s: 1 + np.log(s),
        lambda s: np.log(1 + s) ** 2,
        lambda s: np.log(1 + s / 10),
    ]
    sizes = top ** np.linspace(0, 1, 500)
    for functions, kinds in ((level, {""}), (power, {"+"}), (slow, {"+", "?"})):
        for at, function in enumerate(functions):
            seen = _InstanceTable("C", None, None)
            seen.table = {each: sizes for each in seen.table} | {"C": function(sizes)}
            assert seen.trend(key)[0] in kinds, (kinds, at, seen.trend(key))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"free": "c"}, "^free = 'c': the bound takes eta, mu, "),
        ({"free": "C", "direction": "lower"}, "^free = 'C': constants are found for upper bounds"),
        ({"free": "C", "quantity": "stopped_excess"}, "^free = 'C': constants are found for upper bounds of linear"),
    ],
)
def test_constants_that_cannot_be_found_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        check(noise, **options)


@pytest.mark.usefixtures("brief")
def test_a_constant_that_no_value_of_makes_the_bound_hold_is_none():
    with pytest.raises(InputError, match=r"^free = 'C': no constant makes the bound hold"):
        check(lambda *, e0, C: 0 * C - 1, free="C")
