"""What corollary-2-star allows for tilt and kept, against the form that it stands for."""

from __future__ import annotations

import numpy as np

from suffice.bounds import find


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
