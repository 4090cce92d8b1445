"""Claims on the CoBo paper: the engines behind them against the simulator, and a fault in that."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import find
from suffice.simulate import CoBo, FixedCoBo, Quadratics, Randomness, expected_moments
from suffice.verification.claims.cobo import averages, selection, star, step_moments
from suffice.verification.claims.cobo.cluster import Cluster, geometric
from suffice.verification.claims.cobo.one_step import Step

# --- engines ----------------------------------------------------------------------------------------------


def test_geometric_sums_by_doubling_are_the_sums():
    r = np.array([0.5, 0.999, 1.0, 0.0, -0.3, 0.7])
    T = np.array([7, 100, 40, 3, 12, 0])
    power, single, double = geometric(r, T)
    for at, (ratio, count) in enumerate(zip(r, T)):
        sums = np.concatenate(([0.0], np.cumsum(ratio ** np.arange(count))))
        np.testing.assert_allclose(power[at], ratio**count, rtol=1e-13)
        np.testing.assert_allclose(single[at], sums[-1], rtol=1e-13)
        np.testing.assert_allclose(double[at], sums[:-1].sum(), rtol=1e-13)
    near = 1 - 2.0**-40  # s_T = T (1 - (T - 1) 2^-41 + ...)
    np.testing.assert_allclose(geometric(np.array(near), np.array(1000))[1], 1000 * (1 - 999 * 2.0**-41), rtol=1e-15)


def probe(kinds, curvature, start, *, sigma2, rho, eta, T, minimiser=None):
    """Second moments (T + 1, c, d, c, d) and means (T + 1, c, d) of the models, one client per entry of `kinds`."""
    h, x = curvature[kinds], start[kinds]
    m = np.zeros_like(x) if minimiser is None else minimiser[kinds]
    problem = Quadratics.of(np.stack([np.diag(row) for row in h]) / 2, -m, sigma2=sigma2, start=x)
    moments = expected_moments(
        problem, FixedCoBo(w=torch.ones(len(h), len(h), dtype=torch.float64), rho=rho), iterations=T, eta=eta
    )
    shape = (T + 1, *h.shape)
    return moments.of("models").numpy().reshape(*shape, *h.shape), moments.mean("models").numpy().reshape(shape)


def averaged(kinds, curvature, start, **run):
    """Averages over the steps, from the simulator, by the names of `Cluster`."""
    second, _ = probe(kinds, curvature, start, **run)
    forms = step_moments.quadratic_forms(np.stack([np.diag(row) for row in curvature[kinds]]))
    size = curvature[kinds].size
    before, after = (part.mean(0).reshape(size, size) for part in (second[:-1], second[1:]))
    found = {name: (forms[name] * before).sum() for name in ("mean_gradient", "client_gradient", "midpoint_gradient")}
    return found | {f"consensus_{name}": (forms["consensus"] * at).sum() for name, at in
                    (("before", before), ("after", after))}  # fmt: skip


# every size of a kind: with three clients or more the noise inside a kind has more than one direction
@pytest.mark.parametrize("sizes", [(1, 2, 2), (3, 1, 2), (4, 3, 1), (2, 4, 4)], ids=str)
def test_closed_form_moments_of_a_cluster_are_those_of_the_simulator(sizes):
    rng = np.random.default_rng(sizes)
    counts, T = np.array(sizes), 9
    kinds = np.repeat(np.arange(3), counts)
    curvature, start = rng.uniform(0.2, 2, (3, 2)), rng.normal(size=(3, 2))
    one = np.ones(1)
    given = Cluster(counts=counts[None].astype(float), curvature=curvature[None], start=start[None], sigma2=0.7 * one,
                    rho=0.6 * one, eta=0.2 * one, T=T * one, overstatement=one)  # fmt: skip
    expected = averaged(kinds, curvature, start, sigma2=0.7, rho=0.6, eta=0.2, T=T)
    for quantity, value in expected.items():
        np.testing.assert_allclose(getattr(given, quantity), value, rtol=1e-11)
    arguments = given.arguments()
    x = start[kinds]
    np.testing.assert_allclose(arguments["spread"], ((x - x.mean(0)) ** 2).sum(-1).mean(), rtol=1e-13)
    np.testing.assert_allclose(arguments["e0"], (curvature[kinds].mean(0) * x.mean(0) ** 2).sum() / 2, rtol=1e-13)


@pytest.mark.parametrize("case", [0, 2, 3])  # 1 takes a step of 1e-9 ten thousand times
def test_averages_above_the_printed_bounds_are_those_of_the_simulator(case):
    pair = averages.printed("consensus_after").arguments
    known = {name: float(pair[name][case]) for name in ("rho", "eta", "sigma2")}
    curvature = np.array([[1.0], [1 + 2e-4 if case == 2 else 1.1]])
    expected = averaged(np.arange(2), curvature, np.ones((2, 1)), T=int(pair["T"][case]), **known)
    for quantity in averages.MEASURES.values():
        # 1000 steps, and a mean that grows 51-fold in each of six
        np.testing.assert_allclose(averages.printed(quantity).measured[case], expected[quantity], rtol=1e-9)


@pytest.mark.parametrize("sizes", [(2, 1), (1, 3), (3, 4), (4, 4)], ids=str)
def test_one_exact_step_is_that_of_the_simulator(sizes):
    rng = np.random.default_rng([7, *sizes])
    counts = np.array(sizes)
    kinds = np.repeat([0, 1], counts)
    curvature, m, x = rng.uniform(0.2, 1, (2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 2))
    one = np.ones(1)
    step = Step(counts=counts[None].astype(float), curvature=curvature[None], minimiser=m[None], models=x[None],
                sigma2=0.5 * one, rho=0.8 * one, eta=0.3 * one, overstatement=one)  # fmt: skip
    second, mean = probe(kinds, curvature, x, sigma2=0.5, rho=0.8, eta=0.3, T=1, minimiser=m)
    h, centre = curvature[kinds], m[kinds]

    def square(t, i, j, sign):
        """E|y_i + sign y_j|^2 of the distances y from the minimisers."""
        return sum(second[t, i, a, i, a] + second[t, j, a, j, a] + 2 * sign * second[t, i, a, j, a] for a in range(2))

    n = len(kinds)
    distance = 0.0
    for i in range(n):
        for j in range(n):
            gap = centre[i] - centre[j]
            linear = 2 * (gap * (mean[1, i] - mean[1, j])).sum()
            distance += (square(1, i, j, -1) + linear + (gap**2).sum()) / n**2
    np.testing.assert_allclose(step.next_consensus, distance, rtol=1e-11)

    def midpoint_loss(t):
        total = 0.0
        for i in range(n):
            for j in range(n):
                for k in (i, j):  # f_k at z_ij, from c_k: z - c_k = (y_i + y_j)/2 + (c_i + c_j)/2 - c_k
                    offset = (centre[i] + centre[j]) / 2 - centre[k]
                    for a in range(2):
                        y2 = (second[t, i, a, i, a] + second[t, j, a, j, a] + 2 * second[t, i, a, j, a]) / 4
                        y = (mean[t, i, a] + mean[t, j, a]) / 2
                        total += h[k, a] * (y2 + 2 * offset[a] * y + offset[a] ** 2) / 4 / n**2
        return total

    np.testing.assert_allclose(step.midpoint_decrease, midpoint_loss(0) - midpoint_loss(1), rtol=1e-9)


def test_the_selection_run_is_the_simulated_algorithm():
    one = np.ones(1)
    values = {"own": one, "peer": 2 * one, "separation": 4 * one, "distance": np.array([[0.2, 0.1]]),
              "angle": np.array([[0.3, 2.0]]), "speed": one, "step": 0.05 * one, "pull": 0.4 * one}  # fmt: skip
    evidence = selection.updates(values)
    start = selection._models(values)[0]
    problem = Quadratics.of(
        np.stack([np.eye(2), 2 * np.eye(2)]) / 2, -selection._centres(values)[0], sigma2=0.0, start=start
    )
    rule = CoBo(rho=0.4, weight_step=float(evidence.arguments["weight_step"][0]), sampling="none")
    randomness, state = Randomness(seeds=torch.tensor([0]), root=0), rule.init(problem, problem.start[None])
    weights = [1.0]
    for t in range(1, 8):
        state = rule.step(problem, state, rule.draw(problem, randomness, t), torch.full((2,), 0.05 / 2))
        weights.append(state["w"][0, 0, 1].item())
    first = weights.index(0.0)
    assert first == np.ceil(evidence.measured[0])
    assert 1 < first < 7


def test_the_kink_moves_the_noise_of_single_clients_into_the_gradient_of_the_mean():
    """The simplest of `apart_at_their_mean`: clients alike, whose slope rises to L z between -z and their mean."""
    evidence = star.apart_at_their_mean()
    at = int(np.flatnonzero(evidence.arguments["dissimilarity"] == 0)[-1])
    L, sigma, clients, T = 2.0, 3.0, 40_000, 60
    eta = evidence.arguments["eta"][at]
    z = eta * sigma
    g = np.sqrt(evidence.measured[at])
    rng = np.random.default_rng(5)
    x = np.repeat([z, -z], clients // 2)

    def slope(x):
        return np.where(x <= 0, np.maximum(g + L * x, 0), np.maximum(g - L * x, 0))

    squares = []
    for _ in range(T):
        squares.append(slope(x.mean()) ** 2)
        x = x - eta * slope(x) - (x - x.mean()) - eta * sigma * rng.choice([-1.0, 1.0], clients)
    # |xbar| is about z (1 + 1/50)^60 / sqrt(40000) = 0.016 z at the end
    np.testing.assert_allclose(np.mean(squares), evidence.measured[at], rtol=0.05)


# --- planted faults ---------------------------------------------------------------------------------------


def test_a_simulator_with_too_weak_a_pull_is_caught_by_the_probed_moments(monkeypatch):
    def weaker(self, problem, state, draw, honest=FixedCoBo.collaboration):
        return honest(self, problem, state, draw) / 20

    theorem = find("cobo/theorem-1-star-consensus")
    honest = step_moments.simulated(12, 0)[1]
    assert (honest.ratio(theorem)[honest.counted(theorem)] <= 1).all()
    monkeypatch.setattr(FixedCoBo, "collaboration", weaker)
    fault = step_moments.simulated(12, 0)[1]
    assert fault.ratio(theorem)[fault.counted(theorem)].max() > 1.1
