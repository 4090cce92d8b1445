"""LaTeX of the records as MathML."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from suffice.bounds import THEOREMS, InputError
from suffice.explorer.mathml import letters, mathml


def shape(latex):
    """The tree without namespaces, as nested tuples of names and texts."""

    def of(element):
        name = element.tag
        return (name, element.text) if element.text else (name, *map(of, element))

    return of(ElementTree.fromstring(mathml(latex))[0])[1:]


def test_fractions_scripts_and_letters():
    assert shape(r"\frac1T\sum_{t=1}^T e_0") == (
        ("mfrac", ("mn", "1"), ("mi", "T")),
        ("munderover", ("mo", "∑"), ("mrow", ("mi", "t"), ("mo", "="), ("mn", "1")), ("mi", "T")),
        ("msub", ("mi", "e"), ("mn", "0")),
    )
    assert shape(r"\left(1 - \eta\right)^{T}") == (
        ("msup", ("mrow", ("mo", "("), ("mn", "1"), ("mo", "−"), ("mi", "η"), ("mo", ")")), ("mi", "T")),
    )
    assert letters(r"\sigma_{\mathrm{suf}}^2") == "σ_suf^2"


def test_every_formula_of_the_library_is_converted():
    for record in THEOREMS:
        for latex in (record.latex(), record.quantity.latex, *(record.symbol(p.name) for p in record.parameters)):
            ElementTree.fromstring(mathml(latex))


@pytest.mark.parametrize("latex", [r"\unknown{x}", r"\frac{1}", r"x^", r"\left(x"])
def test_what_is_not_known_or_not_whole_is_refused(latex):
    with pytest.raises(InputError, match="formula"):
        mathml(latex)


def test_markup_in_symbols_stays_text():
    (inner,) = shape(r"\mathrm{<b>}")
    assert inner == ("mi", "<b>")
    assert "<b>" not in mathml(r"a < b > \text{<script>}")
