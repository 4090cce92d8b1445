"""The picture of worst ratios: every claim with results has its line, violations are told apart."""

from __future__ import annotations

import numpy as np

from suffice.figures.sharpness import _content, draw
from suffice.figures.style import style

PAIRS = [(0.9, 0.5), (1.0, 1.0), (1e-9, -1.0), (None, None), (0.3, None), (0.7, 0.1), (0.8, 0.2)]
ROWS = [
    {"key": f"{paper}/result-{k}", "edition": "corrected", "instances": 10 * k, "worst_ratio": ratio, "median_ratio": m}
    for paper in ("adaptive", "cobo", "scafflix")
    for k, (ratio, m) in enumerate(PAIRS)
]


def drawn(rows):
    from matplotlib.figure import Figure as Canvas

    made, canvas = _content(rows, {}), Canvas()
    draw(made, canvas)
    return made, canvas


def test_the_picture_shows_the_ten_that_stay_furthest_below_and_the_data_hold_all():
    made, canvas = drawn(ROWS)
    assert len(made.data) == 18  # a claim of each paper has no counted instance
    for row in ROWS:
        if row["worst_ratio"] is not None:
            assert made.data[row["key"]]["worst_ratio"] == [row["worst_ratio"]]
    labels = [label.get_text() for axes in canvas.axes for label in axes.get_yticklabels()]
    # of each paper: 1e-9, 0.3, 0.7, and one more of 0.8
    assert labels == [f"{paper}/result-{k}" for k in (2, 4, 5, 6) for paper in ("adaptive", "cobo", "scafflix")][:10]
    shown = np.concatenate([line.get_xdata() for line in canvas.axes[0].lines if line.get_label() == "worst instance"])
    assert sorted(set(shown)) == [0.3, 0.7, 0.8]  # one below the axis has its arrow alone
    assert canvas.get_suptitle().startswith("3 of 18 bounds are attained")


def test_an_exceeded_bound_is_marked():
    marked = [line for axes in drawn(ROWS)[1].axes for line in axes.lines if line.get_label() == "exceeded"]
    assert not marked
    broken = [{**row, "worst_ratio": 5.0, "edition": "printed"} for row in ROWS[:2]]
    made, canvas = drawn([*ROWS, *broken])
    marked = [line for axes in canvas.axes for line in axes.lines if line.get_label() == "exceeded"]
    assert [x for line in marked for x in line.get_xdata()] == [5.0, 5.0]
    assert "adaptive/result-0 (printed)" in made.data


def test_a_long_name_has_two_lines_inside_the_picture():
    rows = [{**row, "key": "adaptive/corollary-1-multiplicative-decreasing-confidence-sharp"} for row in ROWS[:1]]
    with style():
        _, canvas = drawn(rows)
        canvas.draw_without_rendering()
    (label,) = canvas.axes[0].get_yticklabels()
    assert label.get_text().splitlines() == rows[0]["key"].replace("/", "/ ").split()
    assert label.get_window_extent().x0 > 2
