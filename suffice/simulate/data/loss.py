"""The loss that a target asks for where none is named, and its penalty: one guess for all that read a table."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.support.errors import InputError

from .design import MOST_LEVELS, NOTE

PENALTY = 0.1
"""r in (r/2) |theta|^2 for two classes: few rows are often separable, and then have no minimiser without."""
CODES = ({0, 1}, {-1, 1}, {1, 2})
"""Two numbers that stand for classes; any other two are numbers."""
MANY_CLASSES = 20
"""More classes than that are hardly meant, and take minutes."""


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
