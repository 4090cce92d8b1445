"""Clients' rows drawn anew with replacement, within every client: the population behind the rows, as far as known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bounds import Constants, InputError

MOST_RESAMPLES = 10_000


def check_resamples(field: str, resamples: int, least: int) -> None:
    """Raise `InputError` unless `resamples` is a whole number from `least` to `MOST_RESAMPLES`."""
    if isinstance(resamples, bool) or not isinstance(resamples, int) or not least <= resamples <= MOST_RESAMPLES:
        raise InputError(field, resamples, f"give a number of resamples from {least} to {MOST_RESAMPLES}")


def resampled(
    problem: Any,
    *,
    resamples: int,
    root: int = 0,
    field: str = "resamples",
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[Any, Constants]]:
    """Problems on resampled rows with their constants; those without a minimiser or curvature are left out.

    Every client keeps its number of rows, the problem its loss, start, batch and how its constants are found. Resample
    r depends on (root, r) alone.
    Raises `InputError` for a problem without rows, or after the last resample if none has constants.
    """
    from simulate import LeastSquares, Logistic

    if not isinstance(problem, (LeastSquares, Logistic)):
        raise InputError(field, type(problem).__name__, "there are no rows to resample; it needs client data")
    blocks, found = problem.data.blocks(), 0
    options: dict[str, Any] = {
        "regularisation": problem.regularisation,
        "batch": problem.batch,
        "names": problem.names,
        "start": problem.start.double().cpu().numpy(),
    }
    if isinstance(problem, Logistic):
        options |= {"reach": problem.reach, "points": problem.points}
    refusal = None
    for r in range(resamples):
        generator = np.random.default_rng((root, r))
        chosen = [generator.integers(0, len(x), len(x)) for x, _ in blocks]
        try:
            again = type(problem).of(
                [x[rows] for (x, _), rows in zip(blocks, chosen)],
                [y[rows] for (_, y), rows in zip(blocks, chosen)],
                **options,
            )
            constants = again.constants()
        except InputError as error:
            refusal = error
        else:
            found += 1
            yield again, constants
        if progress is not None:
            progress(r + 1, resamples)
    if not found:
        raise InputError(field, resamples, f"no resample has constants, the last one for this reason: {refusal}")
