"""A `Fit` is the result of `fit`, to print, draw, predict by, save and read again.

Its file is JSON of the dataclasses themselves, written whole and read back without unpickling anything. The SHA-256 in
it is that of the models as they are spelt, so that what is read is what was saved. It finds damage, not malice: whoever
changes a file on purpose can change that too, and has models of their own.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from suffice.simulate.data.design import Design
from suffice.simulate.data.encoding import Encoding
from suffice.simulate.data.memory import as_path, whole
from suffice.support.errors import InputError
from suffice.support.files import make_folder, write_whole
from suffice.support.frames import to_frame
from suffice.support.numbers import check_numbers
from suffice.support.parse import nearest
from suffice.support.pictures import Picture, draw
from suffice.support.tables import WIDE, Table

from .local_quadratics import probabilities as of_classes
from .site_models import SiteModel
from .table import fit_table

if TYPE_CHECKING:
    from suffice.simulate import Quadratics

KIND = "suffice models, version 3"
LARGEST = 1_000_000_000
"""A file of more bytes is refused."""


class ModelsFile(msgspec.Struct, forbid_unknown_fields=True):
    kind: str
    sha256: str
    models: msgspec.Raw


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The models of all sites: `fit["Lyon"]` is a `SiteModel`, `fit.predict(table)` predicts and `print(fit)` shows a
    table.

    loss        "least-squares", "logistic" or "multinomial"
    population  the model that a site gets that was not fitted
    expected    a function that makes `quadratics`, which `suffice.plan` plans for: torch loads when they are asked
                for; None for classes and for models from a file
    rule        what was averaged, exchanged and found on the way:
      candidates, families    each with its weight in the average; a candidate's held-out loss is its score
      network_gain, _gain_se  per row of all `network_gain_sites`; `network_gain_decided_by` one, `_without` which it is
                              another
      suspects                sites to look at: `left_out` is "site", "fold" (with `folds` from 1), or None where one
                              `row` has most of the squared error, the share `row_share`; `times` is by how much its
                              root mean square residuals are larger than the others' (or the fold's than the site's),
                              `units` by how much the deviation of its most unusual column differs
      groups                  sites that are alike, or one that is like no other, the column that tells them most
                              apart, its coefficient there and at the others, and what they gain per row
      distances               between the sites that are `compared`, in units of what chance explains
      spread_power            the power of sites' means that residuals grow with
      rounds, numbers_per_site, fewest_numbers  of messages
    """

    loss: str
    client: str
    target: str
    classes: tuple[str, ...]
    clients: tuple[SiteModel, ...]
    population: SiteModel
    rule: dict[str, Any]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    design: Design
    encoding: Encoding
    expected: Any = field(default=None, compare=False, repr=False)

    @cached_property
    def quadratics(self) -> Quadratics | None:
        """Each site's expected loss about its model, in standardised units; None of a file, and of classes."""
        return None if self.expected is None else self.expected()

    def __getitem__(self, name: str) -> SiteModel:
        found = self.by_name.get(str(name))
        if found is None:
            near = nearest(str(name), self.by_name)
            shown = ", ".join(list(self.by_name)[:12])
            raise InputError("client", name, f"did you mean {near}?" if near else f"clients: {shown}")
        return found

    def __iter__(self) -> Iterator[SiteModel]:
        return iter(self.clients)

    def __len__(self) -> int:
        return len(self.clients)

    @cached_property
    def by_name(self) -> dict[str, SiteModel]:
        return {model.name: model for model in self.clients}

    def to_dict(self) -> dict[str, Any]:
        """The object of `suffice fit --json`."""
        return {
            "loss": self.loss,
            "rule": dict(self.rule),
            "clients": [model.to_dict() for model in self.clients],
            "left_out": list(self.left_out),
            "notes": list(self.notes),
            "population": {"coefficients": dict(self.population.coefficients), "intercept": self.population.intercept},
        }

    def arrays(self, name: str | None) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (q, K) and intercepts (K,) of a site, of the population for None; K = 1 for numbers and two
        classes."""
        model = self.population if name is None else self[name]
        several = self.classes if len(self.classes) > 2 else ()
        each = [model.coefficients[c] for c in several] or [model.coefficients]
        intercepts = [model.intercept[c] for c in several] or [model.intercept]
        return np.array([[one[column] for column in self.encoding.columns] for one in each]).T, np.array(intercepts)

    def scores(self, X: np.ndarray, sites: np.ndarray) -> np.ndarray:
        """Linear predictions (n, K) for encoded rows X (n, q) and the site of each; unknown sites get the
        population's."""
        answer = np.empty((len(X), 1 if len(self.classes) < 3 else len(self.classes)))
        for site in dict.fromkeys(sites.tolist()):
            coefficients, intercepts = self.arrays(site if site in self.by_name else None)
            chosen = sites == site
            answer[chosen] = X[chosen] @ coefficients + intercepts
        return answer

    def labels(self, scores: np.ndarray) -> np.ndarray:
        """Predictions (n,), numbers or labels, of linear ones."""
        if not self.classes:
            return scores[:, 0]
        chosen = (scores[:, 0] > 0).astype(int) if len(self.classes) == 2 else scores.argmax(1)
        return np.array(self.classes)[chosen]

    def predict(self, table: Any, *, site: str | None = None) -> np.ndarray:
        """Predictions (n,) for the rows of a table or of a CSV file, numbers or labels; `site` where there is no column
        of sites.

        Raises `InputError`. A site that was not fitted gets the population's model. Warns of a level
        that no row had, which is predicted as the reference, and of a gap in a column that had none, which is filled
        with the column's mean.
        """
        return self.labels(self._scored(table, site))

    def probabilities(self, table: Any, *, site: str | None = None) -> np.ndarray:
        """Probabilities (n, classes) of the classes in the order of `classes`; `InputError` for numbers."""
        return self.shares(self._scored(table, site))

    predict_proba = probabilities
    """The name that scikit-learn has for `probabilities`."""

    def shares(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities (n, classes) of linear predictions; `InputError` for numbers."""
        if not self.classes:
            raise InputError("loss", self.loss, "only classes have probabilities; use predict")
        found = of_classes(scores)
        return np.column_stack((of_classes(-scores), found)) if scores.shape[1] == 1 else found

    def _scored(self, table: Any, site: str | None) -> np.ndarray:
        from .new_rows import new_rows

        found = new_rows(self, table, site)
        for line in found.warnings(self):
            warnings.warn(line, stacklevel=3)
        return found.scores

    @cached_property
    def needed(self) -> frozenset[str]:
        """The columns that predictions need."""
        return frozenset((self.client, *(column.source for column in self.design.columns)))

    def __repr__(self) -> str:
        gain = self.rule["network_gain"]
        said = f"gain {gain:.3g} per row" if gain is not None else "gain not known"
        return f"Fit({len(self)} sites, {self.loss}, {said}; print it for the table)"

    def __str__(self) -> str:
        return self.table().text()

    def table(self, width: int = WIDE) -> Table:
        """The table of `suffice fit`, with its notes; more collaborators are named in more than 80 characters."""
        return fit_table(self, width)

    def _repr_html_(self) -> str:
        """The table as a notebook shows it."""
        return self.table()._repr_html_()

    def to_frame(self) -> Any:
        """A row per site, as pandas' or polars' data frame, else a mapping of columns."""
        return to_frame(
            {key: value for key, value in model.to_dict().items() if key != "weights"}
            | {"own_weight": model.weights.get(model.name)}
            for model in self
        )

    def save(self, path: str | Path) -> Path:
        """Save to a .json file, read by `suffice.load`; `InputError`, also where a number is too large to be read."""
        path = Path(path)
        if path.suffix.lower() != ".json":
            raise InputError("out", str(path), "name a .json file")
        make_folder(path.parent, "out")
        record = msgspec.to_builtins(replace(self, expected=None), enc_hook=np.ndarray.tolist)
        check_numbers(path.name, record)
        models = msgspec.json.format(msgspec.json.encode(record), indent=1)
        stored = ModelsFile(KIND, hashlib.sha256(models).hexdigest(), msgspec.Raw(models))
        return write_whole(path, msgspec.json.encode(stored))

    def plot(self, path: str | Path | None = None) -> Picture:
        """Who listens to whom, gains with intervals, and the weight of each candidate; written to `path` if given."""
        return draw("fit", self.to_dict(), path=path)


def load(path: str | Path) -> Fit:
    """Load the models in the file `path`, as `suffice fit --out` or `Fit.save` wrote it; nothing is unpickled.

    Raises `InputError`, also for a damaged file.
    """
    path = as_path("model", path)
    try:
        stored = msgspec.json.decode(whole(path, field="model", most=LARGEST), type=ModelsFile)
        if stored.kind != KIND:
            raise InputError("model", str(path), f"this is {stored.kind!r}, not {KIND!r}; fit again")
        if stored.sha256 != hashlib.sha256(stored.models).hexdigest():
            remedy = "damaged: not what was saved, by its SHA-256; restore it, or fit again"
            raise InputError("model", str(path), remedy)
        found = msgspec.json.decode(stored.models, type=Fit, dec_hook=lambda _, values: np.array(values))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError("model", str(path), f"no models of suffice fit: {error}") from None
    return replace(found, expected=None)
