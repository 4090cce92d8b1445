"""A problem from a path: which kind of data it holds, and how it is divided among clients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice, as_flag
from suffice.support.tables import some

from ..data.design import CHANGED, CONSTANT, NOTE
from ..data.encoding import STANDARDISE, Encoding
from ..data.heart_disease import heart_disease, is_heart_disease
from ..data.memory import MAX_MEMORY
from ..data.site_source import PENALTY, read_sites
from ..data.sites import Sites
from ..data.source import source_of_tables
from . import LeastSquares, Logistic
from .from_arrays import LOSSES, from_arrays


def read(
    path: Any,
    *,
    client: str = "client",
    target: str = "target",
    loss: str = "auto",
    regularisation: float | None = None,
    intercept: bool = True,
    standardise: str = "pooled",
    standardise_target: bool = False,
    split: str | None = None,
    seed: int = 0,
    positive: Sequence[float | str] = (),
    batch: int = 1,
    drop: Sequence[str] = (),
    max_memory: float = MAX_MEMORY,
) -> LeastSquares | Logistic:
    """Read clients' data from files as a problem.

    path       one CSV with a client column, one .npz file with arrays X, y and client, a folder of CSV, .npz and LIBSVM
               files, one per client, a data frame or a mapping of columns. Of a folder of the UCI heart-disease files
               the training part is read (`heart_disease`), of one of MNIST images the training images where it has
               them (`mnist`); "sklearn:NAME" is a data set of scikit-learn
    client     the column of clients
    target     the column to predict; every other column is a predictor
    loss       as in `from_arrays`; "auto" is what the target asks for, as in `suffice.fit`: logistic for two texts, 0
               and 1, -1 and 1, 1 and 2
    regularisation  as in `from_arrays`; unless given 0, or 0.1 where "auto" chooses logistic
    standardise  predictors to mean 0 and deviation 1: over all clients ("pooled"), per "client" or not at all ("none")
    standardise_target  the target likewise, always over all clients
    split, seed  how one undivided file is split: "contiguous:8", "iid:8", "dirichlet:8:0.1", "labels:8",
               "column:NAME"; random splits are drawn by the seed
    drop       columns to leave out
    intercept, positive, batch  as in `from_arrays`
    max_memory  bytes that a table or matrices may take: larger ones are rejected before they are allocated; working
               with them takes a few times as much

    Categories and gaps of a CSV, frame or mapping become columns of numbers, and a first column without a name is left
    out, as in `suffice.fit`. Raises `InputError`.
    """
    as_choice("loss", loss, ("auto", *LOSSES))
    hospitals, given = is_heart_disease(path), path
    if hospitals and split is None:
        given = source_of_tables(heart_disease(path, standardise=standardise).train, client, target)
    standardise = "none" if hospitals else as_choice("standardise", standardise, STANDARDISE)
    scaled = loss == "auto" and as_flag("standardise_target", standardise_target)  # such numbers are no classes
    asked: dict[str, Any] = {"client": client, "target": target, "drop": drop, "split": split, "seed": seed}
    asked |= {"loss": "least-squares" if scaled else loss, "max_memory": max_memory}
    sites, found = read_sites(given, **asked, keep=True, problem=True)
    penalty = PENALTY if loss == "auto" and found == "logistic" else 0.0
    penalty = penalty if regularisation is None else regularisation
    constant = standardise != "pooled" or intercept is not True
    encoding, X, y, columns, notes = _arrays(sites, constant=constant)
    problem = from_arrays(
        X, y, names=sites.names, columns=columns, loss=found, regularisation=penalty, intercept=intercept, batch=batch,
        standardise=standardise, standardise_target=standardise_target, positive=positive, max_memory=max_memory,
    )  # fmt: skip
    assert problem.coordinates is not None
    coordinates = replace(problem.coordinates, fills=encoding.gaps, client=sites.client, target=sites.target)
    return replace(problem, remarks=(*notes, *problem.remarks), coordinates=coordinates)


def _arrays(
    sites: Sites, *, constant: bool
) -> tuple[Encoding, list[np.ndarray], list[np.ndarray], list[str], list[str]]:
    """The encoding of at least two sites, their X and y, the columns that X has, unless `constant` without those that
    never vary, as an intercept stands for them, and notes."""
    if len(sites.names) == 1:
        remedy = "to plan who collaborates with whom give at least two clients; or divide one by split"
        raise InputError("clients", 1, remedy)
    encoding, kinds, X = sites.encoded(), np.array(sites.classes), sites.X
    y = [kinds[own.astype(int)] for own in sites.y] if sites.classes else sites.y
    notes = [*map(CHANGED.format, encoding.remarks(sites.design)), *map(NOTE.format, sites.notes)]
    low, high = np.min([x.min(0) for x in X], axis=0), np.max([x.max(0) for x in X], axis=0)
    varies = high - low > 1e-12 * np.maximum(np.abs(low), np.abs(high))
    if constant or varies.all() or not varies.any():
        return encoding, X, y, [*encoding.columns], notes
    notes.append(CHANGED.format(CONSTANT.format(some([*compress(encoding.columns, ~varies)]), 12)))
    return encoding, [x[:, varies] for x in X], y, [*compress(encoding.columns, varies)], notes
