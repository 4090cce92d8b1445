"""A table in a text file, read in pieces: which line is the header and what separates cells is found here, polars takes
the rows apart. Cells come as texts, of which `cells` makes numbers, and `site_source` the rows of each site."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from io import StringIO, TextIOWrapper
from itertools import islice, product
from pathlib import Path
from typing import IO

import numpy as np
import polars
from polars import Categorical, DataFrame, Float64, Series, zeros

from suffice.support.errors import InputError

from .cells import MISSING, NUMBER
from .frame import Frame, check_columns
from .memory import LONGEST_LINE, opened

NAMED, _OPEN = (re.compile(rf"\.({kinds})(\.gz|\.bz2)?$", re.IGNORECASE) for kinds in ("csv|tsv", "txt|dat|tab"))
"""Names of tables, and of files that are tables unless their first line begins with a number, as LIBSVM's do."""
INDEX = "(no name)"
"""The name of a first column without one: an index that a data frame wrote."""
INDEXES = (INDEX, "", "Unnamed: 0")
"""Names of such a column, in a file, in a data frame, and in one that pandas read from a file."""
PIECE = 3 << 22
"""Characters that are read at a time: what is asked of a column takes as long in few rows as in many."""
BLANKS = " "
csv.field_size_limit(LONGEST_LINE)  # a row that is tried with a mark that it does not have is one field
END = "\x01"
HEAD = 20
"""A header has at most so many lines."""
PLAIN = "thousands without a mark, or separate the columns by commas and write decimals with points"
_OTHERS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1", b"\x1f\x8b")
"""How workbooks, Parquet and compressed files begin."""
_SEP = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
_QUOTED = re.compile(r'("[^"]*")|[ \t]+')
_DECIMAL = {mark: rf"^\s*[-+]?(\d+[{mark}]\d*|[{mark}]\d+)([eE][-+]?\d+)?\s*$" for mark in ".,"}
COMMA = r"^(\s*[-+]?)(?:(\d+),(\d*)|,(\d+))((?:[eE][-+]?\d+)?\s*)$"
"""A number whose decimals a comma separates."""
_GROUPED = r"^\s*[-+]?[1-9]\d{0,2}[.,]\d{3}\s*$"
"""Either a number with three decimals or thousands."""


def is_csv(path: Path) -> bool:
    """Whether a file is read as a table of text, by its name, or by its first line where the name leaves it open."""
    if not (_OPEN.search(path.name) and path.is_file()):
        return NAMED.search(path.name) is not None
    with text_of(path) as text:
        first = re.split(r"[,;\t| ]", text.readline(LONGEST_LINE).strip())[0]
    return not NUMBER.fullmatch(first)


@contextmanager
def text_of(path: Path) -> Generator[IO[str]]:
    """The text of a file, unpacked, with line feeds at the ends of lines; `InputError`, also for what reading it inside
    the block meets."""
    try:
        with opened(path) as stream:
            begin = getattr(stream, "peek")(256)[:256]  # noqa: B009
            if begin.startswith(_OTHERS):
                ways = "Hand in a data frame, name it .gz, or save it as CSV"
                raise InputError("path", str(path), f"no text: a workbook, Parquet, compressed? {ways}")
            with TextIOWrapper(stream, _encoding(begin), newline=None) as text:
                yield text
    except UnicodeError as error:
        content, at = (error.object, error.start) if isinstance(error, UnicodeDecodeError) else (b"", 0)
        near = re.split(r"[\r\n,;\t|]", content[max(at - 20, 0) : at].decode("latin-1"))[-1]
        near += re.split(r"[\r\n,;\t|]", content[at : at + 20].decode("latin-1"))[0]
        remedy = f"not UTF-8 text (Latin-1, as near {near!r}?): save the table as UTF-8 CSV"
        raise InputError("path", str(path), remedy) from None


def _encoding(begin: bytes) -> str:
    """UTF-16 by its mark, or by zeros in every other byte, else UTF-8."""
    if begin[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    even, odd = (4 * begin[first::2].count(0) > len(begin[first::2]) for first in (0, 1))
    return "utf-8-sig" if even == odd else "utf-16-be" if even else "utf-16-le"


class TextFile:
    """`separator` of the columns, whose names are in `header`, and `mark`, what separates the cells of `_texts`; rows
    begin behind line `start`; `decimal`, the mark of numbers such as 1.5 or 1,5. Columns that are not to be `read` may
    hold anything, those of `names` are texts."""

    def __init__(
        self, path: Path, read: Callable[[str], bool] = lambda name: True, names: Collection[str] = ()
    ) -> None:
        """Commas, semicolons, tabs or bars separate, whichever the header and the first row have alike, or blanks where
        they have none of these; or what Excel's line `sep=;` says. Lines before the header that begin with # are
        comments; the last is the header where it has as many names as the first row, with numbers, has cells.

        `InputError` where that is ambiguous, or the mark of decimals in the columns that are `read` is: both, or one
        that only ever stands before three digits.
        """
        self.path, self.read, self.names = path, read, names
        with text_of(path) as text:
            said, (head, self.start), first = _head(path, text)
        separator = said or _separator(head, first)
        header, row = _cells(head, separator), _cells(first, separator)
        if len(row) == len(header) + 1:
            if not row[-1].strip():
                known = f"The header has {len(header)}: delete it, or name all"
                remedy = f"a separator too many at its end, or an index? {known}"
                raise InputError(f"line {self.start + 1} of {path.name}", f"{len(row)} fields", remedy)
            header = [INDEX, *header] if header[0].strip() else header
        self.header = tuple(_names(header))
        self.separator, self.mark = separator, "\t" if separator == BLANKS else separator
        self.decimal = "." if separator == "," else self._decimal()

    def _decimal(self) -> str:
        found: dict[str, tuple[str, str]] = {}  # of each mark the first place and cell
        sure = False
        for frame, lines in self.pieces():
            read = [cells for cells in frame.get_columns() if self.read(cells.name)]
            for cells, (mark, written) in product(read, _DECIMAL.items()):
                if not (sure and mark in found) and (rows := cells.str.contains(written)).any():
                    at = int(rows.arg_max() or 0)
                    found.setdefault(mark, (f"{cells.name} in line {lines[at]} of {self.path.name}", cells[at].strip()))
                    sure = sure or not cells.filter(rows).str.contains(_GROUPED).all()
            if len(found) > 1:
                (first, one), (place, cell) = found.values()
                remedy = f"but {first} = {one!r}: write all decimals with one mark and {PLAIN}; or drop a column"
                raise InputError(place, cell, remedy)
        if found and not sure:
            ((place, cell),) = found.values()
            remedy = "decimals or thousands? all such numbers of the file have three digits behind the mark: write"
            raise InputError(place, cell, f"{remedy} {PLAIN}")
        return next(iter(found), ".")

    def pieces(self) -> Iterator[tuple[DataFrame, Sequence[int]]]:
        """Rows as texts, with the number of the (last) line of each. Raises `InputError`."""
        for text, line in self._texts():
            if "\0" in text:
                place = f"line {line + text[: text.index(chr(0))].count(chr(10)) + 1} of {self.path.name}"
                raise InputError(place, "a zero byte", "is the file damaged? Save the table as UTF-8 CSV")
            frame, lines = self._fast(text, line) or self._slow(text, line)
            if len(lines):
                yield frame, lines

    def _texts(self) -> Iterator[tuple[str, int]]:
        """Many whole lines at a time, and how many came before."""
        with text_of(self.path) as text:
            for _ in range(self.start):
                text.readline(LONGEST_LINE)
            rest, line, more = "", self.start, True
            while more:
                new = text.read(PIECE)
                more, part = len(new) == PIECE, rest + new
                end = part.rfind("\n") + 1 if more else len(part)
                if more and part.count('"', 0, end) % 2 and len(part) < LONGEST_LINE:
                    end = 0  # a quoted cell goes on in the next line
                if end:
                    yield (_tabbed(part[:end]) if self.separator == BLANKS else part[:end]), line
                elif more and len(part) >= LONGEST_LINE:
                    raise InputError("path", str(self.path), f"not a table: a line of over {LONGEST_LINE} characters")
                line += part.count("\n", 0, end)
                rest = part[end:]

    def _fast(self, text: str, line: int) -> tuple[DataFrame, Sequence[int]] | None:
        """The rows of a text where each is a line of its own: a mark at the end of every line is in the last column
        just where all rows have as many cells as the header."""
        rows, empty = text.count("\n") + (not text.endswith("\n")), f"{self.mark * (len(self.header) - 1)}\n"
        if text.startswith(empty) or f"\n{empty}" in text:
            return None
        marked = text.removesuffix("\n").replace("\n", f"{self.mark}{END}\n") + self.mark + END
        schema = dict.fromkeys((*self.header, END), polars.String)
        try:
            frame = polars.read_csv(
                marked.encode(), has_header=False, separator=self.mark, empty_string_is_null=False, schema=schema
            )
        except polars.exceptions.PolarsError:
            return None
        whole = frame.height == rows and (frame.drop_in_place(END) == END).all()
        return (frame, range(line + 1, line + rows + 1)) if whole else None

    def _slow(self, text: str, line: int) -> tuple[DataFrame, Sequence[int]]:
        reader, rows, numbers = csv.reader(StringIO(text), delimiter=self.mark, strict=True), [], []
        try:
            for row in reader:
                blank = not "".join(row).strip()
                if len(row) == len(self.header) and not blank:
                    rows.append(row)
                    numbers.append(line + reader.line_num)
                elif not ((blank and len(row) in (0, 1, len(self.header))) or row[0].startswith("#")):
                    remedy = f"give {len(self.header)} fields, as the header in line {self.start} has"
                    if len(row) > len(self.header) and self.mark == ",":
                        remedy += "; where decimals have commas, write points, or separate the columns by semicolons"
                    place = f"line {line + reader.line_num} of {self.path.name}"
                    raise InputError(place, f"{len(row)} fields", remedy)
        except csv.Error as error:
            place = f"line {line + reader.line_num} of {self.path.name}"
            raise InputError(place, str(error), "not a CSV table: double the quotes in a cell, or drop them") from None
        schema = dict.fromkeys(self.header, polars.String)
        return polars.DataFrame(rows, schema=schema, orient="row"), numbers

    def frames(self) -> Iterator[Frame]:
        """The rows in pieces, anew at each call. Columns that are not to be `read` hold zeros, those of `names` texts
        as they stand, but for the decimal point of a whole number. Raises `InputError`."""
        empty = True
        for frame, lines in self.pieces():
            empty, cells = False, []
            for column in frame.get_columns():  # a frame looks up each name in a list
                name = column.name
                if not self.read(name):
                    cells.append(zeros(len(lines)).alias(name))
                elif name in self.names:
                    whole = column.str.strip_chars().str.replace(r"^([-+]?\d+)\.0*$", "$1")
                    cells.append(whole.cast(Categorical))
                else:
                    points = column.str.replace(COMMA, "$1$2.$3$4$5") if self.decimal == "," else column
                    cells.append(_plainly(points).alias(name))
            yield Frame(cells=frame.with_columns(cells), file=self.path.name, lines=np.asarray(lines))
        if empty:
            raise InputError("path", str(self.path), "give a header line and at least one row")


def _plainly(cells: Series) -> Series:
    """As numbers, where all cells are, or are empty: others may be names of gaps, which are counted, or, in other
    pieces, codes such as 01."""
    values = cells.cast(Float64, strict=False).to_numpy()
    rows = np.flatnonzero(np.isnan(values))
    codes = not (np.floor(values[:100]) < values[:100]).any() and cells.str.contains(r"^\s*0\d").any()
    return Series(values) if not codes and (not len(rows) or (cells.gather(rows) == "").all()) else cells


def _head(path: Path, text: IO[str]) -> tuple[str, tuple[str, int], str]:
    """The separator that a first line names, the header with the number of its last line, and the first row."""
    rows, said, comment = _lines(path, text), "", ("", 0)
    head = next(rows, ("", 0))
    if named := _SEP.fullmatch(head[0].strip(" ")):
        said, head = named[1], next(rows, ("", 0))
    while head[0].startswith("#"):
        comment, head = (head[0].lstrip("# "), head[1]), next(rows, ("", 0))
    found = [head, *islice(rows, HEAD - 1)]
    if comment[0]:
        bare, row = (re.sub('"[^"]*"', "q", line) for line in (comment[0], head[0]))
        mark = said or next((mark for mark in ",;\t|" if bare.count(mark) == row.count(mark) > 0), BLANKS)
        names, cells = _cells(comment[0], mark), _cells(head[0], mark)
        if len(names) == len(cells) > 1 and any(map(NUMBER.fullmatch, cells)) and not any(map(NUMBER.fullmatch, names)):
            found = [comment, *found]
    if len(found) < 2:
        raise InputError("path", str(path), "give a header line and at least one row")
    _check_begin(path, found)
    return said, found[0], found[1][0]


def _lines(path: Path, text: IO[str]) -> Iterator[tuple[str, int]]:
    """Lines that are not blank, with their numbers; a quoted cell may go on over the next ones. Raises `InputError`."""
    whole, number = "", 0
    for number, line in enumerate(iter(partial(text.readline, LONGEST_LINE), ""), 1):
        if len(line) == LONGEST_LINE:
            raise InputError("path", str(path), f"not a table: a line of over {LONGEST_LINE} characters")
        if "\0" in line and number < 3:
            raise InputError("path", str(path), "no text: save the table as UTF-8 CSV")
        whole += line
        if not whole.count('"') % 2 or whole.count("\n") == HEAD:
            if whole.strip():
                yield whole.rstrip("\n"), number
            whole = ""
    if whole.strip():
        yield whole, number


def _check_begin(path: Path, lines: Sequence[tuple[str, int]]) -> None:
    """`InputError` for text before the header, which has names only, as many as the last line has cells, of which some
    are numbers."""
    flat = [line.replace("\n", " ") for line, _ in lines]
    parts = [[[cell.strip() for cell in _cells(line, mark)] for line in flat] for mark in ",;\t|"]
    if any(len(rows[0]) == len(rows[-1]) > 1 and all(rows[0][1:]) for rows in parts):
        return
    for *rows, last in parts:
        for row, (line, number) in zip(rows[1:], lines[1:]):
            texts = [cell for cell in row if cell.lower() not in MISSING and not NUMBER.fullmatch(cell)]
            if len(texts) == len(last) > 1 and any(map(NUMBER.fullmatch, last)):
                begin = number - line.count("\n")
                remedy = f"text before the header? begin with line {begin}, or every line above it with #"
                raise InputError(f"line {lines[0][1]} of {path.name}", lines[0][0], remedy)


def _separator(head: str, first: str) -> str:
    bare, row = (re.sub('"[^"]*"', "q", line) for line in (head, first))
    marks = [mark for mark in ",;\t|" if mark in bare]
    if not marks:
        if len(bare.split()) > 1 and len(row.split()) - len(bare.split()) not in (0, 1):
            raise InputError("header", head, "separate the columns by commas, semicolons or tabs")
        return BLANKS if len(bare.split()) > 1 else ","
    if marks == ["\t"] and row.count("\t") != bare.count("\t") and len(row.split()) == len(bare.split()):
        return BLANKS
    alike = [mark for mark in marks if row.count(mark) == bare.count(mark)]
    marks = alike or [mark for mark in marks if row.count(mark) == bare.count(mark) + 1] or marks
    if "," not in marks and len(marks) > 1:
        raise InputError("header", bare.strip(), "separate the columns by semicolons or by tabs, not by both")
    return marks[0]


def _tabbed(text: str) -> str:
    """Cells that blanks separate, separated by tabs."""
    return _QUOTED.sub(lambda found: found[1] or "\t", re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text))


def _cells(line: str, separator: str) -> list[str]:
    line, separator = (_tabbed(line), "\t") if separator == BLANKS else (line, separator)
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # a quote that ends nowhere
        raise InputError("header", line[:40], "not a CSV table: double the quotes in a cell, or drop them") from None


def _names(header: list[str]) -> list[str]:
    """Names of columns, with single blanks; a first one without a name is called `INDEX`. Raises `InputError`."""
    header = [" ".join(name.split()) for name in header]
    header = header if header[0] else [INDEX, *header[1:]]
    first: dict[str, int] = {}
    for at, name in enumerate(header, 1):
        if not name:
            raise InputError(f"header, column {at}", "", "name every column, each once, or delete it")
        if first.setdefault(name, at) != at:
            raise InputError("header", name, f"columns {first[name]} and {at} have this name; name each once")
    check_columns(header)
    return header
