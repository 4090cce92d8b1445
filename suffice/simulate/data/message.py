"""A site's message as a small JSON: what it sends instead of its rows, and nothing else."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole
from suffice.support.numbers import as_number, as_numbers, as_whole
from suffice.support.tables import some
from suffice.support.text import printable

from .design import Column, Design
from .folds import FOLDS, Fold
from .memory import as_path, whole
from .site_rows import Rows, Sites

KIND = "suffice message, version 1"
HIDDEN = "numbers of rows, means and second moments of the columns; no single row"
LONGEST = 1000
"""Characters of a file in which its kind stands."""
LARGEST = 100_000_000
"""A message of more bytes is refused."""


class FoldRecord(msgspec.Struct, forbid_unknown_fields=True):
    rows: float
    mean: list[float]
    products: list[float]


class Record(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    site: str
    target: str
    count: int
    columns: list[Column]
    folds: list[FoldRecord]
    reveals: str
    left_out: list[tuple[str, str]] = []


@dataclass(frozen=True, kw_only=True)
class Message:
    """What one site says of its rows: per fold their number, the means of all columns and of the target, and the
    centred products of each pair; `folds` holds five, or one for all rows. `reveals` says what can be learnt from
    it."""

    site: str
    target: str
    count: int
    design: Design
    folds: tuple[Fold, ...]
    reveals: str

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
            wrong = fold.wrong(self.count)
            if wrong:
                raise InputError(where, f"a fold of {fold.rows:g} rows", wrong)
        if total != self.count or any(fold.rows % 1 for fold in self.folds):
            raise InputError(f"rows of the {where}", total, f"do not add up to its count {self.count}")
        levels = [at for at, column in enumerate(design.columns) if column.gap or column.level is not None]
        for fold in self.folds:  # of zeros and ones
            mean = fold.mean[levels]
            apart = np.abs(np.diagonal(fold.products)[levels] - fold.rows * mean * (1 - mean))
            if (apart > (self.count + 10) * np.finfo(float).eps * fold.rows).any():
                name = design.names[levels[int(apart.argmax())]]
                raise InputError(where, name, "its mean and its square are not those of zeros and ones")

    @property
    def numbers(self) -> int:
        """How many numbers are sent."""
        return numbers_of(len(self.folds), self.design)

    def to_json(self) -> str:
        record = Record(
            kind=KIND,
            site=self.site,
            target=self.target,
            count=self.count,
            columns=list(self.design.columns),
            folds=[
                FoldRecord(
                    rows=fold.rows,
                    mean=fold.mean.tolist(),
                    products=fold.products[np.tril_indices(len(fold.mean))].tolist(),
                )
                for fold in self.folds
            ],
            reveals=self.reveals,
            left_out=list(self.design.left_out),
        )
        return json.dumps(msgspec.to_builtins(record), indent=1)

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


def numbers_of(folds: int, design: Design) -> int:
    """In a message of so many folds: of each its rows, and the means and products of all columns and the target."""
    p = len(design.columns) + 1
    return folds * (1 + p + p * (p + 1) // 2)


def message_of(sites: Sites, *, reveal: bool) -> Message:
    """The message of a single site. Five folds only where each has more rows than a model coefficients, or with
    `reveal`: a fold of one row is that row, and one of a few rows comes close."""
    if len(sites.sites) != 1:
        raise InputError(
            "site", f"{len(sites.sites)} sites", "summarise one site at a time: name it by site, or client"
        )
    (site,) = sites.sites
    sources = [column.source for column in sites.design.columns]
    for column in sites.design.columns:
        if column.level == site.name and sources.count(column.source) == 1:
            remedy = f"it names the site in every row and is no predictor; give client={column.source!r}, or drop it"
            raise InputError(f"column {column.source}", column.level, remedy)
    least = len(sites.design.columns) + 2
    folds = tuple(site.folds)
    if not reveal and min(fold.rows for fold in folds) < least:
        joined = folds[0]
        for fold in folds[1:]:
            joined = joined.joined(fold)
        folds = (joined,)
        if joined.rows < 2:
            remedy = "its message is one row, or nearly; merge it with another site, or opt in by reveal"
            raise InputError(f"rows of site {site.name}", float(f"{joined.rows:.3g}"), remedy)
    fewest = min(fold.rows for fold in folds)
    if fewest < least:
        reveals = f"a part of {fewest:g} rows has fewer than a model has coefficients: single rows may be recovered"
    else:
        reveals = HIDDEN
    return Message(
        site=site.name, target=sites.target, count=site.count, design=sites.design, folds=folds, reveals=reveals
    )


def read_message(path: str | Path) -> Message:
    """A message from its file, or `InputError`."""
    path = as_path("message", path)
    content = whole(path, field="message", most=LARGEST)
    try:
        record = msgspec.json.decode(content, type=Record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        remedy = f"not a message of a site: {error}"
        if b'"suffice models, version' in content[:LONGEST]:
            remedy = "these are saved models, and no site can be added to them: fit the messages of all sites anew"
        raise InputError("message", str(path), remedy) from None
    if record.kind != KIND:
        raise InputError("message", str(path), f"this is {record.kind!r}, not {KIND!r}")
    p = len(record.columns) + 1
    folds = []
    for fold in record.folds:
        if len(fold.mean) != p or len(fold.products) != p * (p + 1) // 2:
            raise InputError("message", str(path), f"a fold does not have {p} means and {p * (p + 1) // 2} products")
        products = np.zeros((p, p))
        products[np.tril_indices(p)] = fold.products
        products = products + np.tril(products, -1).T
        folds.append(Fold(rows=fold.rows, mean=np.array(fold.mean), products=products))
    try:
        return Message(
            site=record.site,
            target=record.target,
            count=record.count,
            design=Design(columns=tuple(record.columns), left_out=tuple(record.left_out)),
            folds=tuple(folds),
            reveals=record.reveals,
        )
    except InputError as error:
        raise InputError(f"{path.name}: {error.field}", error.value, error.remedy) from None


def sites_of_messages(messages: Sequence[Message]) -> Sites:
    """All sites in the columns of any of them; a column that a site does not have is 0 in its rows, as a level that no
    row has. Raises `InputError` where that cannot be: a number that a site lacks."""
    names = [message.site for message in messages]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("messages", twice, "two messages of one site; give one each")
    targets = sorted({message.target for message in messages})
    if len(targets) > 1:
        raise InputError("target", targets, "the messages are about different targets")
    known: dict[str, Column] = {}
    order: list[str] = []
    for message in messages:
        for at, column in enumerate(message.design.columns):
            if known.setdefault(column.name, column) != column:
                raise InputError(f"column {column.name}", "different kinds", "give it the same kind at all sites")
            if column.name not in order:
                before = message.design.names[:at]
                place = max((order.index(name) for name in before if name in order), default=-1) + 1
                order.insert(place, column.name)
    columns = tuple(known[name] for name in order)
    for column in columns:
        if column.level is None and not column.gap:
            _check_everywhere(column.name, messages)
    sites = []
    for message in messages:
        matrix = np.zeros((len(message.design.columns) + 1, len(columns) + 1))
        for at, name in enumerate(message.design.names):
            matrix[at, order.index(name)] = 1.0
        matrix[-1, -1] = 1.0
        folds = [fold.mapped(matrix) for fold in message.folds]
        sites.append(Rows(name=message.site, count=message.count, folds=folds))
    left_out = dict(pair for message in messages for pair in message.design.left_out)
    design = Design(columns=columns, left_out=tuple(left_out.items()))
    return Sites(sites=tuple(sites), design=design, target=targets[0])


def _check_everywhere(number: str, messages: Sequence[Message]) -> None:
    """Refuse a number that some sites do not have, naming the fewer of those that have it and those that do not."""
    having = [message.site for message in messages if number in message.design.names]
    lacking = [message.site for message in messages if number not in message.design.names]
    if lacking:
        who = f"only {some(having)} sent it" if len(having) <= len(lacking) else f"{some(lacking)} did not send it"
        remedy = f"{who}; either all sites send it, or none does (summarise(..., drop=[{number!r}]))"
        raise InputError(f"column {number}", f"{len(having)} of {len(messages)} sites", remedy)
