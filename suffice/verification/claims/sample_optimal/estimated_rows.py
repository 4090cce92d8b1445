"""The claim on links estimated at any threshold: the whole expected loss, clusters of two agents in dimension one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from .moments import Filtered
from .reduced import reduced


def _domains(M: int) -> dict[str, Domain]:
    return {
        "beta": Domain(low=0.01, high=100, log=True),
        "kappa": Domain(low=1, high=50, log=True),
        "stretch": Domain(low=0.1, high=10, log=True),
        "link": Domain(low=1e-3, high=10, log=True),
        "share": Domain(low=0, high=1),
        "place": Domain(low=-1, high=1, shape=(M,)),
        "spread": Domain(low=0.3, high=10, log=True),
        "off": Domain(low=-1, high=1, shape=(2 * M,)),
        "failure": Domain(low=1e-6, high=0.999, log=True),
        "alone": Domain(low=0, high=1, integer=True),
        "sigma2": Domain(low=1e-4, high=10, log=True, zero=0.2),
        "start": Domain(low=-5, high=5),
        "step_share": Domain(low=0.05, high=1, log=True),
        "T": Domain(low=1, high=100, integer=True, log=True),
    }


def measured(M: int) -> Callable[[Values], Evidence]:
    """M clusters of two agents, curvature mu, x_i* = stretch E xi_i. The empirical means are off by up to share * link;
    or, with probability `failure`, by so much that every agent is `alone` or linked to everybody."""

    @measured_by("closed-form moments", f"{M} clusters of two agents, mean of All-for-all's iterates, links estimated")
    def measure(values: Values) -> Measured:
        link, N = values["link"], 2 * M
        deviation = values["share"] * link * (1 - 1e-12)
        # Only differences enter a link: empirical means far off together, or of clusters far apart, would round them.
        off = values["off"][:, :, None] - values["off"][:, None]
        off *= (deviation / np.maximum(off.max((1, 2)), 1e-300))[:, None, None]
        means = np.repeat((values["spread"] * link)[:, None] * values["place"], 2, axis=1)
        linked = (np.abs(means[:, :, None] - means[:, None] + off) <= link[:, None, None]).astype(float)
        wrong = np.where(values["alone"][:, None, None] == 1, np.eye(N), np.ones((N, N)))
        h, m = values["beta"] / values["kappa"], values["stretch"][:, None] * means
        total, chance = np.zeros_like(h), values["failure"]
        for links, weight in ((linked, 1 - chance), (np.broadcast_to(wrong, linked.shape), chance)):
            Lambda = links / links.sum(-1, keepdims=True)
            eta = values["step_share"] / (values["beta"] * reduced("theorem-3-smax", weights=Lambda))
            run = Filtered(
                h=np.repeat(h[:, None], N, 1), m=m, v=np.repeat(values["sigma2"][:, None], N, 1), Lambda=Lambda,
                start=values["start"], eta=eta,
            )  # fmt: skip
            total = total + weight * run.averaged(values["T"])
        one = np.ones_like(h)
        return total, {
            **{name: values[name] for name in ("beta", "step_share", "sigma2", "failure", "T")},
            "mu": h, "clusters": M * one, "size": 2 * one, "sensitivity": h * values["stretch"], "link": link,
            "mean_distance2": ((values["start"][:, None] - m) ** 2).mean(-1), "deviation": deviation,
            "linked_gap": link + deviation,
            "b_max": np.maximum(h * np.ptp(m, axis=1), 1e-150),
        }  # fmt: skip

    return measure


def _family(M: int) -> Family:
    def sharp() -> Values:
        """One step from the minimisers: noise. Many steps without noise: what is linked that should not be."""
        line = np.arange(M) - (M - 1) / 2
        apart = {"place": 1e3 * line, "link": 1e-12, "start": 0.0}
        still = plain(_domains(M), kappa=1, sigma2=0, failure=1e-6, step_share=1, off=np.tile([1.0, -1.0], M))
        return rows(
            still,
            *({**apart, "sigma2": L, "beta": L, "failure": p, "alone": 1.0}
              for L in (0.1, 9.0) for p in (1e-6, 0.5, 0.999)),
            *({"place": line, "spread": s, "share": r, "T": 1e4, "stretch": 3.0, "beta": L, "failure": p, "kappa": k}
              for s, r in ((0.99, 0.0), (1.9, 1.0)) for L in (0.1, 9.0) for p in (1e-6, 0.9) for k in (1.0, 30.0)),
            *({**apart, "start": 5.0, "kappa": k, "failure": p, "T": T, "alone": a}
              for k, T in ((1.0, 1.0), (30.0, 40.0)) for p in (1e-6, 0.999) for a in (0.0, 1.0)),
        )  # fmt: skip

    return Family(name=f"{M} clusters", domains=_domains(M), measure=measured(M), sharp=sharp)


def claims() -> tuple[Claim, ...]:
    return (
        Claim.on(
            "sample-optimal/theorem-5-rows",
            *map(_family, (1, 2, 3)),
            true_variants={"T shifted by +1": "T + 1 stands in theorem-3-averaged-sharp"},
            unrefuted_conditions={
                "no cluster apart, deviation <= link": "beyond it fewer agents share the noise than the statement "
                "says; agents of a cluster that are not linked then are nearly as far apart as the bias allows for",
                "linked agents link + deviation <= linked_gap": "the bias is attained to a quarter by quadratics, "
                "and a third less than link + deviation leaves four ninths",
            },
        ),
    )
