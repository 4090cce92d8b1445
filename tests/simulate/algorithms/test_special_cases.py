"""What each algorithm is at the ends of its parameters, for one client, and for clients that are all alike."""

from __future__ import annotations

import pytest
import torch
from paths import CLUSTERS, SIZES, D, N, assert_same_path, built, equal_clients, parts

from suffice.bounds import Binary, Continuous, Sharp
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
    FedAvg,
    FederatedClustering,
    FixedCoBo,
    FixedRadius,
    FixedWeights,
    Flix,
    Local,
    LocalSGD,
    QuantileRadius,
    SampledSimilarity,
    Scaffnew,
    TwoMeansRadius,
)
from suffice.simulate.algorithms import FedAMP, FedFomo, FedProx, MinibatchSGD, Momentum, Scaffold, ValidationBased

EYE, ONES = torch.eye(N, dtype=torch.float64), torch.ones(N, N, dtype=torch.float64)
MEAN, OTHERS, LABELS = FixedWeights(alpha=ONES / N), (ONES - EYE) / (N - 1), torch.tensor(CLUSTERS)
W = torch.rand(N, N, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
ANCHORS = torch.from_numpy(parts()[1])

ALONE = [
    LocalSGD(period=100),
    LocalSGD(period=3, clusters=torch.arange(N)),
    FedAvg(participants=1, clusters=torch.arange(N)),
    FedFomo(period=100),
    FedAMP(pull=0.0),
    FedAMP(share=0.0, pull=2.0),  # u_i = x_i when each step begins a round
    Ditto(pull=0.0, server=FedAvg(period=3)),
    APFL(mixture=1.0, server=FedAvg(period=3, sizes=SIZES)),
    WGABC(mixture=0.0, memory=0.3),
    Momentum(weight=0.0),
    Momentum.nesterov(weight=0.0),
    AllForAll(Lambda=EYE),
    EstimatedAllForAll(samples=2, threshold=0.0),
    CoBo(rho=0.6, weight_step=0.0, w0=0.0),
    FixedCoBo(w=torch.zeros(N, N), rho=0.6),
    FederatedClustering(radius=FixedRadius(tau=0.0), rounds=1),
]
OF_ONE = [
    *(
        FedAvg(period=2),
        FedAvg(participants=1),
        LocalSGD(period=2),
        Ditto(),
        APFL(mixture=1.0),
        FedAMP(pull=2.0),
        MinibatchSGD(),
    ),
    *(ValidationBased(period=1), IFCA(offsets=torch.zeros(1, D)), Scaffnew(p=0.5), Flix(alpha=1.0), Scaffold()),
    *(FederatedClustering(radius=radius) for radius in (FixedRadius(tau=0.5), QuantileRadius(), TwoMeansRadius())),
    AllForOne(criterion=Sharp()),
    AllForOne(criterion=Continuous(), similarity=SampledSimilarity(samples=2), normalised=True),
    AllForOne(criterion=Binary(threshold=0.4), similarity=DebiasedSimilarity(samples=3)),
    AllForOne.released(binary=False),
]
OF_EQUAL = [
    *(LocalSGD(), FedAvg(), FedAvg(participants=N), APFL(mixture=0.0), AllForAll(Lambda=ONES / N)),
    *(AllForOne(criterion=criterion, sigma2=1.0) for criterion in (Binary(threshold=0.5), Continuous(), Sharp())),
    *(IFCA(offsets=torch.zeros(1, D)), Scaffnew(p=1.0), FederatedClustering(radius=FixedRadius(tau=1e9))),
    ValidationBased(period=1, temperature=1e15),  # an endless temperature: all models alike
]
PAIRS = [
    *((rule, Local(), built()) for rule in ALONE),
    *((rule, Local(), built(1)) for rule in OF_ONE),
    *((rule, MEAN, equal_clients()) for rule in OF_EQUAL),
    (FedAvg(period=3), LocalSGD(period=3), equal_clients()),
    (FedAvg(period=3, clusters=LABELS), LocalSGD(period=3, clusters=LABELS), equal_clients()),
    (FedAvg(period=3, sizes=torch.full((N,), 7.0)), LocalSGD(period=3), equal_clients()),
    (MinibatchSGD(sizes=SIZES), FedAvg(sizes=SIZES), built()),
    (FedProx(pull=0.0, period=3), FedAvg(period=3), built()),
    (FedProx(pull=5.0, period=1), FedAvg(), built()),
    (Scaffold(period=20), FedAvg(period=20), built()),  # the first round has no control variates yet
    (APFL(mixture=0.0, server=FedAvg(period=3, sizes=SIZES)), FedAvg(period=3, sizes=SIZES), built()),
    (WGABC(mixture=0.7, memory=0.0), FixedWeights(alpha=0.3 * EYE + 0.7 * OTHERS), built()),
    (CoBo(rho=0.6, weight_step=0.0, w0=W), FixedCoBo(w=W, rho=0.6), built()),
    (FederatedClustering(radius=QuantileRadius(fraction=1.0), rounds=1), MEAN, built()),
    (Scaffnew(p=0.4, anchors=ANCHORS), Scaffnew(p=0.4), built()),  # full weights do not see the anchors
]


@pytest.mark.parametrize(("one", "other", "problem"), PAIRS, ids=lambda given: getattr(given, "name", ""))
def test_both_take_the_same_path(one, other, problem):
    assert_same_path(one, other, problem)
