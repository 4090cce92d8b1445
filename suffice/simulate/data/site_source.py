"""Sites from whatever holds their rows: a CSV, a folder, .npz and LIBSVM files, a data frame, a mapping, a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

from .csv.lines import csv_files, is_csv
from .csv.mixed_columns import csv_source
from .design import MOST_LEVELS, check_roles
from .embedded import PREFIX, embedded
from .frame import Frame, frame_of, is_frame
from .load import load
from .memory import MAX_MEMORY, Memory, as_path
from .site_rows import Sites, facts_of, frames_of_tables, sites_of
from .splits import divide, parse_split
from .table import Asked, Table, same_columns

LOSSES = ("auto", "least-squares", "logistic", "multinomial")
CODES = ({0, 1}, {-1, 1}, {1, 2})
"""Two numbers that stand for classes; any other two are numbers."""
MANY_CLASSES, ROWS_PER_CLASS = 20, 3
"""More classes than that, or fewer rows of each, are hardly meant, and take minutes."""
Frames = Callable[[], Iterator[Frame]]


def read_sites(
    source: Any,
    *,
    client: str = "client",
    target: str = "target",
    weight: str | None = None,
    drop: Sequence[str] = (),
    loss: str = "auto",
    split: str | None = None,
    seed: int = 0,
    site: str | None = None,
    max_memory: float = MAX_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Sites, str]:
    """The sites of `source`, and the loss that `loss` means: "auto" is least squares for a target of numbers, logistic
    for two texts or `CODES`, multinomial for labels. With `site` all rows are of this one. Raises `InputError`."""
    as_choice("loss", loss, LOSSES)
    if not isinstance(drop, Iterable) or isinstance(drop, str) or not all(isinstance(name, str) for name in drop):
        raise InputError("drop", drop, "give the names of columns in a list")
    for role, name in (("client", client), ("target", target), ("weight", weight)):
        if not isinstance(name, str) and not (role == "weight" and name is None):
            raise InputError(role, name, "give the name of a column")
    memory = Memory(max_memory)
    unread = [name for name in drop if name not in (client, target, weight)]
    frames, client, target = frames_of(source, client, target, loss, split, seed, memory, unread)
    if site is not None:
        frames = _of_one_site(frames, client, site)
    facts = facts_of(frames(), client)
    roles = {"client": client, "target": target} | ({} if weight is None else {"weight": weight})
    check_roles(facts, roles, drop)
    values, numeric = list(facts[target].levels), facts[target].numeric
    loss, guessed = _loss_of(target, values, numeric=numeric) if loss == "auto" else (loss, ())
    if site is not None and not numeric and values:
        remedy = "one message serves numbers only; classes take rounds about each other's models: fit the rows"
        raise InputError(f"column {target}", values[0], remedy)
    rows = facts[target].rows - facts[target].gaps.total()
    classes = () if loss == "least-squares" else _classes(target, values, loss, rows, numeric=numeric)
    sites = sites_of(
        frames,
        facts,
        roles,
        drop=drop,
        classes=classes,
        memory=memory,
        progress=progress,
    )
    return replace(sites, notes=(*sites.notes, *guessed)), loss


def _loss_of(target: str, values: Sequence[str], *, numeric: bool) -> tuple[str, tuple[str, ...]]:
    """The loss that "auto" means, and a note where it might mean another."""
    two = len(values) == 2
    if numeric and two and {float(value) for value in values} != {0, 1}:
        codes = {float(value) for value in values} in CODES
        said = "two classes; for numbers use loss least-squares" if codes else "numbers; for classes use loss logistic"
        note = f"{target} is {' or '.join(sorted(values, key=float))}, taken as {said}"
        return "logistic" if codes else "least-squares", (note,)
    loss = "logistic" if two else "least-squares" if numeric else "multinomial"
    if loss == "multinomial" and MANY_CLASSES < len(values) <= MOST_LEVELS:
        remedy = "so many take long: ask for them by loss multinomial, merge some, or name another column by target"
        raise InputError(f"column {target}", f"{len(values)} classes", remedy)
    return loss, ()


def _classes(target: str, values: Sequence[str], loss: str, rows: int, *, numeric: bool) -> tuple[str, ...]:
    if len(values) > MOST_LEVELS:
        least_squares = "for numbers use loss least-squares" if numeric else "merge rare ones"
        remedy = f"at most {MOST_LEVELS} classes: {least_squares}, or name another column by target"
        raise InputError(f"column {target}", f"over {MOST_LEVELS} values", remedy)
    if len(values) < 2:
        raise InputError(f"column {target}", values[0] if values else "missing", "one class alone; give at least two")
    if loss == "logistic" and len(values) > 2:
        raise InputError(f"column {target}", f"{len(values)} classes", "logistic needs two; use loss multinomial")
    if len(values) > 2 and rows < ROWS_PER_CLASS * len(values):
        remedy = f"give {ROWS_PER_CLASS} rows or more of each class, merge classes, or name another column by target"
        raise InputError(f"column {target}", f"{len(values)} classes in {rows} rows", remedy)
    return tuple(sorted(values, key=float if numeric else None))


def _of_one_site(frames: Frames, client: str, site: str) -> Frames:
    def named() -> Iterator[Frame]:
        for frame in frames():
            yield replace(frame, columns={**frame.columns, client: np.full(frame.rows, site, dtype=object)})

    return named


def frames_of(
    source: Any,
    client: str,
    target: str,
    loss: str,
    split: str | None,
    seed: int,
    memory: Memory,
    drop: Sequence[str] = (),
) -> tuple[Frames, str, str]:
    """A function that goes through the rows anew, and the names of the columns of sites and targets."""
    rule = None if split is None else parse_split(split)

    def read(name: str) -> bool:
        return name not in drop

    if rule is not None and rule.kind == "column":
        client, rule = rule.column, None
    if hasattr(source, "data") and hasattr(source.data, "blocks"):
        return _tables(_of_problem(source), client, target)
    if is_frame(source):
        frame = frame_of(source, read, [client])
        if rule is None:
            return lambda: iter((frame,)), client, target
        raise InputError("split", split, "a data frame is divided by a column: column:NAME, or client")
    if not isinstance(source, str | Path):
        raise InputError("source", source, "give a path, a data frame, a mapping of columns, a problem or messages")
    if str(source).startswith(PREFIX):
        whole = embedded(str(source).removeprefix(PREFIX))
        if rule is None and client in whole.columns:
            return _tables(divide(whole, f"column:{client}"), client, target)
        if rule is None:
            raise InputError("split", "missing", "one undivided table: say how to divide it, as iid:8")
        return _tables(divide(whole, rule, seed=seed), client, target)
    if not str(source):
        raise InputError("path", "", "name a file or a folder")
    path = as_path("path", source)
    if not path.exists():
        raise InputError("path", str(path), "no such file or folder")
    files = csv_files(path)
    if is_csv(path) and rule is None:
        return csv_source(path, read, (client,)), client, target
    if files:
        return folder_frames(files, client, read), client, target
    asked = Asked(client=client, target=target, text_target=loss not in ("auto", "least-squares"), memory=memory)
    tables = load(path, asked, divided=rule is None)
    return _tables(same_columns(tables) if rule is None else divide(tables[0], rule, seed=seed), client, target)


def folder_frames(files: Sequence[Path], client: str, read: Callable[[str], bool]) -> Frames:
    """One site per CSV, named after its file; a column that a file lacks is missing in its rows."""
    sources = {file: csv_source(file, read, ()) for file in files}
    names = {file: list(next(source()).columns) for file, source in sources.items()}
    every = list(dict.fromkeys(name for columns in names.values() for name in columns))
    if client in every:
        raise InputError("client", client, "a folder has one site per file, named after it; drop this column")

    def frames() -> Iterator[Frame]:
        for file, source in sources.items():
            for frame in source():
                absent = {name: np.full(frame.rows, np.nan) for name in every if name not in frame.columns}
                owner = np.full(frame.rows, file.name.partition(".")[0], dtype=object)
                yield replace(frame, columns={client: owner, **frame.columns, **absent})

    return frames


def _of_problem(problem: Any) -> list[Table]:
    """Its rows as they stand in it, standardised or not, without its column of ones."""
    tables = []
    for name, (X, y) in zip(problem.names, problem.data.blocks()):
        varying = [j for j in range(X.shape[1]) if not (j == 0 and (X[:, 0] == 1).all())]
        tables.append(Table(name=name, X=X[:, varying], y=y, columns=tuple(f"x{j}" for j in varying)))
    return same_columns(tables)


def _tables(tables: Iterable[Table], client: str, target: str) -> tuple[Frames, str, str]:
    given = list(tables)
    columns = given[0].columns or tuple(f"x{j + 1}" for j in range(given[0].X.shape[1]))
    client, target = (name if name not in columns else f"{name} (of the rows)" for name in (client, target))
    rows: list[tuple[str, np.ndarray, np.ndarray]] = [(table.name, table.X, table.y) for table in given]
    return lambda: frames_of_tables(rows, columns, client, target), client, target
