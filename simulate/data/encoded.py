"""A data frame or mapping of columns as one table of numbers per client, categories and gaps encoded."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.bounds import InputError, Memory
from suffice.bounds.population import Fold
from suffice.bounds.population.encoding import Encoding, pooled_mean

from .design import Design
from .frame import frame_of
from .site_rows import facts_of
from .table import Table, check_clients


def encoded_tables(source: Any, *, client: str, target: str, text_target: bool, memory: Memory) -> list[Table]:
    """As `suffice.fit` reads them: one column per level but the most frequent, gaps by the mean and a column of their
    own. Clients in order of appearance; rows without a target are left out. Raises `InputError`."""
    frame = frame_of(source)
    for role, name in (("client", client), ("target", target)):
        if name not in frame.columns:
            raise InputError(role, name, f"no such column; columns: {', '.join(list(frame.columns)[:12])}")
    design = Design.of(facts_of([frame]), roles=(client, target))
    memory.take(f"{frame.rows} rows of {len(design.columns)} columns", 8.0 * frame.rows * len(design.columns))
    X = design.apply(frame)
    levels, gaps = design.categories
    encoding = Encoding.of(design.names, levels, gaps, pooled_mean([[Fold.of(X, np.zeros(len(X)))]])[:-1])
    X = X @ encoding.matrix
    if not (text_target or frame.numeric(target)):
        given = next((text for text in frame.texts(target).tolist() if text is not None), "missing")
        raise InputError(f"column {target}", given, "give numbers, or use loss logistic for two classes")
    owners = frame.texts(client)
    if any(owner is None for owner in owners.tolist()):
        raise InputError(client, "missing", "name the client of every row")
    answers = frame.columns[target]
    known = ~np.isnan(answers) if frame.numeric(target) else np.array([value is not None for value in answers.tolist()])
    y = answers if frame.numeric(target) else np.where(known, answers, "").astype(str)
    names = list(dict.fromkeys(owners[known].tolist()))
    check_clients(client, len(names))
    return [
        Table(name=name, X=X[mine], y=y[mine], columns=encoding.columns)
        for name, mine in ((name, known & (owners == name)) for name in names)
    ]
