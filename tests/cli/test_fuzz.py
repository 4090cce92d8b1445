"""Mutated setup files, campaign files and client tables: understood or refused in one line, never a traceback.

Every file also has five seconds of processor time and 2 GiB of memory, and nothing may be written beside it.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suffice import plan, read, read_setup
from suffice.bounds import SufficeError
from suffice.verification.campaign import conduct, read_campaign
from suffice.verification.campaign.limits import bounded

CONSTANTS = b"""[constants]
mu = 0.5
beta = [1.0, 1.0, 2.0]
sigma = [1.0, 2.0, 1.0]
b = [[0.0, 0.1, 0.4], [0.1, 0.0, 0.3], [0.4, 0.3, 0.0]]
c = [[0.0, 0.2, 0.3], [0.2, 0.0, 0.1], [0.3, 0.1, 0.0]]
excess = 5.0
[criterion]
kind = "binary"
threshold = 0.5
[target]
epsilon = [0.05, 0.5]
horizon = 200
confidence = 0.01
"""
CAMPAIGN = b"""name = "c"
out = "results"
root = 1
[[verify]]
keys = ["adaptive/property-1"]
roots = 2
[[simulate]]
problem = "clustered"
algorithms = ["local"]
iterations = 10
seeds = 8
[simulate.grid]
clients = [4, 6]
separation = [0.5]
"""
TABLE = b"client,target,x1,x2\n" + b"".join(
    f"{'abc'[row % 3]},{row * 0.37 % 2:.3f},{row * 0.71 % 3:.3f},{row * row % 7}\n".encode() for row in range(30)
)
DATA = b"""[data]
path = "clients.csv"
client = "client"
target = "target"
loss = "least-squares"
intercept = true
standardise = "client"
regularisation = 0.1
[criterion]
kind = "continuous"
[target]
epsilon = [0.1]
horizon = 50
"""
LIBSVM = b"".join(f"{row * 0.37 % 2:.3f} 1:{row * 0.71 % 3:.3f} 2:{row * row % 7}\n".encode() for row in range(30))
TOKENS = [
    b"1e999", b"nan", b"-inf", b"10000000", b"[", b"]", b'"', b"\n", b",", b"=", b"\x00", b"\xff\xfe", b"-1", b"0",
    b"true", b"[[[[[[", b"'''", b"e308", b"\xc3\x28", b"__import__('os')", b"../../etc/passwd", b"\t", b"\r", b";",
]  # fmt: skip
NUMBERS = [b"1e999", b"nan", b"-1", b"0", b"10000000", b"1e-320", b"3", b"1.5", b"1e60", b"-0.0", b"0.999", b"7e5"]


def mutated(corpus: bytes, seed: int) -> bytes:
    """A few random edits: numbers exchanged, bytes changed, tokens put in, stretches dropped, doubled or exchanged."""
    rng = random.Random(seed)
    text = bytearray(corpus)
    for _ in range(rng.randint(1, 3)):
        numbers = list(re.finditer(rb"\d+(\.\d+)?", bytes(text)))
        if numbers and rng.random() < 0.7:
            chosen = rng.choice(numbers)
            text[chosen.start() : chosen.end()] = rng.choice(NUMBERS)
            continue
        at, size = rng.randrange(len(text) + 1), rng.randint(1, 30)
        edit = rng.randrange(5)
        if edit == 0 and text:
            text[at % len(text)] = rng.randrange(256)
        elif edit == 1:
            text[at:at] = rng.choice(TOKENS)
        elif edit == 2:
            del text[at : at + size]
        elif edit == 3:
            text[at:at] = text[at : at + size]
        else:
            text[at : at + size] = rng.choice(TOKENS)
    return bytes(text)


def read_plan(path: Path) -> None:
    setup = read_setup(path)
    plan(setup.source, setup.epsilon, criterion=setup.criterion, horizon=setup.horizon, confidence=setup.confidence)


def run_if_small(path: Path) -> None:
    """Reads a campaign; one of few cheap cells is run as well, into a folder that is removed."""
    campaign = read_campaign(path, out=path.parent.parent / "results")
    cells = campaign.cells
    cheap = [cell["kind"] == "simulate" and cell["iterations"] <= 10 and cell["seeds"] <= 100 for cell in cells]
    if len(cells) <= 4 and all(cheap):
        conduct(campaign)


Reader = Callable[[Path], object]
READERS: dict[str, tuple[bytes, str, Reader]] = {
    "setup": (CONSTANTS, "setup.toml", read_plan),
    "data": (DATA, "setup.toml", read_setup),
    "campaign": (CAMPAIGN, "campaign.toml", read_campaign),
    "table": (TABLE, "clients.csv", read),
    "libsvm": (LIBSVM, "clients.libsvm", lambda path: read(path, split="iid:3")),
}


def outcome(folder: Path, name: str, content: bytes, reader: Reader) -> str:
    """What a file is answered with: nothing when it is understood, else the refusal; anything else is raised."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (home / "clients.csv").write_bytes(TABLE)
    (home / name).write_bytes(content)
    before = sorted(home.iterdir())
    began, message = time.process_time(), ""
    try:
        with np.errstate(all="ignore"), bounded():
            reader(home / name)
    except SufficeError as error:
        message = str(error)
    assert time.process_time() - began < 5
    assert "\n" not in message, message
    assert sorted(home.iterdir()) == before  # nothing is written by reading
    assert {entry.name for entry in folder.iterdir()} <= {"home", "results"}
    return message


def assert_all_answered(kind: str, folder: Path, seeds: range) -> None:
    corpus, name, reader = READERS[kind]
    messages = [outcome(folder, name, mutated(corpus, seed), reader) for seed in seeds]
    understood = messages.count("")
    assert len(messages) / 50 < understood < len(messages) * 0.8
    assert max(map(len, messages)) < 600


@pytest.mark.parametrize("kind", READERS)
def test_files_that_are_nearly_right_are_read_or_refused_in_one_line(kind, tmp_path):
    assert_all_answered(kind, tmp_path, range(60))


@pytest.mark.slow
@pytest.mark.parametrize("kind", READERS)
def test_many_files_that_are_nearly_right_are_read_or_refused_in_one_line(kind, tmp_path):
    assert_all_answered(kind, tmp_path, range(60, 660))


SIZES = st.one_of(st.integers(-3, 10**9), st.integers(1, 12), st.floats(), st.sampled_from([2**63, 10**30, True, "8"]))
NUMBERS_OR_NOT = st.one_of(SIZES, st.floats(0.01, 3), st.text(max_size=3), st.lists(st.floats(), max_size=2))


def toml(value: object) -> str:
    """A TOML value; lists of anything, whether or not a reader wants them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(str(name))} = {toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value) if np.isfinite(value) else {np.inf: "inf", -np.inf: "-inf"}.get(value, "nan")
    return json.dumps(value)


SIMULATE = st.fixed_dictionaries(
    {
        "problem": st.sampled_from(["clustered", "continuum", "conditioned", "x"]),
        "algorithms": st.lists(st.sampled_from(["local", "fedavg", "cobo", "all-for-all", "apfl", "x"]), max_size=2),
        "iterations": st.one_of(st.integers(1, 3), SIZES),
    },
    optional={
        "seeds": SIZES,
        "roots": st.one_of(st.integers(1, 2), SIZES),
        "sample": SIZES,
        "grid": st.dictionaries(
            st.sampled_from(["clients", "features", "eta", "sigma", "clusters", "separation", "length", "condition"]),
            st.one_of(st.lists(st.one_of(st.integers(1, 9), st.floats(0.1, 2), SIZES), max_size=2), NUMBERS_OR_NOT),
            max_size=3,
        ),
        "surprise": NUMBERS_OR_NOT,
    },
)
SHARPNESS = st.fixed_dictionaries(
    {"keys": st.lists(st.sampled_from(["*", "adaptive/*", "nobody/*", "[", ""]), max_size=2), "instances": SIZES},
    optional={"block": SIZES},
)
CAMPAIGNS = st.fixed_dictionaries(
    {
        "name": st.one_of(st.just("c"), st.text(max_size=5)),
        "out": st.sampled_from(["results", "", "../..", "/x"]),
    },
    optional={
        "root": st.one_of(st.integers(0, 9), SIZES),
        "simulate": st.lists(SIMULATE, max_size=2),
        "sharpness": st.lists(SHARPNESS, max_size=1),
    },
)
SETUPS = st.fixed_dictionaries(
    {
        "constants": st.fixed_dictionaries(
            {
                "mu": NUMBERS_OR_NOT,
                "beta": st.one_of(st.floats(1, 9), NUMBERS_OR_NOT),
                "sigma": st.one_of(st.lists(st.floats(0, 9), min_size=2, max_size=2), NUMBERS_OR_NOT),
                "b": st.lists(st.lists(st.floats(0, 1), min_size=2, max_size=2), min_size=2, max_size=2),
                "c": st.one_of(st.just([[0.0, 0.1], [0.1, 0.0]]), NUMBERS_OR_NOT),
                "excess": NUMBERS_OR_NOT,
            }
        ),
        "target": st.fixed_dictionaries({"epsilon": NUMBERS_OR_NOT}, optional={"horizon": SIZES, "confidence": SIZES}),
    },
    optional={"criterion": st.dictionaries(st.sampled_from(["kind", "threshold"]), NUMBERS_OR_NOT, max_size=2)},
)
MADE = {"campaign": (CAMPAIGNS, "campaign.toml", run_if_small), "setup": (SETUPS, "setup.toml", read_plan)}


def generated(kind: str, examples: int, folder: Path) -> int:
    """How many of the files that Hypothesis makes were tried."""
    strategy, name, reader = MADE[kind]
    tried = 0

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(strategy)
    def attempt(value: dict[str, object]) -> None:
        nonlocal tried
        tried += 1
        text = "".join(f"{key} = {toml(item)}\n" for key, item in value.items())
        outcome(folder, name, text.encode("utf-8", "surrogatepass"), reader)

    attempt()
    return tried


@pytest.mark.parametrize("kind", MADE)
def test_files_of_the_right_form_are_read_or_refused_in_one_line(kind, tmp_path):
    assert generated(kind, 40, tmp_path) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
def test_many_files_of_the_right_form_are_read_or_refused_in_one_line(kind, tmp_path):
    assert generated(kind, 500, tmp_path) >= 500
