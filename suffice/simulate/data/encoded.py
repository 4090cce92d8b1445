"""A table of any columns as one table of numbers per client, categories and gaps encoded as `suffice.fit` does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from suffice.support.errors import InputError
from suffice.support.memory import Memory

from .cells import NUMBER
from .design import CHANGED, MOST_LEVELS, NOTE, Design, Facts, check_roles
from .encoding import Encoding
from .frame import Frame
from .site_rows import left_rows, rows_of_each
from .table import Table, check_clients


def encoded_tables(
    frames: Iterable[Frame], client: str, target: str, drop: Sequence[str], memory: Memory, *, classes: bool | None
) -> list[Table]:
    """One column per level but the most frequent, gaps by the mean and a column of their own. Clients in order of
    appearance; rows without a target are left out. The target may be texts where they are
    `classes`, or, where that is not known, two.

    One pass: of every piece the columns are kept that may become numbers. Raises `InputError`.
    """
    roles = {"client": client, "target": target}
    facts: dict[str, Facts] = {}
    pieces = [_seen(frame, facts, roles) for frame in frames]
    for seen in facts.values():
        seen.settle()
    check_roles(facts, roles, drop)
    answer = facts[target]
    if classes is None:
        classes = len(answer.levels) == 2
    if not (classes or answer.numeric):
        text = answer.text or next(iter(answer.levels), "missing")
        place = f"{target} in {answer.place}" if answer.text else f"column {target}"
        levels = list(answer.levels)
        if 2 < len(levels) <= MOST_LEVELS and not any(map(NUMBER.fullmatch, levels)):
            more = f"suffice fit takes more, or set one against the others: --loss logistic --positive {levels[0]}"
            wrong = f"{len(levels)} classes"
            raise InputError(f"column {target}", wrong, f"plans are for numbers or two classes: {more}")
        remedy = "give a number; for two classes use loss logistic (few rows: also regularisation 0.1)"
        raise InputError(place, text, remedy)
    check_clients(client, len(facts[client].levels))
    design = Design.of(facts, roles=roles.values(), drop=drop)
    more = len(design.columns) - len(facts)
    if more > 0:
        memory.take(f"{answer.rows} rows of {more} more columns", 8.0 * answer.rows * more)
    encoding = _encoding(pieces, target, design, numeric=answer.numeric)
    plain = encoding.columns == design.names
    parts: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    sites: dict[str, None] = {}
    left, before = 0, 0
    while pieces:
        frame = pieces.pop(0)  # its memory serves for what is made of it
        X, y, known = design.apply(frame), *_answers(frame, target, numeric=answer.numeric)
        X = X if plain else X @ encoding.matrix
        owners = frame.owners(client, before, facts[client].gaps.total())
        sites |= dict.fromkeys(owners.tolist())
        for name, mine in rows_of_each(owners, known):
            parts.setdefault(name, []).append((X[mine], y[mine]))
        left, before = left + int((~known).sum()), before + frame.rows
    if not parts:
        raise InputError(f"column {target}", "missing everywhere", "give rows with a target")
    notes = tuple(map(CHANGED.format, design.remarks(encoding)))
    empty = [name for name in sites if name not in parts]
    notes += tuple(map(NOTE.format, left_rows(left, empty, answer.gaps)))
    tables = []
    for name in list(parts):
        X, y = map(np.concatenate, zip(*parts.pop(name)))
        tables.append(Table(name=name, X=X, y=y, columns=encoding.columns, notes=notes, fills=encoding.gaps))
    return tables


def _seen(frame: Frame, facts: dict[str, Facts], roles: dict[str, str]) -> Frame:
    """A piece whose columns have been seen, without remarks: texts of too many kinds."""
    for name in frame.columns:
        facts.setdefault(name, Facts()).see(name, frame, roles["client"])
    kept = {
        name: values
        for name, values in frame.columns.items()
        if name in roles.values() or frame.numeric(name) or len(facts[name].levels) <= MOST_LEVELS
    }
    return replace(frame, columns=kept)


def _answers(frame: Frame, target: str, *, numeric: bool) -> tuple[np.ndarray, np.ndarray]:
    """The target of each row, numbers or texts, and whether there is one."""
    if numeric:
        y = frame.columns[target].astype(float)
        return y, ~np.isnan(y)
    texts = frame.texts(target)
    known = np.array([text is not None for text in texts.tolist()])
    return np.where(known, texts, "").astype(str), known


def _encoding(pieces: Sequence[Frame], target: str, design: Design, *, numeric: bool) -> Encoding:
    """What the means over all rows with a target say of gaps and levels; of numbers alone nothing."""
    levels, gaps = design.categories
    total, rows = np.zeros(len(design.columns)), 0
    for frame in pieces if levels or gaps else ():
        _, known = _answers(frame, target, numeric=numeric)
        total += design.apply(frame)[known].sum(0)
        rows += int(known.sum())
    return Encoding.of(design.names, levels, gaps, total / max(rows, 1))
