"""Clients' data from files and arrays to a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import InputError, as_numbers, labelled

from .csv_tables import parse_number as parse_number
from .tables import Table, load, same_columns

if TYPE_CHECKING:
    from simulate import LeastSquares, Logistic

STANDARDISE = ("client", "pooled", "none")
LOSSES = ("least-squares", "logistic")
REACH = 1.25
"""Constants of a logistic problem hold on balls around the optima, a quarter wider than the start is away."""
POINTS = 512
"""Points of each ball for constants that are estimated."""
LABELS = 12
"""Labels that a message names."""
CERTAINTIES = ("certified", "estimated", "everywhere")


def read(
    path: str | Path,
    *,
    client: str = "client",
    target: str = "target",
    loss: str = "least-squares",
    regularisation: float = 0.0,
    intercept: bool = True,
    standardise: str = "client",
    standardise_target: bool = False,
    split: str | None = None,
    seed: int = 0,
    positive: Sequence[float | str] = (),
    batch: int = 1,
    certainty: str = "certified",
) -> LeastSquares | Logistic:
    """A problem from clients' data in files.

    `path` is one CSV with a client column, one .npz file with arrays X, y and client, or a folder of CSV, .npz and
    LIBSVM files, one per client. With `split` ("contiguous:8", "iid:8", "dirichlet:8:0.1", "labels:8", "column:NAME";
    random ones from `seed`) it is one undivided file. A folder with the UCI heart-disease files is read as
    `datasets.heart_disease`, its training part; a folder or file of MNIST images as `datasets.mnist` (the training
    images where the folder has them), and "sklearn:NAME" is a set that comes with scikit-learn.

    Every column but `client` and `target` is a predictor and must be numeric. `standardise` sets the predictors to mean
    0 and deviation 1 per client, over all clients, or not at all; `standardise_target` does so to the target, always
    over all clients. The rest is described at `from_arrays`. Raises `InputError`.
    """
    if not str(path):
        raise InputError("path", "", "name a file or a folder")
    if loss not in LOSSES:
        raise InputError("loss", loss, f"use {' or '.join(LOSSES)}")
    if client == target and not Path(path).is_dir() and not split:
        raise InputError("target", target, "the client column cannot be the target; name another column")
    tables, done = _divided(
        str(path), client=client, target=target, standardise=standardise, split=split, seed=seed, loss=loss
    )
    if len(tables) == 1:
        remedy = "to plan who collaborates with whom give at least two clients; or divide one by split"
        raise InputError("clients", 1, remedy)
    return of_tables(
        tables,
        loss=loss,
        regularisation=regularisation,
        intercept=intercept,
        standardise="none" if done else standardise,
        standardise_target=standardise_target,
        positive=positive,
        batch=batch,
        certainty=certainty,
    )


def _divided(
    name: str, *, client: str, target: str, standardise: str, split: str | None, seed: int, loss: str
) -> tuple[Sequence[Table], bool]:
    """One table per client, and whether the predictors are standardised already."""
    from .datasets import PREFIX, embedded, heart_disease, is_heart_disease, mnist, mnist_part
    from .splits import divide, parse_split

    rule = None if split is None else parse_split(split)
    path = Path(name)
    whole = None
    if name.startswith(PREFIX):
        whole = embedded(name.removeprefix(PREFIX))
    elif (part := mnist_part(path)) is not None:
        whole = mnist(path, part=part)
    elif is_heart_disease(path):
        if rule is not None:
            raise InputError("split", split, "the heart-disease files are divided already; drop it")
        return heart_disease(path, standardise=standardise).train, True
    else:
        if rule is not None and path.is_dir():
            raise InputError("split", split, "a folder has one client per file; drop it, or name one file")
        if rule is not None and rule.kind == "column" and path.suffix.lower() == ".csv":
            client, rule = rule.column, None  # its values may be texts
        tables = load(path, client=client, target=target, text_target=loss == "logistic", divided=rule is None)
        if rule is None:
            return same_columns(tables), False
        (whole,) = tables
    if rule is None:
        raise InputError("split", "missing", "one undivided table: say how to divide it, as contiguous:8")
    return divide(whole, rule, seed=seed), False


def of_tables(
    tables: Sequence[Table],
    *,
    loss: str = "least-squares",
    positive: Sequence[float | str] = (),
    **options: Any,
) -> LeastSquares | Logistic:
    """`from_arrays` of one table per client."""
    return from_arrays(
        [table.X for table in tables],
        [table.y for table in tables],
        names=[table.name for table in tables],
        columns=tables[0].columns,
        loss=loss,
        positive=positive,
        **options,
    )


def from_arrays(
    X: Sequence[Any],
    y: Sequence[Any],
    *,
    names: Sequence[str] = (),
    columns: Sequence[str] = (),
    loss: str = "least-squares",
    regularisation: float = 0.0,
    intercept: bool = True,
    standardise: str = "client",
    standardise_target: bool = False,
    positive: Sequence[float | str] = (),
    batch: int = 1,
    certainty: str = "certified",
) -> LeastSquares | Logistic:
    """As `read`, from one (n_i, d) array and one (n_i,) array per client.

    loss            "least-squares", mean (x . theta - y)^2 without a factor 1/2, or "logistic", mean log-loss of two
                    classes; plus (regularisation / 2) |theta|^2 over all coefficients, the intercept's too
    positive        values of y that are class 1, all others being class 0; without it the larger of two values is 1
    batch           rows that one stochastic gradient averages
    certainty       of a logistic problem's constants: "certified" while client i's model stays within 1.25 times the
                    distance of its start from its optimum; "estimated" from points of that ball; or certified
                    "everywhere". Those of least squares are exact.
    """
    from simulate import LeastSquares, Logistic

    if loss not in LOSSES:
        raise InputError("loss", loss, f"use {' or '.join(LOSSES)}")
    if standardise not in STANDARDISE:
        raise InputError("standardise", standardise, f"use {', '.join(STANDARDISE)}")
    if certainty not in CERTAINTIES or (certainty != "certified" and loss != "logistic"):
        remedy = (
            "constants of least squares are exact; drop it" if loss != "logistic" else f"use {', '.join(CERTAINTIES)}"
        )
        raise InputError("certainty", certainty, remedy)
    for name, value in (("intercept", intercept), ("standardise_target", standardise_target)):
        if not isinstance(value, bool):
            raise InputError(name, value, "give true or false")
    positive = [positive] if isinstance(positive, (str, int, float)) else positive
    if isinstance(X, np.ndarray) and X.ndim != 3:
        raise InputError("X", f"array of shape {X.shape}", "give a list with one (n, d) array per client")
    for name, value in (("X", X), ("y", y)):
        if not isinstance(value, (Sequence, np.ndarray)):
            raise InputError(name, value, "give one array per client, in a list")
    labels = labelled(names, len(X))
    if not labels:
        raise InputError("clients", 0, "give at least one client")
    if len(y) != len(X):
        raise InputError("y", f"{len(y)} arrays", f"give one per client, {len(X)}")
    written = y
    if loss == "logistic":
        if standardise_target:
            raise InputError("standardise_target", True, "the logistic loss needs classes; drop it")
        y = two_classes(y, positive, labels)
    elif len(positive):
        raise InputError("positive", list(positive), "only the logistic loss has classes; drop it")
    blocks = [as_numbers(f"X of client {label}", block, ("n", "d")) for label, block in zip(labels, X)]
    targets = [as_numbers(f"y of client {label}", target, ("n",)) for label, target in zip(labels, y)]
    for label, block in zip(labels, blocks):
        if len(block) == 0:
            raise InputError(f"rows of client {label}", 0, "give every client at least one row")
    if len({block.shape[1] for block in blocks}) > 1:
        raise InputError("X", [block.shape for block in blocks], "give the same predictors for every client")
    if standardise != "none":
        blocks = _standardised(blocks, labels, columns, pooled=standardise == "pooled")
    if standardise_target:
        pooled = np.concatenate(targets)
        if pooled.std() <= 1e-12 * np.abs(pooled).max():
            raise InputError("target", "constant", "nothing to learn; give a target that varies")
        targets = [(values - pooled.mean()) / pooled.std() for values in targets]
    if intercept:
        blocks = [np.column_stack((np.ones(len(block)), block)) for block in blocks]
    if loss == "least-squares":
        return LeastSquares.of(blocks, targets, names=labels, regularisation=regularisation, batch=batch)
    if isinstance(regularisation, (int, float)) and regularisation == 0:
        _both_classes(targets, written, labels)
    problem = Logistic.of(
        blocks,
        targets,
        names=labels,
        regularisation=regularisation,
        batch=batch,
        reach=None if certainty == "everywhere" else REACH,
        points=POINTS if certainty == "estimated" else 0,
    )
    return replace(problem, remarks=_negative(written, positive))


def _standardised(
    blocks: list[np.ndarray], labels: Sequence[str], columns: Sequence[str], *, pooled: bool
) -> list[np.ndarray]:
    everything = np.concatenate(blocks)
    made = []
    for label, block in zip(labels, blocks):
        reference = everything if pooled else block
        deviation = reference.std(0)
        constant = np.flatnonzero(deviation <= 1e-12 * np.abs(reference).max(0))
        if constant.size:
            column = columns[constant[0]] if len(columns) > constant[0] else f"column {constant[0]}"
            if len(reference) == 1:
                remedy = "give at least two rows: merge this client with another or leave it out"
                raise InputError(f"rows of client {label}", 1, remedy)
            owner = "all clients" if pooled else f"client {label}"
            remedy = "drop it, or use standardise = none" + ("" if pooled else " or pooled")
            raise InputError(f"{column} of {owner}", "constant", remedy)
        made.append((block - reference.mean(0)) / deviation)
    return made


def two_classes(y: Sequence[Any], positive: Sequence[Any], labels: Sequence[str]) -> list[np.ndarray]:
    """Every client's classes as 0 and 1: `positive` are 1; without it the larger of the two values of all clients."""
    arrays = []
    for label, values in zip(labels, y):
        array = np.asarray(values)
        if array.dtype.kind != "U":
            array = as_numbers(f"y of client {label}", values, ("n",))
        if array.ndim != 1:
            raise InputError(f"y of client {label}", f"array of shape {array.shape}", "give shape (n)")
        arrays.append(array)
    kinds = {array.dtype.kind for array in arrays}
    if len(kinds) > 1:
        raise InputError("labels", "numbers and texts", "give one kind to all clients")
    found = np.unique(np.concatenate(arrays)).tolist()
    if len(positive):
        if len(found) > 2:
            _check_case(found, positive)
        absent = [value for value in positive if value not in found]
        if absent:
            raise InputError("positive", absent[0], f"not a label; labels: {', '.join(map(str, found[:LABELS]))}")
        chosen = list(positive)
    elif len(found) == 2:
        chosen = found[1:]
    elif len(found) == 1 and found[0] in (-1, 0, 1):
        chosen = [1]  # all clients have the same class
    elif len(found) == 1:
        raise InputError("labels", found[0], "one class alone; give two")
    else:
        remedy = "the logistic loss needs two; name those that count as 1 by positive"
        raise InputError("labels", f"{len(found)} classes", remedy)
    return [np.isin(array, chosen).astype(float) for array in arrays]


def _check_case(found: Sequence[Any], positive: Sequence[Any]) -> None:
    """Refuse a label that is class 0 and differs only by case from one that is class 1."""
    chosen = {value.casefold(): value for value in positive if isinstance(value, str)}
    for value in found:
        if isinstance(value, str) and value not in positive and value.casefold() in chosen:
            remedy = f"differs from {chosen[value.casefold()]} only by case; write one way, or name both by positive"
            raise InputError("labels", value, remedy)


def _both_classes(targets: Sequence[np.ndarray], written: Sequence[Any], labels: Sequence[str]) -> None:
    """Refuse a client of one class, with the label as it is written; without regularisation it has no minimiser."""
    for label, values, texts in zip(labels, targets, written):
        if (values == values[0]).all():
            remedy = "only one class, so no minimiser without regularisation > 0; or merge clients"
            found = np.unique(np.asarray(texts)).tolist()
            raise InputError(f"labels of client {label}", found[0] if len(found) == 1 else found[:LABELS], remedy)


def _negative(written: Sequence[Any], positive: Sequence[Any]) -> tuple[str, ...]:
    """A note that names the labels of class 0, where there are several: one of them may be a slip."""
    found = np.unique(np.concatenate([np.asarray(values) for values in written])).tolist()
    others = [f"{value:g}" if isinstance(value, float) else str(value) for value in found if value not in positive]
    if not len(positive) or len(others) < 2:
        return ()
    more = f" and {len(others) - LABELS} more" if len(others) > LABELS else ""
    return (f"{len(others)} labels are taken as negative: {', '.join(others[:LABELS])}{more}",)


def as_label(text: str) -> float | str:
    """A label as typed: a number where it reads as one."""
    try:
        return parse_number("", text)
    except InputError:
        return text
