"""UCI heart disease in four hospitals, prepared as FLamby does (Ogier du Terrail et al. 2022, fed_heart_disease)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice

from .encoding import STANDARDISE
from .memory import as_path, whole
from .table import Table

CENTRES = ("cleveland", "hungarian", "switzerland", "va")
FIELDS = ("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak")
CATEGORIES = ("cp", "restecg")
COLUMNS = 14
SPLIT_SEED = 43
LARGEST_FILE = 2**24
SMALL = 1e-9
"""Added to standard deviations: cholesterol is constant in Switzerland."""


@dataclass(frozen=True, kw_only=True)
class HeartDisease:
    """Four hospitals' patients in the order of `CENTRES`, predictors (n, 13): training and test tables.

    `read` makes a problem of the training tables.
    """

    train: tuple[Table, ...]
    test: tuple[Table, ...]


def heart_disease(path: str | Path, *, standardise: str = "client") -> HeartDisease:
    """Read UCI heart disease as FLamby prepares it; `path` is the folder of the four files processed.CENTRE.data.

    Columns slope, ca and thal are dropped, then patients with missing values: 303, 261, 46 and 130 remain. y is 1 for
    any disease; cp and restecg become indicators without their first level: 13 predictors. 66 % of each centre train,
    stratified where both classes have more than two patients (seed 43). `standardise` uses the training data of each
    centre ("client") or of all ("pooled"), deviations with n - 1, plus 1e-9: cholesterol is constant in Switzerland; or
    "none". Double precision.

    Source: FLamby (Ogier du Terrail et al. 2022), flamby/datasets/fed_heart_disease. Raises `InputError`, also for
    absent and damaged files.
    """
    from sklearn.model_selection import train_test_split

    as_choice("standardise", standardise, STANDARDISE)
    rows = [complete_patients(as_path("path", path) / f"processed.{name}.data") for name in CENTRES]
    together = np.concatenate(rows)
    levels = {name: np.unique(together[:, FIELDS.index(name)])[1:] for name in CATEGORIES}
    numeric = [at for at, name in enumerate(FIELDS) if name not in CATEGORIES]
    columns = (*(FIELDS[at] for at in numeric), *(f"{name}_{level:g}" for name in levels for level in levels[name]))
    parts = []
    for name, patients in zip(CENTRES, rows):
        indicators = [patients[:, [FIELDS.index(category)]] == levels[category] for category in levels]
        X, y = np.column_stack((patients[:, numeric], *indicators)).astype(float), (patients[:, -1] != 0).astype(float)
        both = min((y == 0).sum(), (y == 1).sum()) > 2
        how = {"train_size": 0.66, "test_size": 1 - 0.66, "random_state": SPLIT_SEED}
        chosen = train_test_split(np.arange(len(y)), stratify=y if both else None, **how)
        parts.append([Table(name=name, X=X[part], y=y[part], columns=columns) for part in map(np.asarray, chosen)])
    if standardise != "none":
        pooled = np.concatenate([train.X for train, _ in parts])
        references = [pooled if standardise == "pooled" else part[0].X for part in parts]
        scales = [(reference.mean(0), reference.std(0, ddof=1) + SMALL) for reference in references]
        parts = [[replace(one, X=(one.X - mean) / scale) for one in part] for part, (mean, scale) in zip(parts, scales)]
    train, test = zip(*parts)
    return HeartDisease(train=train, test=test)


def is_heart_disease(path: Any) -> bool:
    """Whether `path` is a folder with the archive's files."""
    named = isinstance(path, str | Path) and path != ""
    return named and as_path("path", path).is_dir() and any(Path(path).glob("processed.*.data"))


def complete_patients(path: Path) -> np.ndarray:
    """Patients without missing values, (n, 11): ten predictors and the diagnosis. Raises `InputError`."""
    number = lambda cell: np.nan if cell.strip() == "?" else float(cell)  # noqa: E731
    content = BytesIO(whole(path, field="path", most=LARGEST_FILE))
    try:
        rows = np.loadtxt(content, delimiter=",", converters=number, ndmin=2, comments=None)
    except ValueError as error:
        raise InputError("path", str(path), f"not a file of the UCI archive: {error}") from None
    if rows.shape[1] != COLUMNS:
        raise InputError("path", str(path), f"{rows.shape[1]} fields; give {COLUMNS} fields")
    rows = rows[:, [*range(len(FIELDS)), -1]]
    rows = rows[~np.isnan(rows).any(1)]
    if len(rows) < 6:
        raise InputError(f"complete patients in {path.name}", len(rows), "too few to divide into training and test")
    return rows
