"""CoBo's theorems: the tuned step, what corollary-2-star allows, and the best tilt."""

from __future__ import annotations

from inspect import signature

import numpy as np
from numpy.testing import assert_allclose
from records import bound_of  # tests/helpers

from suffice.bounds import evaluate, find
from suffice.bounds.theorems.cobo import best_tilt, largest_share_kept, tuned_step

bound = bound_of("cobo")


def test_tuned_bound_covers_the_mean_gradient_bound_at_the_tuned_step():
    rng = np.random.default_rng(8)
    attained = 0
    for _ in range(200):
        at = {"beta": np.exp(rng.normal()), "size": int(rng.integers(1, 6)), "M": rng.uniform(0, 0.999)}
        m2 = bound("cluster-dissimilarity", **at)
        at["rho"] = 1.01 * (1 + np.sqrt(m2)) * at["beta"] / at["size"] * (1 + np.exp(rng.normal()))
        at |= {"e0": np.exp(rng.normal()), "spread": rng.choice([0, 0.3, 3]), "sigma2": np.exp(rng.uniform(-6, 2))}
        at["T"] = int(rng.choice([1, 2, 10, 100]))
        step = float(tuned_step(**{name: at[name] for name in signature(tuned_step).parameters}))
        tuned = bound("theorem-1-tuned", **at)
        ratio = bound("theorem-1-mean-gradient", **at, eta=step) / tuned
        assert ratio <= 1 + 1e-11
        attained += ratio > 1 - 1e-11
    assert attained > 10  # wherever the limit 1/(rho c) does not bind


def least_eigenvalue(h, r, m, tilt, kept):
    """Of |g|^2 - |e|^2 + (1 - h)|g - e|^2 + tilt (|e|^2 + |a|^2) - tilt r (|a| + |b|)^2 - kept (|g - e|^2 + |a + b|^2)
    at b = m g, the matrix (n, 3, 3) over (g, e, a); in units of its largest entry."""
    s, mean = tilt * r + kept, 1 - h - kept
    rows = [[1 + mean - s * m**2, -mean, -s * m], [-mean, mean + tilt - 1, 0 * s], [-s * m, 0 * s, tilt - s]]
    matrix = np.moveaxis(np.array(np.broadcast_arrays(*np.concatenate(rows, axis=0))).reshape(3, 3, -1), -1, 0)
    return np.linalg.eigvalsh(matrix)[:, 0] / np.abs(matrix).max((1, 2))


def test_exactly_the_shares_are_allowed_that_leave_the_form_nowhere_negative():
    rng, count = np.random.default_rng(4), 20_000
    h = np.where(rng.uniform(size=count) < 0.2, rng.choice([0.5, 1.0, 1.5], count), rng.uniform(0.01, 1.99, count))
    r = np.where(rng.uniform(size=count) < 0.2, 1e-12, rng.uniform(0.01, 1.0, count))
    m = np.where(rng.uniform(size=count) < 0.3, 0.0, 10 ** rng.uniform(-3, 0.5, count))
    tilt = np.where(rng.uniform(size=count) < 0.3, 1.0, 1 + 10 ** rng.uniform(-3, 3, count))
    s_dev, s_all = tilt / (1 + tilt * m**2), tilt / (1 + m**2)  # kap = 1, kap = tilt
    ends = [tilt, s_dev, s_all, tilt * r + tilt - h, tilt * r + 2 - h, tilt * r + 1 - h, tilt * r + 2 - h - 1 / tilt]
    s = np.choose(rng.integers(len(ends), size=count), ends) * rng.choice([1, 1 - 1e-3, 1 + 1e-3], count)
    kept = s - tilt * r
    below = np.zeros(count), np.full(count, 2.0)
    for _ in range(50):  # and the largest share itself: the form falls as the share grows
        middle = (below[0] + below[1]) / 2
        good = least_eigenvalue(h, r, m, tilt, middle) >= 0
        below = np.where(good, middle, below[0]), np.where(good, below[1], middle)
    drawn = np.concatenate((kept, below[0] * (1 - 1e-6), below[1] * (1 + 1e-6)))
    some = drawn > 1e-6
    h, r, m, tilt = (np.tile(each, 3)[some] for each in (h, r, m, tilt))
    kept, theorem = drawn[some], find("cobo/corollary-2-star")
    k0 = 1 / np.sqrt(r)
    given = {"eta": h, "beta": 1.0, "rho": k0, "size": 1.0, "least_weight": 1.0, "dissimilarity": m**2, "T": 1}
    conditions = theorem.conditions(**given, tilt=tilt, kept=kept)
    about = [sides for name, sides in conditions.items() if not name.startswith(("step", "horizon"))]
    allowed = np.logical_and.reduce([left <= right * (1 + 1e-15) for left, right in about])
    least = least_eigenvalue(h, r, m, tilt, kept)
    assert allowed.sum() > 10_000
    assert (~allowed).sum() > 10_000
    assert (least[allowed] >= -1e-12).all()  # a dozen roundings of the largest entry
    assert (least[~allowed] <= 1e-12).all()


KNOWN = {"eta": 0.1, "beta": 2.0, "rho": 0.5, "size": 8.0, "least_weight": 0.9, "T": 50.0}
GIVEN = {**KNOWN, "e0": 3.0, "spread": 0.5, "sigma2": 2.0}


def test_clients_alike_have_a_closed_form():
    tilt = np.array([1.0, 1.05, 1.5, 2.0, 3.0])
    r = (KNOWN["beta"] / (KNOWN["least_weight"] * KNOWN["rho"] * KNOWN["size"])) ** 2
    closed = np.minimum(tilt * (1 - r), 2 - KNOWN["eta"] * KNOWN["beta"] - 1 / tilt)
    assert_allclose(largest_share_kept({**KNOWN, "dissimilarity": 0.0}, tilt), closed, rtol=3e-9)


def test_without_tilt_the_closed_form_of_clients_that_differ():
    for m2 in (0.0, 0.3, 1.5):
        r = (KNOWN["beta"] / (KNOWN["least_weight"] * KNOWN["rho"] * KNOWN["size"])) ** 2
        closed = min(1 - KNOWN["eta"] * KNOWN["beta"], 1 / (1 + m2) - r)
        assert_allclose(largest_share_kept({**KNOWN, "dissimilarity": m2}, 1.0), closed, rtol=3e-9)


def test_the_best_pair_is_admissible_and_no_tilt_tried_is_better():
    known = {**GIVEN, "dissimilarity": 0.4}
    best = best_tilt(known)
    least = evaluate("cobo/corollary-2-star", **known, **best)  # its conditions hold
    tilts = np.linspace(1, 4, 2000)
    kept = np.maximum(largest_share_kept(known, tilts), 1e-30)
    others = evaluate("cobo/corollary-2-star", **known, tilt=tilts, kept=kept, enforce=False)
    assert least < others[0]
    assert least <= 1.02 * others.min()  # the grid has ten tilts a decade, and around the best one the bound is flat


def test_a_penalty_too_small_for_every_tilt_leaves_nothing():
    assert best_tilt({**GIVEN, "rho": 0.2, "dissimilarity": 0.4})["kept"] == 0
