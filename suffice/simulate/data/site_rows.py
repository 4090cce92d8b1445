"""The rows of every site, folded: sums for least squares, which need no row twice, or the rows themselves for
classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .design import MOST_LEVELS, ColumnFacts, Design, check_roles, counted
from .folds import FOLDS, Fold, Rows, fold_of
from .frame import Frame, place_of
from .suspicion import SAMPLE, Copies, named, suspicions
from .table import MOST_CLIENTS

if TYPE_CHECKING:
    from polars import Series

FEWER = f"use at most {MOST_CLIENTS} clients; is this the column that names them?"


@dataclass(frozen=True, kw_only=True)
class Sites:
    """All sites in order of appearance, the columns of their design, and the classes of the target, if it has any."""

    sites: tuple[Rows, ...]
    design: Design
    target: str
    classes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    again: Callable[[str], tuple[np.ndarray, np.ndarray, list[str]]] | None = None
    """Reads a site's X (n, p), y (n,) and the places of rows; None of messages."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(site.name for site in self.sites)


def sites_of(
    frames: Callable[[], Iterator[Frame]],
    client: str,
    target: str,
    classes: Callable[[ColumnFacts], tuple[str, ...]],
    *,
    drop: Sequence[str],
    memory: Memory,
    keep: bool = False,
    divided: bool = False,
) -> Sites:
    """Two passes over the rows: what is in every column, then the numbers. Of what is seen of the target `classes`
    makes its labels, none for numbers. Rows of labels are kept, others where `keep` says so."""
    facts, copies = _facts(frames, client)
    roles = {"client": client, "target": target}
    check_roles(facts, roles, drop)
    labels, design = classes(facts[target]), Design.of(facts, roles=roles.values(), drop=drop)
    total, keep = facts[target].rows, keep or bool(labels)
    if keep:
        memory.take(f"{total} rows of {len(design.columns)} columns", 8.0 * total * len(design.columns))
    label = {float(text) if facts[target].numeric else text: float(at) for at, text in enumerate(labels)}
    found: dict[str, Rows] = {}
    without, siteless, sample = 0, 0, (np.empty((0, 0)), np.empty(0))
    for frame in frames():
        owners, X, y = frame.texts(client), design.apply(frame), _targets(frame, target, label)
        sample = sample if len(sample[1]) else (X[:SAMPLE].copy(), y[:SAMPLE])
        siteless += owners.null_count()
        known = ~np.isnan(y)
        without += int((~known & owners.is_not_null().to_numpy()).sum())
        for name in owners.drop_nulls().unique(maintain_order=True):
            found.setdefault(name, Rows(name=name))
        for name, mine in rows_of_each(owners, known):
            _add(found[name], X[mine], y[mine], keep=keep)
        if len(found) > MOST_CLIENTS:  # more than matrices of all pairs are made for
            raise InputError(client, f"{len(found)} values", FEWER)
    sites = tuple(site for site in found.values() if site.count)
    empty = [site.name for site in found.values() if not site.count]
    left = ((siteless, f"site ({client})", client), (without, "target", target))
    notes = [
        f"{count} rows without a {what} are left out{_written(facts[name].gaps)}" for count, what, name in left if count
    ]
    notes += [f"sites without a row that has a target are left out: {named(empty, 2)}"] if empty else []
    if not found:
        raise InputError(f"column {client}", "missing everywhere", "name the site of every row")
    if not sites:
        raise InputError(f"column {target}", "missing everywhere", "give rows with a target")
    notes += [
        *suspicions(sites, design, facts, frames, client, target, labels, sample, divided=divided),
        *copies.notes(facts, client),
    ]
    again = partial(_again, frames, design, client, target)
    return Sites(sites=sites, design=design, target=target, classes=labels, notes=tuple(notes), again=again)


def _facts(frames: Callable[[], Iterator[Frame]], client: str) -> tuple[dict[str, ColumnFacts], Copies]:
    """What is in every column, and which rows are copies."""
    facts, copies = dict[str, ColumnFacts](), Copies()
    for frame in frames():
        copies.see(frame, client)
        for name in frame.columns:
            facts.setdefault(name, ColumnFacts()).see(name, frame, client)
    for seen in facts.values():
        seen.settle()
    return facts, copies


def _again(
    frames: Callable[[], Iterator[Frame]], design: Design, client: str, target: str, site: str
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """`Sites.again`, of numbers."""
    parts, places = [], []
    for frame in frames():
        y = _targets(frame, target, {})
        part = frame.part(np.flatnonzero(frame.texts(client).eq_missing(site).to_numpy() & ~np.isnan(y)))
        parts.append((design.apply(part), _targets(part, target, {})))
        places += [place_of(part.file, line) for line in part.lines.tolist()]
    X, y = (np.concatenate(values) for values in zip(*parts))
    return X, y, places


def rows_of_each(owners: Series, known: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The known rows of each client, in order of appearance."""
    rows = owners.alias("name").to_frame().with_row_index("row").filter(known).drop_nulls()
    found = rows.group_by("name", maintain_order=True).agg("row")
    return zip(found["name"], (own.to_numpy() for own in found["row"]))


def _written(gaps: Counter[str]) -> str:
    """The texts of cells that were read as missing, unless all are empty."""
    return "" if set(gaps) <= {"empty"} else f" ({counted(gaps)})"


def _add(site: Rows, X: np.ndarray, y: np.ndarray, *, keep: bool) -> None:
    start, site.count = site.count, site.count + len(y)
    if keep:
        site.pieces.append((X, y, fold_of(start, len(y))))
        return
    of_fold = [slice((f - start) % FOLDS, None, FOLDS) for f in range(FOLDS)]  # as `fold_of` deals them
    new = [Fold.of(X[rows], y[rows]) for rows in of_fold]
    site.folds = [old.joined(more) for old, more in zip(site.folds, new)] if site.folds else new


def _targets(frame: Frame, target: str, label: dict[Any, float]) -> np.ndarray:
    values = frame.numbers(target)
    if label:
        cells = frame.texts(target) if values is None or isinstance(next(iter(label)), str) else values
        return np.array([label.get(cell, np.nan) for cell in cells])
    if values is None:
        texts = frame.texts(target).drop_nulls()
        few = texts.n_unique() <= MOST_LEVELS
        remedy = "for two classes use loss logistic, for more multinomial" if few else "name another column by target"
        raise InputError(f"column {target}", texts[0], f"least squares needs numbers; {remedy}")
    return values
