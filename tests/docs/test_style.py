"""What a machine can see of docs/style.md: help and public docstrings are sentences, and parameters are explained."""

from __future__ import annotations

import inspect
import re
import runpy

import pytest
import typer
from blocks import ROOT

import suffice as sf
from suffice.bounds import DEFINITIONS, THEOREMS
from suffice.cli import COMMANDS, load
from suffice.cli.app import app
from suffice.verification.errata import ERRATA, WITHDRAWN

FUNCTIONS = {name: value for name in sf.__all__ if inspect.isfunction(value := getattr(sf, name))}
PUBLIC = {
    f"{getattr(module, '__name__', '')}.{name}": value
    for module in (sf, sf.algorithms, sf.problems, sf.verification, sf.bounds)
    for name in getattr(module, "__all__", dir(module))
    if getattr(value := getattr(module, name), "__module__", "").startswith("suffice.") and callable(value)
}
_VERBS = (
    "is|are|was|be|has|have|holds?|does|do|would|may|can|starts?|stands|needs?|grows|sums?|bounds|satisfies|says|return|"
    "covers|adds|draws|keeps?|checks|updates|takes?|hides|attains?|moves|meets|compares|averages|follows|leaves|"
    "vanishes|tells|gives?|estimates|exceeds|overshoot|repeats|drops|flips|violate|costs|counts?|diverges|converge|used?|"
    "could|learn|differ|asks?"
)
_ORDERS = "Check|Compute|Evaluate|Find|Fit|Give|List|Measure|Plan|Print|Read|Solve|Sum|Train|Write"
VERB = re.compile(rf"\b({_VERBS})\b|^({_ORDERS})\b|<=|>=|<-|[=<>~]")
"""What makes a sentence, as far as the texts here need it."""


def texts() -> dict[str, str]:
    """Whole sentences of records and errata, by where they stand."""
    found = {}
    for record in THEOREMS:
        for name in ("statement", "fault", "tight", "order_only"):
            found[f"{record.key} {record.edition}, {name}"] = getattr(record, name) or ""
    found |= {f"{entry.key}, fault": entry.fault or "" for entry in DEFINITIONS}
    found |= {f"{entry.id}, what holds": entry.truth for entry in (*ERRATA, *WITHDRAWN)}
    return {at: text for at, text in found.items() if text}


def test_texts_of_records_and_errata_are_sentences():
    found = texts()
    assert len(found) > 500
    assert [at for at, text in found.items() if not text.endswith(".") or re.match(r"[a-z]{2,} [a-z]+ ", text)] == []
    parts = {f"{at}: {part}": part for at, text in found.items() for part in re.split(r"(?<=[a-z)])\. ", text)}
    assert [at for at, part in parts.items() if not VERB.search(part)] == []


def test_hypotheses_are_clauses_with_a_verb():
    clauses = {part for record in THEOREMS for part in re.split(r"; |(?<=[a-z])\. ", record.hypotheses) if part}
    assert len(clauses) > 100
    assert [part for part in clauses if not VERB.search(re.sub(r"\([^()]*\)", "", part))] == []


def helps() -> dict[str, str]:
    load()
    commands = vars(typer.main.get_command(app))["commands"]
    assert set(commands) == set(COMMANDS)
    found = {name: command.help for name, command in commands.items()}
    for name, command in commands.items():
        found |= {f"{name} {one.name}": one.help for one in command.params if one.name != "help" and not one.hidden}
    return found


def test_help_begins_with_a_capital_and_ends_with_a_full_stop():
    found = helps()
    assert len(found) > 100
    assert [at for at, text in found.items() if not re.fullmatch(r"[A-Z0-9].*\.", text or "", re.DOTALL)] == []
    assert [at for at, text in found.items() if re.search(r"; (repeat|without|an unknown)\b", text)] == []


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_docstring_begins_with_a_sentence(name):
    head = (inspect.getdoc(PUBLIC[name]) or "").split("\n\n")[0]
    assert re.search(r"[.:]$", head), head
    assert VERB.search(head.split(". ")[0]), head


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_explains_its_parameters(name):
    """`hitting_times` refers to `run`."""
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    known = [one for one in inspect.signature(FUNCTIONS[name]).parameters if one != "progress"]
    if "The other arguments are those of `run`" not in text:
        assert [one for one in known if not re.search(rf"\b{one}\b", text)] == []


def test_the_api_pages_have_sections():
    shown = runpy.run_path(str(ROOT / "docs" / "conf.py"))["_literal_docstring"]

    def page(name: str) -> str:
        lines = (inspect.getdoc(getattr(sf, name)) or "").splitlines()
        shown(None, "function", name, getattr(sf, name), None, lines)
        return "\n".join(lines)

    run = page("run")
    assert ":Parameters:\n    ``problem``\n        one for all seeds" in run
    assert ":Returns: ``Trace``" in run
    assert re.search(r":Raises: \\ ``InputError``\\ , of which", run)
    for name in FUNCTIONS:
        assert not re.search(r"^\| ", page(name), re.MULTILINE), name  # no column is left that is no section


CODE = re.compile(r"^```(?!\{)\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WIDEST = 96
"""Characters of a line of code that a page shows whole."""


@pytest.mark.parametrize(
    "page", [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=str
)
def test_code_fits_its_page_and_pictures_have_words(page):
    text = page.read_text(encoding="utf-8")
    wide = [line for block in CODE.findall(text) for line in block.splitlines() if len(line) > WIDEST]
    assert wide == []
    assert [words for words in re.findall(r"!\[(.*?)\]\(", text, re.DOTALL) if len(words.split()) < 3] == []
