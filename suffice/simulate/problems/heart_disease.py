"""UCI heart disease in four hospitals as tables of patients."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from suffice.support.numbers import as_choice

from ..data.heart_disease import CENTRES as CENTRES
from ..data.heart_disease import patients
from ..data.table import Table
from .from_arrays import STANDARDISE


@dataclass(frozen=True, kw_only=True)
class HeartDisease:
    """Four hospitals' patients in the order of `CENTRES`, predictors (n, 13): training and test tables.

    `read` makes a problem of the training tables.
    """

    train: tuple[Table, ...]
    test: tuple[Table, ...]


def heart_disease(path: str | Path, *, standardise: str = "client") -> HeartDisease:
    """Read UCI heart disease as FLamby prepares it; `path` is the folder of the four files processed.CENTRE.data.

    Columns slope, ca and thal are dropped, then patients with missing values; y is 1 for any disease; cp and restecg
    become indicators without their first level: 13 predictors. 66 % of each centre train, stratified where both classes
    have more than two patients (seed 43). `standardise` uses the training data of each centre ("client") or of all
    ("pooled"), deviations with n - 1, plus 1e-9: cholesterol is constant in Switzerland; or "none". Double precision.

    Source: FLamby (Ogier du Terrail et al. 2022), flamby/datasets/fed_heart_disease. Raises `InputError`, also for
    absent and damaged files.
    """
    as_choice("standardise", standardise, STANDARDISE)
    train, test = patients(path, standardise=standardise)
    return HeartDisease(train=train, test=test)
