"""Quantities in four words: second moments against averages over simulated paths whose quantities are written out here.

The reference takes models at t = 0, ..., T and knows nothing of forms: points (of, at), weights, and where they apply.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_less

from suffice.simulate import FedAvg, LocalSGD, Quadratics, Randomness, Scaffnew
from suffice.simulate.moment_maps import origin
from suffice.simulate.moment_powers import ONE_STEP, Block, Cycle, MomentPowers
from suffice.simulate.path_values import path_values
from suffice.simulate.quadratic_forms import AT, OF, QuadraticForm, forms

T, ETA, PATHS, CLIENT = 7, 0.1, 3_000, 1
TWO = Cycle(blocks=(Block(iterations=(1,)), Block(iterations=(2,))))
HELD = Cycle(blocks=(Block(iterations=(1, 2)),))
ALGORITHMS = [(LocalSGD(period=2), TWO), (FedAvg(participants=2, period=2), HELD), (Scaffnew(p=0.4), ONE_STEP)]


def linear(T):
    return 2 * (np.arange(T + 1.0) + 1) / ((T + 1) * (T + 2))


def geometric(T, eta):
    row = (1 - eta) ** -np.arange(1.0, T + 2)
    return row / row.sum()


OVER = {
    "last": ("last", lambda T: np.arange(T + 1) == T),
    "average": ("average", lambda T: (np.arange(T + 1) < T) / T),
    "whole": (("suffix", 0), lambda T: np.ones(T + 1) / (T + 1)),
    "suffix": (("suffix", 3), lambda T: (np.arange(T + 1) >= 3) / (T - 2)),
    "half": (("suffix", lambda T: T // 2), lambda T: (np.arange(T + 1) >= T // 2) / (T - T // 2 + 1)),
    "linear": (linear, linear),
    "geometric": (geometric, lambda T: geometric(T, ETA)),
}
POINTS = [(of, at) for of, at in product(OF, AT) if of != "consensus" or at == "clients"]
CELLS = [cell for cell in product(POINTS, OVER, (False, True)) if cell[1:] != ("last", True)]


def problem(sigma2: float = 0.5) -> Quadratics:
    rng = np.random.default_rng(12)
    root = rng.normal(size=(3, 2, 2))
    A = 0.2 * np.eye(2) + root @ root.transpose(0, 2, 1) / 4
    return Quadratics.of(A, rng.normal(size=(3, 2)), sigma2=sigma2, start=rng.normal(size=(3, 2)))


def point(of: str, at: str, x: np.ndarray, H: np.ndarray, m: np.ndarray) -> np.ndarray:
    """Of models (..., N, d), losses (x - m_k)^T H_k (x - m_k) / 2: (...,)."""
    if of == "consensus":
        return ((x[..., :, None, :] - x[..., None, :, :]) ** 2).sum(-1).mean((-1, -2))
    best = np.linalg.solve(H.sum(0), np.einsum("kab,kb->a", H, m))

    def loss(y):
        return sum(np.einsum("...a,ab,...b->...", y - c, h, y - c) / 2 for h, c in zip(H, m)) / len(H)

    def own(y, k):
        away = y - m[k]
        return {
            "excess": np.einsum("...a,ab,...b->...", away, H[k], away) / 2,
            "distance": (away**2).sum(-1),
            "gradient": ((away @ H[k]) ** 2).sum(-1),
        }[of]

    def joint(y):
        slope = sum((y - c) @ h for h, c in zip(H, m)) / len(H)
        if of == "excess":
            return loss(y) - loss(best)
        return ((y - best) ** 2).sum(-1) if of == "distance" else (slope**2).sum(-1)

    every = range(len(H))
    return {
        "client": lambda: own(x[..., CLIENT, :], CLIENT),
        "clients": lambda: np.mean([own(x[..., k, :], k) for k in every], axis=0),
        "mean model": lambda: joint(x.mean(-2)),
        "client on mean loss": lambda: joint(x[..., CLIENT, :]),
        "clients on mean loss": lambda: np.mean([joint(x[..., k, :]) for k in every], axis=0),
    }[at]()


def reference(cell, xs: np.ndarray, given: Quadratics, weights=None) -> np.ndarray:
    """The quantity on paths of models (T + 1, S, N, d), (S,)."""
    (of, at), over, mean = cell
    w = OVER[over][1](len(xs) - 1) * 1.0 if weights is None else weights
    H, m = 2 * given.A.numpy(), given.optimum.numpy()
    if mean:
        return point(of, at, np.tensordot(w, xs, 1), H, m)
    return np.tensordot(w, point(of, at, xs, H, m), 1)


def form_of(cell) -> QuadraticForm:
    (of, at), over, mean = cell
    return QuadraticForm(of=of, at=at, over=OVER[over][0], mean=mean)


def exact(form, given, algorithm, cycle) -> float:
    scalars = {name: ETA for name in form.scalars}
    return MomentPowers(given, algorithm, eta=ETA, cycle=cycle).value(form, T, CLIENT, scalars)[0]


def models(given, algorithm, paths: int) -> np.ndarray:
    source = Randomness(seeds=torch.arange(paths), root=8)
    state = algorithm.init(given, given.start.expand(paths, -1, -1))
    found = [state["models"].numpy()]
    for t in range(1, T + 1):
        state = algorithm.step(given, state, algorithm.draw(given, source, t), torch.tensor(ETA, dtype=torch.float64))
        found.append(state["models"].numpy())
    return np.stack(found)


@pytest.mark.share(5)
@pytest.mark.parametrize(("algorithm", "cycle"), ALGORITHMS, ids=lambda entry: getattr(entry, "name", ""))
def test_every_quantity_is_the_mean_over_paths(algorithm, cycle):
    given = problem()
    xs = models(given, algorithm, PATHS)
    off = []
    for cell in CELLS:
        found, sample = exact(form_of(cell), given, algorithm, cycle), reference(cell, xs, given)
        # two hundred numbers, each the mean of many paths: five standard errors are 6e-7 each
        off.append(abs(sample.mean() - found) / (5 * sample.std() / PATHS**0.5))
        assert sample.std() > 0, cell
    assert_array_less(off, 1, err_msg=str([cell for cell, far in zip(CELLS, off) if far >= 1]))


@pytest.mark.share(2)
@pytest.mark.parametrize("cell", CELLS[::5], ids=str)
def test_without_noise_both_routes_and_the_reference_agree_and_wrong_ones_do_not(cell):
    given, (algorithm, cycle) = problem(0.0), ALGORITHMS[0]
    form = form_of(cell)
    [values], [quiet] = path_values(
        [given], algorithm, eta=np.array([ETA]), iterations=np.array([T]), client=CLIENT, form=form, seeds=2, root=0,
        scalars={name: np.array([ETA]) for name in form.scalars},
    )  # fmt: skip
    xs = models(given, algorithm, 1)
    right = reference(cell, xs, given)[0]
    assert quiet
    assert_allclose([values[0], exact(form, given, algorithm, cycle)], [right, right], rtol=1e-11)
    w = OVER[cell[1]][1](T) * 1.0
    wrong = {"one later": np.roll(w, 1), "one earlier": np.roll(w, -1), "the other way round": w[::-1]}
    for name, weights in wrong.items():
        if not np.array_equal(weights, w):
            assert abs(reference(cell, xs, given, weights)[0] / right - 1) > 1e-3, name
    if cell[1] != "last":  # the mean of the values is not the value at the mean
        assert abs(reference((cell[0], cell[1], not cell[2]), xs, given)[0] / right - 1) > 1e-3


def test_the_matrix_read_from_values_is_the_one_written_out():
    """A function of the state that is a quantity of the table, by values at unit states: momentum-like states too."""
    given, algorithm = problem(), Scaffnew(p=0.4)
    _, centre, _ = origin(given, algorithm)
    for of, at in POINTS:
        named = QuadraticForm(of=of, at=at)
        F = named.on_state(given, CLIENT, centre, {})
        assert F.abs().max() > 0.01
        read = QuadraticForm(of=_plain(named)).on_state(given, CLIENT, centre, {})
        assert_allclose(read, F, atol=1e-13 * float(F.abs().max()))


def _plain(form):
    return lambda state, problem, client: form.value(problem, state, client, {})


def test_a_lyapunov_function_of_the_whole_state():
    """sum_k |x_k - x*|^2 + (eta/p)^2 sum_k |h_k - grad R_k(x*)|^2 of Scaffnew, exactly and on paths."""
    given, algorithm, p = problem(), Scaffnew(p=0.4), 0.4

    def psi(state, problem, best, eta, p):
        apart = state["control"] - problem.gradient(best.expand(1, problem.clients, -1))
        return ((state["models"] - best) ** 2).sum((1, 2)) + (eta / p) ** 2 * (apart**2).sum((1, 2))

    form, scalars = QuadraticForm(of=psi, over="average"), {"eta": np.array([ETA]), "p": np.array([p])}
    [paths], _ = path_values(
        [given], algorithm, eta=np.array([ETA]), iterations=np.array([T]), client=0, form=form, seeds=PATHS, root=3,
        scalars=scalars,
    )  # fmt: skip
    found, _ = MomentPowers(given, algorithm, eta=ETA, cycle=ONE_STEP).value(form, T, 0, {"eta": ETA, "p": p})
    assert abs(paths.mean() - found) < 5 * paths.std() / PATHS**0.5
    assert paths.std() > 0.01 * found


def test_names_are_products():
    cells = {(form.of, form.at, str(form.over), form.mean, form.until) for form in forms().values()}
    assert len(cells) == len(forms()) == 22
