"""Fewest rounds that a theorem promises for weights fixed in advance: an excess <= epsilon at one T, without stopping.

Of one stage it is that of the last model, of two that of the second stage's weighted mean, as the record says.

Two theorems compete with the hitting time of adaptive weights, together and alone:

* one constant step, PL alone: sample-optimal/theorem-2 where |grad R_i - grad R_k| <= b_ik everywhere, else
  adaptive/theorem-1-fixed-weights. Weights 1/sigma_k^2 on the peers that are most similar, as many as are best;
* two stages, strongly convex losses and b_ik as above: sample-optimal/theorem-2-optimal-rounds, where kappa does not
  multiply the noise.

All-for-all promises the mean over clients alone: `everybody` has its plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from suffice.bounds.all_for_all_plan import ONE, TWO, all_for_all_plan
from suffice.bounds.client_constants import Constants
from suffice.bounds.evaluate import evaluate
from suffice.bounds.gradient_dissimilarity import GradientDissimilarity
from suffice.bounds.quadratic_certificate import QuadraticCertificate
from suffice.bounds.theorems import find
from suffice.bounds.threshold_weights import component_weights

AFFINE, UNIFORM, OPTIMAL = (
    "adaptive/theorem-1-fixed-weights",
    "sample-optimal/theorem-2",
    "sample-optimal/theorem-2-optimal-rounds",
)
SHARES = np.linspace(0.01, 0.99, 99)
"""The steps tried, as shares of the step at which the floor is the precision."""
MOST_PEER_EXCESS = 0.9
"""Largest share of the precision that the records of All-for-all leave to the bias."""
MOST_BIAS = 0.99
"""Largest mean c that adaptive/theorem-1-fixed-weights takes."""


Promise = dict[str, Any]
"""The promise of one theorem to one client after `rounds` with `weights` (N,): the key, the words, and the `stages`,
each with its rounds and step; one of decreasing steps 2/(mu (n + 2)), n = offset, offset + 1, ..., has `mu` and
`offset`, and its output is the mean of its models with weights n (n + 1)/(n + 2)."""


def _promise(key: str, weights: np.ndarray, *stages: dict[str, Any]) -> Promise:
    rounds, promise = sum(stage["rounds"] for stage in stages), find(key).promise("epsilon")
    return {"theorem": key, "rounds": rounds, "weights": weights, "stages": stages, "promise": promise}


def fixed_rounds(constants: Constants, levels: np.ndarray) -> list[tuple[Promise, Promise]]:
    """Promises of the fewest rounds to each client, with peers and alone, at precisions (N,); they need the excess."""
    assert constants.excess is not None
    found, apart = [], np.where(np.eye(constants.clients, dtype=bool), 0.0, np.inf)
    nobody = apart, np.zeros_like(apart), apart
    anybody = *affine_pairs(constants, levels), uniform_dissimilarity(constants)
    for i, (epsilon, e0) in enumerate(zip(levels.tolist(), constants.excess.tolist())):
        alone, joint = (_fewest(constants, i, epsilon, e0, *(one[i] for one in peers)) for peers in (nobody, anybody))
        found.append((min(alone, joint, key=itemgetter("rounds")), alone))
    return found


def uniform_dissimilarity(constants: Constants) -> np.ndarray:
    """b (N, N) with |grad R_i - grad R_k| <= b_ik at all models, inf where there is none."""
    if isinstance(constants.heterogeneity, QuadraticCertificate):
        return constants.heterogeneity.uniform
    b2, c = affine_pairs(constants, np.ones(constants.clients))
    return np.where(c == 0, np.sqrt(b2), np.inf)


def strongly_convex(constants: Constants) -> bool:
    """Quadratics are; of others the constants have to say so."""
    return constants.strongly_convex or isinstance(constants.heterogeneity, QuadraticCertificate)


def affine_pairs(constants: Constants, levels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """b^2 and c (N, N) of Assumption 3; of quadratics the pair that is best where the excess is the precision."""
    pairs, diagonal = constants.heterogeneity, np.eye(constants.clients, dtype=bool)
    if isinstance(pairs, QuadraticCertificate):
        best = pairs.near_pair(2 * constants.mu * levels)
        return np.where(diagonal, 0.0, best.b2), np.where(diagonal, 0.0, best.c)
    if isinstance(pairs, GradientDissimilarity):
        return pairs.b2, pairs.c
    return np.where(diagonal, 0.0, np.inf), np.zeros(diagonal.shape)


def _fewest(
    constants: Constants, i: int, epsilon: float, e0: float, b2: np.ndarray, c: np.ndarray, uniform: np.ndarray
) -> Promise:
    if e0 <= epsilon:
        return _promise(OPTIMAL if strongly_convex(constants) else UNIFORM, np.eye(constants.clients)[i])
    found = [one_stage(constants, i, epsilon, e0, b2, c)]
    if strongly_convex(constants):
        found.append(two_stages(constants, i, epsilon, e0, uniform))
    return min(found, key=itemgetter("rounds"))


# With weights w, V = sum w_k^2 sigma_k^2, cbar = sum w_k c_k and B^2 = sum w_k b_k^2 (its square root sum w_k b_k where
# all c are 0), one step eta <= 1/beta has E e_t <= (1 - x)^t (e_0 - phi) + phi, x = eta mu (1 - cbar), phi = (B^2 + eta
# beta V)/(2 mu (1 - cbar)): at most epsilon once (1 - x)^t <= (epsilon - phi)/(e_0 - phi). phi is epsilon at the step
# room/(beta V), room = 2 mu (1 - cbar) epsilon - B^2: shares of it are tried.


def one_stage(constants: Constants, i: int, epsilon: float, e0: float, b2: np.ndarray, c: np.ndarray) -> Promise:
    mu, beta = constants.mu[i], constants.beta[i]
    apart = b2 / (2 * mu * epsilon) + c
    apart[i] = -1.0  # itself first
    order = np.argsort(apart, kind="stable")[: int(np.isfinite(apart).sum())]
    share = 1 / constants.sigma2[order]
    total = share.cumsum()
    mean_c = (share * c[order]).cumsum() / total
    bias2 = (share * b2[order]).cumsum() / total
    flat = (c[order] == 0).cumprod().astype(bool)
    bias2 = np.where(flat, ((share * np.sqrt(b2[order])).cumsum() / total) ** 2, bias2)
    kept = mu * (1 - mean_c)
    room = 2 * kept * epsilon - bias2
    usable = (mean_c <= MOST_BIAS) & (room > 0)
    with np.errstate(all="ignore"):
        eta = np.minimum(1 / beta, SHARES[:, None] * room * total / beta)
        floor = (bias2 + eta * beta / total) / (2 * kept)
        T = np.log((e0 - floor) / (epsilon - floor)) / -np.log1p(-np.minimum(eta * kept, 1))
    T = np.where(usable & (floor < epsilon), np.ceil(np.nan_to_num(T, nan=np.inf)), np.inf)
    at, last = np.unravel_index(int(np.argmin(T)), T.shape)
    weights, rounds, step = np.zeros(constants.clients), int(max(T[at, last], 1)), float(eta[at, last])
    weights[order[: last + 1]] = share[: last + 1] / total[last]
    given: dict[str, Any] = {"eta": step, "mu": mu, "beta": beta, "e0": e0, "T": rounds}
    if flat[last]:
        own = {"sigma2": 1 / total[last], "lambda2": 1.0, "bias": np.sqrt(bias2[last])}
    else:
        own = {"V": 1 / total[last], "Q": 0.0, "split": 0.0, "bias2": bias2[last], "c": mean_c[last]}
    key = UNIFORM if flat[last] else AFFINE
    rounds += int(evaluate(key, **given, **own) > epsilon)  # outward rounding
    return _promise(key, weights, {"rounds": rounds, "eta": step})


# The record knows one sigma. Only s = sum lambda_j^2 sigma_j^2 enters its proof, and with lambda_j ~ (c - b_j)_+
# /sigma_j^2, S = sum (c - b_j)_+^2/sigma_j^2: (c - B)^2 = S s. So sigma2 = sigma_i^2, signal2 = sigma_i^2 S and lambda2
# = s/sigma_i^2 are what it takes. mu is the least and beta the largest of those who are followed; e_0 = f_i(x_0) - f_i*
# puts x_0 within sqrt(2 e_0/mu_i) of x_i*, which is within B/mu of the mixture's minimiser.


def two_stages(constants: Constants, i: int, epsilon: float, e0: float, b: np.ndarray) -> Promise:
    own = constants.mu[i]
    mu = constants.mu[b < np.sqrt(2 * own * epsilon)].min()
    level = np.sqrt(2 * mu * epsilon)
    followed = b < level
    followed[i] = True
    beta, variance = constants.beta[followed].max(), constants.sigma2[i]
    near = np.where(followed, np.maximum(level - b, 0), 0) / constants.sigma2
    weights = near / near.sum()
    signal = float((near**2 * constants.sigma2).sum())
    noise = float((weights**2 * constants.sigma2).sum())
    bias = float(weights[followed] @ b[followed])
    distance = np.sqrt(2 * e0 / own) + bias / mu
    bound = evaluate(
        OPTIMAL, mu=mu, beta=beta, eps=epsilon, distance2=distance**2, sigma2=variance,
        lambda2=noise / variance, signal2=max(variance * signal, 2 * mu * epsilon),
    )  # fmt: skip
    kappa, steady = beta / mu, noise * max(1.0, signal / 2)
    first = int(np.ceil(kappa / 4 * max(0.0, np.log(beta * mu * distance**2 / steady))))
    second = int(max(0, np.ceil(4 / signal + 3))) if signal <= 2 else 0
    assert first + second <= bound, (first, second, bound)
    stages = [{"rounds": first, "eta": float(2 / (beta + mu))}]
    if second:
        stages.append({"rounds": second, "eta": float(1 / (beta + mu)), "mu": float(mu), "offset": float(2 * kappa)})
    return _promise(OPTIMAL, weights, *stages)


def all_for_all_of_components(constants: Constants, epsilon: float) -> dict[str, Any] | None:
    """All-for-all on connected components: after `rounds` the record's mean over clients is at most epsilon.

    One gradient per client and round. Of the thresholds that change the components the best is taken. None where it is
    not known to hold: losses that need not be strongly convex, no starting excess.
    """
    if constants.excess is None or not strongly_convex(constants):
        return None
    b = uniform_dissimilarity(constants)
    b = np.maximum(b, b.T)
    spectrum = {"mu": constants.mu.min(), "beta": constants.beta.max(), "smin": 1.0, "smax": 1.0}
    e0 = float(constants.excess.mean())
    best: tuple[float, dict[str, Any], np.ndarray] = (np.inf, {}, b)
    for threshold in _merging(b):
        Lambda = component_weights(b=b, threshold=threshold)
        inside = np.where(Lambda > 0, b, 0.0)
        phi = float((Lambda * inside**2).sum(-1) @ (1 / (2 * constants.mu))) / constants.clients
        if phi > MOST_PEER_EXCESS * epsilon:
            continue
        # a projection: its trace over N is lambda2 and weight2, and the noise is that of the sigma_j^2 so weighted
        lambda2 = float(np.trace(Lambda) / constants.clients)
        sigma2 = float(np.diag(Lambda) @ constants.sigma2 / np.trace(Lambda))
        given: dict[str, Any] = {**spectrum, "eps": epsilon, "e0": e0, "sigma2": sigma2, "peer_excess": phi}
        rounds = min(evaluate(ONE, **given, weight2=lambda2), evaluate(TWO, **given, lambda2=lambda2))
        if rounds < best[0]:
            best = float(rounds), given | {"lambda2": lambda2, "weight2": lambda2}, Lambda
    if not best[1]:
        return None
    found, m = all_for_all_plan(**best[1]), best[1]["mu"]
    stages = [{"rounds": found.first, "eta": found.eta}]
    if found.offset is not None:
        eta = 2 / (m * (found.offset + 2))
        stages.append({"rounds": found.rounds - found.first, "eta": eta, "mu": m, "offset": found.offset})
    promised = _promise(found.key, best[2], *stages)
    return {"epsilon": epsilon} | promised | {"promise": f"{promised['promise']}; from a common start"}


def _merging(b: np.ndarray) -> Sequence[float]:
    """The thresholds at which components join: the edges of a minimal spanning forest, and 0."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import minimum_spanning_tree

    finite = np.where(np.isfinite(b), b + 1e-300, 0.0)  # 0 is no edge there
    np.fill_diagonal(finite, 0.0)
    return sorted({0.0, *minimum_spanning_tree(csr_matrix(finite)).data.tolist()})
