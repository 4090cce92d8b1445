"""The guaranteed plan follows from constants: who collaborates with whom at each precision, at which step, how fast.

Every number is a bound of the stopped process, it holds until tau = min{t: e_t < eps}, but those of fixed weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.bounds.client_constants import Constants
from suffice.bounds.collaboration_criteria import Binary, Criterion
from suffice.bounds.collaboration_weights import collaboration_weights
from suffice.bounds.sufficient_cluster import best_threshold, sufficient_cluster
from suffice.bounds.sufficient_variance import sufficient_variance, tight_variance
from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers, as_whole

from ..client_plan import quotient
from ..step_size_schedules import schedules
from .fixed_weights import fixed_rounds


def checked(
    constants: Constants | None, criterion: Criterion | None, horizon: int | None, confidence: float | None
) -> None:
    """`InputError` where `promised` would be asked for nonsense."""
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


def promised(
    constants: Constants,
    levels: np.ndarray,
    *,
    criterion: Criterion | None = None,
    horizon: int | None = None,
    confidence: float | None = None,
) -> list[dict[str, Any]]:
    """Fields of the row of every client at precisions (N,) of its own: cluster, step limit, four schedules and fixed
    weights, the same alone.

    criterion   None: the binary threshold of least sufficient variance, chosen for each row
    horizon     iterations T of the constant, horizon and decreasing schedules
    confidence  delta in (0, 1]: allowed probability of not having reached epsilon

    Source: adaptive Definition 2, Theorem 2, Corollary 1 (corrected).
    """
    refused, found = bool(constants.unbounded), []
    similarity = constants.heterogeneity.similarity(2 * constants.mu * levels)
    thresholds = best_threshold(similarity=similarity, sigma2=constants.sigma2)
    for i, rho in enumerate(similarity):
        chosen = Binary(threshold=thresholds[i].item()) if criterion is None else criterion
        seen: dict[str, Any] = {"similarity": rho, "sigma2": constants.sigma2}
        ratio = float(chosen.step_ratio(constants.shares[i].item()))
        one: dict[str, Any] = dict(
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
        found.append(one)
    if refused:
        return found
    s2, q = (np.array([one[name] for one in found]) for name in ("sufficient_variance", "step_ratio"))
    both = schedules(constants, s2, q, levels, horizon, confidence)
    own = schedules(constants, constants.sigma2, np.ones_like(q), levels, horizon, confidence)
    fixed = [(None, None)] * constants.clients if constants.excess is None else fixed_rounds(constants, levels)
    for one, *plans, promises in zip(found, both, own, fixed):
        together, alone = (plan._replace(fixed_weights=best) for plan, best in zip(plans, promises))
        one |= {"schedules": together, "local": alone, "notes": constants.notes}
        one["warnings"] = _warnings(constants, **one)
    return found


def _warnings(
    constants: Constants, *, criterion: Criterion, similarity: np.ndarray, schedules: Any, local: Any, **_: Any
) -> tuple[str, ...]:
    warnings, speedup = list(constants.notes), quotient(local.iterations, schedules.iterations)
    if isinstance(criterion, Binary) and criterion.threshold < 0.5 and (similarity > 0).sum() > 1:
        warnings.append(
            "threshold below 1/2: after tau the variance may exceed the local one, up to a factor "
            f"{1 / (4 * criterion.threshold * (1 - criterion.threshold)):.3g}"
        )
    if speedup is not None and speedup < 1 - 1e-9:
        warnings.append(
            f"alone is faster in this guarantee (speed-up {speedup:.3g}): the step limit costs more "
            "than the variance gains"
        )
    if schedules.iterations == 0:
        warnings.append("the start is already below this precision: 0 iterations, alone or together")
    if constants.excess is None:
        warnings.append("no initial excess given: bounds and iterations cannot be computed")
    return tuple(warnings)
