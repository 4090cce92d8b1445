"""Sites from whatever holds their rows (`source`), and the loss that their target asks for: one guess for all readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

from .design import MOST_LEVELS, NOTE, ColumnFacts
from .memory import MAX_MEMORY, Memory
from .site_rows import Sites, sites_of
from .source import source_of

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
