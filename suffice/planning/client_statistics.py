"""Constants of each client and pair, and how reliable each number is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants, GradientDissimilarity, QuadraticCertificate, entry_precisions, property_1
from suffice.simulate.moments.gradient_moments import RANK
from suffice.support.errors import InputError
from suffice.support.numbers import plain, quotient
from suffice.support.tables import Table, number

from .bootstrap import check_resamples, resampled

if TYPE_CHECKING:
    from suffice.simulate import LeastSquares, Logistic
    from suffice.simulate.problem import Trust

SHARE = 0.95
EXTREMES = ("mu", "beta", "factor")
"""Extreme eigenvalues: sampling pushes them outwards, and resampling does so once more."""
PAIRS = ("b", "c", "entry")
ALIKE = 1e-9
"""Similarity from which on a pair counts."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number per client (N,), a model per client (N, d), or a number per pair (N, N), peer k seen from client i.

    trust      exact: of these rows, to rounding. certified: a bound on `region`. estimated: from points of `region`
    low, high  what the population that the rows were drawn from may have: bootstrap interval of share 0.95, or None
    """

    value: np.ndarray
    trust: Trust
    region: str = ""
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def __repr__(self) -> str:
        where = f" on {self.region}" if self.region else ""
        between = "" if self.low is None else ", with intervals"
        shape = " x ".join(map(str, self.value.shape))
        return f"Estimate({shape} numbers, {self.trust}{where}{between}; .value)"

    def interval(self, i: int | tuple[int, int]) -> str:
        """Of client or pair i, in words; a dash without intervals."""
        if self.low is None or self.high is None:
            return "-"
        return f"{number(self.low[i].item())} to {number(self.high[i].item())}"

    def to_dict(self) -> dict[str, Any]:
        interval = None if self.low is None or self.high is None else [self.low, self.high]
        return plain({"value": self.value, "trust": self.trust, "region": self.region, "interval": interval})


@dataclass(frozen=True, kw_only=True)
class ClientStatistics:
    """Constants of a problem on data; `print` shows the table of `suffice plan --numbers`.

    estimates                     by name those of optimum to entry, which are attributes, too
    optimum                       (N, d) minimisers of R_i
    mu, beta, excess              (N,) of R_i; excess at the start
    variance_start, _optimum      (N,) of one stochastic gradient of client i at its own start and optimum
    sigma2                        (N,) variance on the region: what plans use
    floor, factor                 (N,) Var[g_i] <= floor + factor |grad R_i|^2 for all models; factor 0: no growth
    b, c                          (N, N) |grad R_i - grad R_k|^2 <= b_ik^2 + c_ik |grad R_i|^2 (adaptive, Assumption 3);
                                  of quadratics the pair of Property 1
    entry                         (N, N) precision from which on peer k is similar to client i at all; inf: never
    similar_pairs                 share of ordered pairs whose entry is below the initial excess: the others are never
                                  similar by these numbers
    estimated_entry, _pairs       the same by sampling, beside certified numbers of the logistic loss; else None
    unknown                       why entry and similar_pairs are not numbers where rows leave coefficients open; mu and
                                  factor are then about what the rows see
    notes                         what of the tables was left out
    """

    names: tuple[str, ...]
    rows: tuple[int, ...]
    estimates: Mapping[str, Estimate]
    similar_pairs: float
    estimated_entry: Estimate | None = None
    estimated_pairs: float | None = None
    unknown: str = ""
    notes: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Estimate:
        if name in vars(self).get("estimates", ()):
            return self.estimates[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"ClientStatistics({len(self.names)} clients, {sum(self.rows)} rows; print it for the table)"

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def table(self) -> Table:
        """Each client's constants and how reliable they are; with intervals one line per number."""
        shown = {"sigma2": "sigma^2", "variance_start": "var(start)", "variance_optimum": "var(optimum)"}
        fields = {
            shown.get(name, name): entry for name, entry in self.estimates.items() if name not in ("optimum", *PAIRS)
        }
        clients = [(name, str(rows)) for name, rows in zip(self.names, self.rows)]
        if self.mu.low is None:
            columns, numeric = ("client", "rows", *fields), ("rows", *fields)
            rows = [
                (*client, *(number(entry.value[i].item()) for entry in fields.values()))
                for i, client in enumerate(clients)
            ]
            rows.append(("trust", "", *(entry.trust for entry in fields.values())))
        else:
            columns, numeric = ("client", "rows", "number", "value", "trust", "95 % interval"), ("rows", "value")
            rows = [
                (*client, field, number(entry.value[i].item()), entry.trust, entry.interval(i))
                for i, client in enumerate(clients)
                for field, entry in fields.items()
            ]
        similar = f"{100 * self.similar_pairs:.0f} % of the pairs are similar ({self.entry.trust})"
        if self.estimated_pairs is not None:
            similar += f"; {100 * self.estimated_pairs:.0f} % by sampling (estimated)"
            if self.similar_pairs == 0 < self.estimated_pairs:
                similar += "; `suffice plan --certainty estimated` plans with the latter"
        return Table(
            title="Constants of the clients",
            columns=columns,
            numeric=numeric,
            optional=("var(start)", "var(optimum)"),
            rows=rows,
            lines=[
                f"sigma^2 holds on {self.sigma2.region}, and mu on {self.mu.region}. At all models the variance is at "
                "most floor + factor |grad R_i|^2. Optima and pairs are in --json.",
                f"Which pairs are similar is not known: {self.unknown}"
                if self.unknown
                else f"At some precision below the initial excess {similar}.",
                *self.notes,
            ],
        )

    def pair_tables(self) -> list[Table]:
        """Of each client's closest peer b, c, and the least precision at which it is similar; none if unknown."""
        if self.unknown or len(self.names) == 1:
            return []
        itself = np.eye(len(self.names), dtype=bool)
        rows = [
            (self.names[i], self.names[k], field, number(entry.value[i, k].item()), entry.trust, entry.interval((i, k)))
            for i, k in enumerate(np.lexsort((self.b.value, self.entry.value, itself), axis=-1)[:, 0])
            for field, entry in ((name, self.estimates[name]) for name in PAIRS)
        ]
        found = Table(
            title="Each client's closest peer",
            columns=("client", "peer", "number", "value", "trust", "95 % interval"),
            numeric=("value",),
            rows=rows,
            lines=["The gradients differ by |grad R_i - grad R_k|^2 <= b^2 + c |grad R_i|^2. The entry is the least "
                   "precision at which the two are similar, - if there is none. All pairs are in --json."],
        )  # fmt: skip
        return [found]

    def to_dict(self) -> dict[str, Any]:
        return plain({
            name: value.to_dict() if isinstance(value, Estimate) else value
            for name, value in {**vars(self), **self.estimates}.items()
            if name != "estimates"
        })  # fmt: skip


def statistics(
    problem: LeastSquares | Logistic,
    *,
    resamples: int = 0,
    root: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ClientStatistics:
    """Compute the constants behind a plan and say how reliable each is.

    problem    least squares or logistic regression on rows
    resamples  bootstrap resamples for intervals of the population that the rows come from; 0 for none
    root       root of the resampling's random numbers
    progress   is called with the work done and the whole of it

    Raises `InputError`, also for a problem without rows.
    """
    intervals = Intervals()
    if resamples:
        check_resamples("resamples", resamples, 1)
        needed = _constants(problem)[0] is not None
        for again, constants in resampled(problem, resamples=resamples, root=root, progress=progress, needed=needed):
            intervals.add(again, constants if needed else None)
    return statistics_with(problem, intervals)


class Intervals:
    """Collects the statistics of resamples."""

    def __init__(self) -> None:
        self._drawn: list[dict[str, np.ndarray]] = []

    def add(self, problem: Any, constants: Constants | None) -> None:
        self._drawn.append(_values(problem, constants))

    def ends(self, name: str, value: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Values that leave out 2.5 % of the resamples on either side; None without resamples.

        For extreme eigenvalues they are reflected at `value` on a logarithmic scale (the basic bootstrap: the rows'
        value lies from the population's as the resamples' lie from the rows'), and widened to `value` itself.
        """
        if not self._drawn:
            return None
        ranked = np.sort(np.stack([entry[name] for entry in self._drawn]), axis=0)  # no means: values may be infinite
        cut = int((1 - SHARE) / 2 * len(ranked))
        low, high = ranked[cut], ranked[-1 - cut]
        if name not in EXTREMES:
            return low, high
        with np.errstate(all="ignore"):  # 0 / 0 is 0: the logistic loss has factor 0
            return np.minimum(quotient(value**2, high), value), np.maximum(quotient(value**2, low), value)


def statistics_with(problem: Any, intervals: Intervals) -> ClientStatistics:
    """The statistics of `problem`, with the intervals of its resamples."""
    if problem.row_counts is None:
        raise InputError("problem", type(problem).__name__, "its numbers are not those of rows; give client data")
    constants, unknown = _constants(problem)
    values = _values(problem, constants)

    def estimate(name: str, trust: Trust, region: str) -> Estimate:
        low, high = intervals.ends(name, values[name]) or (None, None)
        return Estimate(value=values[name], trust=trust, region=region, low=low, high=high)

    trust, region, sigma_region = problem.certainty()
    rows: tuple[Trust, str] = ("exact", "")
    growth: tuple[Trust, str] = ("exact" if trust == "exact" else "certified", "all models")
    sampled = problem.estimated()
    estimated = None
    if sampled is not None:
        estimated = Estimate(value=_entry(sampled.constants()), trust="estimated", region=sampled.certainty()[1])
    known: dict[str, tuple[Trust, str]] = {
        "optimum": rows, "mu": (trust, region), "beta": rows, "excess": rows, "variance_start": rows,
        "variance_optimum": rows, "sigma2": (trust, sigma_region), "floor": growth, "factor": growth,
        "b": (trust, region), "c": (trust, region), "entry": (trust, region),
    }  # fmt: skip
    return ClientStatistics(
        names=problem.names,
        rows=problem.row_counts,
        estimates={name: estimate(name, *how) for name, how in known.items()},
        similar_pairs=float("nan") if unknown else _share_of_pairs(values["entry"], values["excess"]),
        unknown=unknown,
        notes=problem.remarks,
        estimated_entry=estimated,
        estimated_pairs=None if estimated is None else _share_of_pairs(estimated.value, values["excess"]),
    )


def _constants(problem: Any) -> tuple[Constants | None, str]:
    """Of least squares None, and why, where some client has none: the rest is known all the same."""
    from suffice.simulate.problems.population import QuadraticPopulation

    try:
        return problem.constants(), ""
    except InputError as error:
        if not isinstance(problem, QuadraticPopulation):
            raise
        return None, str(error)


def _entry(constants: Constants) -> np.ndarray:
    return entry_precisions(constants.heterogeneity, mu=constants.mu, threshold=ALIKE)


def _dissimilarity(constants: Constants) -> dict[str, np.ndarray]:
    """b and c of Assumption 3; the exact certificate of quadratics has none of its own."""
    pair = constants.heterogeneity
    if isinstance(pair, QuadraticCertificate):
        pair = property_1(pair.A, pair.xi)
    assert isinstance(pair, GradientDissimilarity)
    return {"b": np.sqrt(pair.b2), "c": pair.c}


def _share_of_pairs(entry: np.ndarray, excess: np.ndarray) -> float:
    n = len(entry)
    useful = (entry < excess[:, None]) & ~np.eye(n, dtype=bool)
    return float(useful.sum() / (n * (n - 1))) if n > 1 else 0.0


def _values(problem: Any, constants: Constants | None) -> dict[str, np.ndarray]:
    """Without constants mu and beta of least squares are about the directions that rows see, and pairs unknown."""
    if constants is not None and constants.excess is None:
        raise InputError("excess", None, "give a problem with a start")
    at_start, at_optimum = (
        np.diagonal(problem.variance(points).double().cpu().numpy()) for points in (problem.start, problem.optimum)
    )
    floor, factor = problem.noise_growth()
    if constants is None:
        curvature = 2 * np.linalg.eigvalsh(problem.A.double().cpu().numpy())
        seen = curvature > RANK * curvature[:, -1:]
        known = {
            **{name: np.full((len(seen), len(seen)), np.nan) for name in PAIRS},
            "mu": np.where(seen, curvature, np.inf).min(1),
            "beta": curvature[:, -1],
            "excess": problem.excess(problem.start[None])[0].double().cpu().numpy(),
            "sigma2": problem.sigma2.double().cpu().numpy(),
        }
    else:
        known = {name: getattr(constants, name) for name in ("mu", "beta", "excess", "sigma2")}
        known |= {"entry": _entry(constants), **_dissimilarity(constants)}
    return known | {
        "optimum": problem.optimum.double().cpu().numpy(),
        "variance_start": at_start,
        "variance_optimum": at_optimum,
        "floor": floor,
        "factor": factor,
    }
