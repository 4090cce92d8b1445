"""The bootstrap: every client's rows drawn anew with replacement, everything planned anew. Is the plan stable?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants, Criterion
from suffice.support.errors import InputError
from suffice.support.numbers import plain

from .plan_row import Row
from .plan_rows import planned_rows

if TYPE_CHECKING:
    from suffice.simulate import Problem

MOST_RESAMPLES = 10_000
STABLE = 0.9
"""A planned peer counts as stable from this share of the resamples on."""
SHARE = 0.95
"""Of the resamples between the two ends of an interval."""

Interval = tuple[float, float]


def check_resamples(field: str, resamples: int, least: int) -> None:
    """Raise `InputError` unless `resamples` is a whole number from `least` to `MOST_RESAMPLES`."""
    if isinstance(resamples, bool) or not isinstance(resamples, int) or not least <= resamples <= MOST_RESAMPLES:
        raise InputError(field, resamples, f"give a number of resamples from {least} to {MOST_RESAMPLES}")


def resampled(
    problem: Problem,
    *,
    resamples: int,
    root: int = 0,
    field: str = "resamples",
    progress: Callable[[int, int], None] | None = None,
    needed: bool = True,
) -> Iterator[tuple[Any, Constants | None]]:
    """Problems on resampled rows with their constants; those without a minimiser or curvature are left out, or, where
    constants are not `needed`, come with None.

    Every client keeps its number of rows, the problem its loss, start, batch and how its constants are found. Resample
    r depends on (root, r) alone.
    Raises `InputError` for a problem without rows, or after the last resample if none has constants.
    """
    from suffice.simulate.randomness import check_root

    check_root(root)
    if problem.row_counts is None:
        raise InputError(field, type(problem).__name__, "there are no rows to resample; it needs client data")
    found, refusal = 0, None
    for r in range(resamples):
        again = constants = None
        try:
            again = problem.resample(root, r)
            constants = again.constants()
        except InputError as error:
            refusal = error
        if again is not None and (constants is not None or not needed):
            found += 1
            yield again, constants
        if progress is not None:
            progress(r + 1, resamples)
    if not found:
        raise InputError(field, resamples, f"no resample has constants, the last one for this reason: {refusal}")


@dataclass(frozen=True, kw_only=True)
class Stability:
    """How much of client `client`'s plan at one precision survives resampling everybody's rows.

    share       (N,) of the resamples in which each peer is in the cluster; the client itself is always in
    same        share of the resamples whose whole cluster is the planned one
    iterations  the middle 95 % of the resamples' predicted iterations together, local_iterations alone, speedup their
                quotient; None where there are none
    resamples   that counted; `failed` more had no minimiser or no curvature (one class, say): exact plans need neither
    """

    client: int
    name: str
    epsilon: float
    share: tuple[float, ...]
    same: float
    cluster: tuple[int, ...]
    iterations: Interval | None
    local_iterations: Interval | None
    speedup: Interval | None
    resamples: int
    failed: int

    @property
    def weakest(self) -> float:
        """The share of the planned peer that is in least often; 1 without peers."""
        return min((self.share[k] for k in self.cluster if k != self.client), default=1.0)

    @property
    def missing(self) -> tuple[int, ...]:
        """Peers outside the planned cluster that are in at least half of the resampled ones."""
        return tuple(k for k, share in enumerate(self.share) if share >= 0.5 and k not in self.cluster)

    @property
    def stable(self) -> bool:
        """Every planned peer in 90 % of the resamples, and nobody else in half of them."""
        return self.weakest >= STABLE and not self.missing

    def to_dict(self) -> dict[str, Any]:
        return plain(vars(self) | {"weakest": self.weakest, "stable": self.stable})


class Tally:
    """Collects the plans of resamples; `criterion` None chooses thresholds anew each time, as the plan does.

    A resample carries the noise of the rows once more, so clients look further apart in it than in the data: shares
    err towards instability.
    """

    def __init__(
        self, precisions: Mapping[float | str, Sequence[Row]], criterion: Criterion | None, *, precondition: bool = True
    ) -> None:
        self.precondition = precondition
        self.rows, self.criterion = [row for rows in precisions.values() for row in rows], criterion
        self.precisions = list(precisions)
        self.exact = self.rows[0].exact is not None
        self.members: list[list[tuple[int, ...]]] = []
        self.numbers: list[list[tuple[float, float, float]]] = []

    def add(self, problem: Problem) -> None:
        found, _ = planned_rows(problem, self.precisions, criterion=self.criterion, precondition=self.precondition)
        again = [row for rows in found.values() for row in rows]
        self.members.append([_members(row) for row in again])
        numbers: list[tuple[float, float, float]] = []
        for row in again:
            _, _, alone, together = row.times()
            numbers.append((_known(together), _known(alone), _known(row.speedup)))
        self.numbers.append(numbers)

    def result(self, resamples: int) -> list[Stability]:
        """One entry per row of the plan, `resamples` having been tried. At least one must have been added."""
        done, n = len(self.members), len(self.rows[0].names)
        numbers = np.array(self.numbers)  # (resamples, rows, 3)
        entries = []
        for at, row in enumerate(self.rows):
            counts = np.zeros(n)
            for clusters in self.members:
                counts[list(clusters[at])] += 1
            together, alone, speedup = (_interval(numbers[:, at, column]) for column in range(3))
            entries.append(
                Stability(
                    client=row.client,
                    name=row.name,
                    epsilon=row.epsilon,
                    share=tuple((counts / done).tolist()),
                    same=sum(clusters[at] == _members(row) for clusters in self.members) / done,
                    cluster=_members(row),
                    iterations=together,
                    local_iterations=alone,
                    speedup=speedup,
                    resamples=done,
                    failed=resamples - done,
                )
            )
        return entries


def _known(value: float | None) -> float:
    return np.nan if value is None else value


def _members(row: Row) -> tuple[int, ...]:
    """The client and those it follows."""
    return tuple(k for k, name in enumerate(row.names) if k == row.client or name in row.collaborators)


def _interval(values: np.ndarray) -> Interval | None:
    known = values[np.isfinite(values)]
    if not known.size:
        return None
    low, high = np.quantile(known, [(1 - SHARE) / 2, (1 + SHARE) / 2]).tolist()
    return low, high
