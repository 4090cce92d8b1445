"""Records declared on their formulas: `theorem`, `printed` and `records`."""

from __future__ import annotations

import inspect

from suffice.bounds import Quantity, Source, Theorem
from suffice.bounds.theorem import printed, record_of, theorem

FIELDS = {"key": "own/double", "title": "Doubling", "source": Source(paper="yours", locator="1")}


@theorem(**FIELDS, quantity=Quantity.EXCESS, monotone={"e0": 1})
def doubled(*, e0):
    """The excess is
    at most twice e_0.

    2 e_0."""
    return 2 * e0


@printed(doubled, fault="a factor of 2 is missing")
def doubled_printed(*, e0):
    """The excess is at most e_0."""
    return e0


def test_the_function_stays_plain_its_first_paragraph_is_the_statement_and_a_printed_edition_is_its_own():
    record = record_of(doubled)
    assert record.bound is doubled
    assert doubled(e0=3) == 6
    assert list(inspect.signature(doubled).parameters) == ["e0"]
    assert record.statement == "The excess is at most twice e_0."
    assert record == Theorem(
        **FIELDS, quantity=Quantity.EXCESS, monotone={"e0": 1}, bound=doubled, statement=record.statement
    )
    other = record_of(doubled_printed)
    assert other == record.as_printed(doubled_printed, fault="a factor of 2 is missing", statement=other.statement)
    assert (other.edition, other.guarantee, other.monotone) == ("printed", False, {})
