"""A model per site in the units of the given columns, who collaborates with whom, what it gains; predictions by
them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict

import msgspec
import numpy as np

from suffice.simulate.data.design import Design
from suffice.simulate.data.encoding import Encoding
from suffice.support.errors import InputError
from suffice.support.parse import nearest

from .local_quadratics import probabilities as of_classes

if TYPE_CHECKING:
    from suffice.simulate import Quadratics

Whole = Annotated[int, msgspec.Meta(ge=0)]
Loss = Annotated[float, msgspec.Meta(ge=0)]
POPULATION = "(a new site)"
"""What stands for a site that was not fitted: it gets the population's model."""


LEFT_OUT = "it is left out of the other sites' models: see what the fit says of its data"


class CandidateEntry(TypedDict):
    """A candidate's weight in the average and its held-out loss."""

    family: str
    setting: str
    weight: float
    score: float


class Suspect(TypedDict):
    """A site to look at: `left_out`, or where this is None with most of its squared error in one `row`, the share
    `row_share`; `folds` from 1. `times` is by how much its root mean square residuals are larger than the others' (or
    the fold's than the site's), `units` by how much the deviation of its most unusual column differs."""

    site: str
    left_out: Literal["site", "fold"] | None
    folds: list[int]
    times: float | None
    units: Loss
    row: str | None
    row_share: float | None


class Group(TypedDict):
    """Sites that are alike, or one that is like no other, the column that tells them most apart, its coefficient there
    and at the others, and what they gain per row."""

    sites: list[str]
    column: str
    own: float
    others: float
    gain: float | None
    gain_se: Loss | None


class Distances(TypedDict):
    """Distances between the sites that are `compared`, in units of what chance explains."""

    compared: list[str]
    distances: list[list[Loss]]


class Rule(TypedDict):
    """The candidates that were averaged, the numbers exchanged and the findings on the way; `network_gain` is per row
    of all `network_gain_sites`, `spread_power` the power of sites' means that residuals grow with."""

    name: str
    candidates: list[CandidateEntry]
    families: dict[str, float]
    network_gain: float | None
    network_gain_se: Loss | None
    network_gain_sites: Whole
    network_gain_decided_by: str | None
    network_gain_without: float | None
    suspects: list[Suspect]
    groups: list[Group]
    distances: Distances | None
    spread_power: float | None
    rounds: Whole
    numbers_per_site: Whole
    fewest_numbers: Whole | None


@dataclass(frozen=True, kw_only=True)
class SiteModel:
    """One site's model and what is known of it.

    weights             influences: the share of each site in this model, summing to 1
    collaborators       other sites with more than half of the equal share
    coefficients        column -> number in the column's own unit; per class {class: {column: number}} for labels
    intercept           a number, or {class: number}
    expected_loss       mean loss on rows that the model has not seen, by held-out folds (squared errors, or log-loss);
                        None where no row of the site was held out
    expected_loss_alone the same for the site's own ridge model
    expected_loss_constant  the same of the mean, or the shares of classes, of its other folds: a scale for both
    gain, gain_se       their difference with its standard error; None below three rows per coefficient, where intervals
                        of two standard errors do not cover
    """

    name: str
    rows: Whole
    collaborators: tuple[str, ...]
    weights: Mapping[str, float]
    coefficients: Mapping[str, Any]
    intercept: Any
    expected_loss: Loss | None
    expected_loss_alone: Loss | None
    gain: float | None
    gain_se: Loss | None
    expected_loss_constant: Loss | None = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)


@dataclass(frozen=True, kw_only=True)
class SiteModels:
    """Models of all sites, by name; `predict` uses them.

    loss        "least-squares", "logistic" or "multinomial"
    rule        what was averaged: candidates with weight and score, and what was exchanged
    population  the model that a site gets that was not fitted
    expected    a function that makes `quadratics`, which `suffice.plan` plans for: torch loads when they are asked
                for; None for classes and for models from a file
    """

    loss: str
    client: str
    target: str
    classes: tuple[str, ...]
    clients: tuple[SiteModel, ...]
    population: SiteModel
    rule: Rule
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
        each = [model.coefficients] if len(self.classes) < 3 else [model.coefficients[c] for c in self.classes]
        intercepts = [model.intercept] if len(self.classes) < 3 else [model.intercept[c] for c in self.classes]
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
    """As scikit-learn calls it."""

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
