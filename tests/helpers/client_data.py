"""Clients' data for tests: a small table and its file, and clients of whom two are alike."""

from __future__ import annotations

import numpy as np

import suffice as sf

TABLE = "site,age,y\nLyon,1,2\nLyon,2,5\nNice,4,1\nLyon,4,7\nNice,5,3\nNice,9,2\n"


def written(tmp_path, text: str, name: str = "clients.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def read(path, **options):
    return sf.read(path, client="site", target="y", **options)


def near_and_far(rows):
    """Two clients with one slope, one with the opposite, `rows` rows each."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(rows, 1)) for _ in range(3)]
    y = [x[:, 0] * slope + 0.3 * rng.normal(size=rows) for x, slope in zip(X, (1.0, 1.0, -2.0))]
    return sf.from_arrays(X, y, names=["a", "b", "far"], standardise="none")
