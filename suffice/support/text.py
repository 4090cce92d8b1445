"""Text that came from a user, on its way to a terminal or into a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""C0, DEL, C1; line separators, and what reorders text from there on."""
_QUOTED = '[{}"\r\n]'
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")


def printable(text: str) -> str:
    """`text` with control characters, newlines too, as \\x1b or \\u202e: it moves no cursor and forges no line."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def csv_text(rows: Iterable[Sequence[object]], separator: str = ",", decimal: str = ".") -> str:
    """`rows` as CSV. A text that a spreadsheet would run as a formula gets a leading apostrophe; numbers do not."""
    quoted = re.compile(_QUOTED.format(separator))
    return "".join(separator.join(_cell(value, quoted, decimal) for value in row) + "\n" for row in rows)


def unguarded(cell: str) -> str:
    """The text that `csv_text` wrote as `cell`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _cell(value: object, quoted: re.Pattern[str], decimal: str) -> str:
    text = "" if value is None else str(value).replace(".", decimal) if isinstance(value, float) else str(value)
    if isinstance(value, str) and _FORMULA.match(text) and not _is_number(text.replace(decimal, ".")):
        text = "'" + text
    # not by csv.writer, which before Python 3.13 leaves a carriage return unquoted and then cannot read it
    return '"{}"'.format(text.replace('"', '""')) if quoted.search(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
