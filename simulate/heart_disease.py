"""UCI heart disease in four hospitals, prepared as FLamby does (Ogier du Terrail et al. 2022, fed_heart_disease).

Columns slope, ca and thal are dropped, then patients with a missing value: 303, 261, 46 and 130 remain. y is 1 for any
disease. cp and restecg become indicators without their first level, so there are 13 predictors. 66 % of each hospital's
patients train, drawn with seed 43 and stratified where both classes have more than two. Here in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bounds import InputError

CENTRES = ("cleveland", "hungarian", "switzerland", "va")
FIELDS = ("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak")
CATEGORIES = ("cp", "restecg")
COLUMNS = 14
SPLIT_SEED = 43
SMALL = 1e-9
"""Added to standard deviations: cholesterol is constant in Switzerland."""
STANDARDISE = ("client", "pooled", "none")


@dataclass(frozen=True, kw_only=True)
class Hospital:
    """Predictors (n, 13), named by `columns`, and labels 0 or 1, (n,), of the training and the test patients."""

    name: str
    columns: tuple[str, ...]
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def hospitals(folder: str | Path, *, standardise: str = "client") -> tuple[Hospital, ...]:
    """The four hospitals of the files processed.CENTRE.data in `folder`, in the order of `CENTRES`.

    standardise   with the training patients' means and deviations (n - 1, plus 1e-9) of each hospital ("client") or of
                  all ("pooled"), or not ("none")

    Raises `InputError`, also for absent and damaged files.
    """
    from sklearn.model_selection import train_test_split

    if standardise not in STANDARDISE:
        raise InputError("standardise", standardise, f"use {', '.join(STANDARDISE)}")
    rows = [complete_patients(Path(folder) / f"processed.{name}.data") for name in CENTRES]
    together = np.concatenate(rows)
    levels = {name: np.unique(together[:, FIELDS.index(name)])[1:] for name in CATEGORIES}
    numeric = [at for at, name in enumerate(FIELDS) if name not in CATEGORIES]
    columns = (*(FIELDS[at] for at in numeric), *(f"{name}_{level:g}" for name in levels for level in levels[name]))
    parts = []
    for patients in rows:
        indicators = [patients[:, [FIELDS.index(name)]] == levels[name] for name in levels]
        X, y = np.column_stack((patients[:, numeric], *indicators)).astype(float), (patients[:, -1] != 0).astype(float)
        both = min((y == 0).sum(), (y == 1).sum()) > 2
        chosen = train_test_split(
            np.arange(len(y)),
            train_size=0.66,
            test_size=1 - 0.66,
            random_state=SPLIT_SEED,
            stratify=y if both else None,
        )
        parts.append([values[part] for part in chosen for values in (X, y)])
    return tuple(_standardised(parts, columns, standardise))


def _standardised(parts: list[list[np.ndarray]], columns: tuple[str, ...], rule: str) -> Iterator[Hospital]:
    pooled = np.concatenate([part[0] for part in parts])
    for name, (X, y, X_test, y_test) in zip(CENTRES, parts):
        if rule != "none":
            reference = pooled if rule == "pooled" else X
            mean, deviation = reference.mean(0), reference.std(0, ddof=1) + SMALL
            X, X_test = (X - mean) / deviation, (X_test - mean) / deviation
        yield Hospital(name=name, columns=columns, X=X, y=y, X_test=X_test, y_test=y_test)


def complete_patients(path: Path) -> np.ndarray:
    """Patients without missing values, (n, 11): ten predictors and the diagnosis. Raises `InputError`."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise InputError("path", str(path), (error.strerror or "cannot be read").lower()) from None
    except UnicodeDecodeError:
        raise InputError("path", str(path), "not the text file of the UCI archive") from None
    kept = []
    for number, line in enumerate(lines, 1):
        words = [word.strip() for word in line.split(",")]
        place = f"line {number} of {path.name}"
        if len(words) != COLUMNS:
            raise InputError(place, f"{len(words)} fields", f"give {COLUMNS} fields")
        words = [*words[: len(FIELDS)], words[-1]]
        if "?" not in words:
            kept.append([_number(place, word) for word in words])
    if len(kept) < 6:
        raise InputError(f"complete patients in {path.name}", len(kept), "too few to divide into training and test")
    return np.array(kept)


def _number(place: str, word: str) -> float:
    try:
        if "_" in word:  # Python's own extra
            raise ValueError
        return float(word)
    except ValueError:
        raise InputError(place, word, "give a number") from None
