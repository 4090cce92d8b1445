"""Theorem I and Corollary II as printed: averages over T steps inside a cluster."""

from __future__ import annotations

import numpy as np

from ...claim import Claim
from ...evidence import Evidence
from .cluster import Cluster

MEASURES = {
    "theorem-1-midpoint-gradient": "midpoint_gradient",
    "theorem-1-consensus": "consensus_after",
    "corollary-2": "client_gradient",
}
"""The property of `Cluster` that each statement bounds, by the key of the statement."""


def printed(name: str) -> Evidence:
    """Two clients f = a x^2 / 2 with a = 1 and a little more: hardly any noise; a step of 1e-9; equal clients in noise;
    a penalty of 100, under which the printed step leaves the mean."""
    a = np.array([1.1, 1.1, 1 + 2e-4, 1.1])
    rho, count = np.array([*(3**0.5 * a[:3] / 2), 100.0]), len(a)
    eta = np.array([1 / (2 * 3**0.5 * 1.1), 1e-9, 0.0447, 1 / (2 * 3**0.5 * 1.1)])
    given = Cluster(
        counts=np.ones((count, 2)),
        curvature=np.stack((np.ones(count), a), -1)[..., None],
        start=np.array([1.0, 10.0, 1.0, 1.0])[:, None, None] * np.ones((1, 2, 1)),
        sigma2=np.array([1e-12, 1.0, 1.0, 1.0]),
        rho=rho,
        eta=eta,
        T=np.array([10.0, 10_000.0, 1_000.0, 6.0]),
        overstatement=np.ones(count),
    )
    return Evidence(
        engine="closed-form moments",
        measured=getattr(given, name),
        arguments=given.arguments(),
        label="two clients a x^2 / 2 with a = 1 and 1.1 (or 1.0002), common start",
    )


def claims() -> tuple[Claim, ...]:
    return tuple(
        Claim.on(f"cobo/{key}", edition="printed", exact=lambda effort, root, name=name: [printed(name)])
        for key, name in MEASURES.items()
    )
