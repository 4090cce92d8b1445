"""Tab completion, and `suffice` alone."""

from __future__ import annotations

from suffice.cli.completion import algorithm_names, errata_names, figure_names, of, theorem_keys
from suffice.figures import makers
from suffice.simulate import ALGORITHMS
from suffice.verification import errata


def test_what_begins_as_typed_is_offered():
    assert figure_names("adaptive-2") == [name for name in sorted(makers()) if name.startswith("adaptive-2")] != []
    assert set(algorithm_names("")) == set(ALGORITHMS)
    assert {entry.id for entry in errata("cobo")} == set(errata_names("cobo-"))
    assert "adaptive/theorem-2-constant" in theorem_keys("adaptive/theorem-2-c")
    assert of("quick", "full")("f") == ["full"]
    assert theorem_keys("no such") == []


def test_the_command_alone_shows_what_to_try(command):
    done = command()
    assert done.returncode == 0
    assert done.stdout.count("\n  suffice ") == 4
    assert max(map(len, done.stdout.splitlines())) <= 80
