"""What the data say of each client and pair, every number with how far it can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bounds import Constants, InputError, entry_precisions
from bounds.arrays import quotient

from .client_data import POINTS, REACH
from .resampling import check_resamples, resampled

if TYPE_CHECKING:
    from simulate import LeastSquares, Logistic

Trust = Literal["exact", "certified", "estimated"]
SHARE = 0.95
EXTREMES = ("mu", "beta", "factor")
"""Extreme eigenvalues: sampling pushes them outwards, and resampling does so once more."""
ALIKE = 1e-9
"""Similarity from which on a pair counts."""


@dataclass(frozen=True, kw_only=True)
class Known:
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
        return f"Known({shape} numbers, {self.trust}{where}{between}; .value)"

    def to_dict(self) -> dict[str, Any]:
        interval = None if self.low is None or self.high is None else [self.low.tolist(), self.high.tolist()]
        return {"value": self.value.tolist(), "trust": self.trust, "region": self.region, "interval": interval}


@dataclass(frozen=True, kw_only=True)
class ClientNumbers:
    """Constants of a problem on data; `print` shows the table of `suffice plan --numbers`.

    optimum                       (N, d) minimisers of R_i
    mu, beta, excess              (N,) of R_i; excess at the start
    variance_start, _optimum      (N,) of one stochastic gradient of client i at its own start and optimum
    sigma2                        (N,) variance on the region: what plans use
    floor, factor                 (N,) Var[g_i] <= floor + factor |grad R_i|^2 for all models; factor 0: no growth
    entry                         (N, N) precision from which on peer k is similar to client i at all; inf: never
    similar_pairs                 share of ordered pairs whose entry is below the initial excess: the others are never
                                  similar by these numbers
    estimated_entry, _pairs       the same by sampling, beside certified numbers of the logistic loss; else None
    """

    names: tuple[str, ...]
    rows: tuple[int, ...]
    optimum: Known
    mu: Known
    beta: Known
    excess: Known
    variance_start: Known
    variance_optimum: Known
    sigma2: Known
    floor: Known
    factor: Known
    entry: Known
    similar_pairs: float
    estimated_entry: Known | None = None
    estimated_pairs: float | None = None

    def __repr__(self) -> str:
        return f"ClientNumbers({len(self.names)} clients, {sum(self.rows)} rows; print it for the table)"

    def __str__(self) -> str:
        from .cli.plan_tables import numbers_text

        return numbers_text(self)

    def to_dict(self) -> dict[str, Any]:
        fields = dict(vars(self)) | {"names": list(self.names), "rows": list(self.rows)}
        return {name: value.to_dict() if isinstance(value, Known) else value for name, value in fields.items()}


def known_numbers(
    problem: LeastSquares | Logistic,
    *,
    resamples: int = 0,
    root: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> ClientNumbers:
    """The numbers behind a plan; with `resamples`, bootstrap intervals for the population behind the rows.

    Raises `InputError`, also for a problem that is not of rows.
    """
    intervals = Intervals()
    if resamples:
        check_resamples("resamples", resamples, 1)
        for again in resampled(problem, resamples=resamples, root=root, progress=progress):
            intervals.add(*again)
    return numbers_with(problem, intervals)


class Intervals:
    """Collects the numbers of resamples."""

    def __init__(self) -> None:
        self._drawn: list[dict[str, np.ndarray]] = []

    def add(self, problem: Any, constants: Constants) -> None:
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


def numbers_with(problem: Any, intervals: Intervals) -> ClientNumbers:
    """The numbers of `problem`, with the intervals of its resamples."""
    if not hasattr(problem, "data"):
        raise InputError("problem", type(problem).__name__, "its numbers are not those of rows; give client data")
    constants = problem.constants()
    values = _values(problem, constants)

    def known(name: str, trust: Trust = "exact", region: str = "") -> Known:
        low, high = intervals.ends(name, values[name]) or (None, None)
        return Known(value=values[name], trust=trust, region=region, low=low, high=high)

    trust, region, sigma_region = _trust(problem)
    logistic = _is_logistic(problem)
    estimated = None
    if logistic and trust == "certified":
        sampled = replace(problem, reach=REACH if problem.reach is None else problem.reach, points=POINTS)
        estimated = Known(value=_entry(sampled.constants()), trust="estimated", region=_ball(sampled.reach))
    return ClientNumbers(
        names=constants.names,
        rows=tuple(problem.data.counts.tolist()),
        optimum=known("optimum"),
        mu=known("mu", trust, region),
        beta=known("beta"),
        excess=known("excess"),
        variance_start=known("variance_start"),
        variance_optimum=known("variance_optimum"),
        sigma2=known("sigma2", trust, sigma_region),
        floor=known("floor", "certified" if logistic else "exact", "all models"),
        factor=known("factor", "certified" if logistic else "exact", "all models"),
        entry=known("entry", trust, region),
        similar_pairs=_share_of_pairs(values["entry"], values["excess"]),
        estimated_entry=estimated,
        estimated_pairs=None if estimated is None else _share_of_pairs(estimated.value, values["excess"]),
    )


def _entry(constants: Constants) -> np.ndarray:
    return entry_precisions(constants.heterogeneity, mu=constants.mu, threshold=ALIKE)


def _share_of_pairs(entry: np.ndarray, excess: np.ndarray) -> float:
    n = len(entry)
    useful = (entry < excess[:, None]) & ~np.eye(n, dtype=bool)
    return float(useful.sum() / (n * (n - 1))) if n > 1 else 0.0


def _ball(reach: float) -> str:
    return f"balls around the optima, {reach:g} times as wide as the start is away"


def _is_logistic(problem: Any) -> bool:
    from simulate import Logistic

    return isinstance(problem, Logistic)


def _trust(problem: Any) -> tuple[Trust, str, str]:
    """Trust, and the regions of mu and of sigma."""
    if not _is_logistic(problem):
        return "exact", "all models", "the convex hull of the starts and all optima"
    if problem.reach is None:
        return "certified", "all models", "all models"
    ball = _ball(problem.reach)
    return ("estimated" if problem.points else "certified"), ball, ball


def _values(problem: Any, constants: Constants) -> dict[str, np.ndarray]:
    if constants.excess is None:
        raise InputError("excess", None, "give a problem with a start")
    at_start, at_optimum = (
        np.diagonal(problem.variance(points).double().cpu().numpy()) for points in (problem.start, problem.optimum)
    )
    if _is_logistic(problem):
        squares = problem.data.means((problem.data.X**2).sum(-1)[None])[0]
        floor = squares.double().cpu().numpy() / problem.batch
        factor = np.zeros_like(floor)
    else:
        floor, factor = multiplicative(problem)
    return {
        "optimum": problem.optimum.double().cpu().numpy(),
        "entry": _entry(constants),
        "mu": constants.mu,
        "beta": constants.beta,
        "excess": constants.excess,
        "variance_start": at_start,
        "variance_optimum": at_optimum,
        "sigma2": constants.sigma2,
        "floor": floor,
        "factor": factor,
    }


# Least squares, delta = theta - theta*, e = x . theta* - y, B = mean(x x'): a row's gradient is 2 (x . delta + e) x
# plus the regularisation's, so the variance is v + 2 l . delta + delta' Q delta with
#     v = 4 mean(e^2 |x|^2) - |g|^2,  l = 4 mean(e |x|^2 x) - 2 B g,  Q = 4 mean(|x|^2 x x') - 4 B^2,  g = 2 mean(e x).
# |grad R|^2 = 4 delta' A^2 delta. It is at most s + 4 M delta' A^2 delta for all delta iff 4 M A^2 - Q - l l' / (s -
# v) >= 0, for s > v. At s = 2 v that is M = lambda_max(A^-1 (Q + l l' / v) A^-1) / 4, the least for this floor.


def multiplicative(problem: Any) -> tuple[np.ndarray, np.ndarray]:
    """Floors 2 Var[g_i at the optimum] and the least factors that go with them, (N,) each."""
    floors, factors = [], []
    A, optimum = problem.A.double().cpu().numpy(), problem.optimum.double().cpu().numpy()
    for (x, y), a, theta in zip(problem.data.blocks(), A, optimum):
        e, square, n = x @ theta - y, (x**2).sum(1), len(x)
        B, g = x.T @ x / n, 2 * e @ x / n
        v = max(4 * (e**2 * square).mean() - g @ g, 0.0)
        slope = 4 * (e * square) @ x / n - 2 * B @ g
        Q = 4 * (x * square[:, None]).T @ x / n - 4 * B @ B
        inverse = np.linalg.inv(a)
        grown = Q + np.outer(slope, slope) / v if v > 1e-300 else Q
        floors.append(2 * v / problem.batch)
        factors.append(max(np.linalg.eigvalsh(inverse @ grown @ inverse)[-1], 0.0) / 4 / problem.batch)
    return np.array(floors), np.array(factors)
