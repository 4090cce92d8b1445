"""All-for-all with the loss contracting by a square: counts follow from the bound."""

from __future__ import annotations

import numpy as np

from suffice.bounds import evaluate

KEY = "sample-optimal/"
ROUNDING = 1 + 1e-11  # outward roundings of 4.5e-13 and nudges of 2^-46 per step


def drawn(count):
    rng = np.random.default_rng(5)
    mu, kappa = 10 ** rng.uniform(-2, 1, count), 10 ** rng.uniform(0, 3, count)
    smin, spectrum = 10 ** rng.uniform(-1, 0, count), 10 ** rng.uniform(0, 1, count)
    eps = 10 ** rng.uniform(-3, 3, count)
    return {
        "mu": mu, "beta": mu * kappa, "smin": smin, "smax": smin * spectrum, "eps": eps,
        "e0": eps * 10 ** rng.uniform(-1, 20, count), "sigma2": mu * eps * 10 ** rng.uniform(-4, 4, count),
        "weight2": smin**2 * rng.uniform(0.1, 1, count), "peer_excess": eps * rng.uniform(0, 0.9, count),
    }  # fmt: skip


def test_the_bound_reaches_the_precision_after_the_stated_rounds_and_not_long_before():
    given = drawn(5000)
    rounds = evaluate(KEY + "theorem-3-sharp-rounds", **given)
    slack, m = given["eps"] - given["peer_excess"], given["mu"] * given["smin"]
    worst = np.maximum(
        given["beta"] * given["smax"] / m, given["beta"] * given["sigma2"] * given["weight2"] / (m**2 * slack)
    )
    run = {name: value for name, value in given.items() if name not in ("eps",)} | {"eta": 2 / ((worst + 1) * m)}
    after = evaluate(KEY + "theorem-3-sharp", **run, T=np.ceil(rounds))
    assert (after <= given["eps"] * ROUNDING).all()
    # where noise decides, a tenth less of the rounds is not enough
    early = evaluate(KEY + "theorem-3-sharp", **run, T=np.floor(0.9 * rounds))
    binding = (worst > given["beta"] * given["smax"] / m * 1.001) & (rounds > 100) & (given["e0"] > 10 * given["eps"])
    assert binding.sum() > 500
    assert (early > given["eps"])[binding].all()


def test_a_start_below_the_peer_excess_is_never_left():
    given = {"eta": 0.5, "mu": 0.5, "beta": 1.0, "smin": 1.0, "smax": 1.0, "sigma2": 0.0, "weight2": 1.0}
    assert evaluate(KEY + "theorem-3-sharp", **given, e0=0.1, peer_excess=5.0, T=40) <= 0.1 * ROUNDING
    assert evaluate(KEY + "theorem-3", **given, e0=0.1, peer_excess=5.0, T=40) > 4.9
