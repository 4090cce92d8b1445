"""The rows of every site, folded: sums for least squares, which need no row twice, or the rows themselves for
classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .design import MOST_LEVELS, ColumnFacts, Design, check_roles, counted
from .folds import FOLDS, Fold, Rows, fold_of
from .frame import Frame, missing
from .suspicion import Copies, named, suspicions
from .table import MOST_CLIENTS

_TOGETHER = 2**17
"""So many rows at once: pieces of wide tables have few rows, those of narrow ones as many by themselves."""
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
    progress: Callable[[int, int], None] | None = None,
) -> Sites:
    """Two passes over the rows: what is in every column, then the numbers. Of what is seen of the target `classes`
    makes its labels, none for numbers. Rows of labels are kept, others where `keep` says so."""
    facts, copies = dict[str, ColumnFacts](), Copies()
    for frame in frames():
        copies.see(frame, client)
        for name in frame.columns:
            facts.setdefault(name, ColumnFacts()).see(name, frame, client)
    for seen in facts.values():
        seen.settle()
    roles = {"client": client, "target": target}
    check_roles(facts, roles, drop)
    labels, design = classes(facts[target]), Design.of(facts, roles=roles.values(), drop=drop)
    total, keep = facts[target].rows, keep or bool(labels)
    if keep:
        memory.take(f"{total} rows of {len(design.columns)} columns", 8.0 * total * len(design.columns))
    label = {text: float(at) for at, text in enumerate(labels)}
    found: dict[str, Rows] = {}
    without, siteless, done = 0, 0, 0
    for owners, X, y in _numbers(frames(), design, client, target, label):
        done += len(y)
        sited = ~missing(owners)
        siteless += int((~sited).sum())
        owners, X, y = owners[sited], X[sited], y[sited]
        known = ~np.isnan(y)
        without += int((~known).sum())
        for name in dict.fromkeys(owners.tolist()):
            found.setdefault(name, Rows(name=name))
        for name, mine in rows_of_each(owners, known):
            _add(found[name], X[mine], y[mine], keep=keep)
        if len(found) > MOST_CLIENTS:  # more than matrices of all pairs are made for
            raise InputError(client, f"{len(found)} values", FEWER)
        if progress is not None:
            progress(done, total)
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
    notes += [*suspicions(sites, design, facts, target, labels, divided=divided), *copies.notes(facts, client)]
    again = partial(_again, frames, design, client, target)
    return Sites(sites=sites, design=design, target=target, classes=labels, notes=tuple(notes), again=again)


def _numbers(
    frames: Iterator[Frame], design: Design, client: str, target: str, label: dict[str, float]
) -> Iterator[Iterator[np.ndarray]]:
    """Owners (n,), X (n, p), y (n,) of several frames together: a site's sums of many rows take as long as of few."""
    held, rows = [], 0
    for frame in frames:
        held.append((frame.texts(client), design.apply(frame), _targets(frame, target, label)))
        rows += frame.rows
        if rows >= _TOGETHER:
            yield map(np.concatenate, zip(*held))
            held, rows = [], 0
    if held:
        yield map(np.concatenate, zip(*held))


def _again(
    frames: Callable[[], Iterator[Frame]], design: Design, client: str, target: str, site: str
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """`Sites.again`, of numbers."""
    parts, places, before = [], [], 0
    for frame in frames():
        y = _targets(frame, target, {})
        named = np.array([str(owner) == site for owner in frame.texts(client).tolist()])
        chosen = np.flatnonzero(named & ~np.isnan(y))
        parts.append((design.apply(frame.part(chosen)), y[chosen]))
        places += [frame.place(row, None, before) for row in chosen.tolist()]
        before += frame.rows
    X, y = (np.concatenate(values) for values in zip(*parts))
    return X, y, places


def rows_of_each(owners: np.ndarray, known: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """The known rows of each client, in order of appearance."""
    rows = np.flatnonzero(known)
    numbers: dict[str, int] = {}
    codes = np.array([numbers.setdefault(name, len(numbers)) for name in owners[rows].tolist()], dtype=int)
    ends = np.cumsum(np.bincount(codes, minlength=len(numbers)))
    yield from zip(numbers, np.split(rows[np.argsort(codes, kind="stable")], ends[:-1]))


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


def _targets(frame: Frame, target: str, label: dict[str, float]) -> np.ndarray:
    if label:
        return np.array([np.nan if text is None else label[text] for text in frame.texts(target).tolist()])
    values = frame.columns[target]
    if not frame.numeric(target):
        texts = [value for value in values.tolist() if value is not None]
        if texts:
            few = len(set(texts)) <= MOST_LEVELS
            remedy = (
                "for two classes use loss logistic, for more multinomial" if few else "name another column by target"
            )
            raise InputError(f"column {target}", texts[0], f"least squares needs numbers; {remedy}")
        return np.full(frame.rows, np.nan)
    return values
