"""What `sf.check` says of bounds that are attained, a little above them and a little below: nowhere the wrong thing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from numpy.testing import assert_array_less
from plain_algorithms import RULES

from suffice.simulate.catalogue import ALGORITHMS
from suffice.simulate.quadratic_forms import forms
from suffice.verification.claim import EFFORTS

from . import truth
from .cells import Cell, cells, drawn, table
from .edges import edges

DRAWN = drawn(seed=36)
EDGES = edges()
QUICK = {
    "tight from above, one", "true from below, one", "a loose term, one", "unstable, one", "false late",
    "no noise x 0.999", "an inner mode at 1/eta, one", "false for N, d = (4, 4)",
    "equal minimisers x 0.999", "decreasing steps, unstable", "quantile x 0.8", "a mean known x 1.0",
}  # fmt: skip


def test_each_algorithm_and_each_quantity_is_transcribed_and_drawn():
    assert set(RULES) == set(ALGORITHMS)
    assert set(forms()) <= set(truth.QUANTITIES)
    for chosen in (cells(), [cell for cell, _ in DRAWN]):
        assert {each.algorithm for each in chosen} == set(ALGORITHMS)
        assert {each.quantity for each in chosen if "/" not in each.quantity} == set(forms())
        assert len({each.quantity for each in chosen if "/" in each.quantity}) >= 10
    assert {each.quantity for each in cells()} == set(forms()) | set(truth.PRODUCT)


def test_each_algorithm_meets_every_shape():
    for name in ALGORITHMS:
        met = {(each.N, d) for each in cells() if each.algorithm == name for d in each.dimensions}
        least = 2 if name == "wga-bc" else 1
        assert met == {(N, d) for N in range(least, 9) for d in range(1, 9)}, name


@pytest.mark.share(5)
@pytest.mark.parametrize("name", sorted(truth.LINEAR))
def test_moments_and_paths_of_the_transcriptions_agree(name):
    """Both are ours: within five standard errors of 8192 paths."""
    every = [each for each in (*truth.QUANTITIES, *truth.PRODUCT[::7]) if not truth.stops(each)]
    for quantity in every:
        flat, noisy = truth.exact(name, "differing", 3, 2, 0.6, 3, quantity, 1)
        at, xs, _ = truth.paths(name, "differing", 3, 2, 0.6, 0.5)
        values = truth.of_path(at, xs, quantity, 1)
        error = 5 * values.std() / len(values) ** 0.5 + 1e-9
        assert_array_less(abs(values.mean() - flat - 0.5 * noisy), error, err_msg=quantity)


@pytest.mark.share(12)
@pytest.mark.parametrize(("cell", "direction"), DRAWN, ids=[f"{cell} {direction}" for cell, direction in DRAWN])
def test_drawn_cells(cell, direction, brief, monkeypatch):
    """Every instance of a cell is tried at once, as its bound is attained on each: there is nothing to search for."""
    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], instances=1, ascents=0))
    wrong = cell.faults(directions=(direction,))
    assert not wrong, "\n".join(wrong)


def test_who_participates_is_kept_for_a_round_where_steps_fall(brief):
    cell = Cell(algorithm="fedavg", quantity="excess/client/last/values", kind="differing", N=3, route="exact",
                dimensions=(1,), variant="steps")  # fmt: skip
    assert not cell.faults(directions=("upper",))


@pytest.mark.share(3)
@pytest.mark.parametrize("edge", [each for each in EDGES if each.name in QUICK], ids=lambda each: each.name)
def test_where_a_search_has_to_go(edge):
    assert edge.wrong() == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("root", range(5))
def test_everywhere(root, name):
    """All cells at root 0, about 80 minutes of CPU time; a tenth of them, another one each, at roots 1 to 4."""
    chosen = cells()[root::10] if root else cells()
    wrong = [each for cell in chosen if cell.algorithm == name for each in cell.faults(root)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("root", range(5))
def test_wherever_a_search_has_to_go(root):
    wrong = [found for found in (edge.wrong(root) for edge in EDGES) if found]
    assert not wrong, "\n".join(wrong)


def test_the_table_of_the_documentation_is_that_of_the_cells():
    assert table() in (Path(__file__).parents[3] / "docs/judged.md").read_text()
