"""Every algorithm: at rest at a common optimum, pure, seed by seed, `linear` exactly when affine, moments exact."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from suffice.bounds import Binary, Continuous, InputError, Sharp
from suffice.simulate import (
    APFL,
    IFCA,
    WGABC,
    Algorithm,
    AllForAll,
    AllForOne,
    CoBo,
    DebiasedSimilarity,
    Ditto,
    EstimatedAllForAll,
    FedAvg,
    FederatedClustering,
    FixedCoBo,
    FixedWeights,
    Flix,
    Local,
    LocalSGD,
    Neural,
    Quadratics,
    Randomness,
    SampledSimilarity,
    Scaffnew,
    expected_excess,
    expected_moments,
    expected_moments_batch,
    run,
    stack,
)
from suffice.simulate.algorithms import (
    FedAMP,
    FedFomo,
    FedProx,
    GradientTracking,
    MinibatchSGD,
    Momentum,
    Optimised,
    RandomReshuffling,
    Scaffold,
    Scouts,
    TwoStageAllForAll,
    ValidationBased,
)

N, D, ETA = 4, 2, 0.1
PAIR = torch.tensor([[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], dtype=torch.float64)
ALPHA = torch.tensor([0.9, 0.5, 0.7, 1.0], dtype=torch.float64)
CLUSTERS = torch.tensor([0, 1, 1, 0])
SIZES = torch.tensor([1.0, 2, 3, 2], dtype=torch.float64)

# Name and how to build it for a problem with N = 4 clients; append yours.
EXAMPLES: list[tuple[str, Callable[[Any], Algorithm]]] = [
    ("local", lambda _: Local()),
    ("fixed weights", lambda _: FixedWeights(alpha=PAIR / 2)),
    ("scouts after three iterations together", lambda _: Scouts(alpha=PAIR / 2, together=3)),
    ("all-for-one continuous", lambda _: AllForOne(criterion=Continuous())),
    ("all-for-one sharp normalised", lambda _: AllForOne(criterion=Sharp(), normalised=True)),
    ("all-for-one released", lambda _: AllForOne.released(binary=True)),
    ("all-for-one sampled", lambda _: AllForOne(criterion=Continuous(), similarity=SampledSimilarity(samples=3))),
    (
        "all-for-one debiased every other step",
        lambda _: AllForOne(criterion=Binary(threshold=0.3), similarity=DebiasedSimilarity(samples=4), refresh=2),
    ),
    ("all-for-all", lambda _: AllForAll(Lambda=(PAIR + torch.eye(4, dtype=torch.float64)) / 3)),
    (
        "all-for-all in two stages",
        lambda _: TwoStageAllForAll(Lambda=(PAIR + torch.eye(4, dtype=torch.float64)) / 3, first=2, kappa=3.0),
    ),
    ("all-for-all estimated", lambda _: EstimatedAllForAll(samples=5, threshold=1.5)),
    ("cobo", lambda _: CoBo(rho=0.5, weight_step=0.1, sampling="none")),
    ("cobo released", lambda _: CoBo.released(rho=0.5)),
    ("cobo on the simplex", lambda _: CoBo(rho=0.5, weight_step=0.1, simplex=True)),
    ("fedamp", lambda _: FedAMP(sigma=4.0, period=2)),
    ("fedfomo", lambda _: FedFomo(period=2)),
    ("validation-based", lambda _: ValidationBased(period=2)),
    ("cobo fixed", lambda _: FixedCoBo(w=PAIR, rho=0.5)),
    ("flix", lambda _: Flix(alpha=ALPHA)),
    ("scaffnew", lambda _: Scaffnew(p=0.4)),
    ("local sgd", lambda _: LocalSGD(period=3)),
    ("local sgd of known clusters", lambda _: LocalSGD(period=2, clusters=CLUSTERS)),
    ("fedavg", lambda _: FedAvg(period=2, sizes=SIZES, fine_tune_after=4)),
    ("fedavg sampled", lambda _: FedAvg(participants=2, sizes=SIZES)),
    ("fedavg sampled of known clusters", lambda _: FedAvg(participants=1, clusters=CLUSTERS)),
    ("fedavg sampled rounds", lambda _: FedAvg(participants=2, period=3)),
    ("minibatch sgd", lambda _: MinibatchSGD(period=3, sizes=SIZES, fine_tune_after=6)),
    ("minibatch sgd sampled rounds", lambda _: MinibatchSGD(period=2, participants=2)),
    ("scaffold", lambda _: Scaffold(period=3, server_step=0.7)),
    ("scaffold sampled rounds", lambda _: Scaffold(period=2, participants=3)),
    ("heavy ball", lambda _: Momentum(weight=0.6)),
    ("nesterov", lambda _: Momentum.nesterov(weight=0.6)),
    ("local with momentum", lambda _: Optimised(of=Local(), momentum=0.6)),
    (
        "ditto of sampled rounds with momentum",
        lambda _: Optimised(of=Ditto(server=FedAvg(participants=2)), momentum=0.3),
    ),
    ("gradient tracking", lambda _: GradientTracking.ring(N)),
    ("random reshuffling", lambda _: RandomReshuffling()),
    ("fedprox", lambda _: FedProx(pull=0.6, period=2, sizes=SIZES, fine_tune_after=4)),
    ("ditto", lambda _: Ditto(pull=0.8, server=FedAvg(period=2))),
    ("apfl", lambda _: APFL(mixture=0.3, server=FedAvg(period=2, sizes=SIZES))),
    ("apfl adaptive", lambda _: APFL(mixture=0.3, adaptive=True, server=FedAvg(period=3, participants=2))),
    ("wga-bc", lambda _: WGABC(mixture=0.6, memory=0.2)),
    ("ifca", lambda _: IFCA(offsets=torch.tensor([[0.0, 0], [0.5, -0.5]], dtype=torch.float64))),
    ("federated clustering, a radius", lambda _: FederatedClustering(radius=1.0, rounds=3)),
    ("federated clustering, a quantile", lambda _: FederatedClustering(fraction=0.5)),
    ("scafflix", lambda problem: Scaffnew.scafflix(problem, p=0.4, alpha=ALPHA, eta=ETA)),
]

each = pytest.mark.parametrize("build", [build for _, build in EXAMPLES], ids=[name for name, _ in EXAMPLES])


def built(*, shared: bool = False, sigma2: float = 0.5, seed: int = 40) -> Quadratics:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(N, D, D))
    A = np.eye(D) + 0.1 * (root + root.transpose(0, 2, 1))
    xi = np.tile(rng.normal(size=D), (N, 1)) if shared else 0.4 * rng.normal(size=(N, D))
    return Quadratics.of(A, xi, sigma2=sigma2, start=-xi if shared else 1 + rng.normal(size=(N, D)))


class Curve(nn.Module):
    """A module of two parameters, as the examples have: tanh(x . w)."""

    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.tensor([0.7, -0.4], dtype=torch.float64))

    def forward(self, x: Tensor) -> Tensor:
        return torch.tanh(x @ self.w)


def network() -> Neural:
    rng = np.random.default_rng(44)
    rows = [rng.normal(size=(n, D)) for n in (8, 9, 12, 10)]
    return Neural.of(Curve(), rows, [np.tanh(x.sum(1)) for x in rows], batch=2, validation=0.25)


def told(build: Callable[[Any], Algorithm], problem: Any) -> Algorithm:
    """The algorithm, which on a network is told what it asks for by name: variances, or where clients alone end."""
    if not isinstance(problem, Neural):
        return build(problem)
    try:
        algorithm = build(problem)
        algorithm.init(problem, problem.start[None])
    except InputError as error:
        algorithm = build(built())
        asked = {"sigma2": 1.0, "anchors": problem.start + 0.1}[error.field]
        algorithm = replace(algorithm, **{error.field: asked})
    return algorithm


anywhere = pytest.mark.parametrize("make", [lambda: built(), network], ids=["quadratics", "network"])


def randomness(seeds: int) -> Randomness:
    return Randomness(seeds=torch.arange(seeds), root=3)


def eta(problem: Any) -> Tensor:
    return torch.tensor(ETA).to(problem.start)


def begun(problem: Any, algorithm: Algorithm, models: Tensor) -> dict[str, Tensor]:
    return dict(algorithm.init(problem, models))


@pytest.mark.share(2)
@each
def test_nothing_moves_from_a_common_optimum_without_noise(build):
    problem = built(shared=True, sigma2=1e-30)  # Definition 1 divides by variances
    algorithm, source = build(problem), randomness(6)
    state = begun(problem, algorithm, problem.start.expand(6, -1, -1))
    for t in range(1, 9):
        state = algorithm.step(problem, state, algorithm.draw(problem, source, t), eta(problem))
        # gradients are noise of size 1e-15; eight steps add up eight of them, weighted by at most a few units
        assert (state["models"] - problem.optimum).abs().max() < 1e-13


@pytest.mark.share(3)
@anywhere
@each
def test_a_step_leaves_its_arguments_alone_and_keeps_shapes_and_types(build, make):
    for kind in (torch.float64, torch.float32):
        problem = make().to(kind)
        algorithm = told(build, problem)
        state = begun(problem, algorithm, problem.start.expand(5, -1, -1))
        assert next(iter(state)) == "models"
        for t in range(1, 5):
            draw = algorithm.draw(problem, randomness(5), t)
            before = {name: value.clone() for name, value in state.items()}
            extra = {name: value.clone() for name, value in draw.extra.items()}
            noise = draw.noise.clone()
            after = algorithm.step(problem, state, draw, eta(problem))
            again = algorithm.step(problem, state, draw, eta(problem))
            for name, value in state.items():
                torch.testing.assert_close(value, before[name], rtol=0, atol=0)
                torch.testing.assert_close(after[name], again[name], rtol=0, atol=0)
                assert after[name].shape == value.shape
                assert after[name].dtype == value.dtype
            for name, value in draw.extra.items():
                torch.testing.assert_close(value, extra[name], rtol=0, atol=0)
            torch.testing.assert_close(draw.noise, noise, rtol=0, atol=0)
            assert list(after) == list(state)
            state = after


@pytest.mark.share(3)
@anywhere
@each
def test_a_seed_s_path_is_its_own(build, make):
    problem = make()
    algorithm = told(build, problem)

    def end(seeds: Tensor) -> Tensor:
        source, state = Randomness(seeds=seeds), begun(problem, algorithm, problem.start.expand(len(seeds), -1, -1))
        for t in range(1, 5):
            state = algorithm.step(problem, state, algorithm.draw(problem, source, t), eta(problem))
        return state["models"]

    together = end(torch.arange(6))
    torch.testing.assert_close(end(torch.tensor([4])), together[4:5], rtol=1e-12, atol=1e-12)
    assert len(torch.unique(together, dim=0)) == 6


@pytest.mark.share(2)
@each
def test_linear_is_true_exactly_when_the_step_is_affine(build):
    problem = built()
    algorithm, rng, S = build(problem), np.random.default_rng(41), 8
    worst = 0.0
    for t in range(1, 6):
        draw = algorithm.draw(problem, randomness(S), t)
        one, two = (
            begun(problem, algorithm, problem.start + torch.from_numpy(rng.normal(size=(S, N, D)))) for _ in range(2)
        )
        if algorithm.linear:  # affine in every entry of the state, not in the models alone
            one, two = (
                {name: value + torch.from_numpy(rng.normal(size=value.shape)) for name, value in state.items()}
                for state in (one, two)
            )
        mix = {name: 1.7 * one[name] - 0.7 * two[name] for name in one}
        first, second, both = (algorithm.step(problem, state, draw, eta(problem)) for state in (one, two, mix))
        worst = max(worst, *((1.7 * first[k] - 0.7 * second[k] - both[k]).abs().max().item() for k in both))
    assert worst < 1e-11 if algorithm.linear else worst > 1e-4  # numbers of order one


@pytest.mark.share(3)
@anywhere
@each
def test_costs_are_numbers_or_one_per_seed_and_not_negative(build, make):
    problem = make()
    algorithm = told(build, problem)
    for t in range(1, 5):
        draw = algorithm.draw(problem, randomness(7), t)
        for cost in (algorithm.oracle_calls(problem, draw), algorithm.vectors_sent(problem, draw)):
            values = np.asarray(cost, dtype=float)
            assert values.shape in ((), (7,))
            assert (values >= 0).all()


@pytest.mark.share(3)
@anywhere
@each
def test_recorded_weights_are_one_row_per_client(build, make):
    problem = make()
    algorithm = told(build, problem)
    draw = algorithm.draw(problem, randomness(3), 1)
    weights = algorithm.collaboration(problem, begun(problem, algorithm, problem.start.expand(3, -1, -1)), draw)
    assert weights is None or weights.shape == (3, N, N)


LINEAR = [(name, build) for name, build in EXAMPLES if build(built()).linear]


each_linear = pytest.mark.parametrize("build", [build for _, build in LINEAR], ids=[name for name, _ in LINEAR])


@pytest.mark.share(2)
@each_linear
def test_a_batch_is_probed_to_the_moments_of_its_instances(build):
    problems = [built(seed=seed, sigma2=0.1 * seed) for seed in (40, 41, 42)]
    algorithms, steps = [build(problem) for problem in problems], np.array([0.1, 0.15, 0.05])
    if algorithms[0].round_of(2) < 2 and len(algorithms[0].outcomes(problems[0], 1)) > 1:
        with pytest.raises(InputError, match="ask for the moments of one instance at a time"):
            expected_moments_batch(stack(problems), stack(algorithms), iterations=5, eta=steps)
        return
    together = expected_moments_batch(stack(problems), stack(algorithms), iterations=5, eta=steps)
    for at, (problem, algorithm, step) in enumerate(zip(problems, algorithms, steps)):
        alone = expected_moments(problem, algorithm, iterations=5, eta=step)
        assert dict(together.layout) == dict(alone.layout)
        # five steps on numbers of order one, the same operations in another order
        np.testing.assert_allclose(together.moments[at], alone.moments, rtol=1e-12, atol=1e-13)


@pytest.mark.share(2)
@each_linear
def test_exact_moments_are_those_of_simulated_paths(build):
    problem = built()
    algorithm, iterations = build(problem), 7
    listed = algorithm.outcomes(problem, 1)
    assert sum(odds for odds, _ in listed) == pytest.approx(1, abs=1e-12)
    drawn = algorithm.draw(problem, randomness(2), 1)
    assert all(set(extra) == set(drawn.extra) for _, extra in listed)
    exact = expected_excess(problem, algorithm, iterations=iterations, eta=ETA)
    trace = run(problem, algorithm, iterations=iterations, eta=ETA, seeds=4000, root=5)
    np.testing.assert_allclose(trace.mean()[0], exact[0], rtol=1e-12)
    # 28 numbers, excesses are quadratic in normals and coins: six standard errors of 4000 paths, or roundings where
    # nothing has moved yet
    assert (np.abs(trace.mean() - exact) <= 6 * trace.standard_error() + 1e-12 * exact).all()
