"""Pages, citation and pins say the same as the Makefile and pyproject.toml."""

from __future__ import annotations

import re
import tomllib

from blocks import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))


def test_targets_that_pages_name_are_there():
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        named = re.findall(r"`make ([a-z -]+)`", page.read_text(encoding="utf-8"))
        assert len(named) >= 2
        assert {word for words in named for word in words.split()} <= TARGETS


def test_the_tests_of_a_wheel_are_there():
    named = re.findall(r"tests/[\w/]+\.py", (ROOT / ".ci" / "wheel-check").read_text(encoding="utf-8"))
    assert len(named) >= 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_citation_has_the_version_and_licence():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {PROJECT['version']}\n" in text
    assert f"license: {PROJECT['license']}\n" in text
    released = re.search(r"^date-released: (\S+)$", text, re.MULTILINE)
    assert f"## {PROJECT['version']} ({released[1]})\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_requirement_is_pinned():
    def plain(name: str) -> str:
        return re.sub(r"[-_.]+", "-", re.split(r"[<>=\[ ]", name)[0]).lower()

    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {plain(line) for line in lines if "==" in line}
    extras = PROJECT["optional-dependencies"]
    assert {"test", "docs", "bench"} <= set(extras)
    asked = [*PROJECT["dependencies"], *(entry for extra in extras.values() for entry in extra)]
    assert {plain(entry) for entry in asked} <= pinned
