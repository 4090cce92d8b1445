"""Tables, models and messages of the right structure with a few wrong parts: an answer in finite numbers or one line.

Four ways: `fit`, `predict`, `load` and `summarise`. What comes out is searched for NaN and infinity; None is
the documented sign of a number that is not known.
"""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import WORDS, Seen, Way, often, tried, typed

import suffice as sf
from suffice.fitting.message import read_message

NAMES = ["age", "x$1", "b [kg]", "c,d", "e\nf", "<g>", "%s", "größe", "day", ""]
SITES = ["Lyon", "Nice & co", "<Oslo>", "$x_1$", "c,d"]
PLACES = [0, 1, -1, 1e-320, 1e-170, 1e61, 1e170, 1e300, 1.5, 10**30, "x", "", None, True, [], [1.0], {}]
LEVELS = [word for word in WORDS if word not in ("nan", "inf")]
"""What is put among levels, where a word that is read as a number that is none would be looked for in vain."""


def finite(value: Any, where: str = "") -> None:
    """Raises AssertionError at the first number in `value` that is NaN or infinite."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            finite(entry, f"{where}.{name}")
    elif isinstance(value, list | tuple | np.ndarray):
        for at, entry in enumerate(value):
            finite(entry, f"{where}[{at}]")
    elif isinstance(value, float | np.floating):
        assert np.isfinite(value), f"{where} is {value}"


def told(text: str) -> None:
    """The same of a text, but for cells that were read as missing and what was refused, which are quoted."""
    quoted = r"as missing \([^)]*\)|= (nan|-?inf):|replace NaN by|--epsilon -?(nan|inf)"
    text = re.sub(quoted, "", " ".join(text.split()))
    assert not re.search(r"(?<![\w.])-?(nan|inf)(?![\w.])", text, re.IGNORECASE), text


def columns(rng: random.Random, n: int, kinds: int = 4) -> dict[str, list[Any]]:
    """Predictors: numbers of several sizes, with gaps, that repeat, that depend on each other; levels, dates."""
    made: dict[str, list[Any]] = {}
    for name in rng.sample(NAMES[:-1], rng.randint(1, kinds)) + rng.choices([[], [""]], [20, 1])[0]:
        size = 10 ** rng.choices([0, 3, -3, 12, -12, 50, -50, 100], [30, 9, 9, 9, 9, 3, 3, 1])[0]
        numbers = [f"{rng.gauss(0, 1) * size:.4g}" for _ in range(n)]
        kind = rng.randrange(24) // 2
        if kind == 0:
            numbers = [rng.choice(["1", "2"]) for _ in range(n)]
        elif kind == 1:
            numbers = [rng.choice(["red", "green", "blue"]) for _ in range(n)]
        elif kind == 2:
            numbers = [numbers[0]] * n
        elif kind == 3 and made:
            numbers = list(next(iter(made.values())))
        elif kind == 4 and rng.random() < 0.3:
            numbers = [f"2024-01-{rng.randint(1, 28):02}" for _ in range(n)]
        elif kind == 5:
            numbers = [often(rng, one, ["", "NA"], 0.2) for one in numbers]
        made[name] = [often(rng, one, LEVELS if kind in (1, 4) else WORDS, 0.001) for one in numbers]
    return made


def targets(rng: random.Random, n: int, kind: int | None = None) -> list[Any]:
    kind = rng.randrange(6) if kind is None else kind
    if kind == 0:
        return [rng.choice(["yes", "no"]) for _ in range(n)]
    if kind == 1:
        return [rng.choice(["low", "middle", "high"]) for _ in range(n)]
    if kind == 2:
        return [rng.choice([0, 1]) for _ in range(n)]
    level, size = rng.choice([0, 0, 1e6, -40]), 10 ** rng.choices([0, 2, -2, 30, -30], [9, 3, 3, 1, 1])[0]
    return [f"{(level + rng.gauss(0, 1)) * size:.6g}" for _ in range(n)]


def table(rng: random.Random, *, longest: int = 12) -> dict[str, list[Any]]:
    """A column of sites, one of targets, predictors."""
    sizes = [rng.randint(1, longest) for _ in range(rng.randint(1, 4))]
    sites = [name for name, size in zip(SITES, sizes) for _ in range(size)]
    made = {"client": sites, "target": targets(rng, len(sites))} | columns(rng, len(sites))
    return made


def text_of(rng: random.Random, made: dict[str, list[Any]]) -> bytes:
    """As a CSV, now and then with a damaged place."""
    quote = lambda cell: '"' + str(cell).replace('"', '""') + '"'  # noqa: E731
    separator = rng.choice([",", ",", ";", "\t"])
    lines = [separator.join(map(quote, made))]
    lines += [separator.join(map(quote, row)) for row in zip(*made.values())]
    content = bytearray("\n".join(lines).encode("utf-8", "replace"))
    if rng.random() < 0.05:
        content[rng.randrange(len(content))] = rng.randrange(256)
    return bytes(content)


def options(rng: random.Random, made: dict[str, list[Any]]) -> dict[str, Any]:
    known = {
        "drop": [rng.choice(list(made))], "loss": rng.choice(["auto", "least-squares", "logistic", "multinomial"]),
        "seed": 3, "max_memory": 1e8, "split": "column:client", "client": "client", "target": "target",
    }  # fmt: skip
    return {name: often(rng, value, share=0.1) for name, value in known.items() if rng.random() < 0.08}


def flags(options: dict[str, Any]) -> list[str]:
    """The same options of a command."""
    words = {name: value[0] if isinstance(value, list) and value else value for name, value in options.items()}
    known = {name.replace("_", "-"): str(value) for name, value in words.items() if isinstance(value, str | float)}
    return [word for name, value in known.items() for word in (f"--{name}", value)]


def checked(fitted: Any) -> None:
    """Everything that a fit says."""
    finite(fitted.to_dict())
    wide = [note for note in fitted.left_out if len(f"Left out or changed: {note}.") > 96]
    assert not wide, wide
    fitted._repr_html_()
    told(str(fitted))


def fit(rng: random.Random, folder: Path, seen: Seen) -> None:
    made = table(rng)
    more = options(rng, made)
    kind = rng.randrange(4)
    if kind == 0:
        source: Any = {name: often(rng, cells, share=0.01) for name, cells in made.items()}
    elif kind == 1:
        source = folder / "sites"
        source.mkdir(exist_ok=True)
        for name in dict.fromkeys(made["client"]):
            part = [row for row in zip(*made.values()) if row[0] == name]
            cells = dict(zip(made, map(list, zip(*part))))
            del cells["client"]
            (source / f"{SITES.index(name)}.csv").write_bytes(text_of(rng, cells))
    else:
        source = folder / "t.csv"
        source.write_bytes(text_of(rng, made))
    try:
        if kind > 2:
            shown = typed("fit", str(source), "--json", *flags(more))
            seen.read = shown is not None
            finite(json.loads(shown or "{}", parse_constant=float))
            return
        fitted = sf.fit(source, **more)
    finally:
        for old in (folder / "sites").glob("*.csv"):
            old.unlink()
    seen.read = True
    checked(fitted)
    np.testing.assert_allclose([sum(model.weights.values()) for model in fitted], 1, rtol=1e-9)
    finite(fitted.predict({name: cells[:3] for name, cells in made.items()}, site=SITES[0]))
    if rng.random() < 0.1:
        path = fitted.save(folder / "m.json")
        assert sf.load(path).to_dict()["clients"] == fitted.to_dict()["clients"]
    if fitted.quadratics is not None and rng.random() < 0.1:
        str(sf.plan(fitted))


@functools.cache
def models(seed: int) -> tuple[dict[str, list[Any]], Any]:
    """A table and its fit, the first from `seed` on that there is one of."""
    for at in range(100):
        rng = random.Random(f"models {seed} {at}")
        made = table(rng, longest=20)
        try:
            return made, sf.fit(made)
        except sf.InputError:
            pass
    raise AssertionError("no fit of a hundred tables")


def predict(rng: random.Random, folder: Path, seen: Seen) -> None:
    made, fitted = models(rng.randrange(40))
    n = rng.randint(1, 6)
    new = {name: [often(rng, rng.choice(cells), WORDS, 0.02) for _ in range(n)] for name, cells in made.items()}
    if rng.random() < 0.5:
        del new["target"]
    if rng.random() < 0.1:
        new["client"] = ["nowhere", *new["client"][1:]]
    if rng.random() < 0.1:
        del new[rng.choice(list(new))]
    if rng.random() < 0.1:
        new[rng.choice(list(new))] = [""] * n
    if rng.random() < 0.05:
        new |= {"more": ["1"] * n}
    source: Any = new
    if rng.random() < 0.5:
        source = folder / "new.csv"
        source.write_bytes(text_of(rng, new))
        if rng.random() < 0.2:
            model = fitted.save(folder / "m.json")
            shown = typed("predict", str(model), str(source), "--json")
            seen.read = shown is not None
            finite(json.loads(shown or "{}", parse_constant=float))
            return
    elif rng.random() < 0.1:
        source = {name: often(rng, cells) for name, cells in new.items()}
    site = None if rng.random() < 0.8 else often(rng, rng.choice(SITES))
    values = fitted.predict(source, site=site)
    seen.read = True
    finite(values)
    if fitted.classes:
        assert set(values) <= set(fitted.classes)
        shares = fitted.probabilities(source, site=site)
        finite(shares)
        np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-12)  # a division by their own sum


def damaged(rng: random.Random, value: Any, share: float) -> Any:
    """A JSON value with some places of another kind, names changed, entries left out or doubled."""
    if isinstance(value, dict):
        kept = {
            often(rng, name, ["x", ""], share / 4): damaged(rng, entry, share)
            for name, entry in value.items()
            if rng.random() > share / 4
        }
        return often(rng, kept, PLACES, share / 4)
    if isinstance(value, list):
        kept = [damaged(rng, entry, share) for entry in value if rng.random() > share / 4]
        return often(rng, kept * (2 if rng.random() < share / 4 else 1), PLACES, share / 4)
    if rng.random() > share:
        return value
    if type(value) in (int, float) and rng.random() < 0.7:
        return rng.choice([-value, 2 * value, value / 3, 0.0, 1e-300, 1e50, 1e300, value + 1])
    return rng.choice(PLACES)


def load(rng: random.Random, folder: Path, seen: Seen) -> None:
    made, fitted = models(rng.randrange(40))
    path = fitted.save(folder / "m.json")
    if share := rng.choice([0.0, 0.001]):
        path.write_text(json.dumps(damaged(rng, json.loads(path.read_text()), share)))
    loaded = sf.load(path)
    seen.read = True
    checked(loaded)
    finite(loaded.predict({name: cells[:3] for name, cells in made.items()}))
    again = sf.load(loaded.save(folder / "again.json"))
    assert again.to_dict() == loaded.to_dict()


def summarise(rng: random.Random, folder: Path, seen: Seen) -> None:
    shared, count = columns(rng, 60, kinds=2), rng.randint(1, 3)
    rows = targets(rng, 60, kind=rng.choice([0, *[3] * 30]))
    paths = []
    for at in range(count):
        first = 20 * at
        size = rng.randint(1, 20)
        part = {name: cells[first : first + size] for name, cells in shared.items()}
        made = {"target": rows[first : first + size]} | part
        more = {"reveal": True, "site": SITES[at], "drop": [], "target": "target"}
        chosen = {name: often(rng, value, share=0.01) for name, value in more.items()}
        message = sf.summarise(often(rng, made, share=0.01), **chosen)
        paths.append(message.write(folder / f"{at}.json"))
    if rng.random() < 0.5:
        path = rng.choice(paths)
        share = rng.choice([0.003, 0.01, 0.03])
        path.write_text(json.dumps(damaged(rng, json.loads(path.read_text()), share)))
    messages = [read_message(path) for path in paths]
    seen.read = True
    for message in messages:
        finite(json.loads(message.to_json()))
    fitted = sf.fit(rng.choice([messages, paths, messages, paths, messages[:1], messages + messages[:1]]))
    checked(fitted)
    finite(fitted.predict({name: cells[:3] for name, cells in shared.items()}, site=SITES[0]))


WAYS: dict[str, tuple[Way, int]] = {
    "fit": (fit, 4200), "predict": (predict, 4000), "load": (load, 500), "summarise": (summarise, 1300),
}  # fmt: skip
"""With how many inputs are tried in the slow run: 10,000 in all, few of the slowest."""


@pytest.mark.parametrize("way", WAYS)
def test_models_and_messages_are_answered_in_finite_numbers(way, tmp_path):
    count = {"summarise": 10}.get(way, 3)  # messages from elsewhere are read with most doubt
    assert tried(way, WAYS[way][0], tmp_path, range(22, 22 + count)) == way


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_many_models_and_messages_are_answered_in_finite_numbers(way, tmp_path):
    make, count = WAYS[way]
    assert tried(way, make, tmp_path, range(100, 100 + count)) == way
