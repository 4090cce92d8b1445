"""The source of rows, whatever is made of them: a CSV, a folder, .npz and LIBSVM files, MNIST, a set of scikit-learn, a
data frame, a mapping of columns, a problem. Which it is, is decided here; each format has a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from polars import Categorical, Series, String, lit

from suffice.support.errors import InputError
from suffice.support.numbers import check_whole

from .cells import series_of
from .client_partition import Split, parse_split, parts_of
from .csv_file import NAMED, TextFile, is_csv
from .frame import Frame, Replayed, frame_of, frame_of_table
from .heart_disease import heart_disease, is_heart_disease
from .libsvm import read_libsvm
from .memory import Memory, as_path
from .mnist import mnist, mnist_part
from .npz import read_npz
from .suspicion import alike, named
from .table import PREFIX, Table, free_name, no_column

EMBEDDED = ("breast_cancer", "diabetes", "digits", "iris", "wine")
LIBSVM = (".libsvm", ".svm", ".svmlight", ".txt", ".bz2", ".gz")
READABLE = "a .csv, .npz or LIBSVM file (.libsvm, .svm, .svmlight, .txt, .gz, .bz2 or no suffix), or a folder of them"
UNDIVIDED = "one undivided table: say how to divide it, as contiguous:8"
Frames = Callable[[], Iterator[Frame]]


@dataclass(frozen=True, kw_only=True)
class Source:
    """The rows of all clients: `frames` goes through them anew at each call, and its columns `client` and `target` say
    whose they are and what is to be predicted."""

    frames: Frames
    client: str
    target: str
    notes: tuple[str, ...] = ()
    """Notes on columns that files of a folder lack."""
    names: tuple[str, ...] = ()
    """The clients in their order, where a table is divided."""


def source_of(
    given: Any, *, client: str, target: str, drop: Sequence[str], split: str | None, seed: int, memory: Memory
) -> Source:
    """The rows in `given`, with the columns `client` and `target`. Raises `InputError`."""
    if not isinstance(drop, Iterable) or isinstance(drop, str) or not all(isinstance(name, str) for name in drop):
        raise InputError("drop", drop, "give the names of columns in a list")
    for role, name in (("client", client), ("target", target)):
        if not isinstance(name, str):
            raise InputError(role, name, "give the name of a column")
    rule = None if split is None else parse_split(split)
    if hasattr(given, "data") and hasattr(given.data, "blocks"):
        tables = []  # of a problem, whose rows are as they stand in it, without the column of ones
        for name, (X, y) in zip(given.names, given.data.blocks()):
            first = int((X[:, 0] == 1).all())
            columns = tuple(f"x{j}" for j in range(first, X.shape[1]))
            tables.append(Table(name=name, X=X[:, first:], y=y, columns=columns))
        return source_of_tables(tables, client, target)
    if isinstance(given, str) and not given:
        raise InputError("path", "", "name a file or a folder")
    framed = isinstance(given, Mapping) or hasattr(given, "columns")
    embeds = isinstance(given, str) and given.startswith(PREFIX)
    path = Path() if framed or embeds else as_path("path", given)
    if not path.exists():
        raise InputError("path", str(path), "no such file or folder")
    if path.is_dir() and not (framed or embeds) and mnist_part(path) is None:
        if rule is not None:
            raise InputError("split", split, "a folder has one client per file; drop it, or name one file")
        return _of_folder(path, client, target, drop, memory)
    if rule is not None and rule.kind == "column":
        client, rule = rule.column, None  # its values may be texts
    unread = set[str]()
    if framed or (not embeds and is_csv(path)):
        unread = {*drop} - {target} - ({client} if rule is None else set())
        how = (lambda name: name not in unread), (client,)
        frames = partial(iter, (frame_of(given, *how),)) if framed else Replayed(TextFile(path, *how).frames)
    else:
        frame, client, target = _of_arrays(str(given), path, client, target, memory)
        frames = partial(iter, (frame,))
        if split is None and client not in frame.columns:
            raise InputError("split", "missing", UNDIVIDED)
    names = ()
    if rule is not None:
        frames, names = _divided(frames, client, target, unread, rule, seed)
    return Source(frames=frames, client=client, target=target, names=names)


def _of_arrays(name: str, path: Path, client: str, target: str, memory: Memory) -> tuple[Frame, str, str]:
    """The rows of a set of scikit-learn, of images or of another file of numbers, and what their columns of clients,
    where there is one, and of targets are called."""
    owners = None
    if name.startswith(PREFIX):
        whole = embedded(name.removeprefix(PREFIX))
    elif (part := mnist_part(path)) is not None:
        whole = mnist(path, part=part, max_memory=memory.limit)
    elif path.suffix.lower() == ".npz":
        whole, owners = read_npz(path, memory)
    elif path.suffix.lower() in ("", *LIBSVM):
        (whole,) = read_libsvm([path], memory)
    else:
        raise InputError("path", str(path), f"give {READABLE}; save any other table as CSV")
    frame, target = frame_of_table(whole, target)
    if owners is not None:
        client = free_name(client, whole.columns)
        frame = replace(frame, cells=frame.cells.with_columns(series_of(client, owners, names=True)))
    return frame, client, target


def embedded(name: str) -> Table:
    """A data set that comes with scikit-learn: breast_cancer, diabetes, digits, iris or wine. Raises `InputError`."""
    import sklearn.datasets

    if name not in EMBEDDED:
        raise InputError("path", f"{PREFIX}{name}", f"the embedded data sets are {', '.join(EMBEDDED)}")
    bunch: Any = getattr(sklearn.datasets, f"load_{name}")()
    columns = tuple(str(column) for column in bunch.feature_names)
    return Table(name="", X=bunch.data, y=np.asarray(bunch.target, dtype=float), columns=columns)


def _divided(
    frames: Frames, client: str, target: str, unread: set[str], rule: Split, seed: int
) -> tuple[Frames, tuple[str, ...]]:
    """The rows with a column of clients, and these, which are named by numbers. Rows without a target, which are left
    out later, are the first one's."""
    check_whole("client", [client])
    values: list[Any] = []
    for frame in frames():
        if client in frame.columns and client not in unread:
            remedy = f"{frame.file or 'the table'} has a column {client} that names clients; drop one of them"
            raise InputError("split", "given", remedy)
        if target not in frame.columns:
            raise no_column("target", target, list(frame.columns))
        values.append(frame.numbers(target))
    if any(part is None for part in values):  # classes
        values = [frame.texts(target).fill_null("").to_numpy().astype(str) for frame in frames()]
    y = np.concatenate(values)
    known = np.flatnonzero((y != "") if y.dtype.kind == "U" else ~np.isnan(y))
    owner, parts = np.zeros(len(y), int), parts_of(y[known], rule, seed)
    for at, part in enumerate(parts):
        owner[known[part]] = at
    owners = Series(client, owner).cast(String).cast(Categorical)

    def divided() -> Iterator[Frame]:
        start = 0
        for frame in frames():
            cells = frame.cells.with_columns(owners[start : start + frame.rows])
            start += frame.rows
            yield replace(frame, cells=cells)

    return divided, tuple(map(str, range(len(parts))))


def _of_folder(path: Path, client: str, target: str, drop: Sequence[str], memory: Memory) -> Source:
    """One client per file, named after it; a column that a file lacks is missing in its rows, and a note says so."""
    if is_heart_disease(path):
        return source_of_tables(heart_disease(path, standardise="none").train, client, target)
    files = sorted(file for file in path.iterdir() if not file.is_dir() and file.name[0] not in ".~")
    known = [file for file in files if NAMED.search(file.name) or file.suffix.lower() == ".npz"]
    known = known or [file for file in files if file.suffix.lower() in LIBSVM]
    known = known or [file for file in files if not file.suffix]
    if not known:
        raise InputError("path", str(path), "no .csv, .npz or LIBSVM file in this folder")
    names = [file.name.partition(".")[0] for file in known]
    for name in names:
        if names.count(name) > 1:
            raise InputError("names", name, "give every client a text of its own: two files have this name")
    if not any(is_csv(file) or file.suffix.lower() == ".npz" for file in known):
        tables = zip(read_libsvm(known, memory), names)
        return source_of_tables([replace(table, name=name) for table, name in tables], client, target)
    read = lambda name: name == target or name not in drop  # noqa: E731
    arrays = lambda file: _of_arrays("", file, client, target, memory)[:1]  # noqa: E731
    sources = [TextFile(file, read).frames if is_csv(file) else partial(iter, arrays(file)) for file in known]
    first = {file.name: list(next(source()).columns) for file, source in zip(known, sources)}
    every = list(dict.fromkeys(name for columns in first.values() for name in columns))
    if client in every:
        raise InputError("client", client, "a folder has one site per file, named after it; drop this column")
    for one, other, *_ in alike(every):
        owners = [next(file for file, columns in first.items() if name in columns) for name in (one, other)]
        remedy = f"{owners[0]} has {one!r}: write one name in all files, or drop both"
        raise InputError(f"header of {owners[1]}", other, remedy)
    lacking = {column: [file for file, columns in first.items() if column not in columns] for column in every}
    notes = [
        f"{named(at)} {'have' if len(at) > 1 else 'has'} no column {named([column])}: it is missing in all their rows"
        for column, at in lacking.items()
        if at
    ]

    def frames() -> Iterator[Frame]:
        for name, source in zip(names, sources):
            for frame in source():
                absent = [lit(np.nan).alias(column) for column in every if column not in frame.columns]
                yield replace(frame, cells=frame.cells.with_columns(absent)).of_client(client, name)

    return Source(frames=Replayed(frames), client=client, target=target, notes=tuple(notes))


def source_of_tables(tables: Sequence[Table], client: str, target: str) -> Source:
    """The rows of tables of the same columns of numbers, one per client."""
    client = free_name(client, tables[0].columns)
    starts = np.cumsum([0, *(len(table.y) for table in tables)]).tolist()
    frames = lambda: (  # noqa: E731
        frame_of_table(table, target, start)[0].of_client(client, table.name) for table, start in zip(tables, starts)
    )
    return Source(frames=frames, client=client, target=free_name(target, tables[0].columns))
