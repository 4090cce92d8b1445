"""A table of any columns as one table of numbers per client, categories and gaps encoded as `suffice.fit` does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .cells import NUMBER
from .design import CHANGED, MOST_LEVELS, NOTE, Facts, check_roles
from .encoding import Encoding
from .readers import Source
from .site_rows import facts_of, sites_of
from .table import Table, check_clients


def encoded_tables(
    source: Source, drop: Sequence[str], memory: Memory, *, classes: bool | None, divided: bool
) -> list[Table]:
    """One column per level but the most frequent, gaps by the mean and a column of their own. Clients in order of
    appearance; rows without a target are left out. The target may be texts where they are
    `classes`, or, where that is not known, two. Raises `InputError`.
    """
    client, target = source.client, source.target
    (facts, copies), roles = facts_of(source.frames(), client), {"client": client, "target": target}
    check_roles(facts, roles, drop)
    answer = facts[target]
    if not (answer.numeric or (len(answer.levels) == 2 if classes is None else classes)):
        raise _no_numbers(target, answer)
    check_clients(client, len(facts[client].levels))
    if gaps := facts[client].gaps.total():
        more = f" (and in {gaps - 1} more row{'s' if gaps > 2 else ''})" if gaps > 1 else ""
        said = "reads as missing" if facts[client].mark else "is empty"
        remedy = f"{said}{more}; name the site of every row"
        raise InputError(f"{client} in {facts[client].gap}", facts[client].mark, remedy)
    labels = () if answer.numeric else tuple(sorted(answer.levels))
    memory = Memory(memory.limit)  # of the table as it is made, which takes the place of the one that was read
    sites = sites_of(source.frames, facts, roles, drop=drop, classes=labels, memory=memory, keep=True, divided=divided)
    design, rows = sites.design, sum(site.count for site in sites.sites)
    total = sum(X.sum(0) for X, *_ in chain.from_iterable(site.pieces for site in sites.sites))
    encoding = Encoding.of(design.names, *design.categories, total / rows)
    notes = (*map(CHANGED.format, design.remarks(encoding)), *map(NOTE.format, (*sites.notes, *copies, *source.notes)))
    tables = []
    for site in sites.sites:
        X, y, _ = site.rows()
        site.pieces.clear()  # its memory serves for what is made of it
        X = X if encoding.columns == design.names else X @ encoding.matrix
        y = np.array(labels)[y.astype(int)] if labels else y
        tables.append(Table(name=site.name, X=X, y=y, columns=encoding.columns, notes=notes, fills=encoding.gaps))
    return tables


def _no_numbers(target: str, answer: Facts) -> InputError:
    levels = list(answer.levels)
    if 2 < len(levels) <= MOST_LEVELS and not any(map(NUMBER.fullmatch, levels)):
        more = f"suffice fit takes more, or set one against the others: --loss logistic --positive {levels[0]}"
        return InputError(f"column {target}", f"{len(levels)} classes", f"plans are for numbers or two classes: {more}")
    place = f"{target} in {answer.place}" if answer.text else f"column {target}"
    remedy = "give a number; for two classes use loss logistic (few rows: also regularisation 0.1)"
    return InputError(place, answer.text or next(iter(levels), "missing"), remedy)
