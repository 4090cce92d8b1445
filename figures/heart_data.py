"""UCI heart disease in four hospitals, prepared as FLamby does (Ogier du Terrail et al. 2022, fed_heart_disease).

Columns slope, ca and thal are dropped, then patients with a missing value: 303, 261, 46 and 130 remain. y is 1 for any
disease. cp and restecg become indicators without their first level, so there are 13 predictors. Two thirds (66 %) of
each hospital's patients train, drawn with seed 43 and stratified where both classes have more than two. Predictors are
standardised with the hospital's own training data. Here in double precision.
"""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bounds import InputError

CENTRES = ("cleveland", "hungarian", "switzerland", "va")
COLUMNS = 14
KEPT = 10
"""Columns before slope, ca and thal."""
CATEGORIES = (2, 6)
"""cp and restecg."""
SPLIT_SEED = 43
SMALL = 1e-9
"""Added to standard deviations: cholesterol is constant in Switzerland."""


@dataclass(frozen=True, kw_only=True)
class Hospital:
    """Predictors with a last column of ones, (n, 14), and labels 0 or 1, (n,)."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def hospitals(data: str | Path | None = None) -> list[Hospital]:
    """The four hospitals in the order of `CENTRES`; `InputError` unless the files are there.

    data   folder of the files processed.CENTRE.data, or one above it; by default the environment variable SUFFICE_DATA
    """
    from sklearn.model_selection import train_test_split

    folder = _folder(data)
    rows = [_complete(folder / f"processed.{centre}.data") for centre in CENTRES]
    levels = {at: np.unique(np.concatenate(rows)[:, at])[1:] for at in CATEGORIES}
    found = []
    for table in rows:
        y = (table[:, -1] != 0).astype(float)
        numeric = np.delete(table[:, :KEPT], CATEGORIES, axis=1)
        X = np.column_stack([numeric, *(table[:, at] == level for at in CATEGORIES for level in levels[at])])
        classes, counts = np.unique(y, return_counts=True)
        train, test = train_test_split(
            np.arange(len(y)),
            test_size=1 - 0.66,
            train_size=0.66,
            random_state=SPLIT_SEED,
            shuffle=True,
            stratify=y if len(classes) == 2 and counts.min() > 2 else None,
        )
        mean, deviation = X[train].mean(0), X[train].std(0, ddof=1)
        X = np.column_stack([(X - mean) / (deviation + SMALL), np.ones(len(y))])
        found.append(Hospital(X=X[train], y=y[train], X_test=X[test], y_test=y[test]))
    return found


def _folder(data: str | Path | None) -> Path:
    given = data if data is not None else os.environ.get("SUFFICE_DATA")
    if not given:
        remedy = "name the folder of the four files processed.*.data of UCI Heart Disease, or set SUFFICE_DATA"
        raise InputError("data", "missing", remedy)
    for folder in (Path(given), Path(given) / "heart_disease"):
        if (folder / f"processed.{CENTRES[0]}.data").is_file():
            return folder
    raise InputError("data", str(given), f"no processed.{CENTRES[0]}.data in it; get UCI Heart Disease (CC BY 4.0)")


def _complete(path: Path) -> np.ndarray:
    """Rows (n, 11) without missing values: the first ten columns and the label."""
    try:
        text = path.read_text()
    except OSError as error:
        raise InputError("data", str(path), (error.strerror or "unreadable").lower()) from None
    wanted = [*range(KEPT), COLUMNS - 1]
    rows = []
    for number, row in enumerate(csv.reader(text.splitlines()), start=1):
        if len(row) != COLUMNS:
            raise InputError(f"{path}, line {number}", f"{len(row)} columns", f"a row has {COLUMNS}")
        values = [row[at].strip() for at in wanted]
        if "?" in values:
            continue
        try:
            rows.append([float(value) for value in values])
        except ValueError:
            raise InputError(f"{path}, line {number}", ",".join(row), "give numbers, or ? for missing values") from None
    if not rows:
        raise InputError("data", str(path), "no patient without missing values")
    return np.array(rows)
