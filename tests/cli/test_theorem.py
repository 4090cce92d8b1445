"""`suffice theorem`: what it cites, what it asks for, what it suggests, and what it claims; keys in tables."""

from __future__ import annotations

import re
import shlex

import pytest

from suffice.bounds import DEFINITIONS, InputError, find
from suffice.bounds.saved_verdicts import extent, known
from suffice.verification import errata

PROBABILITY = "adaptive/theorem-2-constant-running"


def test_a_definition_is_cited(command):
    key = DEFINITIONS[0].key
    assert f"suffice:{key}," in command("theorem", key, "--bibtex").stdout


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("adaptve/theorem-2", "adaptive/theorem-2"),
        ("adaptive/theorm-2", "adaptive/theorem-2"),
        ("sample-optimal/corolary-1", "sample-optimal/corollary-1"),
        ("adaptve/theorem-2-constant", "adaptive/theorem-2-constant"),
        ("scaflix/theorem-1", "scafflix/theorem-1"),
        ("scaflix", "scafflix"),
    ],
)
def test_what_is_suggested_is_what_was_meant(typed, near):
    with pytest.raises(InputError, match=re.escape(f"did you mean {near}?")):
        find(typed)


def test_a_result_is_suggested_among_errata_too():
    with pytest.raises(InputError, match=r"did you mean adaptive-theorem-2\?"):
        errata("adaptve/theorem-2")


@pytest.mark.parametrize(
    "words",
    [
        "adaptive/theorem-2-constant eta=0.1",
        "adaptive/theorem-2-constant T=1000 beta=3",
        "adaptive/theorem-2-constant eta=1e50",
        "adaptive/lemma-1 --edition printed eta=0.1",
        "cobo/theorem-1-star T=5",
        "scafflix/theorem-1 p=0.5",
        "adaptive/theorem-2-constant --solve T --target 1 eta=0.001",
    ],
)
def test_all_that_is_missing_is_named_with_a_line_that_runs(command, refused, words):
    said = refused("theorem", *words.split())
    record = find(words.split()[0], "printed" if "printed" in words else "corrected")
    solved = re.findall(r"--solve (\w+)", words)
    given = re.findall(r"(\w+)=", words)
    missing = [one.name for one in record.parameters if one.name not in given + solved]
    assert said.startswith(f"suffice: {', '.join(missing)} = 'missing': {record.key} needs {', '.join(missing)}; this")
    line = said.partition("this line runs: suffice ")[2]
    done = command(*shlex.split(line))
    assert done.returncode == 0, done.stderr
    if "1e50" not in words:
        assert all(f" {pair}" in line for pair in words.split() if re.match(r"\w+=", pair))


def test_a_probability_is_at_most_1(command):
    words = ["eta=0.5", "mu=0.001", "beta=1", "e0=1000", "s2=1", "T=1", "q=1", "eps=0.001"]
    first, second = command("theorem", PROBABILITY, *words).stdout.splitlines()
    assert first == "P(tau > T) <= 1"
    assert second.startswith("as every probability: the formula gives 9")


def test_a_true_print_is_not_called_faulty(command):
    page = command("theorem", "adaptive/remark-3-binary", "--edition", "printed").stdout
    assert "\nremark      The statement is true" in page
    assert "\nfault " not in page


def test_a_kept_verdict_without_an_instance_says_why_and_never_none_of_them(command):
    rows = [row for row in known().values() if row["verdict"] == "vacuous"]
    assert rows
    for row in rows:
        assert extent(row).endswith("no instance meets the hypotheses" if row["instances"] == 0 else "instances")
    done = command("theorem", "adaptive/theorem-2-decreasing", "--edition", "printed")
    assert "vacuous: no instance meets the hypotheses" in " ".join(done.stdout.split())
