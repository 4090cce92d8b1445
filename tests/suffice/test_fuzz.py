"""Mutated setup files, campaign files and client tables: understood or refused in one line, never a traceback."""

from __future__ import annotations

import random
import re
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from bounds import SufficeError
from suffice import plan, read, read_setup
from verify.campaign import read_campaign

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
TOKENS = [
    b"1e999", b"nan", b"-inf", b"10000000", b"[", b"]", b'"', b"\n", b",", b"=", b"\x00", b"\xff\xfe", b"-1", b"0",
    b"true", b"[[[[[[", b"'''", b"e308", b"\xc3\x28", b"__import__('os')", b"../../etc/passwd", b"\t", b"\r", b";",
]  # fmt: skip
EACH = 700


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


READERS = {
    "setup": (CONSTANTS, "setup.toml", read_plan),
    "campaign": (CAMPAIGN, "campaign.toml", read_campaign),
    "table": (TABLE, "clients.csv", lambda path: read(path)),
}


@pytest.mark.parametrize("kind", READERS)
def test_files_that_are_nearly_right_are_read_or_refused_in_one_line(kind):
    corpus, name, reader = READERS[kind]
    refused = understood = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        for seed in range(EACH):
            path.write_bytes(mutated(corpus, seed))
            began = time.perf_counter()
            message = ""
            try:
                with np.errstate(all="ignore"):
                    reader(path)
                understood += 1
            except SufficeError as error:
                refused += 1
                message = str(error)
            assert "\n" not in message, message
            assert time.perf_counter() - began < 5, seed
            assert [entry.name for entry in Path(folder).iterdir()] == [name]  # nothing is written by reading
    assert refused > EACH / 5
    assert understood > EACH / 50
