"""Dividing one table: every row goes to one client, in the proportions that each rule promises."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf
from suffice.splits import divide, parse_split
from suffice.tables import Table

N = 600


def table(classes: int = 10) -> Table:
    """Rows are numbered in their first column; labels are drawn, so classes are not equally large."""
    rng = np.random.default_rng(3)
    X = np.column_stack((np.arange(N), rng.normal(size=N), rng.integers(0, 3, N)))
    return Table(name="", X=X, y=rng.integers(0, classes, N).astype(float), columns=("row", "x", "site"))


SPLITS = ["contiguous:7", "iid:7", "dirichlet:7:0.5", "labels:7", "column:site"]


@pytest.mark.parametrize("split", SPLITS)
def test_every_row_has_one_owner_and_keeps_its_label(split):
    whole = table()
    parts = divide(whole, split)
    order = np.concatenate([part.X[:, 0] for part in parts]).astype(int)
    np.testing.assert_array_equal(np.sort(order), np.arange(N))
    np.testing.assert_array_equal(np.concatenate([part.y for part in parts]), whole.y[order])
    assert len(parts) == (3 if split == "column:site" else 7)
    assert len({part.name for part in parts}) == len(parts)


@pytest.mark.parametrize("split", SPLITS)
def test_a_seed_fixes_the_random_ones(split):
    first, again, other = (divide(table(), split, seed=seed) for seed in (1, 1, 2))
    for a, b in zip(first, again):
        np.testing.assert_array_equal(a.X, b.X)
    same = all(len(a.X) == len(b.X) and (a.X == b.X).all() for a, b in zip(first, other))
    assert same == (split.split(":")[0] in ("contiguous", "column"))


def test_contiguous_parts_are_those_of_the_papers_code():
    parts = divide(table(), "contiguous:7")
    for part, expected in zip(parts, np.array_split(np.arange(N), 7)):
        np.testing.assert_array_equal(part.X[:, 0], expected)


@pytest.mark.parametrize(("classes", "first"), [(10, 6), (3, 2), (5, 3), (4, 3)])
def test_labels_follow_definition_s1(classes, first):
    """C_0 = {0, .., floor(K/2)} for even clients, the rest for odd ones, uniform within each cluster."""
    parts = divide(table(classes), "labels:7")
    for i, part in enumerate(parts):
        assert ((part.y < first) == (i % 2 == 0)).all()
    for cluster in (parts[0::2], parts[1::2]):
        sizes = [len(part.X) for part in cluster]
        assert max(sizes) - min(sizes) <= 1
        # uniform: class shares of a client are those of its cluster, up to sampling (4 standard errors)
        together = np.concatenate([part.y for part in cluster])
        for part in cluster:
            share = (together == together[0]).mean()
            seen = (part.y == together[0]).mean()
            assert abs(seen - share) <= 4 * np.sqrt(share * (1 - share) / len(part.y))


def test_a_small_concentration_concentrates():
    def imbalance(concentration: float) -> float:
        parts = divide(table(), f"dirichlet:5:{concentration}")
        shares = np.array([[(part.y == c).sum() for c in range(10)] for part in parts], float)
        return float((shares.max(0) / shares.sum(0)).mean())

    assert imbalance(0.05) > 0.8
    assert imbalance(1000) < 0.25  # 0.2 is even


def test_a_column_of_a_table_names_its_clients(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("place,x,y\nLyon,1,2\nLyon,2,5\nLyon,4,7\nNice,4,1\nNice,5,3\nNice,9,2\n")
    by_split, by_client = sf.read(path, split="column:place", target="y"), sf.read(path, client="place", target="y")
    assert by_split.names == by_client.names == ("Lyon", "Nice")
    parts = divide(table(), "column:site")
    assert all(part.columns == ("row", "x") for part in parts)
    assert {part.name for part in parts} == {"site=0", "site=1", "site=2"}


def test_words_are_read_exactly():
    split = parse_split("dirichlet:8:0.1")
    assert (split.kind, split.clients, split.concentration) == ("dirichlet", 8, 0.1)
    assert parse_split("column:a:b").column == "a:b"
    for text in ("iid:08x", "iid:-2", "iid:2.0", "iid:²", "dirichlet:8:nan", "labels", "iid:2:3", ""):
        with pytest.raises(sf.InputError):
            parse_split(text)
