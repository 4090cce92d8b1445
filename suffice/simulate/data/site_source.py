"""Sites from whatever holds their rows (`source`): sums for least squares, which need no row twice, or the rows
themselves; the loss that their target asks for, one guess for all readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

from .cells import NUMBER
from .column_facts import MOST_LEVELS, ColumnFacts, check_roles, counted, design_of
from .design import Design
from .folds import FOLDS, Sums
from .frame import Frame, place_of
from .memory import MAX_MEMORY, Memory
from .sites import Sites
from .source import Source, source_of
from .suspicion import SAMPLE, Copies, named, suspicions
from .table import MOST_CLIENTS

LOSSES = ("auto", "least-squares", "logistic", "multinomial")
ROWS_PER_CLASS = 3
"""Fewer rows of each class are hardly meant."""
PENALTY = 0.1
"""r in (r/2) |theta|^2 for two classes: few rows are often separable, and then have no minimiser without."""
CODES = ({0, 1}, {-1, 1}, {1, 2})
"""Two numbers that stand for classes; any other two are numbers."""
MANY_CLASSES = 20
"""More classes than that are hardly meant, and take minutes."""


def read_sites(
    source: Any,
    *,
    client: str = "client",
    target: str = "target",
    drop: Sequence[str] = (),
    loss: str = "auto",
    split: str | None = None,
    seed: int = 0,
    site: str | None = None,
    max_memory: float = MAX_MEMORY,
    keep: bool = False,
    problem: bool = False,
) -> tuple[Sites, str]:
    """The sites of `source`, and the loss that `loss` means: "auto" is what `_loss` says. With `site` all rows are of
    this one; with `keep` all rows are kept, not those of labels alone; of a `problem` numbers are never labels. Rows
    without a client or a target are left out. Raises `InputError`."""
    as_choice("loss", loss, LOSSES)
    how: dict[str, Any] = {"client": client, "target": target, "drop": drop, "split": split, "seed": seed}
    given = source if isinstance(source, Source) else source_of(source, **how, memory=Memory(max_memory))
    client, target, frames = given.client, given.target, given.frames
    if site is not None:
        given = replace(given, frames=lambda: (frame.of_client(client, str(site)) for frame in frames()))
    facts, copies = dict[str, ColumnFacts](), Copies()
    for frame in given.frames():
        copies.see(frame, client)
        for name in frame.columns:
            facts.setdefault(name, ColumnFacts()).see(name, frame, client)
    for seen in facts.values():
        seen.settle()
    check_roles(facts, {"client": client, "target": target}, drop)
    loss, classes, guessed = _loss(target, facts[target], loss, problem=problem, sent=site is not None)
    design = design_of(facts, (client, target), drop)
    if keep := keep or bool(classes):
        rows, p = facts[target].rows, len(design.columns)  # in place of what was read
        Memory(max_memory).take(f"{rows} rows of {p} columns", 8.0 * rows * p)
    sites, left, sample = _collected(given, design, classes, facts, keep=keep)
    notes = []
    for count, what, name in zip(left, (f"site ({client})", "target"), (client, target)):
        written = "" if set(facts[name].gaps) <= {"empty"} else f" ({counted(facts[name].gaps)})"
        notes += [f"{count} rows without a {what} are left out{written}"] if count else []
    there = sites.counts > 0
    if not there.any():
        name, what = (target, "give rows with a target") if sites.names else (client, "name the site of every row")
        raise InputError(f"column {name}", "missing everywhere", what)
    if not there.all():
        names = np.array(sites.names, dtype=object)
        notes.append(f"sites without a row that has a target are left out: {named(names[~there].tolist(), 2)}")
        sites = replace(sites, names=tuple(names[there]), counts=sites.counts[there], sums=sites.sums[there])
    notes += suspicions(sites, facts, given.frames, sample, divided=bool(given.names))
    notes += [*copies.notes(facts, client), *guessed, *given.notes]
    return replace(sites, notes=tuple(notes), again=partial(_again, given, design)), loss


def _collected(
    given: Source, design: Design, classes: tuple[str, ...], facts: Mapping[str, ColumnFacts], *, keep: bool
) -> tuple[Sites, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """The rows of all sites; how many have no site, and how many others no target; X and y of the first ones."""
    client, target = given.client, given.target
    labels = {float(text) if facts[target].numeric else text: float(at) for at, text in enumerate(classes)}
    most, p = len(facts[client].texts), 0 if keep else len(design.columns) + 1
    if most > MOST_CLIENTS:  # more than matrices of all pairs are made for
        remedy = f"use at most {MOST_CLIENTS} clients; is this the column that names them?"
        raise InputError(client, f"over {MOST_CLIENTS} values", remedy)
    order = {name: k for k, name in enumerate(given.names)}
    counts, sums = np.zeros(most, int), Sums.zero(p, most, FOLDS + 1)
    parts: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in range(most)]
    left, head = np.zeros(2, int), list[tuple[np.ndarray, np.ndarray]]()
    for frame in given.frames():
        owners, X, y = frame.texts(client), design.apply(frame), _targets(frame, target, labels)
        if sum(len(own) for _, own in head) < SAMPLE:
            head.append((X[:SAMPLE].copy(), y[:SAMPLE]))
        for name in owners.drop_nulls().unique(maintain_order=True):
            order.setdefault(name, len(order))
        at = owners.replace_strict(order, default=-1).to_numpy() if order else np.full(len(y), -1)
        left += (at < 0).sum(), (np.isnan(y) & (at >= 0)).sum()
        rows = np.flatnonzero(~np.isnan(y) & (at >= 0))
        rows = rows[np.argsort(at[rows], kind="stable")]
        own, first, size = np.unique(at[rows], return_index=True, return_counts=True)
        if keep:
            for k, part in zip(own, np.split(rows, first[1:])):
                parts[k].append((X[part], y[part]))
        elif len(rows):
            fold = (np.arange(len(rows)) + np.repeat(counts[own] - first, size)) % FOLDS  # in turn, from a site's first
            turn = np.lexsort((fold, at[rows]))
            slot, starts = np.unique(at[rows][turn] * FOLDS + fold[turn], return_index=True)
            sums.add(np.divmod(slot, FOLDS), Sums.of_parts(X[rows[turn]], y[rows[turn]], starts))
        counts[own] += size
    kept: list[tuple[np.ndarray, ...]] = []
    for part in filter(None, parts):
        kept.append(tuple(map(np.concatenate, zip(*part))))
        part.clear()  # its memory serves for the next
    X, y = [rows for rows, _ in kept], [own for _, own in kept]
    shared: dict[str, Any] = {"design": design, "client": client, "target": target, "classes": classes}
    found = Sites(names=tuple(order), counts=counts[: len(order)], sums=sums[: len(order)], X=X, y=y, **shared)
    first, own = (np.concatenate(part)[:SAMPLE] for part in zip(*head))
    return found, left, (first, own)


def _again(given: Source, design: Design, site: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """`Sites.again`, of numbers."""
    parts, places = [], []
    for frame in given.frames():
        y = _targets(frame, given.target, {})
        rows = np.flatnonzero(frame.texts(given.client).eq_missing(site).to_numpy() & ~np.isnan(y))
        part = replace(frame, cells=frame.cells[rows], lines=frame.lines[rows])
        parts.append((design.apply(part), y[rows]))
        places += [place_of(part.file, line) for line in part.lines.tolist()]
    X, y = (np.concatenate(values) for values in zip(*parts))
    return X, y, places


def _targets(frame: Frame, target: str, labels: Mapping[Any, float]) -> np.ndarray:
    values = frame.numbers(target)
    if labels:
        cells = frame.texts(target) if values is None or isinstance(next(iter(labels)), str) else values
        return np.array([labels.get(cell, np.nan) for cell in cells])
    assert values is not None
    return values


def _loss(
    target: str, seen: ColumnFacts, loss: str, *, problem: bool, sent: bool
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The loss, the classes of the target, none where it has numbers, and a note on what was guessed: least squares for
    numbers, logistic for two texts or `CODES`, multinomial for more texts. Raises `InputError`."""
    values, two, notes = seen.levels, len(seen.levels) == 2, ()
    if sent and not seen.numeric and values:
        remedy = "a fit of classes needs the rows of all sites; messages are for numbers"
        raise InputError(f"column {target}", values[0], remedy)
    if not seen.numeric and (loss == "least-squares" or (problem and loss == "auto" and not two)):
        raise _no_numbers(target, seen, problem=problem)
    if loss == "auto":
        loss = "logistic" if two else "least-squares" if seen.numeric else "multinomial"
        if seen.numeric and two and (found := {float(value) for value in values}) != {0, 1}:
            loss = "logistic" if found in CODES else "least-squares"
            other = "numbers use loss least-squares" if found in CODES else "classes use loss logistic"
            kind = "two classes" if found in CODES else "numbers"
            notes = (f"{target} is {' or '.join(sorted(values, key=float))}, taken as {kind}; for {other}",)
        if loss == "multinomial" and MANY_CLASSES < len(values) <= MOST_LEVELS:
            remedy = "so many take long: ask for them by loss multinomial, merge some, or name another column by target"
            raise InputError(f"column {target}", f"{len(values)} classes", remedy)
        if problem and loss == "logistic":
            said = f"{target} has two values: loss logistic, penalty ({PENALTY:g}/2) |theta|^2; as numbers"
            notes = (f"{said}: least-squares",)
    if problem:
        return loss, () if seen.numeric else tuple(sorted(values)), notes
    return loss, () if loss == "least-squares" else _classes(target, seen, loss), notes


def _classes(target: str, seen: ColumnFacts, loss: str) -> tuple[str, ...]:
    values, rows, numeric = list(seen.levels), seen.rows - seen.gaps.total(), seen.numeric
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


def _no_numbers(target: str, seen: ColumnFacts, *, problem: bool) -> InputError:
    levels = list(seen.levels)
    few = len(levels) <= MOST_LEVELS
    if problem and few and len(levels) > 2 and not any(map(NUMBER.fullmatch, levels)):
        more = f"suffice fit takes more, or set one against the others: --loss logistic --positive {levels[0]}"
        return InputError(f"column {target}", f"{len(levels)} classes", f"plans are for numbers or two classes: {more}")
    place = f"{target} in {seen.place}" if seen.text else f"column {target}"
    ways = "for two classes use loss logistic" + ("" if problem else ", for more multinomial")
    remedy = ways if few else "name another column by target"
    return InputError(place, seen.text or levels[0], f"give a number, as least squares needs numbers; {remedy}")
