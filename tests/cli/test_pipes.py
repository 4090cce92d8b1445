"""A pipe that nobody writes to: whatever reads a file says so instead of waiting."""

from __future__ import annotations

import os
import signal
from itertools import product

import pytest
from populations import draw, table

import suffice as sf
from suffice import InputError
from suffice.figures.figure import Figure

ENDINGS = ["csv", "tsv", "npz", "json", "toml", "libsvm", "svm", "txt", "gz", "bz2", ""]


@pytest.fixture(autouse=True)
def impatient():
    """Ten seconds, after which a test fails that waits."""

    def late(*_):
        pytest.fail("it waits for the pipe")  # no OSError, which readers refuse in words

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def pipe(tmp_path):
    def made(ending="", name="pipe"):
        path = tmp_path / (f"{name}.{ending}" if ending else name)
        os.mkfifo(path)
        return path

    return made


@pytest.mark.parametrize("ending", ENDINGS)
def test_readers(pipe, ending):
    path = pipe(ending)
    tables = (sf.read, sf.fit, lambda path, **_: sf.fit([path]), lambda path, **_: sf.summarise(path, site="s"))
    calls = [
        *product(tables, ({}, {"split": "iid:2"})),
        *((call, {}) for call in (sf.load, sf.read_setup, sf.Trace.load)),
    ]
    for call, options in calls:
        with pytest.raises(InputError):
            call(path, **options)


def test_a_folder_with_a_pipe_in_it(pipe, tmp_path):
    (tmp_path / "a.csv").write_text("x,target\n1,2\n2,3\n")
    pipe("csv", "b")
    for call in (sf.read, sf.fit):
        with pytest.raises(InputError, match="not a regular file"):
            call(tmp_path)
    pipe("json", "figure")
    pipe("csv", "figure")
    with pytest.raises(InputError):
        Figure.load(tmp_path, "figure", lambda *_: None)


@pytest.mark.share(2)
@pytest.mark.parametrize("ending", ["csv", "json", "npz", "toml", "txt"])
def test_commands(pipe, ending, tmp_path, refused):
    path = pipe(ending)
    model = sf.fit(table(draw(0, [[1.0]] * 2, 20))).save(tmp_path / "m.json")
    for arguments in (
        ("fit", path, path),
        ("campaign", path),
        ("predict", path, model),
        ("predict", model, path),
        ("verify", "stein/weighting", "--write", path),
    ):
        refused(*arguments)
