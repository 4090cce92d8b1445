"""A table of any columns as one table of numbers per client, categories and gaps encoded as `suffice.fit` does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .cells import NUMBER
from .design import CHANGED, MOST_LEVELS, NOTE, ColumnFacts
from .encoding import Encoding
from .site_rows import Sites, sites_of
from .source import Source
from .table import Table


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
