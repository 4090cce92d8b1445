"""Dividing one table: every row goes to one client, in the proportions that each rule promises."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cipher import numbers

import suffice as sf
from suffice.simulate import Randomness, Stream
from suffice.simulate.data.client_partition import parse_split, parts_of

N = 600
SPLITS = ["contiguous:7", "iid:7", "dirichlet:7:0.5", "labels:7"]


def labels(classes: int = 10) -> np.ndarray:
    """Drawn, so classes are not equally large."""
    return np.random.default_rng(3).integers(0, classes, N).astype(float)


def parts(y, split: str, seed: int = 0) -> list[list[int]]:
    return [part.tolist() for part in parts_of(np.asarray(y, float), parse_split(split), seed)]


@pytest.mark.parametrize("split", SPLITS)
def test_every_row_has_one_owner_and_a_seed_fixes_the_random_ones(split):
    first, again, other = (parts(labels(), split, seed) for seed in (1, 1, 2))
    assert sorted(row for part in first for row in part) == list(range(N))
    assert len(first) == 7
    assert first == again
    assert (first == other) == split.startswith("contiguous")


def test_contiguous_parts_are_those_of_the_papers_code():
    assert parts(labels(), "contiguous:7") == [part.tolist() for part in np.array_split(np.arange(N), 7)]


@pytest.mark.parametrize(("classes", "first"), [(10, 6), (3, 2), (5, 3), (4, 3)])
def test_labels_follow_definition_s1(classes, first):
    """C_0 = {0, .., floor(K/2)} for even clients, the rest for odd ones."""
    y = labels(classes)
    found = [((y[part] < first).all(), (y[part] >= first).all()) for part in parts(y, "labels:7")]
    assert found == [(True, False), (False, True)] * 3 + [(True, False)]


def test_a_column_of_a_table_names_its_clients(tmp_path):
    """Of a CSV, and of arrays with names of columns."""
    path = tmp_path / "t.csv"
    path.write_text("place,x,y\nLyon,1,2\nLyon,2,5\nLyon,4,7\nNice,4,1\nNice,5,3\nNice,9,2\n")
    by_split, by_client = sf.read(path, split="column:place", target="y"), sf.read(path, client="place", target="y")
    assert by_split.names == by_client.names == ("Lyon", "Nice")
    np.savez(tmp_path / "t.npz", X=[[3, 1.0], [3, 2], [3, 4], [7, 4], [7, 5], [7, 9]], y=[2, 5, 7, 1, 3, 2.0])
    of_arrays = sf.read(tmp_path / "t.npz", split="column:x1")
    assert of_arrays.names == ("3", "7")
    np.testing.assert_array_equal(of_arrays.optimum.numpy(), by_split.optimum.numpy())


def test_words_are_read_exactly():
    split = parse_split("dirichlet:8:0.1")
    assert (split.kind, split.clients, split.concentration) == ("dirichlet", 8, 0.1)
    assert parse_split("column:a:b").column == "a:b"
    for text in ("iid:08x", "iid:-2", "iid:2.0", "iid:²", "dirichlet:8:nan", "labels", "iid:2:3", ""):
        with pytest.raises(sf.InputError):
            parse_split(text)


def by_hand(rows: int, seed: int) -> list[int]:
    """All rows in the order of their keys, by a cipher on Python integers."""
    keys = numbers(rows, seed=seed >> 32, root=seed % 2**32, iteration=0, stream=5)
    return sorted(range(rows), key=lambda row: keys[row])


@pytest.mark.parametrize("seed", [0, 5, 2**40 + 3])
def test_iid_and_labels_deal_out_rows_in_the_order_of_their_keys(seed):
    order, y = by_hand(10, seed), [0, 1, 2] * 3 + [2]
    first, second, third = (sorted(part) for part in (order[:4], order[4:7], order[7:]))
    assert parts(y, "iid:3", seed) == [first, second, third]
    even, odd = ([row for row in order if (y[row] == 2) == later] for later in (False, True))
    expected = [sorted(even[:3]), sorted(odd), sorted(even[3:])]  # classes 0 and 1 for clients 0 and 2
    assert parts(y, "labels:3", seed) == expected


@pytest.mark.parametrize("seed", [0, 9])
def test_dirichlet_gives_every_client_its_share_of_each_class(seed):
    y = [0, 1] * 10
    shares = Randomness(seeds=torch.tensor([0]), root=seed).dirichlet(
        5.0, iteration=1, stream=Stream.SPLIT, clients=2, features=3
    )[0]
    expected: list[list[int]] = [[], [], []]
    for label in (0, 1):
        members = [row for row in by_hand(20, seed) if y[row] == label]
        ends = [0, round(10 * shares[label, 0].item()), round(10 * shares[label, :2].sum().item()), 10]
        for client in range(3):
            expected[client] += members[ends[client] : ends[client + 1]]
    assert min(map(len, expected)) >= 2  # this seed's first draw counts
    assert parts(y, "dirichlet:3:5", seed) == [sorted(rows) for rows in expected]


def test_what_cannot_be_divided_is_refused():
    with pytest.raises(sf.InputError, match=r"no draw of 1000 leaves every client 2 rows"):
        parts([0, 1] * 5, "dirichlet:5:0.001")
    with pytest.raises(sf.InputError, match="seed = -1"):
        parts(labels(), "iid:3", -1)
