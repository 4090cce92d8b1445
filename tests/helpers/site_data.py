"""Real tables with one row per observation and a column of sites, for tests of plans; skipped where they are absent."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[3] / "shared" / "data"))
SITES = DATA / "sites"
TABLES = (
    "subjects-sleep", "countries-gasoline", "secondary-attainment", "states-output", "classes-language",
    "schools-math", "districts-contraception", "counties-radon",
)  # fmt: skip


def site_file(name: str) -> Path:
    """The table, or the test is skipped."""
    path = SITES / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no {path}: set SUFFICE_DATA to the folder with the data files")
    return path


def site_rows(name: str, sites: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """(X, y) of the first `sites` sites with an intercept; columns and target standardised over the whole table."""
    header, *lines = list(csv.reader(site_file(name).read_text().splitlines()))
    assert (header[0], header[-1]) == ("site", "target")
    owner, values = np.array([line[0] for line in lines]), np.array([line[1:] for line in lines], dtype=float)
    values = (values - values.mean(0)) / values.std(0)
    X = np.column_stack((np.ones(len(values)), values[:, :-1]))
    return [(X[owner == site], values[owner == site, -1]) for site in list(dict.fromkeys(owner))[:sites]]
