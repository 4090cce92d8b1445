"""The options that say how a table is read: the same for every command that reads one."""

from __future__ import annotations

import dataclasses
import inspect

import pytest
import typer

from suffice import read
from suffice.bounds import InputError
from suffice.cli import load
from suffice.cli.app import app
from suffice.cli.data_options import DataOptions

COMMANDS = ("plan", "simulate")
OPTIONS = [field.name for field in dataclasses.fields(DataOptions)]
GIVEN = {
    "client": ("--client c", "c"),
    "target": ("--target t", "t"),
    "standardise": ("--standardise pooled", "pooled"),
    "standardise_target": ("--standardise-target", True),
    "loss": ("--loss logistic", "logistic"),
    "regularisation": ("--regularisation 0.5", 0.5),
    "intercept": ("--no-intercept", False),
    "batch": ("--batch 3", 3),
    "split": ("--split iid:2", "iid:2"),
    "seed": ("--seed 7", 7),
    "positive": ("--positive 1 --positive yes", [1, "yes"]),
    "drop": ("--drop a --drop b", ["a", "b"]),
    "max_memory": ("--max-memory 1e9", 1e9),
}
"""What is typed for an option of data, and what the reader is given."""


def test_every_command_lists_the_same_options_of_data(command):
    load()
    listed = []
    for name in COMMANDS:
        options = {entry.name: entry for entry in typer.main.get_command(app).commands[name].params}
        listed.append([(option, options[option].opts, options[option].help) for option in OPTIONS])
        shown = command(name, "--help").stdout
        assert all(words.split()[0] in shown for words, _ in GIVEN.values())
    assert listed[0] == listed[1]


def test_every_argument_of_read_is_an_option():
    arguments = set(inspect.signature(read).parameters) - {"path"}
    assert set(OPTIONS) == set(GIVEN)
    assert set(OPTIONS) <= arguments
    assert arguments - set(OPTIONS) <= {"start", "names"}


@pytest.mark.parametrize("name", COMMANDS)
def test_options_reach_the_reader_and_only_those_that_were_given(refused, tmp_path, monkeypatch, name):
    (tmp_path / "t.csv").write_text("c,x,t\n")
    arguments = {"plan": ["--epsilon", "1"], "simulate": ["--algorithm", "local"]}[name]
    seen = []

    def reader(path, **options):
        seen.append(options)
        raise InputError("path", path, "seen")

    monkeypatch.setattr("suffice.simulate.problems.read.read", reader)
    for given in (list(GIVEN), [], ["batch"]):
        refused(name, tmp_path / "t.csv", *arguments, *(word for option in given for word in GIVEN[option][0].split()))
        assert seen.pop() == {option: GIVEN[option][1] for option in given}
