"""Assumption 3 for quadratics: Property 1, the exact frontier, the best pair at a level, entry levels."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from suffice.bounds import GradientDissimilarity, InputError, QuadraticCertificate, property_1
from suffice.bounds import quadratic_certificate as module


def random_quadratics(seed, *, clients=3, d=3):
    """Symmetric positive definite A (N, d, d), eigenvalues in [0.3, 3], and minimisers -xi (N, d)."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(clients, d, d)))[0]
    A = np.einsum("nij,nj,nkj->nik", Q, np.exp(rng.uniform(np.log(0.3), np.log(3), (clients, d))), Q)
    return (A + A.transpose(0, 2, 1)) / 2, rng.normal(size=(clients, d))


def linear_map(A, xi, i, k):
    """M and v of grad R_i - grad R_k = M grad R_i + v, read off the gradients at d + 1 points."""
    d = A.shape[-1]
    inverse = np.linalg.inv(A[i])

    def gap(g):  # at the theta where grad R_i = 2 A_i (theta + xi_i) is g
        theta = inverse @ g / 2 - xi[i]
        return g - 2 * A[k] @ (theta + xi[k])

    v = gap(np.zeros(d))
    return np.stack([gap(e) - v for e in np.eye(d)], axis=1), v


def sphere_maximum(M, v, level):
    """max |Mg + v|^2 / G over |g|^2 = G by the trust-region eigenvalue problem (Gander, Golub, von Matt 1989):
    (l I - H) g = f with |g|^2 = G has its largest l as rightmost eigenvalue of [[H, f f^T / G], [I, H]].
    """
    H, f = M.T @ M, M.T @ v
    block = np.block([[H, np.outer(f, f) / level], [np.eye(len(H)), H]])
    top = np.linalg.eigvals(block).real.max()
    g = np.linalg.solve(top * np.eye(len(H)) - H, f)
    g *= np.sqrt(level / (g @ g))  # back on the sphere: what is returned is attained
    return ((M @ g + v) ** 2).sum() / level


def pairs(clients):
    return [(i, k) for i in range(clients) for k in range(clients) if i != k]


@pytest.mark.parametrize("seed", range(20))
def test_property_1_holds_at_random_points_and_its_printed_pair_fails_somewhere(seed):
    A, xi = random_quadratics(seed)
    right, printed = property_1(A, xi), property_1(A, xi, edition="printed")
    theta = np.random.default_rng(seed).normal(size=(3, 2000, 3)) * 3 - xi[:, None]
    for i, k in pairs(3):
        own = 2 * (theta[i] + xi[i]) @ A[i]
        gap = ((own - 2 * (theta[i] + xi[k]) @ A[k]) ** 2).sum(-1)
        assert (gap <= right.b2[i, k] + right.c[i, k] * (own**2).sum(-1)).all()
        M, v = linear_map(A, xi, i, k)
        c = 2 * np.linalg.eigvalsh(M @ M.T)[-1]
        np.testing.assert_allclose([right.c[i, k], printed.c[i, k]], c, rtol=1e-10)
        needed = c * v @ np.linalg.solve(c * np.eye(3) - M @ M.T, v)
        assert printed.b2[i, k] * 1.9999 <= needed <= right.b2[i, k] * (1 + 1e-12)  # 2 to 4 times the print


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("A", {"A": np.eye(2)}),
        ("A", {"A": np.zeros((2, 2, 3))}),
        ("A", {"A": [[[1.0, 0.0], [0.0]], [[1.0]]]}),
        ("A", {"A": np.full((2, 2, 2), np.nan)}),
        ("A[1]", {"A": np.array([np.eye(2), [[1.0, 0.5], [0.0, 1.0]]])}),
        ("smallest eigenvalue of A[0]", {"A": np.array([np.diag([1.0, 0.0]), np.eye(2)])}),
        ("xi", {"xi": np.zeros((3, 2))}),
        ("xi", {"xi": [[0.0, 1.0], [0.0]]}),
        ("xi", {"xi": np.full((2, 2), np.inf)}),
    ],
)
def test_quadratics_that_are_none_are_refused_by_name(field, change):
    given = {"A": np.stack([np.eye(2)] * 2), "xi": np.zeros((2, 2))} | change
    with pytest.raises(InputError) as caught:
        QuadraticCertificate(**given)
    assert caught.value.field == field
    if "[" in field and not field.startswith("smallest"):
        return  # Property 1 is evaluated where matrices are not symmetric: an erratum of it
    with pytest.raises(InputError) as caught:
        property_1(**given)
    assert caught.value.field == ("A" if field.startswith("smallest") else field)


def test_editions_are_two():
    with pytest.raises(InputError, match="edition = 'new': use corrected or printed"):
        property_1([[[1.0]], [[2.0]]], [[0.0], [1.0]], edition="new")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("excess", [1e-3, 0.3, 20.0])
def test_frontier_is_the_supremum_of_the_concave_quadratic(seed, excess):
    A, xi = random_quadratics(seed, clients=2)
    M, v = linear_map(A, xi, 0, 1)
    c = np.linalg.norm(M, 2) ** 2 + excess
    g = np.linalg.solve(c * np.eye(3) - M.T @ M, M.T @ v)  # the stationary point
    value = lambda g: ((g @ M.T + v) ** 2).sum(-1) - c * (g**2).sum(-1)  # noqa: E731
    got = QuadraticCertificate(A=A, xi=xi).frontier(np.full((2, 2), c))[0, 1]
    np.testing.assert_allclose(got, value(g), rtol=1e-9)  # the solve has condition 1e4 at excess 1e-3
    others = g + np.random.default_rng(seed).normal(size=(1000, 3)) * 10.0 ** np.linspace(-3, 2, 1000)[:, None]
    assert (value(others) <= got * (1 + 1e-9)).all()
    assert np.isinf(QuadraticCertificate(A=A, xi=xi).frontier(np.full((2, 2), c - 2 * excess))[0, 1])


@pytest.mark.parametrize("level", [1e-2, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("d", [2, 5])
def test_best_pair_is_the_maximum_over_the_sphere_lies_on_the_frontier_and_in_the_sandwich(d, level):
    A, xi = random_quadratics(d, clients=4, d=d)
    exact = QuadraticCertificate(A=A, xi=xi)
    best = exact.best_pair(np.full(4, level))
    for i, k in pairs(4):
        M, v = linear_map(A, xi, i, k)
        # both sides are flat in their unknown: errors of the eigenvalue enter squared
        np.testing.assert_allclose(best.ratio[i, k], sphere_maximum(M, v, level), rtol=1e-10)
        norm, size = np.linalg.norm(M, 2), np.linalg.norm(v)
        slack = 1 + 1e-12
        assert norm**2 + size**2 / level <= best.ratio[i, k] * slack
        assert best.ratio[i, k] <= (norm + size / np.sqrt(level)) ** 2 * slack
        beyond = np.random.default_rng(d).normal(size=(2000, d))
        beyond *= np.sqrt(level * np.random.default_rng(8).uniform(1, 9, 2000) / (beyond**2).sum(-1))[:, None]
        assert (((beyond @ M.T + v) ** 2).sum(-1) / (beyond**2).sum(-1) <= best.ratio[i, k] * slack).all()
    np.testing.assert_allclose(exact.frontier(best.c), best.b2, rtol=1e-6)  # c - l_max is the difference
    np.testing.assert_allclose(best.c + best.b2 / level, best.ratio, rtol=1e-14)
    np.testing.assert_allclose(exact.similarity(np.full(4, level)), np.maximum(1 - best.ratio, 0), atol=1e-14)


def test_pairs_left_out_because_m_is_large_have_no_similarity_at_any_level():
    rng = np.random.default_rng(6)
    A = rng.uniform(0.4, 1.6, 30)[:, None, None] * np.eye(3) + 0.01 * random_quadratics(6, clients=30)[0]
    exact = QuadraticCertificate(A=A, xi=0.01 * rng.normal(size=(30, 3)))
    levels = np.array([np.full(30, 1e-2), np.full(30, 1e3)])
    expected = np.maximum(1 - exact.best_pair(levels).ratio, 0)
    assert (expected[1] == 0).sum() > 30
    assert ((expected[1] > 0) & (expected[1] < 0.15)).sum() > 10  # only just similar
    np.testing.assert_allclose(exact.similarity(levels), expected, atol=1e-14)
    near, best = exact.near_pair(levels), exact.best_pair(levels)
    known = np.isfinite(near.ratio)
    assert 0.1 < known.mean() < 0.9
    assert (best.ratio[~known] >= 1).all()
    np.testing.assert_allclose(near.b2[known], best.b2[known], rtol=1e-9)


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("level", [1.5, 5.0, 1e3, 1e8])
def test_hard_case_stays_at_the_top_singular_value(rotated, level):
    m, w = np.array([0.9, 0.5, 0.2]), np.array([0.0, 0.6, -0.8])  # M = diag(m), v = w has no top component
    Q = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0] if rotated else np.eye(3)
    A = np.stack([np.eye(3), (Q * (1 - m)) @ Q.T])
    xi = np.stack([Q @ (w / (2 * (1 - m))), np.zeros(3)])  # v = 2 A_k (xi_i - xi_k)
    top, low = 0.81, np.array([0.25, 0.04])  # the squares of m
    assert (low * w[1:] ** 2 / (top - low) ** 2).sum() <= level  # F' >= 0 at l_max
    expected = top + (top * w[1:] ** 2 / (top - low)).sum() / level
    exact = QuadraticCertificate(A=A, xi=xi)
    np.testing.assert_allclose(exact.best_pair(np.full(2, level)).ratio[0, 1], expected, rtol=1e-12)
    entry = exact.entry_level(1 - expected)[0, 1]  # 1 - expected - l_max cancels to 1/level
    np.testing.assert_allclose(entry, level, rtol=1e-14 * max(level, 10))


def test_without_shift_the_ratio_is_the_distortion_alone_at_every_level():
    A, _ = random_quadratics(3)
    exact = QuadraticCertificate(A=A, xi=np.ones((3, 3)))
    M, _ = linear_map(A, np.ones((3, 3)), 0, 1)
    for level in (1e-6, 1.0, 1e6):
        np.testing.assert_allclose(exact.best_pair(np.full(3, level)).ratio[0, 1], np.linalg.norm(M, 2) ** 2, 1e-12)
    close = QuadraticCertificate(A=np.stack([A[0], 1.1 * A[0]]), xi=np.ones((2, 3)))  # M = -0.1 I
    assert close.entry_level(0.98)[0, 1] == 0
    assert np.isinf(close.entry_level(0.995)[0, 1])


def assert_round_trip(heterogeneity, wanted):
    level = heterogeneity.entry_level(wanted)
    n = heterogeneity.clients
    np.testing.assert_array_equal(np.diagonal(level), 0)
    for k in range(n):
        here = level[:, k]
        for i in np.flatnonzero(np.isfinite(here) & (here > 0)):
            at, below = heterogeneity.similarity(np.stack([here, here * (1 - 1e-6)]))[:, i, k]
            assert below < wanted
            np.testing.assert_allclose(at, wanted, rtol=0, atol=1e-12)
        for i in np.flatnonzero(np.isinf(here)):
            assert heterogeneity.similarity(np.full(n, 1e30))[i, k] <= wanted
    return level


@pytest.mark.parametrize("wanted", [0.05, 0.5, 0.7])
def test_entry_level_inverts_similarity_of_affine_pairs_and_of_quadratics(wanted):
    rng = np.random.default_rng(6)
    off = 1 - np.eye(5)
    c = rng.uniform(0, 0.9, (5, 5)) * off
    b2 = rng.uniform(0, 4, (5, 5)) * off
    b2[0, 1], c[0, 2], b2[0, 3], c[0, 3] = np.inf, np.inf, 0.0, 0.04
    affine = GradientDissimilarity(b2=b2, c=c)
    level = assert_round_trip(affine, wanted)
    assert np.isinf(level[0, 1:3]).all()
    assert level[0, 3] == 0
    np.testing.assert_array_equal(affine.similarity(np.full(5, 1e9))[0, [0, 1, 2]], [1, 0, 0])
    finite = c + wanted < 1
    expected = np.where(finite, b2 / np.where(finite, 1 - c - wanted, 1), np.inf)
    off = off.astype(bool)
    np.testing.assert_allclose(level[off], expected[off], rtol=1e-13)
    A, xi = random_quadratics(12, clients=6, d=2)
    A = np.eye(2) + 0.15 * A  # close enough to be similar at all
    level = assert_round_trip(QuadraticCertificate(A=A, xi=xi), wanted)
    assert (np.isfinite(level) & (level > 0)).sum() >= 12


@pytest.mark.parametrize("name", ["b2", "c"])
def test_bad_pairs_are_refused_by_name(name):
    good = {"b2": np.zeros((2, 2)), "c": np.zeros((2, 2))}
    for bad in (np.array([[0, np.nan], [0, 0]]), np.array([[0, -1.0], [0, 0]]), np.eye(2), np.zeros((2, 3)), 1.0):
        with pytest.raises(InputError, match=f"^{name} = "):
            GradientDissimilarity(**(good | {name: bad}))


def test_the_matrices_of_pairs_are_decomposed_in_blocks_and_nothing_changes(monkeypatch):
    certificate, again = (QuadraticCertificate(A=A, xi=xi) for A, xi in 2 * [random_quadratics(4, clients=24, d=20)])
    level = np.linspace(0.1, 5, 24)
    assert module.BLOCK > 24**2 * 20**2  # all at once
    whole, entry = certificate.similarity(level), certificate.entry_level(0.5)
    monkeypatch.setattr(module, "BLOCK", 7 * 24 * 20**2)
    tracemalloc.start()
    assert again.similarity(level).tobytes() == whole.tobytes()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert again.entry_level(0.5).tobytes() == entry.tobytes()
    assert peak < 8 * again.working_numbers < 8 * certificate.clients**2 * (12 * 20 + 5 * 20**2) / 2
