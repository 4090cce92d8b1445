"""Claims on the sufficient cluster: variances of two quadratics, and of five clients of equal noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.bounds import Continuous

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances import quadratic_pairs
from ...instances.peers import CLIENTS, Mixed, Peers
from ...instances.quadratic_pairs import Pairs
from ...instances.rows import columns


@measured_by("exact", "two quadratics and the noise of both", rounding=1e-10)
def _pair(values: Values) -> Measured:
    batch = Pairs(values)
    similarity = np.stack((np.ones(len(values["size"])), batch.similarity()), -1)
    sigma2 = np.stack((values["sigma2"], values["peer_sigma2"]), -1)
    peers = Peers(similarity=similarity, sigma2=sigma2, criterion=Continuous())
    noise = {"sigma2": values["sigma2"], "peer_sigma2": values["peer_sigma2"]}
    return peers.effective(), batch.lemma_2() | noise


def _pairs() -> Family:
    """The pairs of Lemma 2; sharp: a peer that has all the say."""
    given = quadratic_pairs.family()
    noise = {name: Domain(low=0.01, high=100, log=True) for name in ("sigma2", "peer_sigma2")}

    def sharp() -> Values:
        assert given.sharp is not None
        values = given.sharp()
        count = len(values["size"])
        return values | {"sigma2": np.full(count, 1e6), "peer_sigma2": np.full(count, 1.0)}

    return replace(given, domains={**given.domains, **noise}, measure=_pair, sharp=sharp)


@measured_by("exact", "five clients of equal noise, any criterion")
def _equal(values: Values) -> Measured:
    """sigma_suf^2 from the weight that client i would have at similarities rho_k."""
    rho = np.concatenate((np.ones_like(values["rho"][:, :1]), values["rho"][:, 1:]), axis=1)
    criterion = Mixed(peak=values["peak"][:, None], power=values["power"][:, None])
    sigma2 = np.broadcast_to(values["sigma2"][:, None], rho.shape)
    peers = Peers(similarity=rho, sigma2=sigma2, criterion=criterion)
    psi = criterion.psi(rho)
    return peers.effective(), {
        "sigma2": values["sigma2"],
        "near": (psi > 0).sum(-1),
        "least_psi": np.where(psi > 0, psi, 1).min(-1),
        "peak": peers.peak,
    }


def _clusters() -> Family:
    """Clients of equal noise; sharp: all as similar as client i itself, or some of them out of reach."""

    def sharp() -> Values:
        return columns(
            ("rho", "peak", "power", "sigma2"),
            [
                ((1, *[1] * (count - 1), *[0] * (CLIENTS - count)), peak, power, sigma2)
                for count in (1, 2, CLIENTS)
                for peak, power in ((0.3, 0), (1, 1), (0.5, 3))
                for sigma2 in (0.2, 5)
            ],
        )

    return Family(
        name="five clients of equal noise",
        domains={
            "rho": Domain(low=0, high=1, shape=(CLIENTS,), zero=0.3),
            "peak": Domain(low=0.02, high=1),
            "power": Domain(low=0, high=4),
            "sigma2": Domain(low=0.01, high=100, log=True),
        },
        measure=_equal,
        sharp=sharp,
    )


def claims() -> tuple[Claim, ...]:
    return (
        Claim.on("adaptive/lemma-2-variance", _pairs(), edition="printed"),
        Claim.on("adaptive/lemma-2-variance", _pairs()),
        Claim.on("adaptive/corollary-1-variance", _clusters()),
        Claim.on("adaptive/section-4-variance", _clusters()),
    )
