"""Is the recommended cluster stable? The bootstrap: rows drawn anew for each client, the cluster planned anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import Constants, Criterion, InputError, Row
from bounds.cluster import best_threshold, sufficient_cluster
from bounds.criteria import TOLERANCE

if TYPE_CHECKING:
    from simulate import Problem

RESAMPLES = 50
MOST_RESAMPLES = 10_000
STABLE = 0.9
"""A planned peer counts as stable from this share of the resamples on."""


@dataclass(frozen=True, kw_only=True)
class Stability:
    """How often each peer is in client `client`'s cluster at one precision, over resamples of everybody's rows.

    share      (N,) of the resamples; the client itself is always in
    same       share of the resamples whose whole cluster is the planned one
    resamples  that counted; `failed` more had no minimiser or no curvature (few distinct rows, one class)
    """

    client: int
    name: str
    epsilon: float
    share: tuple[float, ...]
    same: float
    cluster: tuple[int, ...]
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

    def to_dict(self) -> dict[str, Any]:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()} | {
            "weakest": self.weakest,
            "stable": self.weakest >= STABLE and not self.missing,
        }


def bootstrap(
    problem: Problem,
    rows: Sequence[Row],
    *,
    criterion: Criterion | None = None,
    resamples: int = RESAMPLES,
    root: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[Stability]:
    """One entry per row of a plan. Every client's rows are drawn with replacement, as many as it has, every time.

    `criterion` None chooses the binary threshold of least sufficient variance anew each time, as the plan does.
    A resample carries the noise of the rows once more, so clients look further apart in it than in the data: shares
    err towards instability.
    Raises `InputError` for a problem without data rows, or if every resample fails.
    """
    if isinstance(resamples, bool) or not isinstance(resamples, int) or not 2 <= resamples <= MOST_RESAMPLES:
        raise InputError("bootstrap", resamples, f"give a number of resamples from 2 to {MOST_RESAMPLES}")
    rebuilt = _rebuilder(problem)
    generator = np.random.Generator(np.random.Philox(root))
    precisions = list(dict.fromkeys(row.epsilon for row in rows))
    counts = np.zeros((len(precisions), problem.clients, problem.clients))
    same = np.zeros((len(precisions), problem.clients))
    planned = {(row.epsilon, row.client): row.cluster for row in rows}
    member = np.zeros_like(counts, dtype=bool)
    for at, epsilon in enumerate(precisions):
        for i in range(problem.clients):
            member[at, i, list(planned.get((epsilon, i), (i,)))] = True
    done, problems = 0, ""
    for one in range(resamples):
        try:
            constants = rebuilt(generator)
        except InputError as error:
            problems = str(error)
        else:
            clusters = _clusters(constants, np.array(precisions), criterion)
            counts += clusters
            same += (clusters == member).all(-1)
            done += 1
        if progress is not None:
            progress(one + 1, resamples)
    if done == 0:
        raise InputError("bootstrap", resamples, f"no resample has constants, the last one for this reason: {problems}")
    return [
        Stability(
            client=row.client,
            name=row.name,
            epsilon=row.epsilon,
            share=tuple((counts[precisions.index(row.epsilon), row.client] / done).tolist()),
            same=(same[precisions.index(row.epsilon), row.client] / done).item(),
            cluster=row.cluster,
            resamples=done,
            failed=resamples - done,
        )
        for row in rows
    ]


def _clusters(constants: Constants, precisions: np.ndarray, criterion: Criterion | None) -> np.ndarray:
    """Sufficient clusters (E, N, N) of all clients at E precisions, as `bounds.plan` finds them."""
    similarity = constants.heterogeneity.similarity(2 * constants.mu * precisions[:, None])
    if criterion is not None:
        return np.stack([[sufficient_cluster(criterion, similarity=rho) for rho in level] for level in similarity])
    thresholds = best_threshold(similarity=similarity, sigma2=constants.sigma2)
    return similarity >= thresholds[..., None] * (1 - TOLERANCE)


def _rebuilder(problem: Any) -> Callable[[np.random.Generator], Constants]:
    """The constants of the same problem on resampled rows."""
    from simulate import LeastSquares, Logistic

    if not isinstance(problem, (LeastSquares, Logistic)):
        raise InputError("bootstrap", type(problem).__name__, "there are no rows to resample; it needs client data")
    blocks = problem.data.blocks()
    common: dict[str, Any] = {
        "regularisation": problem.regularisation,
        "batch": problem.batch,
        "names": problem.names,
        "start": problem.start.double().cpu().numpy(),
    }
    if isinstance(problem, Logistic):
        common["reach"] = problem.reach

    def rebuilt(generator: np.random.Generator) -> Constants:
        drawn = [generator.integers(len(y), size=len(y)) for _, y in blocks]
        X = [x[rows] for (x, _), rows in zip(blocks, drawn)]
        y = [target[rows] for (_, target), rows in zip(blocks, drawn)]
        made = type(problem).of(X, y, **common)
        return replace(made.constants(), names=problem.names)

    return rebuilt
