"""A `Fit` is the result of `fit`, to print, draw, save and read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suffice.support.frames import to_frame
from suffice.support.pictures import Picture, draw
from suffice.support.tables import WIDE, Table

from .files import read_models, write_models
from .site_models import SiteModels
from .table import fit_table


class Fit(SiteModels):
    """The models of all sites: `fit["Lyon"]` is a `SiteModel`, `fit.predict(table)` predicts and `print(fit)` shows a
    table."""

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
        """To a .json file, read back by `suffice.load`; `InputError`."""
        return write_models(self, path)

    def plot(self, path: str | Path | None = None) -> Picture:
        """Who listens to whom, gains with intervals, and the weight of each candidate; written to `path` if given."""
        drawn = draw("fit", self.to_dict())
        if path is not None:
            drawn.write(path)
        return drawn


def load(path: str | Path) -> Fit:
    """Load the models in the file `path`, as `suffice fit --out` or `Fit.save` wrote it; nothing is unpickled.

    Raises `InputError`, also for a damaged file.
    """
    return read_models(path, Fit)
