"""What each algorithm is at the ends of its parameters, for one client, and for clients that are all alike."""

from __future__ import annotations

import pytest
import torch
from paths import CLUSTERS, SIZES, D, N, assert_same_path, built, equal_clients, parts

from suffice.bounds import Binary, Continuous, Sharp
from suffice.simulate import DebiasedSimilarity, SampledSimilarity
from suffice.simulate import algorithms as alg

EYE, ONES = torch.eye(N, dtype=torch.float64), torch.ones(N, N, dtype=torch.float64)
MEAN, LABELS = alg.FixedWeights(alpha=ONES / N), torch.tensor(CLUSTERS)
W = torch.rand(N, N, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
ANCHORS = torch.from_numpy(parts()[1])

ALONE = [
    alg.LocalSGD(period=100),
    alg.LocalSGD(period=3, clusters=torch.arange(N)),
    alg.FedAvg(participants=1, clusters=torch.arange(N)),
    alg.FedFomo(period=100),
    alg.FedAMP(share=0.0, pull=2.0),  # u_i = x_i when each step begins a round
    alg.AllForAll(Lambda=EYE),
    alg.EstimatedAllForAll(samples=2, threshold=0.0),
    alg.FixedCoBo(w=torch.zeros(N, N), rho=0.6),
    alg.FederatedClustering(radius=0.0, rounds=1),
]
OF_ONE = [
    alg.FedAvg(period=2),
    alg.FedAvg(participants=1),
    alg.LocalSGD(period=2),
    alg.Ditto(),
    alg.APFL(mixture=1.0),
    alg.FedAMP(pull=2.0),
    alg.MinibatchSGD(),
    alg.ValidationBased(period=1),
    alg.IFCA(offsets=torch.zeros(1, D)),
    alg.Scaffnew(p=0.5),
    alg.Flix(alpha=1.0),
    alg.Scaffold(),
    alg.FederatedClustering(),
    alg.AllForOne(criterion=Sharp()),
    alg.AllForOne(criterion=Continuous(), similarity=SampledSimilarity(samples=2), normalised=True),
    alg.AllForOne(criterion=Binary(threshold=0.4), similarity=DebiasedSimilarity(samples=3)),
    alg.AllForOne.released(binary=False),
]
OF_EQUAL = [
    alg.FedAvg(participants=N),
    alg.AllForAll(Lambda=ONES / N),
    *(alg.AllForOne(criterion=criterion, sigma2=1.0) for criterion in (Binary(threshold=0.5), Continuous(), Sharp())),
    alg.IFCA(offsets=torch.zeros(1, D)),
    alg.Scaffnew(p=1.0),
    alg.FederatedClustering(radius=1e9),
    alg.ValidationBased(period=1, temperature=1e15),  # an endless temperature: all models alike
]
PAIRS = [
    *((rule, alg.Local(), built()) for rule in ALONE),
    *((rule, alg.Local(), built(1)) for rule in OF_ONE),
    *((rule, MEAN, equal_clients()) for rule in OF_EQUAL),
    (alg.FedAvg(period=3), alg.LocalSGD(period=3), equal_clients()),
    (alg.FedAvg(period=3, clusters=LABELS), alg.LocalSGD(period=3, clusters=LABELS), equal_clients()),
    (alg.FedAvg(period=3, sizes=torch.full((N,), 7.0)), alg.LocalSGD(period=3), equal_clients()),
    (alg.MinibatchSGD(sizes=SIZES), alg.FedAvg(sizes=SIZES), built()),
    (alg.MinibatchSGD(period=3, fine_tune_after=0), alg.Local(), equal_clients()),
    (alg.FedProx(pull=5.0, period=1), alg.FedAvg(), built()),
    (alg.Scaffold(period=20), alg.FedAvg(period=20), built()),  # the first round has no control variates yet
    (alg.CoBo(rho=0.6, weight_step=0.0, w0=W), alg.FixedCoBo(w=W, rho=0.6), built()),
    (alg.FederatedClustering(fraction=1.0, rounds=1), MEAN, built()),
    (alg.Scaffnew(p=0.4, anchors=ANCHORS), alg.Scaffnew(p=0.4), built()),  # full weights do not see the anchors
]


@pytest.mark.share(2)
@pytest.mark.parametrize(("one", "other", "problem"), PAIRS, ids=lambda given: getattr(given, "name", ""))
def test_both_take_the_same_path(one, other, problem):
    assert_same_path(one, other, problem)
