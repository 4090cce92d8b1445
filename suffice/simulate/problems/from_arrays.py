"""A problem from arrays or tables, one per client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice, as_flag

from ..data.encoding import INTERCEPT, STANDARDISE, Coordinates
from ..data.labels import check_both_classes, two_classes
from ..data.memory import MAX_MEMORY, Memory
from . import LeastSquares, Logistic
from .rows import client_labels, client_rows

LOSSES = ("least-squares", "logistic")


def from_arrays(
    X: Sequence[Any],
    y: Sequence[Any],
    *,
    names: Sequence[str] = (),
    columns: Sequence[str] = (),
    loss: str = "least-squares",
    regularisation: float = 0.0,
    intercept: bool = True,
    standardise: str = "pooled",
    standardise_target: bool = False,
    positive: Sequence[float | str] = (),
    batch: int = 1,
    max_memory: float = MAX_MEMORY,
) -> LeastSquares | Logistic:
    """Make a problem of clients' rows, as `read` does from files.

    X, y            one (n_i, d) array and one (n_i,) array per client
    names, columns  of the clients and of the predictors
    intercept       whether a column of ones is added
    standardise     predictors to mean 0 and deviation 1: "pooled" (over all clients), "client" or "none"
    standardise_target  the target likewise, over all clients
    loss            "least-squares", mean (x . theta - y)^2 without a factor 1/2, or "logistic", mean log-loss of two
                    classes; plus (regularisation / 2) |theta|^2 over all coefficients, the intercept's too
    positive        values of y that are class 1, all others being class 0; without it the larger of two values is 1
    batch           rows that one stochastic gradient averages
    max_memory      bytes that the problem's matrices may take
    """
    as_choice("loss", loss, LOSSES)
    as_choice("standardise", standardise, STANDARDISE)
    as_flag("intercept", intercept)
    as_flag("standardise_target", standardise_target)
    labels = client_labels(X, y, names)
    written, positive = y, [positive] if isinstance(positive, (str, int, float)) else positive
    if not isinstance(positive, (Sequence, np.ndarray)):
        raise InputError("positive", positive, "give the labels of class 1 in a list")
    if loss == "logistic":
        if standardise_target:
            raise InputError("standardise_target", True, "the logistic loss needs classes; drop it")
        y = two_classes(y, positive, labels)
    elif len(positive):
        raise InputError("positive", list(positive), "only the logistic loss has classes; drop it")
    blocks, targets = client_rows(X, y, labels)
    n, d = len(blocks), blocks[0].shape[1] + intercept
    padded = n * d * max(map(len, blocks)) if loss == "logistic" else 0  # all clients' rows
    beside = 8.0 * (n * d * d + n * n * d + padded)  # of curvatures (N, d, d) and gradients of pairs (N, N, d)
    Memory(max_memory).check(f"matrices of {n} clients with {d} coefficients", beside)
    blocks, targets, coordinates = _scaled(
        blocks, targets, labels, columns, standardise=standardise, of_target=standardise_target, intercept=intercept
    )
    known: dict[str, Any] = {"names": labels, "regularisation": regularisation, "batch": batch}
    if loss == "least-squares":
        return replace(LeastSquares.of(blocks, targets, **known), coordinates=coordinates)
    if isinstance(regularisation, (int, float)) and regularisation == 0:
        check_both_classes(targets, written, labels)
    problem = Logistic.of(blocks, targets, **known)
    ones = [np.asarray(values)[target > 0] for values, target in zip(written, targets)]
    labelled = tuple(np.unique(np.concatenate(ones)).tolist())
    return replace(problem, coordinates=replace(coordinates, positive=labelled))


def _scaled(
    blocks: list[np.ndarray],
    targets: list[np.ndarray],
    labels: Sequence[str],
    columns: Sequence[str],
    *,
    standardise: str,
    of_target: bool,
    intercept: bool,
) -> tuple[list[np.ndarray], list[np.ndarray], Coordinates]:
    """Rows and targets in the coordinates of the problem, with a column of ones where there is an intercept; of columns
    the means are 0 and the deviations 1 over all clients' rows or each client's own. `InputError` for a column that
    does not vary."""
    n, p = len(blocks), blocks[0].shape[1]
    heads = tuple(columns) if len(columns) == p else tuple(f"x{j}" for j in range(p))
    pooled, means, scales = standardise == "pooled", np.zeros((1, p)), np.ones((1, p))
    if standardise != "none":
        references = {"all clients": np.concatenate(blocks)} if pooled else dict(zip(labels, blocks))
        means, scales = (np.array([of(rows, axis=0) for rows in references.values()]) for of in (np.mean, np.std))
        for (owner, rows), scale in zip(references.items(), scales):
            for at in np.flatnonzero(scale <= 1e-12 * np.abs(rows).max(0)):
                remedy = "the same in every row: drop it, or use standardise = none" + ("" if pooled else " or pooled")
                raise InputError(f"{heads[at]} of {owner if pooled else f'client {owner}'}", rows[0, at], remedy)
        each = zip(blocks, np.broadcast_to(means, (n, p)), np.broadcast_to(scales, (n, p)))
        blocks = [(block - mean) / scale for block, mean, scale in each]
    if standardise != "client":
        means, scales = means[0], scales[0]
    shift, scale = 0.0, 1.0
    if of_target:
        together = np.concatenate(targets)
        if together.std() <= 1e-12 * np.abs(together).max():
            remedy = "the same in every row: nothing to learn; give a target that varies"
            raise InputError("target", together[0], remedy)
        shift, scale = float(together.mean()), float(together.std())
        targets = [(values - shift) / scale for values in targets]
    if intercept:
        blocks = [np.column_stack((np.ones(len(block)), block)) for block in blocks]
        edge = [(0, 0)] * (means.ndim - 1) + [(1, 0)]
        heads, means, scales = (INTERCEPT, *heads), np.pad(means, edge), np.pad(scales, edge, constant_values=1.0)
    return blocks, targets, Coordinates(names=heads, means=means, scales=scales, target_mean=shift, target_scale=scale)
