"""A site's message as a small JSON: what it sends instead of its rows, and nothing else."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole
from suffice.support.numbers import as_number, as_numbers, as_whole
from suffice.support.tables import some
from suffice.support.text import printable

from .design import Column, Design
from .folds import FOLDS, Sums
from .memory import as_path, whole
from .sites import Sites

KIND = "suffice message, version 1"
HIDDEN = "numbers of rows, means and second moments of the columns; no single row"
LARGEST = 100_000_000
"""A message of more bytes is refused."""


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag=KIND):
    """The sums of one site's rows: per fold their number, the means of all columns and of the target, and the
    centred products of each pair; `folds` holds five, or one for all rows. `reveals` says what can be learnt from
    it."""

    site: str
    target: str
    count: int
    columns: tuple[Column, ...]
    folds: tuple[Sums, ...]
    reveals: str
    left_out: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """`InputError` unless some rows may have these sums: whoever adds them up cannot look at the rows."""
        where, design = f"message of {self.site}", self.design
        names = [self.site, self.target, *design.names, *(column.source for column in design.columns)]
        unreadable = [name for name in names if not name.strip() or printable(name) != name]
        if unreadable:
            raise InputError(where, unreadable[0], "a name without letters, or with control characters; change it")
        if len(self.folds) not in (1, FOLDS):
            raise InputError(where, len(self.folds), f"{len(self.folds)} folds; a message has {FOLDS}, or one")
        as_whole(f"count of the {where}", self.count)
        p, total = len(design.columns) + 1, sum(fold.rows for fold in self.folds)
        for fold in self.folds:
            as_number(f"rows of the {where}", fold.rows)
            as_numbers(f"means of the {where}", fold.mean, (p,))
            as_numbers(f"products of the {where}", fold.products, (p, p))
            if wrong := fold.wrong(self.count):
                raise InputError(where, f"a fold of {fold.rows:g} rows", wrong)
        if total != self.count or any(fold.rows % 1 for fold in self.folds):
            raise InputError(f"rows of the {where}", total, f"do not add up to its count {self.count}")

    @property
    def design(self) -> Design:
        return Design(columns=self.columns, left_out=self.left_out)

    @property
    def numbers(self) -> int:
        """How many numbers are sent."""
        return self.design.numbers(len(self.folds))

    def to_json(self) -> str:
        """The message as JSON, with the lower triangle of each fold's products."""
        lower = lambda array: (array[np.tril_indices(len(array))] if array.ndim == 2 else array).tolist()  # noqa: E731
        return msgspec.json.format(msgspec.json.encode(self, enc_hook=lower), indent=1).decode()

    def write(self, path: str | Path) -> Path:
        """To a file, whole or not at all. Warns where single rows may be recovered though nobody opted in by
        `reveal`: five folds of so few rows are sent only with it."""
        path = Path(path)
        if len(self.folds) < FOLDS and self.reveals != HIDDEN:
            warnings.warn(
                f"{path.name}: {self.reveals}; merge {self.site} with another site, or drop columns", stacklevel=2
            )
        make_folder(path.parent, "path")
        return write_whole(path, self.to_json().encode())


def message_of(sites: Sites, *, reveal: bool) -> Message:
    """The message of a single site. Five folds only where each has more rows than a model coefficients, or with
    `reveal`: a fold of one row is that row, and one of a few rows comes close."""
    if len(sites.names) != 1:
        remedy = "summarise one site at a time: name it by site, or client"
        raise InputError("site", f"{len(sites.names)} sites", remedy)
    site, design, count = sites.names[0], sites.design, int(sites.counts[0])
    sources = [column.source for column in design.columns]
    for column in design.columns:
        if column.level == site and sources.count(column.source) == 1:
            remedy = f"it names the site in every row and is no predictor; give client={column.source!r}, or drop it"
            raise InputError(f"column {column.source}", column.level, remedy)
    least, folds = len(design.columns) + 2, tuple(sites.sums[0, f] for f in range(FOLDS))
    if not reveal and min(fold.rows for fold in folds) < least:
        rows, mean, products = sites.sums.sites
        folds = (Sums(rows=rows, mean=mean, products=products)[0],)
        if count < 2:
            remedy = "its message is one row, or nearly; merge it with another site, or opt in by reveal"
            raise InputError(f"rows of site {site}", float(count), remedy)
    fewest, reveals = min(fold.rows for fold in folds), HIDDEN
    if fewest < least:
        reveals = f"a part of {fewest:g} rows has fewer than a model has coefficients: single rows may be recovered"
    known: dict[str, Any] = {"columns": design.columns, "left_out": design.left_out, "reveals": reveals}
    return Message(site=site, target=sites.target, count=count, folds=folds, **known)


def read_message(path: str | Path) -> Message:
    """A message from its file, or `InputError`."""
    path = as_path("message", path, "give messages (suffice.summarise) or paths of their files")
    content = whole(path, field="message", most=LARGEST)
    numbers = lambda kind, values: as_numbers("numbers of a fold", values, ("n",))  # noqa: E731
    try:
        return msgspec.json.decode(content, type=Message, dec_hook=numbers)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        remedy = f"not a message of a site: {error}"
        if b'"suffice models, version' in content:
            remedy = "these are saved models, and no site can be added to them: fit the messages of all sites anew"
        raise InputError("message", str(path), remedy) from None


def sites_of_messages(messages: Sequence[Message]) -> Sites:
    """All sites in the columns of any of them; a column that a site does not have is 0 in its rows, as a level that no
    row has. Raises `InputError` where that cannot be: a number that a site lacks."""
    names = [message.site for message in messages]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise InputError("messages", twice[0], "two messages of one site; give one each")
    targets = sorted({message.target for message in messages})
    if len(targets) > 1:
        raise InputError("target", targets, "the messages are about different targets")
    known: dict[str, Column] = {}
    for column in (column for message in messages for column in message.columns):
        if known.setdefault(column.name, column) != column:
            raise InputError(f"column {column.name}", "different kinds", "give it the same kind at all sites")
    for number in (column.name for column in known.values() if column.level is None and not column.gap):
        lacking = [message.site for message in messages if number not in message.design.names]
        if lacking:
            having = [name for name in names if name not in lacking]
            who = f"only {some(having)} sent it" if len(having) <= len(lacking) else f"{some(lacking)} did not send it"
            remedy = f"{who}; either all sites send it, or none does (summarise(..., drop=[{number!r}]))"
            raise InputError(f"column {number}", f"{len(having)} of {len(messages)} sites", remedy)
    place = {name: at for at, name in enumerate(known)}
    placed = [np.eye(len(known))[[place[name] for name in message.design.names]] for message in messages]
    folds = [[fold.mapped(matrix) for fold in message.folds] for message, matrix in zip(messages, placed)]
    left_out = dict(pair for message in messages for pair in message.left_out)
    design = Design(columns=tuple(known.values()), left_out=tuple(left_out.items()))
    counts = np.array([message.count for message in messages])
    return Sites(names=tuple(names), counts=counts, sums=Sums.of(folds), design=design, target=targets[0])
