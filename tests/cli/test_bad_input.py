"""What goes wrong in practice: every mistake in files or options is one clear line and exit code 2, never a traceback.

A case is what to write where, the command line, and what its line must say. All run inside this process, a few outside.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TABLE = "client,age,target\nLyon,1,2\nLyon,2,5\nLyon,4,7\nNice,4,1\nNice,5,3\nNice,9,2\n"
CLASSES = "client,age,target\nA,1,0\nA,2,1\nA,4,0\nB,4,1\nB,5,0\nB,9,1\n"
LIBSVM = "1 1:0.5 3:1\n-1 2:1\n1 1:1\n-1 3:2\n"
ROWS = np.arange(12.0).reshape(6, 2) ** 1.5
Files = dict[str, Any]


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def good(**changes: Any) -> bytes:
    arrays = {"X": ROWS, "y": ROWS[:, 0] + [0, 1, 0, 1, 1, 0], "client": np.array(list("aaabbb"))} | changes
    return npz(**{name: array for name, array in arrays.items() if array is not None})


def pickled() -> bytes:
    return good(client=np.array([{}, 1, 2, 3, 4, 5], dtype=object))


def member() -> bytes:
    stream = io.BytesIO(good())
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr("notes.txt", "hello")
    return stream.getvalue()


def data(**changes: str) -> str:
    lines = {"path": '"t.csv"', **changes}
    return "[data]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items()) + "[target]\nepsilon = 0.1\n"


def idx(shape: tuple[int, ...], size: int) -> bytes:
    return bytes((0, 0, 8, len(shape))) + b"".join(n.to_bytes(4, "big") for n in shape) + bytes(size)


PLAN = ("plan", "t.csv", "--epsilon", "0.1")
PLAN_NPZ = ("plan", "t.npz", "--epsilon", "0.1")
PLAN_SVM = ("plan", "t.svm", "--epsilon", "0.1", "--split", "contiguous:2", "--standardise", "none")
FOLDER = ("plan", "folder", "--epsilon", "0.1")
LOGISTIC = (*PLAN, "--loss", "logistic", "--regularisation", "0.1")
SETUP = ("plan", "s.toml")
PATIENT = "63.0,1.0,1.0,145.0,233.0,1.0,2.0,150.0,0.0,2.3,3.0,0.0,6.0,0\n"

CHANGED: dict[str, tuple[str, str, str]] = {
    "column twice": ("age", "target", "header = 'target': columns 2 and 3 have this name"),
    "missing target": ("target", "y", "no such column; columns: client, age, y"),
    "unclosed quote": ("Nice,9", '"Nice,9', "not a CSV table"),
    "null byte": ("Nice,9", "Nice,\x00", "age in line 7 of t.csv (client Nice) = '\\x00': give a num"),
    "ragged": ("Nice,9,2", "Nice,9", "line 7 of t.csv = '2 fields': give 3 fields"),
    "too long": ("4,1", "4,1,8", "line 5 of t.csv = '4 fields': give 3 fields"),
    "text in numbers": ("4,1", "four,1", "age in line 5 of t.csv (client Nice) = 'four': give a"),
    "text in target": ("4,1", "4,low", "target in line 5 of t.csv (client Nice) = 'low': give a"),
    "decimal comma": ("4,1", '"4,5",1', "'4,5': give a number"),
    "infinite": ("4,1", "4,-inf", "target in line 5 of t.csv (client Nice) = -inf"),
    "huge": ("4,1", "1e300,1", "give numbers up to 1e+60"),
    "other digits": ("4,1", "٤,1", "give a number"),
    "one client": ("Nice", "Lyon", "clients = 1: to plan who collaborates with whom"),
}
"""The table with one text put in place of another."""
OPTIONS: dict[str, tuple[str, str]] = {
    "client is target": ("--target client", "one column cannot be both client and target"),
    "unknown loss": ("--loss hinge", "loss = 'hinge': use auto, least-squares or logistic"),
    "negative regularisation": ("--regularisation -1", "regularisation = -1.0: give a number"),
    "regularisation in words": ("--regularisation low", "regularisation = 'low': give a number"),
    "unknown standardise": ("--standardise row", "standardise = 'row': use pooled, client"),
    "memory as a word": ("--max-memory 2GB", "max_memory = '2GB': give a number"),
    "no memory": ("--max-memory 0", "max_memory = 0.0: give a number >= 1"),
}
"""Options beside a table that is right."""
OF_CLASSES: dict[str, tuple[str, str]] = {
    "no such class": ("--positive 3", "positive = 3.0: not a label; labels: 0.0, 1.0"),
    "standardised classes": ("--standardise-target", "the logistic loss needs classes"),
}
"""The same of a logistic loss."""
WORDS = "client,a,target\nA,1,sick\nA,2,well\nA,4,sick\nB,4,well\nB,5,well\n"
APART = "client,a,target\nA,1,0\nA,2,0\nA,4,1\nB,4,0\nB,5,1\nB,9,1\n"
ONE_TARGET = "client,a,target\nA,3,1\nA,4,1\nA,9,1\nB,3,1\nB,5,1\nB,6,1\n"
CLIENT, LOSS, SICK = "--standardise client", "--loss logistic", "--loss logistic --positive sick"
RIDGE = f"{LOSS} --regularisation 0.1"
SEPARATES = "a hyperplane separates its classes, so the loss has no minimiser; use --regularisation 0.1, for example"
TABLES: dict[str, tuple[str, str, str]] = {
    "header only": ("client,age,target\n", "", "give a header line and at least one row"),
    "no header": (TABLE.partition("\n")[2], "", "client = 'client': no such column"),
    "no predictor": ("client,target\nA,1\nB,2\n", "", "give at least one predictor"),
    "one row": (TABLE + "Paris,3,3\n", CLIENT, "of client Paris = 3.0: the same in every row"),
    "constant column": (
        TABLE.replace("e,5", "e,4").replace("e,9", "e,4"),
        CLIENT,
        "age of client Nice = 4.0: the same in",
    ),
    "column the same for all": (
        "client,a,target\nA,3,1\nA,3,2\nB,3,1\nB,3,5\n",
        "--standardise pooled",
        "a of all clients = 3.0: the same in every row",
    ),
    "constant target": (ONE_TARGET, "--standardise-target", "target = 1.0: the same in every row: nothing to learn"),
    "one class": (CLASSES.replace("5,0", "5,1"), LOSS, "labels of client B = 1.0: only one"),
    "one class in words": (WORDS, SICK, "labels of client B = 'well': only one"),
    "separable": (APART, LOSS, SEPARATES),
    "one class alone": ("client,a,target\nA,1,7\nA,2,7\nB,4,7\nB,5,7\n", RIDGE, "one class alone; give two"),
    "three classes": (CLASSES.replace("9,1", "9,2"), RIDGE, "labels = '3 classes'"),
}
"""A table with options."""
SPLIT: dict[str, tuple[str, str]] = {
    "unknown split": ("random:2", "split = 'random:2': write contiguous:8"),
    "misspelt split": ("contigous:2", "did you mean contiguous?"),
    "split without number": ("iid", "split = 'iid': write contiguous:8"),
    "split for one": ("iid:1", "give a whole number of clients from 2"),
    "split for too many": ("iid:9", "the table has 4 rows; use fewer clients"),
    "dirichlet of 0": ("dirichlet:2:0", "give a concentration from 1e-6"),
    "two classes by Definition S1": ("labels:2", "puts all 2 classes into its first"),
    "no such column to split by": ("column:site", "no such column; columns: 1, 2, 3"),
    "nothing to split by": ("column:", "labels:8 or column:NAME"),
}
"""How a LIBSVM file is to be divided."""
LINES: dict[str, tuple[str, str]] = {
    "LIBSVM label": ("yes 1:1", "line 5 of t.svm = 'yes 1:1': write `label index:value ...`: numbers"),
    "LIBSVM value": ("1 1:x", "line 5 of t.svm = '1 1:x': write `label index:value ...`: numbers"),
    "LIBSVM no colon": ("1 1", "line 5 of t.svm = '1 1': write `label index:value ...`: numbers"),
    "LIBSVM order": ("1 3:1 2:1", "each index once, rising from 0 or 1"),
    "LIBSVM negative": ("1 -3:1", "each index once, rising from 0 or 1"),
    "LIBSVM nan": ("1 3:nan", "replace NaN by numbers"),
    "LIBSVM wide": ("1 400000000:1", "more than the limit of 2e+09; raise it by max_memory"),
}
"""A line more of a LIBSVM file."""
ARRAYS: dict[str, tuple[bytes, str]] = {
    "unknown array": (good(w=ROWS), "unknown arrays = ['w']: the arrays of t.npz are X, y"),
    "missing array": (good(y=None), "missing arrays = ['y']"),
    "npz undivided": (good(client=None), "one undivided table: say how to divide it"),
    "npz shapes": (good(y=ROWS), "give shapes (n, d) and (n,)"),
    "npz texts": (good(X=ROWS.astype(str)), "give real numbers"),
    "npz complex": (good(X=ROWS + 1j), "give real numbers"),
    "npz truth values": (good(y=ROWS[:, 0] > 3), "give real numbers"),
    "npz nan": (good(X=np.where(ROWS > 9, np.nan, ROWS)), "X = nan: replace NaN"),
    "npz no rows": (good(X=ROWS[:0], y=ROWS[:0, 0]), "rows of t.npz = 0"),
    "npz clients as fractions": (good(client=np.arange(6.0)), "give one whole number or text a row"),
    "npz names": (good(columns=np.array(["a", "a"])), "give 2 distinct names"),
}
"""An archive with other arrays."""
CENTRES = [f"processed.{name}.data" for name in ("cleveland", "hungarian", "switzerland", "va")]
IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
FOLDERS: dict[str, tuple[Files, str]] = {
    "empty folder": ({"read.me": "x"}, "no .csv, .npz or LIBSVM file in this folder"),
    "a centre is missing": ({CENTRES[0]: PATIENT * 9}, "processed.hungarian.data"),
    "a field is missing": (dict.fromkeys(CENTRES, "1,2,3\n"), "processed.cleveland.data': 3 fields; give 14 fields"),
    "too few patients": (dict.fromkeys(CENTRES, PATIENT), "too few to divide into training and test"),
    "images without labels": ({IMAGES: idx((1, 2, 2), 4)}, "its file of labels is missing"),
    "images and labels differ": ({IMAGES: idx((1, 2, 2), 4), LABELS: idx((2,), 2)}, f"{IMAGES} has 1 images"),
}
"""Files of a folder."""
CASES: dict[str, tuple[Files, tuple[str, ...], str]] = {
    **{name: ({"t.csv": TABLE.replace(old, new)}, PLAN, said) for name, (old, new, said) in CHANGED.items()},
    **{name: ({"t.csv": TABLE}, (*PLAN, *more.split()), said) for name, (more, said) in OPTIONS.items()},
    **{name: ({"t.csv": CLASSES}, (*LOGISTIC, *more.split()), said) for name, (more, said) in OF_CLASSES.items()},
    **{name: ({"t.csv": text}, (*PLAN, *more.split()), said) for name, (text, more, said) in TABLES.items()},
    **{name: ({"t.svm": LIBSVM}, (*PLAN_SVM[:-3], split), said) for name, (split, said) in SPLIT.items()},
    **{name: ({"t.svm": f"{LIBSVM}{line}\n"}, PLAN_SVM, said) for name, (line, said) in LINES.items()},
    **{name: ({"t.npz": content}, PLAN_NPZ, said) for name, (content, said) in ARRAYS.items()},
    **{name: ({f"folder/{k}": v for k, v in files.items()}, FOLDER, said) for name, (files, said) in FOLDERS.items()},
    "unknown theorem": ({}, ("theorem", "nowhere"), "theorem = 'nowhere': `suffice theorem` lists them"),
    "latin-1": ({"t.csv": TABLE.replace("Lyon", "Orléans").encode("latin-1")}, PLAN, "not UTF-8 text"),
    "binary": ({"t.csv": bytes(range(256))}, PLAN, "not UTF-8 text"),
    "missing file": ({}, PLAN, "no such file or folder"),
    "unknown kind": ({"t.xlsx": "x"}, ("plan", "t.xlsx", "--epsilon", "1"), "give a .csv, .npz or LIBSVM file"),
    "null byte in a name": ({"s.toml": data(path='"t\\u0000.csv"')}, SETUP, "no such file or folder"),
    "three texts": (
        {"t.csv": "client,x,target\n" + "".join(f"{'ab'[k % 2]},{k},{'uvw'[k % 3]}\n" for k in range(12))},
        ("plan", "t.csv"),
        "column target = '3 classes': plans are for numbers or two classes: suffice fit takes more, or set one against "
        "the others: --loss logistic --positive u",
    ),
    "labels of a measurement": (
        {"t.csv": TABLE.replace("client,", "place,").replace("Lyon", "1").replace("Nice", "2")},
        (*PLAN, "--split", "labels:2"),
        "needs classes, not measurements",
    ),
    "undivided": ({"t.svm": LIBSVM}, ("plan", "t.svm", "--epsilon", "1"), "one undivided table: say how to divide it"),
    "LIBSVM empty": ({"t.svm": ""}, PLAN_SVM, "no rows with predictors"),
    "LIBSVM labels alone": ({"t.svm": "1\n-1\n"}, PLAN_SVM, "no rows with predictors"),
    "pickled objects": ({"t.npz": pickled()}, PLAN_NPZ, "not an .npz file of plain number arrays"),
    "not an archive": ({"t.npz": "hello"}, PLAN_NPZ, "not an .npz file"),
    "truncated archive": ({"t.npz": good()[:200]}, PLAN_NPZ, "not an .npz file"),
    "npz divided twice": ({"t.npz": good()}, (*PLAN_NPZ, "--split", "iid:2"), "has a column client that names clients"),
    "bad TOML": ({"s.toml": "[data\n"}, SETUP, "not valid TOML"),
    "empty setup": ({"s.toml": ""}, SETUP, "give exactly one of [constants], [problem] and [data]"),
    "setup in latin-1": ({"s.toml": data(client='"é"').encode("latin-1")}, SETUP, "not UTF-8 text"),
    "unknown key": ({"t.csv": TABLE, "s.toml": data(spilt='"iid:2"')}, SETUP, "spilt"),
    "wrong type": ({"t.csv": TABLE, "s.toml": data(regularisation='"low"')}, SETUP, "data.regularisation"),
    "no path": ({"s.toml": data(path='""')}, SETUP, "data.path = '': name a file or a folder"),
    "batch 0": ({"t.csv": TABLE, "s.toml": data(batch="0")}, SETUP, "batch = 0: give a whole number, at least 1"),
    "negative seed": (
        {"t.svm": LIBSVM, "s.toml": data(path='"t.svm"', split='"iid:2"', seed="-1")},
        SETUP,
        "seed = -1: give a whole number, at least 0",
    ),
    "option beside a setup": ({"t.csv": TABLE, "s.toml": data()}, (*SETUP, "--split", "iid:2"), "--split = 's.toml'"),
    "quadratic of a table": (
        {"t.csv": TABLE, "s.toml": '[problem]\nkind = "quadratic"\nfile = "t.csv"\n[target]\nepsilon = 1\n'},
        SETUP,
        "give an .npz file with arrays A, xi, sigma",
    ),
    "a whole number of 4301 digits": (
        {"s.toml": data(seed="9" * 4301)},
        SETUP,
        "not valid TOML: Exceeds the limit (4300 digits)",
    ),
    "split of 5009 digits": ({"t.csv": TABLE}, (*PLAN, "--split", f"iid:{'9' * 5009}"), "whole number of clients"),
    "epsilon 1e-170": ({"t.csv": TABLE}, ("plan", "t.csv", "--epsilon", "1e-170"), "epsilon = 1e-170: give positive"),
    "memory for a setup": (
        {"t.csv": TABLE, "s.toml": data()},
        (*SETUP, "--max-memory", "10"),
        "raise it by max_memory (--max-memory)",
    ),
    "a member that is no array": (
        {"t.npz": member()},
        PLAN_NPZ,
        "path = 't.npz': not an .npz file of plain number arrays",
    ),
    "unknown embedded set": (
        {},
        ("plan", "sklearn:mnist", "--epsilon", "1"),
        "the embedded data sets are breast_cancer",
    ),
    "embedded and undivided": ({}, ("plan", "sklearn:wine", "--epsilon", "1"), "say how to divide it, as contiguous:8"),
}


def write(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.share(2)
@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_one_line_that_names_it(name, here, refused):
    files, arguments, message = CASES[name]
    write(here, files)
    line = refused(*arguments)
    assert message in line
    assert line.startswith("suffice: ")
    assert len(line) <= 620


def test_a_process_of_its_own_says_the_same(tmp_path):
    files, arguments, message = CASES["unknown theorem"]  # torch, which takes seconds, is not loaded
    write(tmp_path, files)
    done = subprocess.run(
        [sys.executable, "-c", "from suffice.cli import main; main()", *arguments],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_archive_that_would_fill_the_memory_is_not_unpacked(here, refused):
    write(here, {"t.npz": good()})
    assert "memory for X.npy of t.npz" in refused(*PLAN_NPZ, "--max-memory", "90")


def test_the_files_that_the_mistakes_start_from_are_good(tmp_path):
    import suffice as sf

    write(tmp_path, {"t.csv": TABLE, "c.csv": CLASSES, "t.npz": good(), "t.svm": LIBSVM})
    for name, options in (
        ("t.csv", {}),
        ("c.csv", {"loss": "logistic", "regularisation": 0.1}),
        ("t.npz", {"regularisation": 0.1}),
        ("t.svm", {"split": "contiguous:2", "standardise": "none", "regularisation": 0.1}),
    ):
        assert sf.read(tmp_path / name, **options).clients == 2
    assert len(CASES) >= 60
