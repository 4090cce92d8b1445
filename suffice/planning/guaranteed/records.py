"""Methods compared by the theorems' records: what each promises these constants, or the condition that fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.bounds.constants import Constants
from suffice.bounds.theorems import find
from suffice.support.numbers import plain

from ..schedules import HITTING
from .fixed_weights import (
    AFFINE,
    OPTIMAL,
    FixedRounds,
    affine_pairs,
    everybody,
    one_stage,
    strongly_convex,
    two_stages,
    uniform_dissimilarity,
)
from .plan import plan_rows

LOCAL, FIXED, ADAPTIVE, CONTINUOUS, ALL = (
    "Local", "Fixed weights", "All-for-one", "All-for-one, continuous", "All-for-all",
)  # fmt: skip
NOT_CONVEX = "strongly convex losses: only PL is known (strongly_convex = true says more)"
NO_EXCESS = "the starting excess is not known"
OTHER = (
    ("Scaffnew, Scafflix", "scafflix/equalised-sharp-iterations", "Psi_0, the start's distance to FLIX's optimum, is"
     " not known; the promise is that distance, not a site's excess"),
    ("CoBo", "cobo/theorem-1", "its bound is of mean squared gradients, not of the excess"),
    ("FedAvg, FedProx, SCAFFOLD", "", "no record covers several local steps between averages"),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What one record says of one client at one precision, of the mean over clients where `client` is None.

    eta       the step, of two stages the first one's; rounds  T of `promise`
    cluster   names of those that are followed; variance  of the mixed gradient
    why_not   the condition that fails, or what is not known: there is no step and no T then
    """

    method: str
    theorem: str
    client: str | None
    epsilon: float | None
    eta: float | None = None
    rounds: float | None = None
    cluster: tuple[str, ...] = ()
    variance: float | None = None
    why_not: str = ""

    @property
    def promise(self) -> str:
        """What the record says is at most eps at T; of adaptive weights T is itself the bound."""
        return find(self.theorem).promise("T" if self.theorem == HITTING else "eps")

    def to_dict(self) -> dict[str, Any]:
        return plain(vars(self))


def promises(constants: Constants, epsilon: Any) -> list[Promise]:
    """Of every record that is about the excess, client by client and precision by precision; then the others' reasons.

    Raises `InputError` as `plan_rows` does.
    """
    found: list[Promise] = []
    rows = plan_rows(constants, epsilon)
    for at in range(0, len(rows), constants.clients):
        part = rows[at : at + constants.clients]
        levels = np.array([row.epsilon for row in part])
        fixed = None if constants.excess is None else _fixed(constants, levels)
        for row in part:
            known: dict[str, Any] = {"client": row.name, "epsilon": row.epsilon}
            if fixed is None:
                found.append(Promise(method=FIXED, theorem=AFFINE, why_not=NO_EXCESS, **known))
            else:
                found += [_of(constants, method, theorem, one, known) for method, theorem, one in fixed[row.client]]
            for method, eta, T, variance, members in _adaptive(row):
                why = NO_EXCESS if T is None else ""
                found.append(
                    Promise(method=method, theorem=HITTING, eta=eta, rounds=T, cluster=members, variance=variance,
                            why_not=why, **known)
                )  # fmt: skip
        found.append(_mean(constants, float(levels.mean())))
    found += [Promise(method=method, theorem=key, client=None, epsilon=None, why_not=why) for method, key, why in OTHER]
    return found


def _fixed(constants: Constants, levels: np.ndarray) -> list[list[tuple[str, str, FixedRounds | None]]]:
    b2, c = affine_pairs(constants, levels)
    b, convex = uniform_dissimilarity(constants), strongly_convex(constants)
    alone = np.where(np.eye(constants.clients, dtype=bool), 0.0, np.inf)
    found = []
    for i, epsilon in enumerate(levels.tolist()):
        mine = alone[i], np.zeros_like(alone[i])
        by_itself, joint = one_stage(constants, i, epsilon, *mine), one_stage(constants, i, epsilon, b2[i], c[i])
        staged = [two_stages(constants, i, epsilon, one[i]) if convex else None for one in (alone, b)]
        found.append(
            [
                (f"{LOCAL}, one step", by_itself.theorem, by_itself),
                (f"{LOCAL}, two stages", OPTIMAL, staged[0]),
                (f"{FIXED}, one step", joint.theorem, joint),
                (f"{FIXED}, two stages", OPTIMAL, staged[1]),
            ]
        )
    return found


def _of(constants: Constants, method: str, theorem: str, one: FixedRounds | None, known: dict[str, Any]) -> Promise:
    if one is None:
        return Promise(method=method, theorem=theorem, why_not=NOT_CONVEX, **known)
    return Promise(
        method=method,
        theorem=theorem,
        eta=one.eta,
        rounds=one.rounds,
        cluster=tuple(constants.names[k] for k in np.flatnonzero(one.weights)),
        variance=float(one.weights**2 @ constants.sigma2),
        **known,
    )


def _adaptive(row: Any) -> list[tuple[str, float | None, float | None, float, tuple[str, ...]]]:
    if row.schedules is None:
        return []
    near = row.similarity > 0
    hitting, other = row.schedules.hitting, row.continuous
    return [
        (ADAPTIVE, hitting["eta"], hitting["expected_iterations"], row.sufficient_variance,
         tuple(row.names[k] for k in row.cluster)),
        (CONTINUOUS, other["eta"], other["expected_iterations"], other["sufficient_variance"],
         tuple(row.names[k] for k in np.flatnonzero(near))),
    ]  # fmt: skip


def _mean(constants: Constants, epsilon: float) -> Promise:
    known: dict[str, Any] = {"method": ALL, "client": None, "epsilon": epsilon}
    found = everybody(constants, epsilon)
    if found is None:
        why = NO_EXCESS if constants.excess is None else NOT_CONVEX
        return Promise(theorem="sample-optimal/theorem-3-two-stage-rounds", why_not=why, **known)
    W = found["weights"]
    return Promise(
        theorem=found["theorem"], eta=found["stages"][0]["eta"], rounds=found["rounds"],
        variance=float(np.diag(W) @ constants.sigma2) / constants.clients,
        cluster=tuple("+".join(np.array(constants.names)[row]) for row in np.unique(W > 0, axis=0)), **known,
    )  # fmt: skip
