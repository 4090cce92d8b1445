"""A package as docs/howto/paper.md first showed it adds a paper: records, a quantity, a keyword, claims, an erratum."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from blocks import ROOT, blocks

PAPER, RECORDS, CHECKS = blocks(ROOT / "tests" / "golden" / "paper.md", "py")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Runs Python where the distribution `tiny` is installed: its modules, and a folder that declares entry points."""
    folder = tmp_path_factory.mktemp("site")
    files = {"__init__": "", "paper": PAPER, "records": RECORDS, "checks": CHECKS}
    (folder / "tiny").mkdir()
    for name, text in files.items():
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
last = errata.section(errata.ERRATA[-1].kind, errata.ERRATA)
shown["pages"] = [theorems.of_paper(paper)["tiny.md"], theorems.index(), notation.text(), last]
print(json.dumps(shown))
"""


@pytest.fixture(scope="module")
def shown(installed):
    """What the commands print, and the pages, in one process."""
    return json.loads(installed("-c", SESSION).stdout)


def test_its_statements_are_listed_and_evaluated(shown):
    found = [(row["key"], row["edition"], row["quantity"]) for row in json.loads(shown["theorem"])]
    assert found == [("tiny/lemma-1", edition, "DISTANCE") for edition in ("printed", "corrected")]
    assert shown["theorem ="] == "|x_T - x*| <= 2\n"


def test_its_claims_are_verified_and_its_errata_are_listed(shown):
    rows = json.loads(shown["verify"])
    assert [(row["edition"], row["verdict"]) for row in rows] == [("printed", "violated"), ("corrected", "holds")]
    assert shown["others"] == ["holds"]
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
    assert r"| $\|x_T - x^*\|$ | `\|x_T - x*\|` | $\theta$ | tiny |" in notation
    assert "#### tiny-lemma-1" in errata


def test_a_library_key_is_found_without_a_look_at_other_papers(installed):
    script = (
        "import sys, suffice as sf; sf.evaluate('adaptive/lemma-2', b=1., c=0., mu=1., eps=1.);"
        "print(sorted({'torch', 'tiny', 'suffice.bounds.theorems.scafflix'} & set(sys.modules)))"
    )
    assert installed("-c", script, entries=("broken = tiny.absent",)).stdout == "[]\n"


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("broken = tiny.nowhere:PAPER", "No module named 'tiny.nowhere'"),
        ("again = tiny.paper:PAPER", "another paper's"),
    ],
)
def test_a_package_whose_paper_cannot_be_loaded_is_named_in_one_line(installed, entry, why):
    entries = ("tiny = tiny.paper:PAPER", entry)
    done = installed("-m", "suffice", "theorem", "nothing", entries=entries, expected=2)
    assert "Traceback" not in done.stderr
    assert why in " ".join(done.stderr.split())
    assert entry.partition(" = ")[2] in done.stderr
