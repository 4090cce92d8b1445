"""What an iteration of each algorithm costs, and the arguments that algorithms refuse by name."""

from __future__ import annotations

import pytest
import torch
from paths import CLUSTERS, SIZES, D, N, built, costs

from suffice.bounds import Continuous, InputError
from suffice.simulate import (
    APFL,
    IFCA,
    WGABC,
    AllForAll,
    AllForOne,
    CoBo,
    DebiasedSimilarity,
    Ditto,
    EstimatedAllForAll,
    Every,
    ExactSimilarity,
    FedAvg,
    FederatedClustering,
    FixedCoBo,
    FixedRadius,
    FixedWeights,
    Flix,
    LocalSGD,
    Logarithmic,
    QuantileRadius,
    ReleasedSimilarity,
    SampledSimilarity,
    Scaffnew,
    expected_excess,
    expected_step,
    run,
)
from suffice.simulate.algorithms import (
    FedAMP,
    FedFomo,
    FedProx,
    GradientTracking,
    MinibatchSGD,
    Momentum,
    Scaffold,
    ValidationBased,
)

LABELS, NAN = torch.tensor(CLUSTERS), float("nan")
ROUND = [(2, 0), (2, 4)]
"""Oracle calls and vectors sent of a round of two iterations with two participants, who get and send a model."""
COSTS = [
    (LocalSGD(period=3), [(N, 0), (N, 0), (N, 2 * N)]),
    (FedAvg(period=2, participants=2), ROUND),
    (FedAvg(participants=1, clusters=LABELS), [(2, 4)]),
    (FedAvg(period=2, fine_tune_after=4), [(N, 0), (N, 2 * N), (N, 0), (N, 2 * N), (N, 0), (N, 0)]),
    (FedAvg(period=2, participants=2, fine_tune_after=4), [*ROUND, (2, 0), (2, 2 + N), (N, 0)]),
    (FedProx(period=2, participants=2), ROUND),
    (MinibatchSGD(period=2, participants=2), ROUND),
    (Scaffold(period=2, participants=2), [(2, 0), (2, 8)]),  # a control variate each way besides
    (Ditto(server=FedAvg(period=3, sizes=SIZES)), [(2 * N, 0), (2 * N, 0), (2 * N, 2 * N)]),
    (APFL(adaptive=True, server=FedAvg(period=2, participants=3)), [(6, 0), (6, 6)]),
    (FedAMP(period=3), [(N, 2 * N), (N, 0), (N, 0), (N, 2 * N)]),  # where a round begins
    (FedFomo(period=3), [(N, 0), (N, 0), (N * (N + 2), N * N)]),  # at an exchange
    (IFCA(offsets=torch.zeros(3, D)), [(N * (1 + 3), N * (3 + 1))]),
    (GradientTracking.ring(N), [(N, 2 * 2 * N)]),
    (FederatedClustering(), [(N**2, 2 * N * (N - 1))]),
    (WGABC(), [(N**2, 2 * N * (N - 1))]),
    (Momentum(), [(N, 0)]),
]


@pytest.mark.parametrize(("rule", "iterations"), COSTS, ids=[rule.name for rule, _ in COSTS])
def test_costs_are_those_of_the_table(rule, iterations):
    assert [costs(rule, t) for t in range(1, len(iterations) + 1)] == iterations


def cobo(**more):
    return CoBo(**({"rho": 1.0, "weight_step": 0.1} | more))


def weighed(**more):
    return AllForOne(criterion=Continuous(), **more)


B = torch.ones(N, N) - torch.eye(N)
REFUSED = [
    ("Lambda", lambda: AllForAll(Lambda=torch.ones(N, N))),
    ("Lambda", lambda: AllForAll(Lambda=torch.ones(2, 2) / 2)),
    ("Lambda", lambda: AllForAll(Lambda=torch.eye(N) * 2 - torch.ones(N, N) / N)),
    ("alpha", lambda: FixedWeights(alpha=-torch.ones(N, N))),
    ("alpha", lambda: FixedWeights(alpha=torch.full((N, N), NAN))),
    ("samples", lambda: EstimatedAllForAll(samples=0, threshold=1.0)),
    ("threshold", lambda: EstimatedAllForAll(samples=3, threshold=-1.0)),
    ("b", lambda: FixedWeights.threshold(torch.ones(3, 3), mu=1, epsilon=1)),
    ("b", lambda: AllForAll.threshold(torch.zeros(3, 2), mu=1, epsilon=1)),
    ("mu", lambda: FixedWeights.threshold(B, mu=0.0, epsilon=1)),
    ("epsilon", lambda: FixedWeights.threshold(B, mu=1.0, epsilon=[1, 2])),
    ("cap", lambda: FixedWeights.water_filling(B, cap=-0.1)),
    ("labels", lambda: FixedWeights.clusters([])),
    ("samples", lambda: SampledSimilarity(samples=0)),
    ("samples", lambda: DebiasedSimilarity(samples=1)),
    ("samples", lambda: ReleasedSimilarity(samples=-1)),
    ("samples", lambda: ExactSimilarity(samples=2)),
    ("steps", lambda: Every(steps=0)),
    ("ratio", lambda: Logarithmic(ratio=1)),
    ("rows", lambda: Every.epoch([])),
    ("participation", lambda: weighed(participation=0.0)),
    ("participation", lambda: weighed(participation=torch.ones(3))),
    ("participation", lambda: weighed(participation=torch.full((N,), 1.5))),
    ("sigma2", lambda: weighed(sigma2=-1.0)),
    ("sigma2", lambda: weighed(sigma2=torch.tensor([1.0, NAN, 1, 1, 1, 1]))),
    ("mixture", lambda: APFL(mixture=1.1)),
    ("mixture", lambda: APFL(mixture=NAN)),
    ("fine_tune_after", lambda: APFL(server=FedAvg(fine_tune_after=4))),
    ("sizes", lambda: APFL(server=FedAvg(sizes=torch.ones(2)))),
    ("rounds", lambda: FederatedClustering(rounds=0)),
    ("tau", lambda: FixedRadius(tau=NAN)),
    ("fraction", lambda: QuantileRadius(fraction=0.0)),
    ("fraction", lambda: QuantileRadius(fraction=1.5)),
    ("rho", lambda: cobo(rho=-1.0)),
    ("weight_step", lambda: cobo(weight_step=NAN)),
    ("sampling", lambda: cobo(sampling="often")),
    ("horizon", lambda: cobo(sampling="mixed")),
    ("w0", lambda: cobo(w0=2.0)),
    ("w0", lambda: cobo(w0=torch.ones(3, 3))),
    ("w0", lambda: cobo(simplex=True, w0=1.0)),
    ("symmetric", lambda: cobo(simplex=True, symmetric=True)),
    ("w", lambda: FixedCoBo(w=-torch.ones(N, N), rho=1.0)),
    ("rho", lambda: FixedCoBo(w=torch.ones(N, N), rho=-1.0)),
    ("pull", lambda: Ditto(pull=-0.1)),
    ("pull", lambda: Ditto(pull=float("inf"))),
    ("server", lambda: Ditto(server=Scaffold())),
    ("server", lambda: Ditto(server=MinibatchSGD())),
    ("participants", lambda: Ditto(server=FedAvg(participants=7))),
    ("share", lambda: FedAMP(share=1.5)),
    ("sigma", lambda: FedAMP(sigma=0.0)),
    ("pull", lambda: FedAMP(pull=-1.0)),
    ("period", lambda: FedAMP(period=0)),
    ("period", lambda: FedAvg(period=0)),
    ("period", lambda: LocalSGD(period=True)),
    ("participants", lambda: FedAvg(participants=0)),
    ("participants", lambda: FedAvg(participants=3, clusters=LABELS)),
    ("fine_tune_after", lambda: FedAvg(fine_tune_after=-1)),
    ("fine_tune_after", lambda: FedAvg(period=4, fine_tune_after=6)),
    ("sizes", lambda: FedAvg(sizes=torch.arange(N))),
    ("sizes", lambda: FedAvg(sizes=torch.full((N,), NAN))),
    ("clusters", lambda: LocalSGD(clusters=torch.zeros(N))),
    ("clusters", lambda: LocalSGD(clusters=torch.zeros(N + 1, dtype=torch.int64))),
    ("clusters", lambda: FedAvg(clusters=torch.tensor([0, 0, 2, 2, 0, 0]))),
    ("clusters", lambda: FedAvg(clusters=torch.tensor([0, -1, 0, 1, 0, 0]))),
    ("period", lambda: FedFomo(period=0)),
    ("pull", lambda: FedProx(pull=-1)),
    ("server_step", lambda: Scaffold(server_step=0)),
    ("temperature", lambda: ValidationBased(temperature=0.0)),
    ("weight", lambda: Momentum(weight=1.0)),
    ("W", lambda: GradientTracking(W=torch.full((N, N), 0.5, dtype=torch.float64))),
    ("edges", lambda: GradientTracking.graph(N, [(0, 9)])),
    ("offsets", lambda: IFCA(offsets=torch.zeros(D))),
    ("offsets", lambda: IFCA(offsets=torch.zeros(0, D))),
    ("offsets", lambda: IFCA(offsets=torch.full((2, D), torch.nan))),
    ("offsets", lambda: IFCA(offsets=torch.zeros(2, D + 1))),
    ("mixture", lambda: WGABC(mixture=1.5)),
    ("memory", lambda: WGABC(memory=-0.5)),
    ("p", lambda: Scaffnew(p=0.0)),
    ("p", lambda: Scaffnew(p=NAN)),
    ("alpha", lambda: Scaffnew(p=0.5, alpha=0.0)),
    ("alpha", lambda: Scaffnew(p=0.5, alpha=torch.tensor([0.5, 0.5, 1.5, 1.0, 1.0, 1.0]))),
    ("alpha", lambda: Flix(alpha=torch.ones(3))),
    ("anchors", lambda: Flix(alpha=0.5, anchors=torch.zeros(N))),
    ("control", lambda: Scaffnew(p=0.5, control=torch.full((N, D), float("inf")))),
    ("control", lambda: Scaffnew(p=0.5, control=torch.zeros(N, 1))),
]


@pytest.mark.parametrize(("field", "make"), REFUSED)
def test_a_wrong_argument_is_named(field, make):
    with pytest.raises(InputError) as caught:
        run(built(), make(), iterations=1, eta=0.1, seeds=1)
    assert caught.value.field == field


def test_what_an_algorithm_needs_of_its_problem_and_of_exact_moments_is_named():
    with pytest.raises(InputError, match="184756 possible draws"):
        FedAvg(participants=10).outcomes(built(20), 1)
    with pytest.raises(InputError, match=r"^clients = 1"):
        run(built(1), WGABC(), iterations=1, eta=0.1, seeds=1)
    quiet = type(built()).of(built().A.numpy(), built().xi.numpy(), sigma2=0.0)
    with pytest.raises(InputError, match="sigma2"):
        run(quiet, weighed(), iterations=1, eta=0.1, seeds=1)
    run(quiet, weighed(sigma2=1.0), iterations=1, eta=0.1, seeds=1)
    for rule, message in ((cobo(), "no finite list"), (weighed(similarity=SampledSimilarity(samples=2)), "estimated")):
        with pytest.raises(InputError, match="not linear"):
            expected_excess(built(), rule, iterations=1, eta=0.1)
        with pytest.raises(ValueError, match=message):
            expected_step(built(), rule, built().start[None], 0.1)
