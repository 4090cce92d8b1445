"""LaTeX of the records as MathML."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from suffice.bounds import THEOREMS, InputError
from suffice.explorer.mathml import letters, mathml


def test_every_formula_of_the_library_is_converted():
    for record in THEOREMS:
        own = [record.latex()] if record.bound else []
        for latex in (*own, record.quantity.latex, *(record.symbol(p.name) for p in record.parameters)):
            ElementTree.fromstring(mathml(latex))


def test_a_formula_keeps_its_parts_in_order_and_bars_have_the_size_of_letters():
    found = ElementTree.fromstring(mathml(r"\frac1T\sum_{t=1}^T \lVert e_0 \rVert", display=True))
    assert "".join(found.itertext()) == "1T∑t=1T‖e0‖"
    assert [part.tag for part in found[0]][:3] == ["mfrac", "munderover", "mo"]
    assert all(bar.get("stretchy") == "false" for bar in found.iter("mo") if bar.text == "‖")


def test_symbols_are_searched_by_their_letters():
    known = {r"\sigma_{\mathrm{suf}}^2": "σ_suf^2", r"\phi(1)": "φ(1)", r"\kappa_{\max}": "κ_max", r"\bar D": " D"}
    assert {latex: letters(latex) for latex in known} == known


@pytest.mark.parametrize("latex", [r"\unknown{x}", r"x^", r"\left(x"])
def test_what_is_not_known_or_not_whole_is_refused(latex):
    with pytest.raises(InputError, match="formula"):
        mathml(latex)


@pytest.mark.parametrize("latex", [r"\mathrm{<b>}", r"a < b > \text{<script>}", r"\text{&#x3C;b>}"])
def test_markup_in_symbols_stays_text(latex):
    made = mathml(latex)
    assert "<b>" not in made
    assert "<script>" not in made
    ElementTree.fromstring(made)
