"""Texts end where their sentence ends, as no literal has fallen off, and a symbol in a record means one thing."""

from __future__ import annotations

import re

import pytest

from suffice.bounds import DEFINITIONS, PAPERS, PARAMETERS, THEOREMS, Quantity
from suffice.verification.errata import ERRATA

LEADS_ON = re.findall(
    r"\w+",
    "a an and any are as at be because between but by each every from has have if in into is its no nor not of or over "
    "since than that the their then these they this those to under until were when where whether which while who whose "
    "will with without",
)
"""A text that ends with one of these words, or with an operator, ends in the middle."""


def texts():
    for theorem in THEOREMS:
        for name in ("title", "statement", "hypotheses", "tight", "fault", "order_only"):
            yield f"{theorem.key} {theorem.edition} {name}", getattr(theorem, name) or ""
        yield from ((f"{theorem.key} {theorem.edition} condition", name) for name in theorem.condition_names())
        yield from ((f"{theorem.key} {theorem.edition} reduction", each.when) for each in theorem.reduces_to)
    for definition in DEFINITIONS:
        yield f"{definition.key} title", definition.title
        yield f"{definition.key} fault", definition.fault or ""
    yield from ((f"parameter {name}", parameter.meaning) for name, parameter in PARAMETERS.items())
    yield from ((f"quantity {quantity.name}", quantity.expression) for quantity in Quantity)
    for paper in PAPERS:
        for each in paper.part("records", "STATEMENTS") or ():
            yield f"{paper.key}, {each.place}: says", each.says
            yield f"{paper.key}, {each.place}: reason", each.reason
    for erratum in ERRATA:
        for name in ("claim", "truth"):
            yield f"erratum {erratum.id} {name}", getattr(erratum, name)


def broken(text):
    """What is wrong with the end of a text, or "" where it is whole."""
    if text != " ".join(text.split()):
        return "white space"
    last = re.split(r"[\s(]", text)[-1].strip("$")
    if last in LEADS_ON or re.search(r"( [-+*/<>]|[=,;:/^])$", text):
        return f"ends with {last!r}"
    if sum(map(text.count, "([")) != sum(map(text.count, ")]")):  # intervals mix the two kinds
        return "open bracket"
    return "unformatted name" if re.search(r"(?<![_^])\{_?[A-Z]+\}", text) else ""


def test_no_text_ends_in_the_middle():
    found = {name: f"{broken(text)}: ...{text[-60:]}" for name, text in texts() if broken(text)}
    assert not found


@pytest.mark.parametrize("text", ["of variance at most ", "over the k with", "at least (1 - x", "x <=", "{_NOISE}"])
def test_a_text_that_ends_in_the_middle_is_seen(text):
    assert broken(text)


def test_every_parameter_of_a_record_and_every_array_of_a_definition_has_its_own_symbol():
    used = {str(theorem): [theorem.symbol(each.name) for each in theorem.parameters] for theorem in THEOREMS}
    for definition in DEFINITIONS:
        known = [name for name in definition.vectors if name in PARAMETERS]
        used[definition.key] = [definition.source.symbols.get(name, PARAMETERS[name].symbol) for name in known]
    assert [key for key, symbols in used.items() if len(set(symbols)) < len(symbols)] == []
