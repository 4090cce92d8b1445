"""A problem from a path: which kind of data it holds, and how it is divided among clients."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

from ..data.csv.lines import csv_files, is_csv
from ..data.csv.mixed_columns import csv_source
from ..data.csv.numeric_table import NotNumbers
from ..data.design import Strays
from ..data.embedded import PREFIX, embedded
from ..data.encoded import encoded_tables
from ..data.frame import frame_of, is_frame
from ..data.load import load
from ..data.memory import MAX_MEMORY, Memory, as_path
from ..data.mnist import mnist, mnist_part
from ..data.site_source import folder_frames
from ..data.splits import divide, parse_split
from ..data.table import Asked, Table, same_columns
from . import LeastSquares, Logistic
from .from_arrays import LOSSES, of_tables
from .heart_disease import heart_disease, is_heart_disease


def read(
    path: Any,
    *,
    client: str = "client",
    target: str = "target",
    loss: str = "least-squares",
    regularisation: float = 0.0,
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
    `drop` leaves out more of their columns. With `split` ("contiguous:8", "iid:8", "dirichlet:8:0.1",
    "labels:8", "column:NAME"; random ones from `seed`) it is one undivided file. A folder with the UCI heart-disease
    files is read as `heart_disease`, its training part; a folder or file of MNIST images as `mnist` (the training
    images where the folder has them), and "sklearn:NAME" is a data set of scikit-learn.

    Every other column but `client` and `target` is a predictor. `standardise` sets the predictors to mean
    0 and deviation 1 per client, over all clients, or not at all; `standardise_target` does so to the target, always
    over all clients. A table or matrices of more than `max_memory` bytes (2e9) are rejected before they are
    allocated; working with them takes a few times as much. For the other arguments see `from_arrays`. Raises
    `InputError`.
    """
    memory = Memory(max_memory)
    framed = is_frame(path)
    if framed and split is not None:
        raise InputError("split", split, "a data frame is divided by its client column; drop it")
    if not framed and not str(path):
        raise InputError("path", "", "name a file or a folder")
    as_choice("loss", loss, LOSSES)
    for name, value in (("client", client), ("target", target)):
        if not isinstance(value, str):
            raise InputError(name, value, "give the name of a column")
    if not framed and not str(path).startswith(PREFIX):
        path = as_path("path", path)
    if client == target and (framed or not Path(path).is_dir()) and not split:
        raise InputError("target", target, "the client column cannot be the target; name another column")
    if not isinstance(drop, Iterable) or isinstance(drop, str) or not all(isinstance(name, str) for name in drop):
        raise InputError("drop", drop, "give the names of columns in a list")
    asked = Asked(client=client, target=target, text_target=loss == "logistic", drop=drop, memory=memory)
    if framed:
        frame = frame_of(path, asked.reads, [client])
        tables: Sequence[Table] = encoded_tables(lambda: iter((frame,)), asked)
        done = False
    else:
        tables, done = _divided(str(path), asked, standardise=standardise, split=split, seed=seed)
    if len(tables) == 1:
        remedy = "to plan who collaborates with whom give at least two clients; or divide one by split"
        raise InputError("clients", 1, remedy)
    return of_tables(
        tables,
        loss=loss,
        regularisation=regularisation,
        intercept=intercept,
        standardise="none" if done else standardise,
        standardise_target=standardise_target,
        positive=positive,
        batch=batch,
        certainty=certainty,
        max_memory=max_memory,
    )


def _divided(
    name: str, asked: Asked, *, standardise: str, split: str | None, seed: int
) -> tuple[Sequence[Table], bool]:
    """One table per client, and whether the predictors are standardised already."""
    rule = None if split is None else parse_split(split)
    path = Path(name)
    whole = None
    if name.startswith(PREFIX):
        whole = embedded(name.removeprefix(PREFIX))
    elif (part := mnist_part(path)) is not None:
        whole = mnist(path, part=part, max_memory=asked.memory.limit)
    elif is_heart_disease(path):
        if rule is not None:
            raise InputError("split", split, "the heart-disease files are divided already; drop it")
        return heart_disease(path, standardise=standardise).train, True
    else:
        if rule is not None and path.is_dir():
            raise InputError("split", split, "a folder has one client per file; drop it, or name one file")
        if rule is not None and rule.kind == "column" and is_csv(path):
            asked, rule = replace(asked, client=rule.column), None  # its values may be texts
        tables = _tables(path, asked, divided=rule is None)
        if rule is None:
            return same_columns(tables), False
        (whole,) = tables
    if rule is None:
        raise InputError("split", "missing", "one undivided table: say how to divide it, as contiguous:8")
    return divide(whole, rule, seed=seed), False


def _tables(path: Path, asked: Asked, *, divided: bool) -> list[Table]:
    """Numbers as they stand, fast and with the place of every complaint; a CSV of anything else as `fit` reads it."""
    files = csv_files(path)
    if asked.drop and not (files or is_csv(path)):
        raise InputError("drop", list(asked.drop), "only the columns of a CSV have names")
    strict: InputError | None = None
    try:
        if not asked.drop:
            return load(path, replace(asked, memory=Memory(asked.memory.limit)), divided=divided)
    except NotNumbers as error:
        # a text in a folder of other files, or what no one means as a category
        if (path.is_dir() and not files) or not str(error.value).isprintable():
            raise
        strict = error
    frames = (
        folder_frames(files, asked.client or "", asked.reads)
        if files
        else csv_source(path, asked.reads, (asked.client or "",))
    )
    try:
        return encoded_tables(frames, asked if divided or files else replace(asked, client=None))
    except InputError as error:
        # where it is no category either, the place of the cell helps more
        same = strict is not None and error.field in ("columns", f"column {strict.field.partition(' in line')[0]}")
        if strict is None or not same or isinstance(error, Strays) or "a date" in error.remedy:
            raise
        if strict.field.startswith(f"{asked.target} in line"):
            raise InputError(
                strict.field, strict.value, f"{strict.remedy}; for two classes use loss logistic"
            ) from None
        raise strict from None
