"""From constants to a plan: who collaborates with whom at each precision, at which step, how fast.

Every number is a bound of the stopped process: it holds until tau = min{t: e_t < eps}.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..arrays import as_numbers
from ..constants import Constants
from ..criteria import Binary, Continuous, Criterion, named
from ..errors import InputError
from ..evaluate import evaluate, outward
from ..sufficient_cluster import (
    best_threshold,
    collaboration_weights,
    sufficient_cluster,
    sufficient_variance,
    tight_variance,
)
from ..theorems import find
from .precision import Precision, precisions
from .row import Row, Schedules, quotient

DECREASING_FACTOR = 2.0
"""C of the decreasing step size C / (mu (t + gamma))."""


def plan_rows(
    constants: Constants,
    epsilon: float | str | Sequence[float | str],
    *,
    criterion: Criterion | str | None = None,
    horizon: int | None = None,
    confidence: float | None = None,
) -> list[Row]:
    """One row per client and precision: cluster, step limit, four schedules, the same alone, speed-up.

    epsilon     precisions [loss], > 0; "10%" is a tenth of each client's own starting excess
    criterion   a criterion or the name of one; None or "binary" chooses for each row the binary threshold of least
                sufficient variance
    horizon     iterations T of the constant, horizon and decreasing schedules
    confidence  delta in (0, 1]: allowed probability of not having reached epsilon

    Raises `InputError`. Source: adaptive Definition 2, Theorem 2, Corollary 1 (corrected).
    """
    wanted, rule = checked(constants, epsilon, criterion=criterion, horizon=horizon, confidence=confidence)
    return [row for one in wanted for row in _rows(constants, one, rule, horizon, confidence)]


def checked(
    constants: Constants,
    epsilon: float | str | Sequence[float | str],
    *,
    criterion: Criterion | str | None = None,
    horizon: int | None = None,
    confidence: float | None = None,
) -> tuple[list[Precision], Criterion | None]:
    """The precisions and the criterion that `plan_rows` is asked for; `InputError` where it is asked for nonsense."""
    wanted = precisions(epsilon, constants.excess)
    if isinstance(criterion, str):
        criterion = named(criterion)
    if horizon is not None and (
        isinstance(horizon, bool) or not isinstance(horizon, (int, np.integer)) or not 1 <= horizon <= 10**9
    ):
        raise InputError("horizon", horizon, "give a whole number of iterations from 1 to 10^9")
    if confidence is not None:
        confidence = float(as_numbers("confidence", confidence, (), positive=True))
        if confidence > 1:
            raise InputError("confidence", confidence, "give a probability in (0, 1]")
    if (constants.sigma2 < 1e-60).any():
        raise InputError(
            "sigma",
            np.sqrt(constants.sigma2.min()).item(),
            "Definition 1 weighs clients by 1/sigma^2: give sigma >= 1e-30",
        )
    if not (criterion is None or isinstance(criterion, Criterion)) or isinstance(criterion, type):
        raise InputError("criterion", criterion, "give binary, continuous, sharp or a criterion object")
    if isinstance(criterion, Binary) and np.ndim(criterion.threshold) != 0:
        raise InputError("threshold", criterion.threshold, "give one number for all rows, or binary to choose for each")
    return wanted, criterion


def weighing(
    constants: Constants, similarity: np.ndarray, criterion: Criterion | None
) -> Iterator[tuple[Criterion, float, float]]:
    """Of each client: its criterion, sufficient variance and step ratio at similarities of at least (N, N).

    Without a criterion each takes the binary one of least sufficient variance.
    """
    thresholds = best_threshold(similarity=similarity, sigma2=constants.sigma2)
    for rho, threshold, share in zip(similarity, thresholds.tolist(), constants.shares.tolist()):
        chosen = Binary(threshold=threshold) if criterion is None else criterion
        s2 = float(tight_variance(chosen, similarity=rho, sigma2=constants.sigma2))
        yield chosen, s2, float(chosen.step_ratio(share))


def _rows(
    constants: Constants,
    precision: Precision,
    criterion: Criterion | None,
    horizon: int | None,
    confidence: float | None,
) -> list[Row]:
    levels = precision.levels(constants.clients)
    similarity = constants.heterogeneity.similarity(2 * constants.mu * levels)
    weighed = list(weighing(constants, similarity, criterion))
    s2, q = np.array([(s2, q) for _, s2, q in weighed]).T
    both = _schedules(constants, s2, q, levels, horizon, confidence)
    own = _schedules(constants, constants.sigma2, np.ones_like(q), levels, horizon, confidence)
    rows = []
    for i, (together, alone, continuous) in enumerate(zip(both, own, _continuous(constants, similarity, levels))):
        chosen, rho, epsilon = weighed[i][0], similarity[i], levels[i].item()
        speedup = quotient(alone.hitting["expected_iterations"], together.hitting["expected_iterations"])
        refused = bool(constants.unbounded)
        rows.append(
            Row(
                client=i,
                name=constants.names[i],
                epsilon=epsilon,
                epsilon_given=precision.given,
                criterion=chosen,
                similarity=rho,
                weights=collaboration_weights(chosen, similarity=rho, sigma2=constants.sigma2),
                cluster=tuple(np.flatnonzero(sufficient_cluster(chosen, similarity=rho)).tolist()),
                names=constants.names,
                sufficient_variance=s2[i].item(),
                definition_2_variance=float(sufficient_variance(chosen, similarity=rho, sigma2=constants.sigma2)),
                local_variance=constants.sigma2[i].item(),
                step_ratio=q[i].item(),
                step_limit=None if refused else (q[i] / constants.beta[i]).item(),
                schedules=None if refused else together,
                local=None if refused else alone,
                continuous={name: None if refused else value for name, value in continuous.items()},
                notes=() if refused else constants.notes,
                warnings=() if refused else _warnings(constants, chosen, rho, together, continuous, speedup),
                refusal=constants.unbounded,
            )
        )
    return rows


def _schedules(
    constants: Constants,
    s2: np.ndarray,
    q: np.ndarray,
    epsilon: np.ndarray,
    horizon: int | None,
    confidence: float | None,
) -> list[Schedules]:
    """Of each client, from its variance, step ratio and precision, all (N,)."""
    mu, beta, e0 = constants.mu, constants.beta, constants.excess
    limit, gamma = q / beta, DECREASING_FACTOR * beta / (mu * q) - 1
    values = {"mu": mu, "beta": beta, "q": q, "s2": s2}
    constant = horizon_eta = horizon_bound = decreasing = expected = at_confidence = None
    if e0 is not None and horizon is not None:
        constant = _constant(limit, e0, horizon, values)
        horizon_eta, horizon_bound = _horizon(limit, e0, horizon, values)
        decreasing = _decreasing(gamma, mu, beta, e0, s2, horizon)
    eta = np.minimum(limit, mu * epsilon / (beta * s2))
    if e0 is not None:
        expected, at_confidence = _hitting(eta, e0, epsilon, confidence, values)
    columns = limit, constant, horizon_eta, horizon_bound, gamma, decreasing, eta, expected, at_confidence
    return [
        Schedules(
            constant={"eta": limit, "bound": constant},
            horizon={"eta": horizon_eta, "bound": horizon_bound},
            decreasing={"C": DECREASING_FACTOR, "gamma": gamma, "bound": decreasing},
            hitting={"eta": eta, "expected_iterations": expected, "iterations_at_confidence": at_confidence},
        )
        for limit, constant, horizon_eta, horizon_bound, gamma, decreasing, eta, expected, at_confidence in zip(
            *([None] * len(mu) if column is None else column.tolist() for column in columns)
        )
    ]


def _constant(eta: np.ndarray, e0: np.ndarray, horizon: int, values: dict[str, Any]) -> np.ndarray:
    return evaluate(find("adaptive/theorem-2-constant"), eta=eta, e0=e0, T=horizon, **values)


def _horizon(
    limit: np.ndarray, e0: np.ndarray, horizon: int, values: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """eta = min(q/beta, ln(e_0 / K) / (mu T)), K = beta s2 / (2 mu^2 T), and the bound there.

    That step minimises exp(-eta mu T) e_0 + eta beta s2 / (2 mu), an upper bound of B_T, over all steps; if
    e_0 <= K its minimum is at eta = 0 with value e_0. B_T itself is reported at the step.
    """
    mu = values["mu"]
    floor = values["beta"] * values["s2"] / (2 * mu**2 * horizon)
    eta, bound, moves = np.zeros_like(e0), e0.copy(), e0 > floor
    eta[moves] = np.minimum(limit, np.log(np.maximum(e0 / floor, 1)) / (mu * horizon))[moves]
    if moves.any():
        some = {name: value[moves] for name, value in values.items()}
        bound[moves] = _constant(eta[moves], e0[moves], horizon, some)
    return eta, bound


def _decreasing(
    gamma: np.ndarray, mu: np.ndarray, beta: np.ndarray, e0: np.ndarray, s2: np.ndarray, horizon: int
) -> np.ndarray:
    """B_T of Theorem 2's recursion for eta_t = 2 / (mu (t + gamma)), in closed form; at most nu / (gamma + T + 1)
    with nu = max(2 beta s2 / mu^2, (gamma + 1) e_0), the corrected row of Table 1."""
    from scipy.special import digamma

    # With n = t + gamma the factors 1 - 2/n telescope: prod_{m = n+1}^{M} (m - 2)/m = n (n - 1) / (M (M - 1)), so
    # B_T M (M - 1) = gamma (gamma - 1) e_0 + (2 beta s2 / mu^2) sum_{n = gamma+1}^{M} (n - 1)/n,  M = gamma + T.
    last = gamma + horizon
    total = horizon - (digamma(last + 1) - digamma(gamma + 1))
    level = gamma * (gamma - 1) * e0 + 2 * beta * s2 / mu**2 * total
    return outward(level / (last * (last - 1)), "upper")


def _hitting(
    eta: np.ndarray, e0: np.ndarray, epsilon: np.ndarray, confidence: float | None, values: dict[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray | None]:
    """E[tau] under the constant step of Corollary 1, and the iterations that leave at most delta running; 0 of clients
    that start below their precision."""
    above, expected = e0 >= epsilon, np.zeros_like(e0)
    given: dict[str, Any] = {
        name: value[above] for name, value in (values | {"eta": eta, "eps": epsilon, "e0": e0}).items()
    }
    if above.any():
        expected[above] = evaluate(find("adaptive/corollary-1-expected-time"), **given)
    if confidence is None:
        return expected, None
    # (1 - Delta)^T <= exp(-Delta T): T = ln(e_0 / (eps delta)) / Delta is enough
    drift = eta * values["mu"] - eta**2 * values["beta"] * values["s2"] / (2 * epsilon)
    logarithm = np.log(np.maximum(e0 / epsilon, 1)) - np.log(confidence)
    found = np.maximum(np.ceil(logarithm / drift), 1)
    return expected, np.array([int(T) if runs else 0 for T, runs in zip(found.tolist(), above)], dtype=object)


def _continuous(constants: Constants, similarity: np.ndarray, epsilon: np.ndarray) -> list[dict[str, float | None]]:
    """What continuous weights would give: variance, step ratio and expected iterations."""
    criterion = Continuous()
    s2 = sufficient_variance(criterion, similarity=similarity, sigma2=constants.sigma2)
    q = np.asarray(criterion.step_ratio(constants.shares))
    return [
        {
            "sufficient_variance": variance,
            "step_ratio": ratio,
            "eta": of.hitting["eta"],
            "expected_iterations": of.hitting["expected_iterations"],
        }
        for variance, ratio, of in zip(s2.tolist(), q.tolist(), _schedules(constants, s2, q, epsilon, None, None))
    ]


def _warnings(
    constants: Constants,
    criterion: Criterion,
    rho: np.ndarray,
    together: Schedules,
    continuous: dict[str, float | None],
    speedup: float | None,
) -> tuple[str, ...]:
    warnings = list(constants.notes)
    if isinstance(criterion, Binary) and criterion.threshold < 0.5 and (rho > 0).sum() > 1:
        warnings.append(
            "threshold below 1/2: after tau the variance may exceed the local one, up to a factor "
            f"{1 / (4 * criterion.threshold * (1 - criterion.threshold)):.3g}"
        )
    if speedup is not None and speedup < 1 - 1e-9:
        warnings.append(
            f"alone is faster in this guarantee (speed-up {speedup:.3g}): the step limit costs more "
            "than the variance gains"
        )
    planned, other = together.hitting["expected_iterations"], continuous["expected_iterations"]
    if planned and other and criterion.kind != "continuous" and other < 0.95 * planned:
        warnings.append(f"continuous weights promise fewer iterations, {other:.4g} against {planned:.4g}")
    if planned == 0:
        warnings.append("the start is already below this precision: 0 iterations, alone or together")
    if constants.excess is None:
        warnings.append("no initial excess given: bounds and iterations cannot be computed")
    return tuple(warnings)
