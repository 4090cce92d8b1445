"""Dividing one table among clients: contiguous:8, iid:8, dirichlet:8:0.1, labels:8, column:NAME."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_whole
from suffice.support.parse import nearest, parse_number

from .table import MOST_CLIENTS

KINDS = ("contiguous", "iid", "dirichlet", "labels")
USAGE = "write contiguous:8, iid:8, dirichlet:8:0.1, labels:8 or column:NAME"
MOST_CLASSES = 1000
FEWEST_ROWS = 2
"""Rows that a Dirichlet draw must leave every client; it is repeated up to `DRAWS` times."""
DRAWS = 1000


@dataclass(frozen=True, kw_only=True)
class Split:
    """How to divide: the kind, the number of clients, the concentration of `dirichlet`, the name of a column."""

    kind: str
    clients: int = 0
    concentration: float = 0.0
    column: str = ""


def parse_split(text: str) -> Split:
    """A split from its words, or `InputError`."""
    kind, *words = text.split(":") if isinstance(text, str) else ("",)
    column = ":".join(words)
    if kind == "column" and column.strip():
        return Split(kind=kind, column=column)
    if kind not in KINDS or len(words) != (2 if kind == "dirichlet" else 1):
        near = nearest(kind, (*KINDS, "column")) if kind not in (*KINDS, "column") else None
        raise InputError("split", text, f"did you mean {near}? {USAGE}" if near else USAGE)
    if not (words[0].isascii() and words[0].isdigit() and len(words[0]) < 10 and 2 <= int(words[0]) <= MOST_CLIENTS):
        raise InputError("split", text, f"give a whole number of clients from 2 to {MOST_CLIENTS}")
    concentration = parse_number("split", words[1]) if kind == "dirichlet" else 1.0
    if not 1e-6 <= concentration <= 1e6:
        raise InputError("split", text, "give a concentration from 1e-6 to 1e6")
    return Split(kind=kind, clients=int(words[0]), concentration=concentration)


def parts_of(y: np.ndarray, split: Split, seed: int) -> list[np.ndarray]:
    """The rows of each client, of a table with the targets y (n,).

    contiguous  equal parts in the order of the file
    iid         equal parts of a random order
    dirichlet   of every class a share for each client, the shares drawn from Dirichlet(concentration)
    labels      Definition S1 of Philippenko et al. (2025): of K classes the floor(K/2) + 1 first belong to the clients
                of even number and the others to those of odd number; within each, equal parts of a random order
    Parts are equal up to one row. Raises `InputError` where a client would stay without rows.
    """
    seed, rows, n = as_whole("seed", seed, least=0), len(y), split.clients
    if n > rows:
        raise InputError("split", f"{split.kind}:{n}", f"the table has {rows} rows; use fewer clients")
    order = np.arange(rows)
    if split.kind != "contiguous":
        from ..randomness import Stream, single

        # a uniform order; so are those of any class in it, independently of other classes
        order = single(seed).permutation(rows, iteration=0, stream=Stream.SPLIT)[0].numpy()
    if split.kind in ("contiguous", "iid"):
        parts = np.array_split(order, n)
    else:
        owner = _classes(y, split)[order]
        parts = _dirichlet(order, owner, split, seed) if split.kind == "dirichlet" else _labels(order, owner, n)
    if empty := [i for i, part in enumerate(parts) if not len(part)]:
        raise InputError("split", f"{split.kind}:{n}", f"leaves client {empty[0]} without rows; use fewer clients")
    return [np.sort(part) for part in parts]


def _dirichlet(order: np.ndarray, owner: np.ndarray, split: Split, seed: int) -> list[np.ndarray]:
    """The parts of the rows in an `order`, whose classes are `owner`."""
    from ..randomness import Stream, single

    members = [order[owner == j] for j in range(owner.max() + 1)]
    sizes = np.array([[len(rows)] for rows in members])
    for draw in range(1, DRAWS + 1):
        how = {"iteration": draw, "stream": Stream.SPLIT, "clients": len(members), "features": split.clients}
        shares = single(seed).dirichlet(split.concentration, **how)[0].numpy()
        ends = (np.cumsum(shares[:, :-1], axis=1) * sizes).round().astype(int)
        parts = [np.concatenate(part) for part in zip(*map(np.split, members, ends))]
        if min(map(len, parts)) >= FEWEST_ROWS:
            return parts
    remedy = f"no draw of {DRAWS} leaves every client {FEWEST_ROWS} rows; use fewer clients or a larger concentration"
    raise InputError("split", f"dirichlet:{split.clients}:{split.concentration:g}", remedy)


def _labels(order: np.ndarray, owner: np.ndarray, clients: int) -> list[np.ndarray]:
    """Likewise."""
    classes = owner.max() + 1
    first = classes // 2 + 1
    if classes <= first:
        remedy = f"Definition S1 puts all {classes} classes into its first cluster; use dirichlet or column:NAME"
        raise InputError("split", f"labels:{clients}", remedy)
    halves = [np.array_split(order[(owner >= first) == odd], (clients + 1 - odd) // 2) for odd in (0, 1)]
    return [halves[i % 2][i // 2] for i in range(clients)]


def _classes(y: np.ndarray, split: Split) -> np.ndarray:
    """The class of every row, numbered in rising order."""
    values, owner = np.unique(y, return_inverse=True)
    if len(values) > MOST_CLASSES or 2 * len(values) > len(owner):
        remedy = "needs classes, not measurements: at most half as many values as rows; use iid or contiguous"
        raise InputError("split", f"{split.kind}:{split.clients} of a target with {len(values)} values", remedy)
    return owner
