"""What notebooks show: complete and escaped."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest

import suffice as sf
from suffice.bounds import THEOREMS
from suffice.support.html import table

TRIO = sf.Quadratics.of([[[1.0]]] * 3, [[0.0], [0.1], [3.0]], sigma2=1.0, start=[2.0], names=("a<b>", "$x$", "c & d"))


class Balanced(HTMLParser):
    """Fails when a tag is not closed in turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen = ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.seen += data


@pytest.mark.parametrize("theorem", THEOREMS[::7], ids=lambda t: f"{t.key}-{t.edition}")
def test_a_theorem_shows_formula_fault_and_every_symbol(theorem):
    text = theorem._repr_html_()
    seen = Balanced(text).seen
    assert theorem.statement in seen
    assert theorem.fault is None or theorem.fault in seen
    assert theorem.bound is None or f"$${theorem.latex()}$$" in seen
    for parameter in theorem.parameters:
        assert f"{parameter.name} [{parameter.unit}], {parameter.meaning}" in seen


def test_a_plan_shows_a_row_per_client_and_precision_with_names_escaped():
    text = sf.plan(TRIO, epsilon=[0.5, 0.1])._repr_html_()
    assert text.count("<tr>") == 2 * (1 + 6)  # exact, and guaranteed
    assert "a<b>" in Balanced(text).seen
    assert "<b>" not in text
    assert "$x$" not in text  # MathJax would take it for a formula


def test_a_fit_shows_a_row_per_site_and_a_problem_one_line():
    rows = {"site": ["a<b>", "c"] * 8, "x": range(16), "target": [k % 5 for k in range(16)]}
    text = sf.fit(rows, client="site")._repr_html_()
    assert text.count("<tr>") == 1 + 2
    assert "a<b>" in Balanced(text).seen
    assert (
        repr(sf.from_arrays([np.eye(4, 1)] * 2, [[1.0, 2, 3, 4]] * 2)) == "LeastSquares(2 clients, 8 rows, 2 features)"
    )
    assert repr(TRIO) == "Quadratics(3 clients, 1 features)"


def test_numbers_of_a_table_stand_to_the_right():
    shown = table(["site", "gain"], [["Lyon", "-1.5e+03"], ["Oslo", "-"]])
    assert shown.count("text-align:right") == 3
    assert shown.count("text-align:left") == 3


def test_a_verdict_shows_its_evidence():
    (verdict,) = sf.verify(["adaptive/remark-3-binary"])
    assert verdict.summary in Balanced(verdict._repr_html_()).seen


def test_cells_are_given_as_html_and_headings_as_text():
    assert table(("a & b",), [("<i>c</i>",)]).count("&amp;") == 1
