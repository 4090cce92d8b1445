"""The guaranteed plan follows from constants: who collaborates with whom at each precision, at which step, how fast.

Every number is a bound of the stopped process, it holds until tau = min{t: e_t < eps}, but those of fixed weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from suffice.bounds.client_constants import Constants
from suffice.bounds.collaboration_criteria import Binary, Criterion
from suffice.bounds.collaboration_weights import collaboration_weights
from suffice.bounds.sufficient_cluster import best_threshold, sufficient_cluster
from suffice.bounds.sufficient_variance import sufficient_variance, tight_variance
from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers, as_whole

from ..plan_row import Row, rows_of
from ..precision import Precision
from ..step_size_schedules import schedules
from .fixed_weights import fixed_rounds


def checked(
    constants: Constants | None, criterion: Criterion | None, horizon: int | None, confidence: float | None
) -> None:
    """`InputError` where `promised_rows` would be asked for nonsense."""
    if horizon is not None:
        as_whole("horizon", horizon)
    if confidence is not None and as_numbers("confidence", confidence, (), positive=True) > 1:
        raise InputError("confidence", confidence, "give a probability in (0, 1]")
    if constants is not None and (constants.sigma2 < 1e-60).any():
        least = np.sqrt(constants.sigma2.min()).item()
        raise InputError("sigma", least, "Definition 1 weighs clients by 1/sigma^2: give sigma >= 1e-30")
    if not (criterion is None or isinstance(criterion, Criterion)) or isinstance(criterion, type):
        raise InputError("criterion", criterion, "give binary, continuous, sharp or a criterion object")
    if isinstance(criterion, Binary) and np.ndim(criterion.threshold) != 0:
        raise InputError("threshold", criterion.threshold, "give one number for all rows, or binary to choose for each")


def promised_rows(
    constants: Constants,
    precision: Precision,
    *,
    criterion: Criterion | None = None,
    horizon: int | None = None,
    confidence: float | None = None,
) -> list[Row]:
    """One row per client: cluster, step limit, four schedules and fixed weights, the same alone.

    criterion   None: the binary threshold of least sufficient variance, chosen for each row
    horizon     iterations T of the constant, horizon and decreasing schedules
    confidence  delta in (0, 1]: allowed probability of not having reached epsilon

    Source: adaptive Definition 2, Theorem 2, Corollary 1 (corrected).
    """
    levels, refused, clusters = precision.each, bool(constants.unbounded), []
    similarity = constants.heterogeneity.similarity(2 * constants.mu * levels)
    thresholds = best_threshold(similarity=similarity, sigma2=constants.sigma2)
    for i, rho in enumerate(similarity):
        chosen = Binary(threshold=thresholds[i].item()) if criterion is None else criterion
        seen, ratio = (
            {"similarity": rho, "sigma2": constants.sigma2},
            float(chosen.step_ratio(constants.shares[i].item())),
        )
        cluster: dict[str, Any] = dict(
            criterion=chosen,
            similarity=rho,
            weights=collaboration_weights(chosen, **seen),
            cluster=tuple(np.flatnonzero(sufficient_cluster(chosen, similarity=rho)).tolist()),
            sufficient_variance=float(tight_variance(chosen, **seen)),
            definition_2_variance=float(sufficient_variance(chosen, **seen)),
            local_variance=constants.sigma2[i].item(),
            step_ratio=ratio,
            step_limit=None if refused else (ratio / constants.beta[i]).item(),
        )
        clusters.append(cluster)
    rows = rows_of(constants.names, precision, clusters, constants.unbounded)
    if refused:
        return rows
    s2, q = (np.array([one[name] for one in clusters]) for name in ("sufficient_variance", "step_ratio"))
    both = schedules(constants, s2, q, levels, horizon, confidence)
    own = schedules(constants, constants.sigma2, np.ones_like(q), levels, horizon, confidence)
    if constants.excess is not None:
        fixed = fixed_rounds(constants, levels)
        both = [one._replace(fixed_weights=found) for one, (found, _) in zip(both, fixed)]
        own = [one._replace(fixed_weights=found) for one, (_, found) in zip(own, fixed)]
    plans = zip(rows, both, own)
    rows = [replace(row, schedules=one, local=other, notes=constants.notes) for row, one, other in plans]
    return [replace(row, warnings=_warnings(constants, row)) for row in rows]


def _warnings(constants: Constants, row: Row) -> tuple[str, ...]:
    warnings, criterion, speedup = list(constants.notes), row.criterion, row.guaranteed_speedup
    if isinstance(criterion, Binary) and criterion.threshold < 0.5 and (row.similarity > 0).sum() > 1:
        warnings.append(
            "threshold below 1/2: after tau the variance may exceed the local one, up to a factor "
            f"{1 / (4 * criterion.threshold * (1 - criterion.threshold)):.3g}"
        )
    if speedup is not None and speedup < 1 - 1e-9:
        warnings.append(
            f"alone is faster in this guarantee (speed-up {speedup:.3g}): the step limit costs more "
            "than the variance gains"
        )
    if row.schedules.iterations == 0:
        warnings.append("the start is already below this precision: 0 iterations, alone or together")
    if constants.excess is None:
        warnings.append("no initial excess given: bounds and iterations cannot be computed")
    return tuple(warnings)
