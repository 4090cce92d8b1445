"""What an iteration of each algorithm costs, and the arguments that algorithms refuse by name."""

from __future__ import annotations

import pytest
import torch
from one_step import expected_step
from paths import CLUSTERS, SIZES, D, N, built, costs

import suffice as sf
from suffice.bounds import Continuous, InputError
from suffice.simulate import DebiasedSimilarity, SampledSimilarity
from suffice.simulate import algorithms as alg
from suffice.simulate.algorithms.flix import mixture


def weighed(**more):
    return alg.AllForOne(criterion=Continuous(), **more)


LABELS, NAN, PAIRS = torch.tensor(CLUSTERS), float("nan"), N * (N - 1)
ROUND = [(2, 0), (2, 4)]
"""Oracle calls and vectors sent of a round of two iterations with two participants, who get and send a model."""
COSTS = [
    (alg.Local(), [(N, 0)]),  # by default
    (alg.LocalSGD(period=3), [(N, 0), (N, 0), (N, 2 * N)]),
    (alg.FedAvg(period=2, participants=2), ROUND),
    (alg.FedAvg(participants=1, clusters=LABELS), [(2, 4)]),
    (alg.FedAvg(period=2, fine_tune_after=4), [(N, 0), (N, 2 * N), (N, 0), (N, 2 * N), (N, 0), (N, 0)]),
    (alg.FedAvg(period=2, participants=2, fine_tune_after=4), [*ROUND, (2, 0), (2, 2 + N), (N, 0)]),
    (alg.FedProx(period=2, participants=2), ROUND),
    (alg.MinibatchSGD(period=2, participants=2), ROUND),
    (alg.Scaffold(period=2, participants=2), [(2, 0), (2, 8)]),  # a control variate each way besides
    (alg.Ditto(server=alg.FedAvg(period=3, sizes=SIZES)), [(2 * N, 0), (2 * N, 0), (2 * N, 2 * N)]),
    (alg.APFL(adaptive=True, server=alg.FedAvg(period=2, participants=3)), [(6, 0), (6, 6)]),
    (alg.FedAMP(period=3), [(N, 2 * N), (N, 0), (N, 0), (N, 2 * N)]),  # where a round begins
    (alg.FedFomo(period=3), [(N, 0), (N, 0), (N * (N + 2), N * N)]),  # at an exchange
    (alg.IFCA(offsets=torch.zeros(3, D)), [(N * (1 + 3), N * (3 + 1))]),
    (alg.GradientTracking.ring(N), [(N, 2 * 2 * N)]),
    (alg.FederatedClustering(), [(N**2, 2 * PAIRS)]),
    (alg.WGABC(), [(N**2, 2 * PAIRS)]),
    (alg.Momentum(), [(N, 0)]),
    (weighed(), [(N**2, 2 * PAIRS)]),
    (weighed(similarity=SampledSimilarity(samples=4)), [(5 * N**2, 3 * PAIRS)] * 2),
    (weighed(similarity=DebiasedSimilarity(samples=3)), [(4 * N**2, 5 * PAIRS)]),
    (alg.AllForOne.released(binary=True), [(2 * N**2, 3 * PAIRS)]),
    (weighed(similarity=SampledSimilarity(samples=2), refresh=2), [(3 * N**2, 3 * PAIRS), (N**2, 2 * PAIRS)] * 2),
]


@pytest.mark.parametrize(("rule", "iterations"), COSTS, ids=[rule.name for rule, _ in COSTS])
def test_costs_are_those_of_the_table(rule, iterations):
    assert [costs(rule, t) for t in range(1, len(iterations) + 1)] == iterations


def cobo(**more):
    return alg.CoBo(**({"rho": 1.0, "weight_step": 0.1} | more))


B = torch.ones(N, N) - torch.eye(N)
REFUSED = [
    ("Lambda", lambda: alg.AllForAll(Lambda=torch.eye(N) * 2 - torch.ones(N, N) / N)),
    ("alpha", lambda: alg.FixedWeights(alpha=-torch.ones(N, N))),
    ("samples", lambda: alg.EstimatedAllForAll(samples=0, threshold=1.0)),
    ("threshold", lambda: alg.EstimatedAllForAll(samples=3, threshold=-1.0)),
    ("b", lambda: alg.FixedWeights.threshold(torch.ones(3, 3), mu=1, epsilon=1)),
    ("mu", lambda: alg.FixedWeights.threshold(B, mu=0.0, epsilon=1)),
    ("epsilon", lambda: alg.FixedWeights.threshold(B, mu=1.0, epsilon=[1, 2])),
    ("labels", lambda: alg.FixedWeights.clusters([])),
    ("samples", lambda: SampledSimilarity(samples=0)),
    ("samples", lambda: DebiasedSimilarity(samples=1)),
    ("refresh", lambda: weighed(refresh=0)),
    ("sigma2", lambda: weighed(sigma2=torch.tensor([1.0, NAN, 1, 1, 1, 1]))),
    ("mixture", lambda: alg.APFL(mixture=1.1)),
    ("fine_tune_after", lambda: alg.APFL(server=alg.FedAvg(fine_tune_after=4))),
    ("rounds", lambda: alg.FederatedClustering(rounds=0)),
    ("fraction", lambda: alg.FederatedClustering(fraction=0.0)),
    ("radius", lambda: alg.FederatedClustering(radius=NAN)),
    ("rho", lambda: cobo(rho=-1.0)),
    ("weight_step", lambda: cobo(weight_step=NAN)),
    ("sampling", lambda: cobo(sampling="often")),
    ("horizon", lambda: cobo(sampling="mixed")),
    ("w0", lambda: cobo(w0=torch.ones(3, 3))),
    ("symmetric", lambda: cobo(simplex=True, symmetric=True)),
    ("w", lambda: alg.FixedCoBo(w=-torch.ones(N, N), rho=1.0)),
    ("pull", lambda: alg.Ditto(pull=-0.1)),
    ("server", lambda: alg.Ditto(server=alg.Scaffold())),
    ("participants", lambda: alg.Ditto(server=alg.FedAvg(participants=7))),
    ("share", lambda: alg.FedAMP(share=1.5)),
    ("sigma", lambda: alg.FedAMP(sigma=0.0)),
    ("pull", lambda: alg.FedAMP(pull=-1.0)),
    ("period", lambda: alg.FedAvg(period=0)),
    ("period", lambda: alg.LocalSGD(period=True)),
    ("participants", lambda: alg.FedAvg(participants=0)),
    ("fine_tune_after", lambda: alg.FedAvg(period=4, fine_tune_after=6)),
    ("sizes", lambda: alg.FedAvg(sizes=torch.full((N,), NAN))),
    ("clusters", lambda: alg.LocalSGD(clusters=torch.zeros(N + 1, dtype=torch.int64))),
    ("clusters", lambda: alg.FedAvg(clusters=torch.tensor([0, 0, 2, 2, 0, 0]))),
    ("pull", lambda: alg.FedProx(pull=-1)),
    ("server_step", lambda: alg.Scaffold(server_step=0)),
    ("temperature", lambda: alg.ValidationBased(temperature=0.0)),
    ("weight", lambda: alg.Momentum(weight=1.0)),
    ("W", lambda: alg.GradientTracking(W=torch.full((N, N), 0.5, dtype=torch.float64))),
    ("edges", lambda: alg.GradientTracking.graph(N, [(0, 9)])),
    ("offsets", lambda: alg.IFCA(offsets=torch.zeros(D))),
    ("offsets", lambda: alg.IFCA(offsets=torch.zeros(2, D + 1))),
    ("first", lambda: alg.TwoStageAllForAll(Lambda=torch.eye(N), first=-1, kappa=2.0)),
    ("kappa", lambda: alg.TwoStageAllForAll(Lambda=torch.eye(N), first=0, kappa=0.5)),
    ("offset", lambda: alg.TwoStageAllForAll(Lambda=torch.eye(N), first=0, kappa=2.0, offset=1.0)),
    ("mixture", lambda: alg.WGABC(mixture=1.5)),
    ("memory", lambda: alg.WGABC(memory=-0.5)),
    ("p", lambda: alg.Scaffnew(p=0.0)),
    ("p", lambda: alg.Scaffnew(p=NAN)),
    ("alpha", lambda: alg.Scaffnew(p=0.5, alpha=0.0)),
    ("alpha", lambda: alg.Scaffnew(p=0.5, alpha=torch.tensor([0.5, 0.5, 1.5, 1.0, 1.0, 1.0]))),
    ("alpha", lambda: alg.Flix(alpha=torch.ones(3))),
    ("anchors", lambda: alg.Flix(alpha=0.5, anchors=torch.zeros(N))),
    ("control", lambda: alg.Scaffnew(p=0.5, control=torch.full((N, D), float("inf")))),
    ("control", lambda: alg.Scaffnew(p=0.5, control=torch.zeros(N, 1))),
]


@pytest.mark.parametrize(("field", "make"), REFUSED)
def test_a_wrong_argument_is_named(field, make):
    with pytest.raises(InputError) as caught:
        sf.run(built(), make(), iterations=1, eta=0.1, seeds=1)
    assert caught.value.field == field


def test_what_an_algorithm_needs_of_its_problem_and_of_exact_moments_is_named():
    with pytest.raises(InputError, match="184756 possible draws"):
        alg.FedAvg(participants=10).outcomes(built(20), 1)
    with pytest.raises(InputError, match=r"^clients = 1"):
        sf.run(built(1), alg.WGABC(), iterations=1, eta=0.1, seeds=1)
    quiet = type(built()).of(built().A.numpy(), built().xi.numpy(), sigma2=0.0)
    with pytest.raises(InputError, match="sigma2"):
        sf.run(quiet, weighed(), iterations=1, eta=0.1, seeds=1)
    sf.run(quiet, weighed(sigma2=1.0), iterations=1, eta=0.1, seeds=1)
    for rule, message in (
        (cobo(), "no finite list"),
        (weighed(similarity=SampledSimilarity(samples=2)), "estimated"),
    ):
        with pytest.raises(InputError, match="not linear"):
            sf.expected_excess(built(), rule, iterations=1, eta=0.1)
        with pytest.raises(ValueError, match=message):
            expected_step(built(), rule, built().start[None], 0.1)


def test_numbers_keep_all_their_digits():
    """torch makes single precision of a Python number unless told otherwise."""
    problem = built()
    assert mixture(0.1, problem).unique().tolist() == [0.1]
    assert float(alg.AllForOne(criterion=Continuous(), sigma2=0.3)._variances(problem)) == 0.3
