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
FLAGS = {
    "client": ["--client", "c"],
    "target": ["--target", "t"],
    "standardise": ["--standardise", "pooled"],
    "standardise_target": ["--standardise-target"],
    "loss": ["--loss", "logistic"],
    "regularisation": ["--regularisation", "0.5"],
    "intercept": ["--no-intercept"],
    "batch": ["--batch", "3"],
    "split": ["--split", "iid:2"],
    "seed": ["--seed", "7"],
    "positive": ["--positive", "1", "--positive", "yes"],
    "drop": ["--drop", "a", "--drop", "b"],
    "max_memory": ["--max-memory", "1e9"],
}
READ = {
    "client": "c", "target": "t", "standardise": "pooled", "standardise_target": True, "loss": "logistic",
    "regularisation": 0.5, "intercept": False, "batch": 3, "split": "iid:2", "seed": 7, "positive": [1, "yes"],
    "drop": ["a", "b"], "max_memory": 1e9,
}  # fmt: skip


def test_every_command_lists_the_same_options_of_data(command):
    load()
    listed = []
    for name in COMMANDS:
        options = {entry.name: entry for entry in typer.main.get_command(app).commands[name].params}
        listed.append([(option, options[option].opts, options[option].help) for option in OPTIONS])
        shown = command(name, "--help").stdout
        assert all(flags[0] in shown for flags in FLAGS.values())
    assert listed[0] == listed[1]


def test_every_argument_of_read_is_an_option():
    arguments = set(inspect.signature(read).parameters) - {"path"}
    assert set(OPTIONS) == set(FLAGS) == set(READ)
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
    for given in (list(FLAGS), [], ["batch"]):
        refused(name, tmp_path / "t.csv", *arguments, *(word for option in given for word in FLAGS[option]))
        assert seen.pop() == {option: READ[option] for option in given}
