"""The claim on the peer excess of clusters that a threshold joins: every component counted, quadratics in the plane."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows

MOST = 4


def _domains(M: int) -> dict[str, Domain]:
    return {
        "h": Domain(low=0.01, high=100, log=True),
        "understated": Domain(low=0.8, high=1),
        "stretch": Domain(low=0.1, high=10, log=True),
        "link": Domain(low=0.1, high=10, log=True),
        "share": Domain(low=0, high=1),
        "place": Domain(low=-1, high=1, shape=(M, 2)),
        "spread": Domain(low=0.3, high=10, log=True),
        "off": Domain(low=-1, high=1, shape=(2 * M, 2)),
    }


def joined(M: int) -> Callable[[Values], Evidence]:
    """M clusters of two agents; x_i* = stretch E xi_i; the empirical means are off by share * link at most."""

    @measured_by("exact", f"{M} clusters of two agents, all components of the linked ones")
    def measure(values: Values) -> Measured:
        # Only differences of empirical means: see estimated_rows.
        link, off = values["link"], values["off"][:, :, None] - values["off"][:, None]
        deviation = values["share"] * link * (1 - 1e-12)
        off *= (deviation / np.maximum(np.linalg.norm(off, axis=-1).max((1, 2)), 1e-150))[:, None, None, None]
        means = np.repeat((values["spread"] * link)[:, None, None] * values["place"], 2, axis=1)
        between = means[:, :, None] - means[:, None]
        reached = np.linalg.norm(between + off, axis=-1) <= link[:, None, None]
        for _ in range(3):  # paths of up to 2^3 = 2 MOST links
            reached = reached @ reached
        weights = reached / reached.sum(-1, keepdims=True)
        excess = values["h"][:, None, None] / 2 * values["stretch"][:, None, None] ** 2 * (between**2).sum(-1)
        return (weights * excess).sum((1, 2)) / (2 * M), {
            "mu": values["h"] * values["understated"],
            "clusters": np.full_like(link, M),
            "sensitivity": values["h"] * values["stretch"],
            "link": link,
            "deviation": deviation,
        }

    return measure


def _family(M: int) -> Family:
    def sharp() -> Values:
        """On a line, every two neighbours linked by the one agent of each that is off towards the other."""
        line = np.arange(M)[:, None] * np.array([1.0, 0.0])
        towards = np.tile([[1.0, 0.0], [-1.0, 0.0]], (M, 1))
        default = plain(_domains(M), understated=1, place=line, spread=1 - 1e-9, off=towards)
        return rows(
            default, *({"share": r, "spread": (1 - 1e-9) * (1 + r), "h": h} for r in (0, 0.5, 1) for h in (1, 9))
        )

    return Family(name=f"{M} clusters", domains=_domains(M), measure=joined(M), sharp=sharp)


def claims() -> tuple[Claim, ...]:
    return (
        Claim.on(
            "sample-optimal/theorem-5-threshold",
            *tuple(_family(M) for M in range(2, MOST + 1)),
            unrefuted_conditions={
                "no cluster apart, deviation <= link": "beyond it W may be larger than the statement says, which the "
                "bound does not show; that takes clusters with several agents off in a chain"
            },
        ),
    )
