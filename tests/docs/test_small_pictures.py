"""The documentation's pictures: one for each figure, small, whole, and refused when they cannot be."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from small_pictures import LARGEST, LARGEST_DATA, reduced, write_pictures

from suffice.figures import figure, makers

KEPT = Path(__file__).parents[2] / "docs" / "pictures"


@pytest.mark.parametrize("name", makers())
def test_every_figure_has_a_small_picture(name):
    assert 1000 < (KEPT / f"{name}.svg").stat().st_size < LARGEST
    assert ElementTree.parse(KEPT / f"{name}.svg").getroot().tag.endswith("svg")
    if (data := KEPT / f"{name}.csv").is_file():
        assert data.stat().st_size < LARGEST_DATA


def test_the_picture_of_theorem_2_is_of_its_data_as_they_are_now(tmp_path):
    figure("theorem-2-truth").save(tmp_path)
    _, data = write_pictures(tmp_path, tmp_path / "out", ["theorem-2-truth"])
    kept = [float(row.split(",")[-1]) for row in (KEPT / data.name).read_text().splitlines()[1:]]
    now = [float(row.split(",")[-1]) for row in data.read_text().splitlines()[1:]]
    assert now == pytest.approx(kept, rel=1e-9)


def test_decimals_go_and_what_is_encoded_stays():
    svg = b'<path d="M 1.23456 2"/><image href="data:1.23456\n"/><use transform="scale(0.015625)" x="0.5555"/>'
    kept = b'<path d="M 1.23 2"/><image href="data:1.23456\n"/><use transform="scale(0.015625)" x="0.55"/>'
    assert reduced(svg) == kept
