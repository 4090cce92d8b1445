"""The only two errors that a user causes. Both read as one line: what, which value, what to do."""

from __future__ import annotations

from typing import Any

from .text import printable


class SufficeError(ValueError):
    """The input has a mistake, told in one line. The command line prints it and exits with code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueError.__new__, (type(self), *self.args), vars(self)  # the same line, from another process too


class InputError(SufficeError):
    """An input is invalid: the message names the field, its value and a remedy."""

    def __init__(self, field: str, value: object, remedy: str) -> None:
        self.field, self.value, self.remedy = field, value, remedy
        shown = field if len(field) <= 160 else field[:157] + "..."
        super().__init__(f"{shown} = {_short(value)}: {remedy}")


class ConditionError(SufficeError):
    """A condition of a theorem fails: says which one, with both sides."""

    def __init__(self, theorem: str, condition: str, lhs: float, rhs: float, remedy: str) -> None:
        self.theorem, self.condition, self.lhs, self.rhs, self.remedy = theorem, condition, lhs, rhs, remedy
        shown = (f"{lhs:.6g}", f"{rhs:.6g}")
        left, right = shown if shown[0] != shown[1] else (repr(lhs), repr(rhs))
        super().__init__(f"{theorem} does not apply: {condition} fails ({left} > {right}); {remedy}")


def _short(value: object) -> str:
    if type(value).__module__.partition(".")[0] == "numpy" and getattr(value, "ndim", 1) == 0:
        value = getattr(value, "item")()  # noqa: B009  # a NumPy scalar prints as a plain number
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a whole number of over 4300 digits, or a repr of somebody's own
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else text[:57] + "..."
