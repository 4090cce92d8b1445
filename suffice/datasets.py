"""Data sets with a layout of their own: UCI heart disease, MNIST, and those that scikit-learn carries."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import InputError

from .csv_tables import parse_number
from .tables import Table

if TYPE_CHECKING:
    from simulate import Problem

CENTRES = ("cleveland", "hungarian", "switzerland", "va")
_FIELDS = ("age", "sex", "cp", "trestbps", "chol", "fbs", "restecg", "thalach", "exang", "oldpeak")
EMBEDDED = ("breast_cancer", "diabetes", "digits", "iris", "wine")
PREFIX = "sklearn:"


@dataclass(frozen=True, kw_only=True)
class HeartDisease:
    """Four hospitals' patients, split and standardised; a table each in `train` and `test`, in the order of CENTRES."""

    train: tuple[Table, ...]
    test: tuple[Table, ...]

    def problem(self, *, regularisation: float, loss: str = "logistic", intercept: bool = True, **more: Any) -> Problem:
        """The four centres' training data as a problem; arguments as in `from_arrays`."""
        from .client_data import of_tables

        options = {"regularisation": regularisation, "loss": loss, "intercept": intercept} | more
        return of_tables(self.train, standardise="none", **options)


def heart_disease(path: str | Path, *, standardise: str = "client") -> HeartDisease:
    """UCI heart disease as FLamby prepares it, from the folder of the four files processed.CENTRE.data.

    Columns slope, ca and thal are dropped, then patients with missing values; y is 1 for any disease; cp and restecg
    become indicators without their first level: 13 predictors. 66 % of each centre train, stratified where both classes
    have more than two patients (seed 43). `standardise` uses the training data of each centre ("client") or of all
    ("pooled"), deviations with n - 1, plus 1e-9: cholesterol is constant in Switzerland. In double precision.

    Source: FLamby (Ogier du Terrail et al. 2022), flamby/datasets/fed_heart_disease. Raises `InputError`.
    """
    from sklearn.model_selection import train_test_split

    if standardise not in ("client", "pooled", "none"):
        raise InputError("standardise", standardise, "use client, pooled, none")
    centres = [_patients(Path(path) / f"processed.{name}.data") for name in CENTRES]
    everyone = np.concatenate(centres)
    numeric = [j for j, name in enumerate(_FIELDS) if name not in ("cp", "restecg")]
    levels = {name: np.unique(everyone[:, _FIELDS.index(name)])[1:] for name in ("cp", "restecg")}
    columns = [_FIELDS[j] for j in numeric] + [f"{name}_{level:g}" for name in levels for level in levels[name]]
    parts: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"train": [], "test": []}
    for patients in centres:
        indicators = [patients[:, [_FIELDS.index(name)]] == levels[name] for name in levels]
        X = np.column_stack((patients[:, numeric], *indicators)).astype(float)
        y = (patients[:, -1] != 0).astype(float)
        both = min((y == 0).sum(), (y == 1).sum()) > 2
        chosen = train_test_split(
            np.arange(len(y)), train_size=0.66, test_size=1 - 0.66, random_state=43, stratify=y if both else None
        )
        for part, rows in zip(("train", "test"), chosen):
            parts[part].append((X[rows], y[rows]))
    pooled = np.concatenate([X for X, _ in parts["train"]])
    made: dict[str, list[Table]] = {"train": [], "test": []}
    for i, name in enumerate(CENTRES):
        reference = pooled if standardise == "pooled" else parts["train"][i][0]
        for part, tables in made.items():
            X, y = parts[part][i]
            if standardise != "none":
                X = (X - reference.mean(0)) / (reference.std(0, ddof=1) + 1e-9)
            tables.append(Table(name=name, X=X, y=y, columns=tuple(columns)))
    return HeartDisease(train=tuple(made["train"]), test=tuple(made["test"]))


def is_heart_disease(path: Path) -> bool:
    return path.is_dir() and any((path / f"processed.{name}.data").exists() for name in CENTRES)


def _patients(path: Path) -> np.ndarray:
    """Complete patients, (n, 11): ten predictors and the diagnosis."""
    kept = []
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise InputError("path", str(path), (error.strerror or "cannot be read").lower()) from None
    except UnicodeDecodeError:
        raise InputError("path", str(path), "not the text file of the UCI archive") from None
    for number, line in enumerate(lines, 1):
        words = [word.strip() for word in line.split(",")]
        if len(words) != 14:
            raise InputError(f"line {number} of {path.name}", f"{len(words)} fields", "give 14 fields")
        words = words[:10] + words[13:]
        if "?" not in words:
            kept.append([parse_number(f"line {number} of {path.name}", word) for word in words])
    if len(kept) < 6:
        raise InputError(f"complete patients in {path.name}", len(kept), "too few to divide into training and test")
    return np.array(kept)


def mnist(path: str | Path, *, part: str = "train") -> Table:
    """MNIST's images (n, 784), pixels in [0, 1], and digits, from IDX files, compressed or not.

    `path` is torchvision's root, its folder MNIST/raw, or a file of images; `part` train or test (t10k).
    Raises `InputError`.
    """
    if part not in ("train", "test"):
        raise InputError("part", part, "use train or test")
    images = _idx_images(Path(path), "train" if part == "train" else "t10k")
    if images is None:
        raise InputError(
            "path", str(path), f"no {part} images: give the folder of train-images-idx3-ubyte, or the file"
        )
    labels = _sibling(images.parent, images.name.replace("images-idx3", "labels-idx1").removesuffix(".gz"))
    if labels is None:
        raise InputError("path", str(images), "its file of labels is missing")
    X, y = _idx(images, 3), _idx(labels, 1)
    if len(X) != len(y):
        raise InputError(f"labels in {labels.name}", len(y), f"{images.name} has {len(X)} images")
    X = X.reshape(len(X), -1)
    return Table(name="", X=X / 255.0, y=y.astype(float), columns=tuple(f"pixel{j}" for j in range(X.shape[1])))


def is_mnist(path: Path) -> bool:
    return _idx_images(path, "train") is not None


def _idx_images(path: Path, part: str) -> Path | None:
    if path.is_file():
        return path if path.name.removesuffix(".gz").endswith("images-idx3-ubyte") else None
    found = (_sibling(path / folder, f"{part}-images-idx3-ubyte") for folder in ("", "raw", "MNIST/raw"))
    return next((file for file in found if file is not None), None)


def _sibling(folder: Path, name: str) -> Path | None:
    return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


def _idx(path: Path, axes: int) -> np.ndarray:
    """An IDX array of bytes: two zeros, the type 8, the number of axes, big-endian sizes, then the numbers."""
    try:
        data = path.read_bytes()
        data = gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:
        remedy = getattr(error, "strerror", None) or "damaged compression"
        raise InputError("path", str(path), remedy.lower()) from None
    begin = 4 + 4 * axes
    if data[:4] != bytes((0, 0, 8, axes)) or len(data) < begin:
        raise InputError("path", str(path), f"not an IDX file of bytes with {axes} axes")
    shape = np.frombuffer(data[4:begin], dtype=">u4").tolist()
    if len(data) - begin != int(np.prod(shape, dtype=object)) or 0 in shape:
        raise InputError("path", str(path), f"holds {len(data) - begin} numbers, its header says {shape}")
    return np.frombuffer(data[begin:], dtype=np.uint8).reshape(shape)


def embedded(name: str) -> Table:
    """A data set that comes with scikit-learn: breast_cancer, diabetes, digits, iris or wine. Raises `InputError`."""
    import sklearn.datasets

    if name not in EMBEDDED:
        raise InputError("path", f"{PREFIX}{name}", f"the embedded data sets are {', '.join(EMBEDDED)}")
    bunch: Any = getattr(sklearn.datasets, f"load_{name}")()
    columns = tuple(str(column) for column in bunch.feature_names)
    return Table(name="", X=bunch.data, y=np.asarray(bunch.target, dtype=float), columns=columns)
