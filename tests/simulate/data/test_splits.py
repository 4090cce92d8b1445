"""Dividing one table: every row goes to one client, in the proportions that each rule promises."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cipher import numbers
from site_data import DATA

import suffice as sf
from suffice.simulate import Randomness, Stream
from suffice.simulate.data.libsvm import read_libsvm
from suffice.simulate.data.memory import Memory
from suffice.simulate.data.splits import divide, parse_split
from suffice.simulate.data.table import Table

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
    for part, expected in zip(divide(table(), "contiguous:7"), np.array_split(np.arange(N), 7), strict=True):
        np.testing.assert_array_equal(part.X[:, 0], expected)


@pytest.mark.parametrize(("classes", "first"), [(10, 6), (3, 2), (5, 3), (4, 3)])
def test_labels_follow_definition_s1(classes, first):
    """C_0 = {0, .., floor(K/2)} for even clients, the rest for odd ones."""
    parts = divide(table(classes), "labels:7")
    assert [((part.y < first).all(), (part.y >= first).all()) for part in parts] == [
        (True, False),
        (False, True),
    ] * 3 + [(True, False)]


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


def test_scafflixs_published_probability_comes_from_the_same_clients():
    """p = 1 / sqrt(mean(L_i) / 0.1), L_i = lambda_max(A'A + 0.1 I) / (4 n_i): the released code's rule."""
    path = DATA / "libsvm" / "mushrooms"
    if not path.exists():
        pytest.skip(f"no {path} (SUFFICE_DATA)")
    (table,) = read_libsvm([path], Memory())
    parts = divide(table, "contiguous:8")
    L = []
    for part in parts:
        A = np.column_stack((np.ones(len(part.X)), part.X))
        L.append(np.linalg.eigvalsh(A.T @ A + 0.1 * np.eye(113))[-1] / (4 * len(A)))
    np.testing.assert_allclose(1 / np.sqrt(np.mean(L) / 0.1), 0.16883865479367444, rtol=1e-12)


def by_hand(rows: int, seed: int) -> list[int]:
    """All rows in the order of their keys, by a cipher on Python integers."""
    keys = numbers(rows, seed=seed >> 32, root=seed % 2**32, iteration=0, stream=5)
    return sorted(range(rows), key=lambda row: keys[row])


def small(labels: list[int]) -> Table:
    return Table(name="", X=np.arange(float(len(labels)))[:, None], y=np.array(labels, float), columns=("row",))


def owned(parts: list[Table]) -> list[list[int]]:
    return [part.X[:, 0].astype(int).tolist() for part in parts]


@pytest.mark.parametrize("seed", [0, 5, 2**40 + 3])
def test_iid_and_labels_deal_out_rows_in_the_order_of_their_keys(seed):
    order, labels = by_hand(10, seed), [0, 1, 2] * 3 + [2]
    first, second, third = (sorted(part) for part in (order[:4], order[4:7], order[7:]))
    assert owned(divide(small(labels), "iid:3", seed=seed)) == [first, second, third]
    even, odd = ([row for row in order if (labels[row] == 2) == later] for later in (False, True))
    expected = [sorted(even[:3]), sorted(odd), sorted(even[3:])]  # classes 0 and 1 for clients 0 and 2
    assert owned(divide(small(labels), "labels:3", seed=seed)) == expected


@pytest.mark.parametrize("seed", [0, 9])
def test_dirichlet_gives_every_client_its_share_of_each_class(seed):
    labels = [0, 1] * 10
    shares = Randomness(seeds=torch.tensor([0]), root=seed).dirichlet(
        5.0, iteration=1, stream=Stream.SPLIT, clients=2, features=3
    )[0]
    expected: list[list[int]] = [[], [], []]
    for label in (0, 1):
        members = [row for row in by_hand(20, seed) if labels[row] == label]
        ends = [0, round(10 * shares[label, 0].item()), round(10 * shares[label, :2].sum().item()), 10]
        for client in range(3):
            expected[client] += members[ends[client] : ends[client + 1]]
    assert min(map(len, expected)) >= 2  # this seed's first draw counts
    assert owned(divide(small(labels), "dirichlet:3:5", seed=seed)) == [sorted(rows) for rows in expected]


def test_what_cannot_be_divided_is_refused():
    with pytest.raises(sf.InputError, match=r"no draw of 1000 leaves every client 2 rows"):
        divide(small([0, 1] * 5), "dirichlet:5:0.001")
    with pytest.raises(sf.InputError, match="seed = -1"):
        divide(table(), "iid:3", seed=-1)
