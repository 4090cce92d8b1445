"""A problem from a path: which kind of data it holds, and how it is divided among clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

from ..data.encoded import encoded_tables
from ..data.heart_disease import is_heart_disease
from ..data.loss import loss_of_a_problem
from ..data.memory import MAX_MEMORY, Memory
from ..data.readers import source_of
from ..data.table import Table, without
from . import LeastSquares, Logistic
from .from_arrays import LOSSES, of_tables
from .heart_disease import heart_disease


def read(
    path: Any,
    *,
    client: str = "client",
    target: str = "target",
    loss: str = "auto",
    regularisation: float | None = None,
    intercept: bool = True,
    standardise: str = "pooled",
    standardise_target: bool = False,
    split: str | None = None,
    seed: int = 0,
    positive: Sequence[float | str] = (),
    batch: int = 1,
    certainty: str = "certified",
    drop: Sequence[str] = (),
    max_memory: float = MAX_MEMORY,
) -> LeastSquares | Logistic:
    """Read clients' data from files as a problem.

    `path` is one CSV with a client column, one .npz file with arrays X, y and client, or a folder of CSV, .npz and
    LIBSVM files, one per client; or a data frame or mapping of columns with a client column. Categories and gaps of a
    CSV, frame or mapping become columns of numbers, and a first column without a name is left out, as in `suffice.fit`;
    `drop` leaves out more columns. With `split` ("contiguous:8", "iid:8", "dirichlet:8:0.1",
    "labels:8", "column:NAME"; random ones from `seed`) it is one undivided file. A folder with the UCI heart-disease
    files is read as `heart_disease`, its training part; a folder or file of MNIST images as `mnist` (the training
    images where the folder has them), and "sklearn:NAME" is a data set of scikit-learn.

    Every other column but `client` and `target` is a predictor. `standardise` sets the predictors to mean
    0 and deviation 1 per client, over all clients, or not at all; `standardise_target` does so to the target, always
    over all clients. A table or matrices of more than `max_memory` bytes (2e9) are rejected before they are
    allocated; working with them takes a few times as much. For the other arguments see `from_arrays`. Raises
    `InputError`.

    `loss` "auto" is the one that the target asks for, as in `suffice.fit`: logistic for two texts, 0 and 1, -1 and 1, 1
    and 2; and `regularisation` is then 0.1 unless it is given, else 0.
    """
    memory = Memory(max_memory)
    as_choice("loss", loss, ("auto", *LOSSES))
    prepared, roles = is_heart_disease(path), {}
    if prepared and split is None:
        tables: Sequence[Table] = without(heart_disease(path, standardise=standardise).train, drop)
    else:
        source = source_of(
            path, client=client, target=target, drop=drop, split=split, seed=seed, memory=memory, held=True
        )
        roles = {"client": source.client, "target": source.target}
        tables = without(source.tables, drop) or encoded_tables(
            source.frames(), **roles, drop=drop, memory=memory, classes=None if loss == "auto" else loss == "logistic"
        )
    if len(tables) == 1:
        remedy = "to plan who collaborates with whom give at least two clients; or divide one by split"
        raise InputError("clients", 1, remedy)
    penalty = 0.0
    if loss == "auto":
        values, numeric = _values(tables)
        values = [] if standardise_target and numeric else values  # numbers that are to be standardised are no classes
        loss, penalty, notes = loss_of_a_problem(target, values, numeric=numeric)
        tables = [replace(tables[0], notes=(*tables[0].notes, *notes)), *tables[1:]]
    problem = of_tables(
        tables,
        loss=loss,
        regularisation=penalty if regularisation is None else regularisation,
        intercept=intercept,
        standardise="none" if prepared else standardise,
        standardise_target=standardise_target,
        positive=positive,
        batch=batch,
        certainty=certainty,
        max_memory=max_memory,
    )
    assert problem.coordinates is not None
    return replace(problem, coordinates=replace(problem.coordinates, **roles))


def _values(tables: Sequence[Table]) -> tuple[list[str], bool]:
    """Values of the target, not all where there are more than two; whether they are numbers."""
    found: set[Any] = set()
    for table in tables:
        found.update(np.unique(table.y).tolist())
        if len(found) > 2:
            break
    return list(map(str, found)), tables[0].y.dtype.kind != "U"
