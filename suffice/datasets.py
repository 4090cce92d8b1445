"""Data sets with a layout of their own: UCI heart disease, MNIST, and those that scikit-learn carries."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bounds import InputError

from .tables import Table

if TYPE_CHECKING:
    from simulate import Problem

EMBEDDED = ("breast_cancer", "diabetes", "digits", "iris", "wine")
PREFIX = "sklearn:"


@dataclass(frozen=True, kw_only=True)
class HeartDisease:
    """Four hospitals' patients, split and standardised: tables of cleveland, hungarian, switzerland and va."""

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
    from simulate.heart_disease import hospitals

    four = hospitals(path, standardise=standardise)
    train = tuple(Table(name=one.name, X=one.X, y=one.y, columns=one.columns) for one in four)
    test = tuple(Table(name=one.name, X=one.X_test, y=one.y_test, columns=one.columns) for one in four)
    return HeartDisease(train=train, test=test)


def is_heart_disease(path: Path) -> bool:
    return path.is_dir() and any(path.glob("processed.*.data"))


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


def mnist_part(path: Path) -> str | None:
    """The part that a folder has, "train" before "test"; None: it is not MNIST's."""
    known = (("train", "train"), ("test", "t10k"))
    return next((part for part, prefix in known if _idx_images(path, prefix) is not None), None)


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
