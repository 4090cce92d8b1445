"""What every erratum keeps: a place, a corrected statement, and two numbers that differ on an instance.

Papers are accused of what the numbers show: an upper bound is exceeded, a lower one undercut, and what is printed and
true is not counted.
"""

from __future__ import annotations

import math
import re
from typing import get_args

import pytest
from pages import errata as page
from pages import statements
from pages.mathematics import typeset
from pages.theorems import address
from whole_pages import paper_pages, whole_content

from suffice.bounds import DEFINITIONS, PAPERS, THEOREMS, find
from suffice.bounds.describe import page as theorem_page
from suffice.bounds.saved_errata import by_damage, errata_of, said, saved_rows, wrong_in_print
from suffice.bounds.saved_verdicts import known
from suffice.cli.errata import errata_page
from suffice.verification import errata
from suffice.verification.claims import all_claims
from suffice.verification.errata import ERRATA, WITHDRAWN, one
from suffice.verification.errata.erratum import Direction, Kind

CORRECTED = {record.key for record in (*THEOREMS, *DEFINITIONS) if record.edition == "corrected"}


def test_ids_are_unique():
    assert len({entry.id for entry in ERRATA}) == len(ERRATA)


def test_every_printed_statement_that_a_claim_refutes_has_its_erratum():
    checked = {claim.theorem.key for claim in all_claims() if claim.theorem.edition == "printed"}
    true = {key for key in checked if known()[key, "printed"]["verdict"] == "holds"}
    assert len(checked - true) >= 22
    assert checked - true <= {entry.key for entry in ERRATA if entry.counts}
    # what a claim finds true is accused by no erratum of its own
    assert "sample-optimal/theorem-2" in true
    assert all(find(key, "printed").true_as_printed for key in true)
    assert true & {entry.key for entry in ERRATA if entry.counts} == set()


@pytest.mark.parametrize("entry", ERRATA, ids=lambda entry: entry.id)
def test_its_two_numbers_differ_on_an_instance_that_it_describes(entry):
    assert entry.kind in get_args(Kind)
    assert entry.key is None or entry.key in CORRECTED
    assert entry.claim != entry.truth
    assert all(0 < len(text) <= 200 for text in (entry.paper, entry.location, entry.claim, entry.truth))
    row = entry.to_dict()
    assert row["id"] == entry.id
    assert "quantity" in row["inputs"]
    printed, measured = row["printed"], row["measured"]
    assert type(printed) is type(measured) is float
    assert math.isfinite(printed)
    assert math.isfinite(measured)
    assert abs(printed - measured) > 0.05 * max(abs(printed), abs(measured))


BROKEN = {"upper": lambda row: row["measured"] > row["printed"], "lower": lambda row: row["measured"] < row["printed"]}


@pytest.mark.parametrize("entry", ERRATA, ids=lambda entry: entry.id)
def test_a_printed_bound_is_broken_by_what_is_counted_and_kept_by_what_is_loose(entry):
    assert entry.side in get_args(Direction)
    row = entry.to_dict()
    assert row["direction"] == entry.side
    if entry.side in BROKEN:
        assert BROKEN[entry.side](row) == entry.counts
    else:  # two numbers that do not contradict each other are no accusation
        assert entry.side == "equality" or not entry.counts or entry.kind == "code"


def test_withdrawn_ids_answer_with_the_reason():
    assert {entry.id for entry in WITHDRAWN} & {entry.id for entry in ERRATA} == set()
    assert "adaptive-table-s1-hospitals" in {entry.id for entry in WITHDRAWN}
    for entry in WITHDRAWN:
        assert errata(entry.id.upper()) == [entry]
        assert one(entry.id)
        assert any(paper.title == entry.paper and entry.id.startswith(f"{paper.key}-") for paper in PAPERS)
        assert all(0 < len(text) <= 200 for text in (entry.location, entry.claim, entry.truth))
        row = entry.to_dict()
        assert row["kind"] == "withdrawn"
        assert row["printed"] is row["measured"] is None
        assert set(row) == set(ERRATA[0].to_dict())
    assert WITHDRAWN[0] not in errata()


def test_pages_count_errors_alone_and_list_the_others_apart():
    text = "\n".join(page.pages().values())
    wrong, rest = text.split("\n## True, but\n")
    loose, gone = rest.split("\n## Withdrawn\n")
    assert (
        "\n### Theorem 2, Table 1: the bound is exceeded by a factor of 36\n\n#### adaptive-theorem-2-expectation\n"
        in wrong
    )
    assert wrong.index("\n## False\n") < wrong.index("\n## A hypothesis is missing\n") < wrong.index("\n## Slips\n")
    counted = [entry for entry in ERRATA if entry.counts]
    assert f"contradicts {len(counted)} printed" in wrong
    assert wrong.count("\n### ") == len(counted) < len(ERRATA)
    assert loose.count("\n### ") == len(ERRATA) - len(counted)
    assert gone.count("\n- `") == len(WITHDRAWN)
    assert all(f"`{entry.id}`" in gone for entry in WITHDRAWN)
    assert "[smoothness-logistic](errata/loose.md#scafflix-smoothness-logistic) (true, but)" in statements.text()


@pytest.mark.parametrize("paper", [paper for paper in PAPERS if paper.errata], ids=lambda paper: paper.key)
def test_the_version_that_was_read_is_named(paper):
    entry = next(entry for entry in ERRATA if entry.paper == paper.title)
    assert paper.read
    assert paper.read in page.pages()["errata.md"]
    assert paper.read in " ".join(errata_page(entry.to_dict()).lines)


@pytest.mark.parametrize("entry", [entry for entry in (*ERRATA, *WITHDRAWN) if "O~" in entry.claim], ids=lambda e: e.id)
def test_an_erratum_on_an_order_quotes_what_the_order_hides(entry):
    assert "hides logarithmic and constant factors" in entry.claim


def test_no_bound_is_called_exceeded_where_none_is_printed():
    by_id = {entry.id: entry for entry in ERRATA}
    for name in ("sample-optimal-linear-noise", "sample-optimal-theorem-5-clusters", "adaptive-section-5-sublinear"):
        heading = page.headline(by_id[name].to_dict())
        assert "printed" in heading
        assert "bound" not in heading


FACTOR = re.compile(r"by a factor of ([^ (;:$`]+)")


@pytest.mark.share(5)
@pytest.mark.parametrize(
    "row", [row for row in saved_rows() if row["key"] and row["kind"] != "loose"], ids=lambda r: r["id"]
)
def test_a_theorem_and_its_erratum_know_each_other_with_one_factor(row):
    computed = next(entry for entry in ERRATA if entry.id == row["id"]).to_dict()
    words, lines = said(row), errata_page(computed).lines
    assert said(computed) == words
    assert lines[0] == f"{row['location']}: {words}"
    assert f"commands: suffice theorem {row['key']}" in lines
    assert sum(line.startswith("printed ") for line in lines) == 1
    editions = [one for one in THEOREMS if one.key == row["key"]]
    assert (f"          suffice theorem {row['key']} --edition printed" in lines) == (len(editions) > 1)
    shown = next(one for one in whole_content()["errata"] if one["id"] == row["id"])
    assert (shown["said"], shown["correct"]) == (words, row["key"])
    for record in editions:
        assert row in errata_of("", [record.key])
        second = theorem_page(record).splitlines()[1]
        assert second == f"wrong in print: {wrong_in_print('', [record.key])}"
        worst = errata_of("", [record.key])[0]
        assert f"suffice errata {worst['id']}" in second
        assert FACTOR.findall(second) == FACTOR.findall(said(worst))
    if editions:  # a definition has a section without facts
        shown = paper_pages()[address(row["key"]).removeprefix("theorems/").partition("#")[0]]
        assert f"(../errata/{row['kind']}.md#{row['id']}): {typeset(words)}" in shown


def test_the_list_is_ranked_by_damage(command):
    ids = [row["id"] for row in by_damage(row for row in saved_rows() if row["kind"] not in ("loose", "withdrawn"))]
    shown = [
        line.split()[0] for line in command("errata").stdout.splitlines() if line.split()[:1] and line.split()[0] in ids
    ]
    assert shown == ids
    of_page = re.findall(r"^#### (\S+)$", "\n".join(page.pages().values()).split("\n## True, but\n")[0], re.MULTILINE)
    assert of_page == ids
