"""Constants of each client and pair, and how reliable each number is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants, GradientDissimilarity, QuadraticCertificate, entry_precisions, property_1
from suffice.simulate.moments.gradient_moments import RANK
from suffice.support.errors import InputError
from suffice.support.numbers import plain
from suffice.support.tables import Table, number

if TYPE_CHECKING:
    from suffice.simulate import LeastSquares, Logistic
    from suffice.simulate.problem import Trust

COLUMNS = {
    "mu": "mu", "beta": "beta", "excess": "excess", "variance_start": "var(start)", "variance_optimum": "var(optimum)",
    "sigma2": "sigma^2", "floor": "floor", "factor": "factor",
}  # fmt: skip
"""Numbers of a client that the table shows."""
PAIRS = ("b", "c", "entry")
ALIKE = 1e-9
"""Similarity from which on a pair counts."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number per client (N,), a model per client (N, d), or a number per pair (N, N), peer k seen from client i.

    trust  exact: of these rows, to rounding. certified: a bound on `region`
    """

    value: np.ndarray
    trust: Trust
    region: str = ""


@dataclass(frozen=True, kw_only=True)
class ClientStatistics:
    """Constants of a problem on data; `print` shows the table of `suffice plan --numbers`.

    optimum                       (N, d) minimisers of R_i
    mu, beta, excess              (N,) of R_i; excess at the start
    variance_start, _optimum      (N,) of one stochastic gradient of client i at its own start and optimum
    sigma2                        (N,) variance on the region: what plans use
    floor, factor                 (N,) Var[g_i] <= floor + factor |grad R_i|^2 for all models; factor 0: no growth
    b, c                          (N, N) |grad R_i - grad R_k|^2 <= b_ik^2 + c_ik |grad R_i|^2 (adaptive, Assumption 3);
                                  of quadratics the pair of Property 1
    entry                         (N, N) precision from which on peer k is similar to client i at all; inf: never
    unknown                       why entry, b and c are not numbers where rows leave coefficients open; mu and factor
                                  are then about what the rows see
    notes                         what of the tables was left out
    """

    names: tuple[str, ...]
    rows: tuple[int, ...]
    optimum: Estimate
    mu: Estimate
    beta: Estimate
    excess: Estimate
    variance_start: Estimate
    variance_optimum: Estimate
    sigma2: Estimate
    floor: Estimate
    factor: Estimate
    b: Estimate
    c: Estimate
    entry: Estimate
    unknown: str = ""
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ClientStatistics({len(self.names)} clients, {sum(self.rows)} rows; print it for the table)"

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def table(self) -> Table:
        """Each client's constants and how reliable they are."""
        fields = {shown: getattr(self, name) for name, shown in COLUMNS.items()}
        rows = [
            (name, str(rows), *(number(entry.value[i].item()) for entry in fields.values()))
            for i, (name, rows) in enumerate(zip(self.names, self.rows))
        ]
        return Table(
            title="Constants of the clients",
            columns=("client", "rows", *fields),
            numeric=("rows", *fields),
            optional=("var(start)", "var(optimum)"),
            rows=[*rows, ("trust", "", *(entry.trust for entry in fields.values()))],
            lines=[
                f"sigma^2 holds on {self.sigma2.region}, and mu on {self.mu.region}. At all models the variance is at "
                "most floor + factor |grad R_i|^2. Optima and pairs are in --json.",
                *([f"Which pairs are similar is not known: {self.unknown}"] if self.unknown else ()),
                *self.notes,
            ],
        )

    def to_dict(self) -> dict[str, Any]:
        return plain({name: vars(one) if isinstance(one, Estimate) else one for name, one in vars(self).items()})


def statistics(problem: LeastSquares | Logistic) -> ClientStatistics:
    """Compute the constants behind a plan, of least squares or logistic regression on rows, and say how each is known.

    Without constants mu and beta of least squares are about the directions that rows see, and pairs unknown. Raises
    `InputError`, also for a problem without rows.
    """
    if getattr(problem, "row_counts", None) is None:
        raise InputError("numbers", type(problem).__name__, "they are those of rows; give client data")
    unknown = ""
    try:
        known = _of_constants(problem.constants())
    except InputError as error:
        if not hasattr(problem, "A"):
            raise
        known, unknown = _of_rows(problem), str(error)
    trust, region, sigma_region = problem.certainty()
    certified = {"sigma2": sigma_region, "floor": "all models", "factor": "all models"}
    certified |= dict.fromkeys(("mu", *PAIRS), region)
    models = {"variance_start": problem.start, "variance_optimum": problem.optimum}
    seen = {"optimum": problem.optimum, "excess": problem.excess(problem.start[None])[0]}
    seen |= {name: problem.variance(at).diagonal() for name, at in models.items()}
    values = known | {name: one.double().cpu().numpy() for name, one in seen.items()}
    values |= dict(zip(("floor", "factor"), problem.noise_growth()))
    estimates: dict[str, Any] = {
        name: Estimate(value=value, trust=trust if name in certified else "exact", region=certified.get(name, ""))
        for name, value in values.items()
    }
    said: dict[str, Any] = {"names": problem.names, "rows": problem.row_counts, "notes": problem.remarks}
    return ClientStatistics(unknown=unknown, **said, **estimates)


def _of_constants(constants: Constants) -> dict[str, np.ndarray]:
    """The constants by name, with b and c of Assumption 3; for a certificate of quadratics, those of Property 1."""
    pair = constants.heterogeneity
    entry = entry_precisions(pair, mu=constants.mu, threshold=ALIKE)
    if isinstance(pair, QuadraticCertificate):
        pair = property_1(pair.A, pair.xi)
    assert isinstance(pair, GradientDissimilarity)
    known = {name: getattr(constants, name) for name in ("mu", "beta", "sigma2")}
    return known | {"b": np.sqrt(pair.b2), "c": pair.c, "entry": entry}


def _of_rows(problem: Any) -> dict[str, np.ndarray]:
    curvature = 2 * np.linalg.eigvalsh(problem.A.double().cpu().numpy())
    seen = curvature > RANK * curvature[:, -1:]
    return {
        **{name: np.full((len(seen), len(seen)), np.nan) for name in PAIRS},
        "mu": np.where(seen, curvature, np.inf).min(1),
        "beta": curvature[:, -1],
        "sigma2": problem.sigma2.double().cpu().numpy(),
    }
