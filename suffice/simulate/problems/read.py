"""A problem from a path: which kind of data it holds, and how it is divided among clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice, as_flag

from ..data.design import ColumnFacts
from ..data.heart_disease import is_heart_disease, patients
from ..data.memory import MAX_MEMORY, Memory
from ..data.site_source import encoded_tables, loss_of_a_problem
from ..data.source import source_of, source_of_tables
from ..data.table import Table
from . import LeastSquares, Logistic
from .from_arrays import LOSSES, of_tables


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
    drop: Sequence[str] = (),
    max_memory: float = MAX_MEMORY,
) -> LeastSquares | Logistic:
    """Read clients' data from files as a problem.

    path       one CSV with a client column, one .npz file with arrays X, y and client, a folder of CSV, .npz and LIBSVM
               files, one per client, a data frame or a mapping of columns. Of a folder of the UCI heart-disease files
               the training part is read (`heart_disease`), of one of MNIST images the training images where it has
               them (`mnist`); "sklearn:NAME" is a data set of scikit-learn
    client     the column of clients
    target     the column to predict; every other column is a predictor
    loss       as in `from_arrays`; "auto" is what the target asks for, as in `suffice.fit`: logistic for two texts, 0
               and 1, -1 and 1, 1 and 2
    regularisation  as in `from_arrays`; unless given 0, or 0.1 where "auto" chooses logistic
    standardise  predictors to mean 0 and deviation 1: over all clients ("pooled"), per "client" or not at all ("none")
    standardise_target  the target likewise, always over all clients
    split, seed  how one undivided file is split: "contiguous:8", "iid:8", "dirichlet:8:0.1", "labels:8",
               "column:NAME"; random splits are drawn by the seed
    drop       columns to leave out
    intercept, positive, batch  as in `from_arrays`
    max_memory  bytes that a table or matrices may take: larger ones are rejected before they are allocated; working
               with them takes a few times as much

    Categories and gaps of a CSV, frame or mapping become columns of numbers, and a first column without a name is left
    out, as in `suffice.fit`. Raises `InputError`.
    """
    as_choice("loss", loss, ("auto", *LOSSES))
    asked: dict[str, Any] = {"client": client, "target": target, "drop": drop, "split": split, "seed": seed}
    tables, roles, seen = _tables(path, loss, standardise, asked, Memory(max_memory))
    penalty = 0.0
    if loss == "auto":
        scaled = as_flag("standardise_target", standardise_target) and seen.numeric  # such numbers are no classes
        loss, penalty, notes = loss_of_a_problem(target, [] if scaled else seen.levels, numeric=seen.numeric)
        tables[0] = replace(tables[0], notes=(*tables[0].notes, *notes))
    how: dict[str, Any] = {"intercept": intercept, "positive": positive, "batch": batch, "max_memory": max_memory}
    return of_tables(
        tables,
        roles,
        loss=loss,
        regularisation=penalty if regularisation is None else regularisation,
        standardise="none" if is_heart_disease(path) else standardise,
        standardise_target=standardise_target,
        **how,
    )


def _tables(
    path: Any, loss: str, standardise: str, asked: dict[str, Any], memory: Memory
) -> tuple[list[Table], dict[str, str], ColumnFacts]:
    """The tables of a path, two at least, which columns of a source were its clients and target, and what that is."""
    divided, classes = asked["split"] is not None, None if loss == "auto" else loss == "logistic"
    if not divided and is_heart_disease(path):
        source = source_of_tables(patients(path, standardise=standardise)[0], asked["client"], asked["target"])
    else:
        source = source_of(path, **asked, memory=memory)
    tables, seen = encoded_tables(source, asked["drop"], memory, classes=classes, divided=divided)
    if len(tables) == 1:
        remedy = "to plan who collaborates with whom give at least two clients; or divide one by split"
        raise InputError("clients", 1, remedy)
    return tables, {"client": source.client, "target": source.target}, seen
