"""A package as docs/howto/paper.md first showed it adds a paper: records, a quantity, a keyword, claims, an erratum."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from blocks import ROOT, blocks

PAPER, RECORDS, CHECKS = blocks(ROOT / "tests" / "golden" / "paper.md", "py")
FAULTY = {
    "broken = tiny.absent": "No module named 'tiny.absent'",
    "number = tiny.faults:NUMBER": "'int' object is not callable",
    "other = tiny.faults:other": "it gives a str, not a Paper",
    "taken = tiny.faults:TAKEN": "cobo is another paper's key",
    "strange = tiny.faults:STRANGE": "tiny/lemma-1 printed does not begin with strange",
    "unread = tiny.faults:UNREAD": "No module named 'tiny.nowhere'",
    "twice = tiny.faults:TWICE": "twice/lemma-1 corrected is there twice",
    "clash = tiny.faults:CLASH": "the keyword means Polyak-Lojasiewicz or strong-convexity constant of R_i",
}
FAULTS = """
from dataclasses import replace

from suffice.bounds import Paper

from .paper import PAPER

NUMBER = 3
TAKEN, STRANGE = replace(PAPER, key="cobo"), replace(PAPER, key="strange")
UNREAD = replace(PAPER, key="unread", records="tiny.nowhere")
TWICE = replace(PAPER, key="twice", records="tiny.twice")
CLASH = replace(PAPER, key="clash", records="tiny.clash")
CLAIMLESS = replace(PAPER, key="claimless", records="tiny.claimless", claims="tiny.void", errata="")


def other():
    return "a paper"
"""
TWICE = """
from dataclasses import replace

from .records import THEOREMS as KNOWN

THEOREMS = [replace(KNOWN[1], key="twice/lemma-1")] * 2
"""
CLAIMLESS = TWICE.replace("twice", "claimless").replace(" * 2", "")
CLASH = """
from dataclasses import replace

from suffice.bounds import PARAMETERS, add_parameter

add_parameter(replace(PARAMETERS["mu"], meaning="another"))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Runs Python where the distribution `tiny` is installed: its modules, and a folder that declares entry points."""
    folder = tmp_path_factory.mktemp("site")
    files = {"__init__": "", "paper": PAPER, "records": RECORDS, "checks": CHECKS, "faults": FAULTS}
    (folder / "tiny").mkdir()
    for name, text in (files | {"twice": TWICE, "claimless": CLAIMLESS, "clash": CLASH}).items():
        (folder / "tiny" / f"{name}.py").write_text(text)

    def python(*arguments, entries=("tiny = tiny.paper:PAPER",), expected=0):
        about = folder / "tiny-1.0.dist-info"
        about.mkdir(exist_ok=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text("\n".join(["[suffice.papers]", *entries]) + "\n")
        path = os.pathsep.join([str(folder), str(ROOT)])
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": path},
            timeout=120,
        )
        assert done.returncode == expected, done.stderr
        return done

    return python


SESSION = """
import contextlib, io, json, sys
sys.path.insert(0, "docs")
import suffice as sf
from pages import errata, notation, theorems
from suffice.bounds import PAPERS
from suffice.cli import main

shown = {}
for line in ("theorem tiny --json", "theorem tiny-lemma-1 eta=0.5 mu=1 beta=1 T=2 far=8", "verify tiny --json",
             "errata tiny --json"):
    sys.argv = ["suffice", *line.split()]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main()
    shown[line.split()[0] + (" =" if "=" in line else "")] = out.getvalue()
paper, = (each for each in PAPERS if each.key == "tiny")
shown["others"] = [verdict.outcome.value for verdict in sf.verify(["worst-case/quadratic-norms"])]
shown["claimless"] = sf.theorem("claimless/lemma-1").key
last = errata.section(errata.ERRATA[-1].kind, errata.ERRATA)
shown["pages"] = [theorems.of_paper(paper)["tiny.md"], theorems.index(), notation.text(), last]
print(json.dumps(shown))
"""


@pytest.fixture(scope="module")
def shown(installed):
    """What the commands print, and the pages, in one process: the claims of another new paper fail to load."""
    done = installed("-c", SESSION, entries=("tiny = tiny.paper:PAPER", "claimless = tiny.faults:CLAIMLESS"))
    return json.loads(done.stdout) | {"warned": done.stderr}


def test_its_statements_are_listed_and_evaluated(shown):
    found = [(row["key"], row["edition"], row["quantity"]) for row in json.loads(shown["theorem"])]
    assert found == [("tiny/lemma-1", edition, "DISTANCE") for edition in ("printed", "corrected")]
    assert shown["theorem ="] == "|x_T - x*| <= 2\n"


def test_its_claims_are_verified_and_its_errata_are_listed(shown):
    rows = json.loads(shown["verify"])
    assert [(row["edition"], row["verdict"]) for row in rows] == [("printed", "violated"), ("corrected", "holds")]
    assert rows[1]["refuted_mutants"] == rows[1]["mutants"] >= 2
    (row,) = json.loads(shown["errata"])
    assert (row["id"], row["printed"], row["measured"]) == ("tiny-lemma-1", 0.25, 0.5)


def test_its_pages_are_generated_beside_the_others(shown):
    page, index, notation, errata = shown["pages"]
    assert page.startswith("---\ntocdepth: 2\n---\n\n# A tiny paper (Someone, 2026)\n\n## ")
    assert "\n### tiny/lemma-1\n" in page
    assert "[tiny](tiny.md)\n\n*A tiny paper (Someone, 2026).*" in index
    assert "[worst-case](worst-case.md)" in index
    assert r"| `far` | distance of the start | $\theta$ |" in notation
    assert r"| $\|x_T - x^*\|$ | `\|x_T - x*\|` | $\theta$ | claimless, tiny |" in notation
    assert "#### tiny-lemma-1" in errata


def test_a_faulty_paper_is_left_out_with_one_warning_that_names_it(installed):
    script = (
        "import suffice as sf; print(len(sf.bounds.THEOREMS), sf.bounds.PAPERS[-1].key, sf.bounds.THEOREMS[-1].key)"
    )
    alone = installed("-c", script)
    assert alone.stderr == ""
    done = installed("-c", script, entries=("tiny = tiny.paper:PAPER", *FAULTY))
    assert done.stdout == alone.stdout
    assert done.stderr.count("RuntimeWarning") == len(FAULTY)
    for entry, complaint in FAULTY.items():
        assert any(entry in line and complaint in line for line in done.stderr.splitlines()), (entry, done.stderr)


def test_claims_that_fail_leave_the_records_and_the_claims_of_others(shown):
    assert (shown["claimless"], shown["others"]) == ("claimless/lemma-1", ["holds"])
    complaint = "claims of the paper claimless is left out: ModuleNotFoundError: No module named 'tiny.void'"
    assert shown["warned"].count(complaint) == shown["warned"].count("is left out") > 0


def test_a_library_key_is_found_without_a_look_at_other_papers(installed):
    script = (
        "import sys, suffice as sf; sf.evaluate('adaptive/lemma-2', b=1., c=0., mu=1., eps=1.);"
        "print(sorted({'torch', 'tiny', 'suffice.bounds.theorems.scafflix'} & set(sys.modules)))"
    )
    assert installed("-c", script, entries=("broken = tiny.absent",)).stdout == "[]\n"
