"""Where things are: a module's tests are found by its name, files stay short, packages are imported by one name."""

from __future__ import annotations

import re

import pytest
from blocks import ROOT

FOLDERS = {"bounds": "bounds", "simulate": "simulate", "verify": "verification", "figures": "figures"}
"""Folders at the top of the repository, and the names below `suffice` that they are imported by."""
PACKAGES = (*FOLDERS, "suffice")
MODULES = [path for folder in PACKAGES for path in sorted((ROOT / folder).rglob("*.py"))]  # follows no link
TESTS = [path for folder in PACKAGES for path in sorted((ROOT / "tests" / folder).rglob("test_*.py"))]
LONGEST = 400
CROSS_CUTTING = {
    "suffice/test_bad_arguments.py": "mistakes in arguments of Python and of the command",
    "suffice/test_bad_input.py": "mistakes of users in any file and option",
    "suffice/test_command.py": "what every subcommand has in common",
    "suffice/test_fit_arguments.py": "arguments of `fit` and of what it hands back that are none",
    "suffice/test_fuzz_models.py": "tables, models and messages with a few wrong parts, and what comes of them",
    "suffice/test_fuzz_structured.py": "inputs of the right structure with a few wrong parts, every way in",
    "suffice/test_fuzz.py": "random changes of any file that a user hands in",
    "suffice/test_import.py": "`import suffice` and its public names",
    "suffice/test_interrupt.py": "Ctrl-C at any moment of any command",
    "suffice/test_names.py": "names of clients in everything that shows them",
    "suffice/test_pipes.py": "pipes and devices wherever a file is read",
    "suffice/test_plan_methods.py": "the network table through the plan, its files and the command",
    "suffice/test_readme.py": "the README, with the command's fixtures",
    "verify/bounds_of_strangers/anybody/test_list.py": "more, on other algorithms and problems, by rules of their own",
    "verify/bounds_of_strangers/anybody/test_verdicts.py": "what the check of one's own bound says of those",
    "verify/bounds_of_strangers/test_list.py": "true and false bounds from elsewhere, by moments of their own",
    "verify/bounds_of_strangers/test_verdicts.py": "what the check of one's own bound says of that list",
    "verify/claims/test_sample_optimal_routes.py": "second routes to what all claims of one paper measure",
    "verify/test_planted.py": "faults planted in any package, which verification has to catch",
    "verify/test_roots.py": "all claims at ten roots of the random numbers",
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
    """tests/verify/claims/test_star.py is about a module or package called star, somewhere below verify/claims/."""
    unfound = set()
    for test in TESTS:
        name, folder = test.stem.removeprefix("test_"), ROOT / test.parent.relative_to(ROOT / "tests")
        if not {name, f"{name}.py"} & {path.name for path in (folder, *folder.rglob("*"))}:
            unfound.add(test.relative_to(ROOT / "tests").as_posix())
    assert unfound == set(CROSS_CUTTING)


def test_no_file_is_long():
    long = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {path: lines for path, lines in long.items() if lines > LONGEST} == {}


def test_no_file_bears_a_retired_word():
    assert [path for path in MODULES if RETIRED.search(path.stem)] == []


@pytest.mark.parametrize(("folder", "name"), FOLDERS.items())
def test_links_lead_to_the_folders_at_the_top(folder, name):
    link = ROOT / "suffice" / name
    assert link.is_symlink(), "on Windows: git config core.symlinks true, and check out again"
    assert link.resolve() == ROOT / folder


def test_no_name_of_a_package_is_imported_bare():
    """`import bounds` would find the folder at the top of a checkout and load everything a second time."""
    bare = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(FOLDERS)})\b", re.MULTILINE)
    others = [path for folder in ("tests", "benchmarks", "examples", "docs") for path in (ROOT / folder).rglob("*")]
    files = [path for path in (*MODULES, *others) if path.suffix in (".py", ".md")]
    assert len(files) > 400
    assert [path for path in files if bare.search(path.read_text(encoding="utf-8"))] == []
