"""Where things are: tests are found by the names of modules, functions and the machine stay small, names at the top are
links."""

from __future__ import annotations

import ast
import os
import re
import runpy
from pathlib import Path

import pytest
from blocks import ROOT

LINKS = {"bounds": "bounds", "simulate": "simulate", "verify": "verification", "figures": "figures"}
"""Names that the project promises at its top, and the rooms of `suffice` that they link to."""
PACKAGE = ROOT / "suffice"
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = [path for room in ROOMS for path in sorted((ROOT / "tests" / room).rglob("test_*.py"))]
LONGEST = 60
"""Lines of a function."""
LONG = {
    "simulate/runner.py:run": "each argument has a sentence",
    "verification/check.py:check": "each argument has a sentence",
}
"""Functions that are longer, with the reason."""
CROSS_CUTTING = {
    "cli/test_bad_arguments.py": "mistakes in arguments of Python and of the command",
    "cli/test_bad_input.py": "mistakes of users in any file and option",
    "cli/test_command.py": "what every subcommand has in common",
    "cli/test_fuzz_models.py": "tables, models and messages with a few wrong parts, and what comes of them",
    "cli/test_fuzz_structured.py": "inputs with a few wrong parts, every way in",
    "cli/test_import.py": "`import suffice` and its public names",
    "cli/test_interrupt.py": "Ctrl-C at any moment of any command",
    "cli/test_names.py": "names of clients in everything that shows them",
    "cli/test_pipes.py": "pipes and devices wherever a file is read",
    "cli/test_next.py": "the first and the last line of every command",
    "cli/test_readme.py": "the README, with the command's fixtures",
    "explorer/test_paths.py": "paths.mjs, which Node runs",
    "fitting/test_far_rows.py": "predictions far outside what a fit has seen",
    "fitting/test_few_rows.py": "wild rows at sites of few rows, and fair ones",
    "fitting/test_sentences.py": "what a fit says, beside the numbers that it speaks of",
    "explorer/test_extremes.py": "what the page shows at the ends of all sliders",
    "explorer/test_keys.py": "real keys on the page",
    "fitting/test_fit_arguments.py": "arguments of `fit` and of what it hands back that are none",
    "fitting/test_neighbours.py": "what users of other libraries look for",
    "planning/exact/test_simple_rules.py": "rules that no exact plan may be slower than",
    "planning/test_replay.py": "plans that a trainer carries out from their files alone",
    "planning/test_results.py": "what the classes of a plan have in common",
    "planning/test_two_sided.py": "exact and guaranteed plans, held from above and from below",
    "simulate/algorithms/test_plain_algorithms.py": "every algorithm of the catalogue beside its plain transcription",
    "simulate/algorithms/test_special_cases.py": "where one algorithm is another one",
    "simulate/data/test_frames.py": "data frames of any library",
    "simulate/data/test_paths_of_tables.py": "which reader reads a path",
    "simulate/problems/test_arguments.py": "wrong arguments of any problem",
    "simulate/kernels/test_streams.py": "the rule of streams.h beside the reference",
    "verification/bounds_of_strangers/test_lists.py": "true and false bounds from elsewhere, and what a check says",
    "verification/campaign/test_folder.py": "what a campaign leaves in its folder",
    "verification/campaign/test_keyboard_interrupt.py": "campaigns that are interrupted",
    "verification/campaign/test_workers.py": "campaigns in several processes",
    "verification/check_property/test_cells.py": "bounds that are attained, of every algorithm and every quantity",
    "verification/claims/test_sample_optimal_routes.py": "second routes to what all claims of one paper measure",
    "verification/test_check_ends.py": "families of one's own at the ends of their domains",
    "verification/test_check_guards_consensus.py": "rounding of what is measured on paths",
    "verification/test_check_guards_controls.py": "rounding of control variates",
    "verification/test_check_guards_functions.py": "a bound that is no function, or changes what it should not",
    "verification/test_check_guards_inner_modes.py": "what is extreme between mu and beta",
    "verification/test_check_guards_jumps.py": "bounds that jump at one value",
    "verification/test_check_guards_late.py": "bounds that fail at a late T alone",
    "verification/test_check_guards_own_steps.py": "the step that an algorithm takes, and late iterations",
    "verification/test_check_guards_rounding.py": "rounding of a bound",
    "verification/test_check_mean_loss.py": "quantities of the clients' mean loss",
    "verification/test_check_one_outcome.py": "participation of all, and states of one name, in the check of a bound",
    "verification/test_check_shapes.py": "every pair of clients and features",
    "verification/test_coq.py": "the files in proofs/, compiled by Coq",
    "verification/test_few_instances.py": "families of few instances, whole",
}
"""Tests of no single module, with what they are about."""
RETIRED = re.compile(
    "(^|_)(advice|beyond|client_numbers|conductor|endless|front|house|lanes|line|made|misfit|onestep|own|paying|precise"
    "|reach|rooms?|stability|told|vocabulary|watch(es)?)(_|$)"
)


def test_every_module_and_test_is_looked_at():
    assert len(MODULES) > 250
    assert len(TESTS) > 80


def test_tests_are_found_by_the_names_of_modules():
    """tests/verification/claims/test_star.py is about a module or package called star below verification/claims/."""
    unfound = set()
    for test in TESTS:
        name, folder = test.stem.removeprefix("test_"), PACKAGE / test.parent.relative_to(ROOT / "tests")
        if not {name, f"{name}.py"} & {path.name for path in (folder, *folder.rglob("*"))}:
            unfound.add(test.relative_to(ROOT / "tests").as_posix())
    assert unfound == set(CROSS_CUTTING)


def test_no_function_is_long():
    """Its signature and its docstring count."""
    long = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST:
                    long[f"{path.relative_to(PACKAGE)}:{node.name}"] = lines
    assert set(long) == set(LONG), long


def test_the_machine_does_not_grow():
    """Beyond the number in pyproject.toml a feature enters when another leaves."""
    lines = runpy.run_path(str(ROOT / "benchmarks" / "lines.py"))  # a checkout's folder is not on the path of tests
    assert 50_000 < lines["machine"]() <= lines["limit"]()


def test_no_file_bears_a_retired_word():
    assert [path for path in MODULES if RETIRED.search(path.stem)] == []


@pytest.mark.parametrize(("name", "room"), LINKS.items())
def test_the_promised_names_at_the_top_link_to_the_rooms(name, room):
    link = ROOT / name
    if link.is_file():  # git without symbolic links writes the target into a file, which hurts nothing
        assert link.read_text(encoding="utf-8") == f"suffice/{room}"
    else:
        assert link.is_symlink()
        assert os.readlink(link) == f"suffice/{room}"
        assert link.resolve() == PACKAGE / room


def test_nothing_is_a_link_inside_the_package():
    assert [path for path in PACKAGE.rglob("*") if path.is_symlink()] == []


TEXTS = [*MODULES, ROOT / "Makefile", ROOT / "pyproject.toml", *(ROOT / ".ci").iterdir()]
TEXTS += [path for path in (ROOT / ".github").rglob("*") if path.is_file()]
TEXTS += [
    path
    for folder in ("tests", "benchmarks", "examples", "docs")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".md")
]
TEXTS += [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]


def test_nothing_needs_the_links_at_the_top():
    """A path through a link, or `import bounds`, works in a checkout with links alone."""
    names = "|".join(LINKS)
    bare = re.compile(rf"^\s*(?:from|import) (?:{names})\b", re.MULTILINE)
    through = re.compile(rf"(?<![\w./<*-])(?:{names})/\w+(?:\.\w+|/)")
    own = [path for path in TEXTS if path != Path(__file__)]
    assert len(own) > 600
    found = {path: kind.findall(path.read_text(encoding="utf-8")) for path in own for kind in (bare, through)}
    assert {path.relative_to(ROOT).as_posix(): places for path, places in found.items() if places} == {}
