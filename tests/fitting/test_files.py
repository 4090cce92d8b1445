"""Models in files: damage is found, and what is wrong on purpose is refused or finite."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import zipfile

import numpy as np
import pytest
from populations import draw, table

import suffice as sf
from suffice import InputError
from suffice.fitting.files import _digest

NEW = {"client": ["s0", "new"], "x0": [0.5, 1.0], "x1": [2.0, 0.0], "kind": ["u", "v"]}


@pytest.fixture(scope="module")
def fits():
    columns = table(draw(0, np.random.default_rng(0).normal(size=(3, 2)), 20))
    columns["kind"] = list("uvw") * 20
    columns["x1"][::7] = [None] * len(columns["x1"][::7])
    three = np.array(["high", "low", "mid"])[np.digitize(columns["target"], [0, 2])].tolist()
    return {"least-squares": sf.fit(columns), "multinomial": sf.fit(columns | {"target": three})}


def opened(path):
    """The record and the arrays of a file."""
    if path.suffix == ".json":
        return json.loads(path.read_text()), {}
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return json.loads(arrays.pop("record").tobytes()), arrays


def closed(path, record, arrays):
    """Written as they are, without a look at the checksum."""
    content = json.dumps(record).encode()
    if path.suffix == ".json":
        path.write_bytes(content)
    else:
        np.savez_compressed(path, **arrays, record=np.frombuffer(content, np.uint8))


def sealed(record, arrays):
    """With the checksum of what is there now, as somebody with malice would."""
    record["sha256"] = _digest({name: value for name, value in record.items() if name != "sha256"}, arrays)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("loss", ["least-squares", "multinomial"])
def test_a_digit_that_is_not_what_it_was_is_found(fits, loss, suffix, tmp_path):
    """Every digit of the JSON, 300 at random; of arrays every number in turn, in its last bit."""
    path, rng = fits[loss].save(tmp_path / f"m{suffix}"), random.Random(0)
    record, arrays = opened(path)
    text = json.dumps(record) if arrays else path.read_text()
    for at in rng.sample([at for at, letter in enumerate(text) if letter.isdigit()], 300):
        other = rng.choice([digit for digit in "123456789" if digit != text[at]])
        changed = text[:at] + other + text[at + 1 :]
        if arrays:
            np.savez(path, **arrays, record=np.frombuffer(changed.encode(), np.uint8))
        else:
            path.write_text(changed)
        with pytest.raises(InputError):
            sf.load(path)
    for name, values in arrays.items():
        for at in np.ndindex(values.shape):
            other = values.copy()
            other[at] = np.nextafter(other[at], np.inf)
            closed(path, record, arrays | {name: other})
            with pytest.raises(InputError, match="damaged: not what was saved, by its SHA-256"):
                sf.load(path)
    closed(path, record, arrays)
    assert sf.load(path).clients == fits[loss].clients


def test_a_damaged_byte_of_an_archive_is_found_or_changes_nothing(fits, tmp_path):
    path, rng = fits["multinomial"].save(tmp_path / "m.npz"), random.Random(1)
    whole, found = path.read_bytes(), 0
    for at in rng.sample(range(len(whole)), 300):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :])
        try:
            again = sf.load(path)
        except InputError:
            found += 1
        else:
            assert again.clients == fits["multinomial"].clients
            assert again.population == fits["multinomial"].population
    assert found > 150


@pytest.mark.parametrize("suffix", [".json", ".npz"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e308])
@pytest.mark.parametrize("name", ["coefficients", "intercepts", "weights"])
def test_both_formats_refuse_the_same_numbers(fits, suffix, value, name, tmp_path):
    path = fits["least-squares"].save(tmp_path / f"m{suffix}")
    record, arrays = opened(path)
    if arrays:
        arrays[name].flat[0] = value
    elif name == "intercepts":
        record["clients"][0]["intercept"] = value
    else:
        record["clients"][0][name]["x0" if name == "coefficients" else "s1"] = value
    sealed(record, arrays)
    closed(path, record, arrays)
    with pytest.raises(InputError):
        sf.load(path)


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_no_other_version_is_read(fits, suffix, tmp_path):
    path = fits["least-squares"].save(tmp_path / f"m{suffix}")
    record, arrays = opened(path)
    for other in (1, 3):
        record["kind"] = f"suffice models, version {other}"
        closed(path, record, arrays)
        with pytest.raises(InputError, match=f"this is 'suffice models, version {other}', not .*; fit again"):
            sf.load(path)
    for name in ("sha256", "means"):
        closed(path, {key: value for key, value in record.items() if key != name}, arrays)
        with pytest.raises(InputError, match=f"missing required field `{name}`"):
            sf.load(path)


def test_the_checksum_is_of_the_record_without_blanks_and_of_the_arrays(fits, tmp_path):
    """By other means: numbers as they are spelt, keys sorted."""
    path = fits["least-squares"].save(tmp_path / "m.npz")
    with zipfile.ZipFile(path) as archive:
        record = np.load(io.BytesIO(archive.read("record.npy"))).tobytes().decode()
        arrays = {
            name: np.load(io.BytesIO(archive.read(f"{name}.npy"))) for name in ("coefficients", "intercepts", "weights")
        }
    said = json.loads(record)["sha256"]
    spelt = json.loads(re.sub(r'("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)', lambda m: m[1] or f'"{m[2]}"', record))
    del spelt["sha256"]
    content = json.dumps(spelt, sort_keys=True)
    for name, values in sorted(arrays.items()):
        content += f"{name} float64 {values.shape}{values.tobytes().decode('latin-1')}"
    assert hashlib.sha256(content.encode("latin-1")).hexdigest() == said
    path = fits["least-squares"].save(tmp_path / "m.json")
    path.write_text(json.dumps(json.loads(path.read_text())))  # blanks are no damage
    assert sf.load(path).clients == fits["least-squares"].clients


def test_a_fit_that_could_not_be_read_again_is_not_saved(tmp_path):
    columns = table(draw(0, np.ones((2, 1)), 20))
    fit = sf.fit(columns | {"target": [1e35 * y for y in columns["target"]]})
    with pytest.raises(InputError, match=r"give numbers up to 1e\+60; change units"):
        fit.save(tmp_path / "m.json")
    assert not (tmp_path / "m.json").exists()
