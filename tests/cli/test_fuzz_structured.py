"""Inputs of the right structure with a few wrong parts, over every way in: an answer or one documented line.

The ways of models (fit, predict, load, summarise) are in test_fuzz_models.py.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import random
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import ODD, WORDS, Seen, Way, often, tried, typed

import suffice as sf
from suffice.bounds import THEOREMS, check_conditions
from suffice.simulate.data.cells import MISSING
from suffice.simulate.data.cells import WORDS as WORDS_OF_GAPS
from suffice.simulate.data.csv_file import TextFile
from suffice.simulate.data.frame import Frame
from suffice.simulate.data.site_source import read_sites


def toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, int) and value > 10**4000:
        return "9" * 4400
    return json.dumps(value)


def scratched(rng: random.Random, content: bytes, share: float = 0.1) -> bytes:
    """Now and then with some bytes changed and, more rarely, the end gone."""
    changed = bytearray(content)
    if rng.random() < share:
        for _ in range(rng.randint(1, 3)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        if rng.random() < 0.2:
            del changed[rng.randrange(len(changed)) :]
    return bytes(changed)


PLAIN = [0, -1, 1e-320, 1e300, float("nan"), float("inf"), "x", "", True, 10**30, 10**5000, [], [1, 2], [[1], [1, 2]]]


def setup(rng: random.Random, folder: Path, seen: Seen) -> None:
    n = rng.randint(1, 5)
    b = [[0.0 if i == k else round(rng.random(), 3) for k in range(n)] for i in range(n)]
    constants: dict[str, Any] = {
        "mu": rng.choice([0.5, [0.5] * n]), "beta": 10 ** rng.uniform(0, 3), "sigma": [rng.uniform(0.1, 3)] * n, "b": b,
    }  # fmt: skip
    target: dict[str, Any] = {"epsilon": [10 ** rng.uniform(-4, 1) for _ in range(rng.randint(1, 3))]}
    for name, value in {"c": b, "excess": 5.0, "names": [f"c{i}" for i in range(n)]}.items():
        if rng.random() < 0.5:
            constants[name] = value
    for name, value in {"horizon": 10, "confidence": 0.1}.items():
        if rng.random() < 0.5:
            target[name] = value
    tables = {"constants": constants, "target": target, "criterion": {"kind": rng.choice(["binary", "continuous"])}}
    text = ""
    for table, values in tables.items():
        text += f"[{table}]\n" + "".join(
            f"{often(rng, name, ['x', 'a.b', ''], 0.01)} = {toml(often(rng, value, PLAIN, 0.03))}\n"
            for name, value in values.items()
        )
    (folder / "s.toml").write_bytes(scratched(rng, text.encode(), 0.3))
    chosen = sf.read_setup(folder / "s.toml")
    seen.read = True
    planned = sf.plan(chosen.source, chosen.epsilon, criterion=chosen.criterion, horizon=chosen.horizon,
                      confidence=chosen.confidence)  # fmt: skip
    str(planned)


def options(rng: random.Random, *, divided: bool) -> dict[str, Any]:
    made: dict[str, Any] = {"regularisation": often(rng, 0.1)}
    extra = {
        "loss": "least-squares", "intercept": rng.random() < 0.5, "batch": 2, "seed": 3,
        "standardise": rng.choice(["none", "client", "pooled"]),
        "standardise_target": rng.random() < 0.5, "max_memory": 1e8, "positive": (),
    }  # fmt: skip
    made |= {name: often(rng, value, share=0.04) for name, value in extra.items() if rng.random() < 0.3}
    if not divided:
        made["split"] = often(rng, rng.choice(["iid:2", "contiguous:3", "dirichlet:2:1", "labels:2"]), share=0.04)
    return made


def used(rng: random.Random, problem: Any, seen: Seen) -> None:
    """What comes behind a reader: constants and a plan, at times a simulation."""
    seen.read = True
    sf.plan(problem, often(rng, 0.1, share=0.1))
    if rng.random() < 0.1:
        sf.run(problem, sf.Local(), iterations=2, eta=0.01, seeds=2)


CELLS = [*WORDS, '"', "1,2", "\0", " 7 ", "NA", "-", "a\nb", "20 %", "1 234", "\u22125", "#", "14:05", "\ufeff1"]


def text_table(rng: random.Random, folder: Path, seen: Seen) -> None:
    """What is read beside what Python's csv finds in the same file: no number is another, no gap goes unseen."""
    d, n = rng.randint(1, 3), rng.randint(2, 3)
    names = ["client", "target", *(f"x{j}" for j in range(d))]
    rows = [[often(rng, name, ["", "x0", "target", '"', "a;b", "a\nb"], 0.01) for name in names]]
    for row in range(n * rng.randint(d + 2, 9)):
        cells = ["abc"[row % n], *(f"{rng.gauss(0, 1):.3f}" for _ in range(d + 1))]
        rows.append([often(rng, cell, CELLS, 0.002) for cell in cells])
    text = io.StringIO()
    quoting = rng.choice([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
    how: dict[str, Any] = {"quoting": quoting, "delimiter": rng.choice(",,,;\t|")}
    csv.writer(text, lineterminator=rng.choice(["\n", "\r\n"]), **how).writerows(rows)
    content = text.getvalue().encode("utf-8", "replace")
    path, damaged = folder / rng.choice(["t.csv", "t.csv.gz"]), scratched(rng, content)
    path.write_bytes(gzip.compress(damaged) if path.suffix == ".gz" else damaged)
    frames = list(TextFile(path, names=["client"]).frames())
    seen.read = True
    if damaged == content and how["delimiter"] == ",":
        same(frames, list(csv.reader(io.StringIO(text.getvalue(), newline="")))[1:])
    if rng.random() < 0.05:
        used(rng, sf.read(path, **options(rng, divided=True)), seen)
    sites, _ = read_sites(path)
    assert all(len(f"Note: {note}.") <= 96 and note.isprintable() for note in sites.notes), sites.notes


def same(frames: list[Frame], rows: list[list[str]]) -> None:
    rows = [row for row in rows if row]
    assert sum(frame.rows for frame in frames) == len(rows)
    for at, name in enumerate(frames[0].cells.columns):
        found = [frame.texts(name) if frame.numbers(name) is None else frame.numbers(name) for frame in frames]
        for read, cell in zip(chain.from_iterable(map(list, found)), rows, strict=True):  # NumPy drops a last "\0"
            text = cell[at].strip()
            if isinstance(read, float) and read == read:
                assert read == float(text), (name, text, read)
            elif isinstance(read, float) or read is None:
                assert text.lower() in MISSING | WORDS_OF_GAPS, (name, text, read)
            else:
                assert read == text or (name == "client" and float(read) == float(text)), (name, text, read)


def archive(rng: random.Random, folder: Path, seen: Seen) -> None:
    n, d = rng.randint(8, 20), rng.randint(1, 3)
    numbers = np.random.default_rng(rng.randrange(2**32))
    arrays: dict[str, Any] = {"X": numbers.normal(size=(n, d)), "y": numbers.normal(size=n)}
    divided = rng.random() < 0.5
    if divided:
        arrays["client"] = rng.choice([np.arange(n) % 2, np.array(list("ab"))[np.arange(n) % 2]])
    if rng.random() < 0.3:
        arrays["columns"] = np.array([f"c{j}" for j in range(d)])
    for name in list(arrays):
        change = rng.random()
        if change < 0.03:
            arrays[name] = np.array(rng.choice([1.0, "a", [1j], [[["x"]]], [], np.zeros((0, 2)), [np.nan] * n]))
        elif change < 0.08:
            with contextlib.suppress(ValueError):
                arrays[name] = arrays[name].astype(rng.choice(["<f4", ">f8", "<i2", "?", "<c16", "S3", "<U3", "f2"]))
    np.savez(folder / "t.npz", **arrays)
    used(rng, sf.read(folder / "t.npz", **options(rng, divided=divided)), seen)


def point(rng: random.Random, theorem: Any, odd: list[Any]) -> dict[str, Any]:
    values = {}
    for entry in theorem.parameters:
        low, high = entry.typical
        value = float(low * (high / low) ** rng.random())
        values[entry.name] = often(rng, float(round(value)) if entry.integer else value, odd, 0.02)
    return values


def bound(rng: random.Random, folder: Path, seen: Seen) -> None:
    theorem = rng.choice(THEOREMS)
    values = point(rng, theorem, ODD)
    if rng.random() < 0.05:
        values[rng.choice(["x", "mu", "T"])] = 1.0
    kind = rng.randrange(4)
    if kind == 0:
        sf.evaluate(theorem, enforce=rng.random() < 0.5, **values)
    elif kind == 1:
        sf.digits(theorem, often(rng, 20), **values)
    elif kind == 2:
        check_conditions(theorem, **values)
    else:
        name = rng.choice(list(values) or ["T"])
        values.pop(name, None)
        sf.solve(theorem, name, target=often(rng, 1.0), **values)
    seen.read = True


def interface(rng: random.Random, folder: Path, seen: Seen) -> None:
    numbers = np.random.default_rng(rng.randrange(2**32))
    X = [numbers.normal(size=(6, 2)) for _ in range(3)]
    y = [numbers.normal(size=6) for _ in range(3)]
    chosen = options(rng, divided=True)
    chosen.pop("seed", None)
    made = sf.from_arrays(often(rng, X), often(rng, y), names=often(rng, ["a", "b", "c"]), **chosen)
    seen.read = True
    kind = rng.randrange(5)
    steps = [odd for odd in ODD if not callable(odd)]  # what a function of t raises is its own
    more = {"eta": often(rng, 0.01, steps), "seeds": often(rng, 2), "root": often(rng, 0)}
    if kind == 0:
        sf.run(often(rng, made), often(rng, sf.Local()), iterations=often(rng, 3), grid=often(rng, None), **more)
    elif kind == 1:
        sf.hitting_times(often(rng, made), sf.Local(), epsilon=often(rng, 1.0), limit=often(rng, 3), **more)
    elif kind == 2:
        sf.plan(often(rng, made), often(rng, 0.1), criterion=often(rng, "binary"), horizon=often(rng, None),
                confidence=often(rng, None))  # fmt: skip
    elif kind == 3:
        sf.expected_excess(
            often(rng, made), often(rng, sf.Local()), iterations=often(rng, 2), eta=often(rng, 0.01, steps)
        )
    else:
        sf.Quadratics.of(often(rng, [np.eye(2)] * 2), often(rng, np.ones((2, 2))), sigma2=often(rng, 1.0),
                         start=often(rng, None), names=often(rng, ()))  # fmt: skip


def command(rng: random.Random, folder: Path, seen: Seen) -> None:
    rows = [f"{'ab'[row % 2]},{row * 0.37 % 2:.2f},{row * row % 7}\n" for row in range(16)]
    (folder / "t.csv").write_text("client,x,target\n" + "".join(rows))
    kind = rng.randrange(4)
    if kind < 2:
        theorem = rng.choice(THEOREMS)
        pairs = {name: str(value) for name, value in point(rng, theorem, WORDS).items()}
        words = ["theorem", often(rng, theorem.key, WORDS, 0.02)]
        if kind:
            name = rng.choice(list(pairs) or ["T"])
            pairs.pop(name, None)
            words += ["--solve", name, "--target", often(rng, "1", WORDS)]
        words += [f"{name}={value}" for name, value in pairs.items()] + rng.choice([[], ["--json"]])
        words += ["--edition", theorem.edition]
    else:
        words = ["plan", str(folder / "t.csv"), "--epsilon", often(rng, "0.1", WORDS), "--regularisation", "0.1"]
        more = {"--alpha": "0.5", "--batch": "2", "--max-memory": "1e8", "--horizon": "10", "--confidence": "0.1",
                "--criterion": "binary", "--standardise": "none", "--method": "fedavg", "--seed": "3"}  # fmt: skip
        for flag in rng.sample(list(more), 2):
            words += [flag, often(rng, more[flag], WORDS, 0.1)]
    seen.read = typed(*words) is not None


WAYS: dict[str, Way] = {
    "setup": setup, "CSV": text_table, "NPZ": archive,
    "command": command, "theorem": bound, "Python": interface,
}  # fmt: skip


@pytest.mark.share(2)
@pytest.mark.parametrize("way", WAYS)
def test_inputs_of_the_right_structure_are_answered(way, tmp_path):
    assert tried(way, WAYS[way], tmp_path, range({"setup": 40}.get(way, 12))) == way


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_many_inputs_of_the_right_structure_are_answered(way, tmp_path):
    assert tried(way, WAYS[way], tmp_path, range(100, 100 + (11_200 if way == "CSV" else 1250))) == way
