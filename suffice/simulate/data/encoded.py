"""A table of any columns as one table of numbers per client, categories and gaps encoded: what `suffice.fit` reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from suffice.support.errors import InputError

from .design import CHANGED, NOTE, Design, check_roles
from .encoding import Encoding, pooled_mean
from .folds import Fold
from .frame import Frame
from .site_rows import facts_of, left_rows
from .table import Asked, Table, check_clients


def encoded_tables(frames: Callable[[], Iterator[Frame]], asked: Asked) -> list[Table]:
    """As `suffice.fit` reads them: one column per level but the most frequent, gaps by the mean and a column of their
    own. Clients in order of appearance, or without `client` one table; rows without a target are left out. Raises
    `InputError`."""
    client, target, roles = asked.client, asked.target, asked.roles
    facts = facts_of(frames(), client)
    check_roles(facts, roles, asked.drop)
    if not (asked.text_target or facts[target].numeric):
        remedy = "give numbers, or use loss logistic for two classes (few rows: also use regularisation 0.1)"
        raise InputError(f"column {target}", next(iter(facts[target].levels), "missing"), remedy)
    design = Design.of(facts, roles=roles.values(), drop=asked.drop)
    total = facts[target].rows
    asked.memory.take(f"{total} rows of {len(design.columns)} columns", 8.0 * total * len(design.columns))
    blocks, owners, answers, seen = [], [], [], 0
    for frame in frames():
        blocks.append(design.apply(frame))
        answers.append(frame.columns[target] if facts[target].numeric else frame.texts(target))
        if client is not None:
            owners.append(frame.owners(client, seen, facts[client].gaps.total()))
        seen += frame.rows
    levels, gaps = design.categories
    X, answer = np.concatenate(blocks), np.concatenate(answers)
    if facts[target].numeric:
        y = answer = answer.astype(float)
        known = ~np.isnan(y)
    else:
        known = np.array([value is not None for value in answer.tolist()])
        y = np.where(known, answer, "").astype(str)
    if not known.any():
        raise InputError(f"column {target}", "missing everywhere", "give rows with a target")
    encoding = Encoding.of(design.names, levels, gaps, pooled_mean([[Fold.of(X[known], np.zeros(known.sum()))]])[:-1])
    X, notes = X @ encoding.matrix, tuple(CHANGED.format(note) for note in design.remarks(encoding))
    if client is None:
        notes = (*notes, *map(NOTE.format, left_rows(int((~known).sum()), (), facts[target].gaps)))
        return [Table(name="", X=X[known], y=y[known], columns=encoding.columns, notes=notes)]
    owner = np.concatenate(owners)
    names = list(dict.fromkeys(owner[known].tolist()))
    check_clients(client, len(names))
    empty = [str(name) for name in dict.fromkeys(owner.tolist()) if name not in names]
    notes = (*notes, *map(NOTE.format, left_rows(int((~known).sum()), empty, facts[target].gaps)))
    return [
        Table(name=name, X=X[mine], y=y[mine], columns=encoding.columns, notes=notes)
        for name, mine in ((name, known & (owner == name)) for name in names)
    ]
