"""Sites from whatever holds their rows (`source`), the loss that their target asks for, one guess for all readers, and
tables of numbers, with categories and gaps encoded as `suffice.fit` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

from .cells import NUMBER
from .design import CHANGED, MOST_LEVELS, NOTE, ColumnFacts
from .encoding import Encoding
from .memory import MAX_MEMORY, Memory
from .site_rows import Sites, sites_of
from .source import Source, source_of
from .table import Table

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
) -> tuple[Sites, str]:
    """The sites of `source`, and the loss that `loss` means: "auto" is what `loss_of` says. With `site` all rows are of
    this one; with `keep` all rows are kept, not those of labels alone. Raises `InputError`."""
    as_choice("loss", loss, LOSSES)
    memory = Memory(max_memory)
    found = source_of(source, client=client, target=target, drop=drop, split=split, seed=seed, memory=memory)
    frames, target, guessed = found.frames, found.target, ()
    if site is not None:
        frames = lambda: (frame.of_client(found.client, str(site)) for frame in found.frames())  # noqa: E731

    def classes(seen: ColumnFacts) -> tuple[str, ...]:
        nonlocal loss, guessed
        values = list(seen.levels)
        if loss == "auto":
            loss, guessed = loss_of(target, values, numeric=seen.numeric)
        if site is not None and not seen.numeric and values:
            remedy = "a fit of classes needs the rows of all sites; messages are for numbers"
            raise InputError(f"column {target}", values[0], remedy)
        return () if loss == "least-squares" else _classes(target, seen, loss)

    divided = split is not None and not split.startswith("column:")
    how: dict[str, Any] = {"drop": drop, "memory": memory, "keep": keep, "divided": divided}
    sites = sites_of(frames, found.client, target, classes, **how)
    return replace(sites, notes=(*sites.notes, *guessed, *found.notes)), loss


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


def loss_of(target: str, values: Sequence[str], *, numeric: bool) -> tuple[str, tuple[str, ...]]:
    """The loss of a target with these values, and a note where it might be another: least squares for numbers, logistic
    for two texts or `CODES`, multinomial for more texts. Raises `InputError`."""
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


def loss_of_a_problem(target: str, values: Sequence[str], *, numeric: bool) -> tuple[str, float, tuple[str, ...]]:
    """The loss of `loss_of` with its penalty, for models that are trained by gradients; notes say both. Labels of more
    than two classes have no such loss: "least-squares", which refuses texts."""
    if not numeric and len(values) != 2:
        return "least-squares", 0.0, ()
    loss, notes = loss_of(target, values, numeric=numeric)
    if loss == "least-squares":
        return loss, 0.0, tuple(map(NOTE.format, notes))
    said = f"{target} has two values: loss logistic, penalty ({PENALTY:g}/2) |theta|^2; as numbers: least-squares"
    return loss, PENALTY, (NOTE.format(said),)


def encoded(sites: Sites) -> tuple[Encoding, list[np.ndarray], list[np.ndarray]]:
    """X (n, q) and y (n,) of every site whose rows were kept, which are gone afterwards."""
    design, rows = sites.design, sum(site.count for site in sites.sites)
    total = sum(X.sum(0) for X, *_ in chain.from_iterable(site.pieces for site in sites.sites))
    encoding, kept = Encoding.of(design.names, *design.categories, total / rows), []
    for site in sites.sites:
        X, y, _ = site.rows()
        site.pieces.clear()  # its memory serves for what is made of it
        kept.append((encoding.encoded(X), y))
    return encoding, [X for X, _ in kept], [y for _, y in kept]


def encoded_tables(
    source: Source, drop: Sequence[str], memory: Memory, *, classes: bool | None, divided: bool
) -> tuple[list[Table], ColumnFacts]:
    """Tables with one column per level but the most frequent, gaps by the mean and a column of their own, and what is
    in the column of targets. Clients are in order of appearance; rows without a client or a target are left out. The
    target may be texts where they are `classes`, or, where that is not known, two. Raises `InputError`.
    """

    found = ColumnFacts()

    def labels(seen: ColumnFacts) -> tuple[str, ...]:
        nonlocal found
        found = seen
        if not (seen.numeric or (len(seen.levels) == 2 if classes is None else classes)):
            raise _no_numbers(source.target, seen)
        return () if seen.numeric else tuple(sorted(seen.levels))

    memory = Memory(memory.limit)  # of the table as it is made, which takes the place of the one that was read
    how: dict[str, Any] = {"drop": drop, "memory": memory, "keep": True, "divided": divided}
    sites = sites_of(source.frames, source.client, source.target, labels, **how)
    encoding, X, y = encoded(sites)
    notes = (*map(CHANGED.format, sites.design.remarks(encoding)), *map(NOTE.format, (*sites.notes, *source.notes)))
    if sites.classes:
        y = [np.array(sites.classes)[each.astype(int)] for each in y]
    more: dict[str, Any] = {"columns": encoding.columns, "notes": notes, "fills": encoding.gaps}
    return [Table(name=name, X=rows, y=each, **more) for name, rows, each in zip(sites.names, X, y)], found


def _no_numbers(target: str, answer: ColumnFacts) -> InputError:
    levels = list(answer.levels)
    if 2 < len(levels) <= MOST_LEVELS and not any(map(NUMBER.fullmatch, levels)):
        more = f"suffice fit takes more, or set one against the others: --loss logistic --positive {levels[0]}"
        return InputError(f"column {target}", f"{len(levels)} classes", f"plans are for numbers or two classes: {more}")
    place = f"{target} in {answer.place}" if answer.text else f"column {target}"
    remedy = "give a number; for two classes use loss logistic (few rows: also regularisation 0.1)"
    return InputError(place, answer.text or next(iter(levels), "missing"), remedy)
