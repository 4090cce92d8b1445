"""The CoBo paper, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

import mpmath


def spread_of_gradients(p):
    """m^2 from the two pair sums: with V in units of c |g|^2, 2 c V = M^2 ((2 c - 4) V + 4 (c - 1))."""
    c, M = p["size"], p["M"]
    return 4 * (c - 1) * M**2 / (2 * c - (2 * c - 4) * M**2)


def averages(p):
    """A and B of Theorem I: the two summed inequalities, solved as a linear system."""
    c, L, step = p["size"], p["beta"], p["eta"]
    k = p["rho"] * c - L
    start = 1 / (step * p["T"])
    system = mpmath.matrix([[1, -(L**2)], [-spread_of_gradients(p) / k, k]])
    right = mpmath.matrix(
        [2 * p["e0"] * start + L * step * p["sigma2"] / c, p["spread"] * start + step * p["sigma2"] * (1 - 1 / c)]
    )
    return mpmath.lu_solve(system, right)


def client_gradient(p, part=1):
    """|u + v|^2 = |u|^2 + |v|^2 + 2 |u| |v| for the gradients at the mean model (u) and the rest (v)."""
    A, B = averages(p)
    at_mean, rest = (1 + spread_of_gradients(p) / part) * A, p["beta"] ** 2 * B / part
    return at_mean + rest + 2 * mpmath.sqrt(at_mean) * mpmath.sqrt(rest)


def tuned(p):
    """The bound of the mean gradient with Delta and Xi_0 apart from the noise, at the two candidates of the step."""
    noiseless, noisy = p | {"eta": mpmath.mpf(1), "sigma2": 0}, p | {"eta": mpmath.mpf(1), "e0": 0, "spread": 0}
    bias, noise = averages(noiseless)[0], averages(noisy)[0]  # A = bias / eta + noise eta
    balanced, limit = mpmath.sqrt(bias / noise), 1 / (p["rho"] * p["size"])
    return bias / min(balanced, limit) + mpmath.sqrt(bias * noise)


def rate(p):
    return mpmath.sqrt(p["beta"]) * mpmath.sqrt(p["sigma2"]) * mpmath.sqrt(p["e0"]) / mpmath.sqrt(p["T"])


def lemma_3_printed(p):
    c, rho2 = p["size"], p["rho"] ** 2
    D1 = mpmath.mpf("0.75") * p["beta"] ** 2 + 3 * rho2 * c**2
    D1 += p["beta"] * p["eta"] * rho2 * (c - 2) * 2 * p["sigma2"] / p["batch"]
    return (2 * p["decrease"] + p["beta"] * (p["eta"] ** 2) * p["sigma2"] / 2) / p["eta"] + D1 * (2 * p["spread"])


def lemma_3(p):
    """Averages over pairs: c of them are i = j with twice the variance of the others."""
    c, L = p["size"], p["beta"]
    drift = (mpmath.sqrt(L**2 / 4 * 2 * p["spread"]) + p["rho"] * c * mpmath.sqrt(p["spread"] / 2)) ** 2
    variance = (c * (c - 1) / 2 + c) * p["eta"] ** 2 * p["sigma2"] / c**2
    return (p["decrease"] + L / 2 * variance) * 2 / p["eta"] + drift


def lemma_4_printed(p):
    k = p["rho"] * p["size"]
    noise = (
        p["eta"] * p["sigma2"] / k / p["size"] ** 2 / 2 + 3 * p["beta"] * (p["eta"] * p["M"]) ** 2 * p["sigma2"] / k / 2
    )
    return 2 * p["spread"] - 2 * p["eta"] * k * p["spread"] + 6 * p["decrease"] * p["M"] ** 2 / k + noise


def lemma_4(p):
    """Convexity: the mean of the old distance and of the drift's fixed point, and the noise of a pair."""
    c = p["size"]
    share = p["eta"] * (p["rho"] * c - p["beta"])
    fixed_point = spread_of_gradients(p) * (p["eta"] * p["mean_gradient"] / share) ** 2
    pairs = c * (c - 1) / c**2 * 2 * p["eta"] ** 2 * p["sigma2"]
    return 2 * p["spread"] + 2 * share * (fixed_point - p["spread"]) + pairs


def margin(p):
    return p["own_curvature"] * p["peer_curvature"] * (p["separation"] ** 2 / 4 - p["radius"] ** 2)


def contracted_radius(p):
    r = p["radius"]
    for _ in range(int(p["T"])):
        r -= p["eta"] * p["mu"] * r
    return r


def zeta2(p, printed=False):
    own, peer = p["own_curvature"] ** -2, p["peer_curvature"] ** -2
    scale = (p["own_curvature"] * p["peer_curvature"]) ** -2 if printed else 1
    return scale * p["separation"] ** 2 / (own + peer) ** (2 if printed else 1)


def star(p):
    """The descent of fbar + L^2/(2 k0) Xi, solved for the average."""
    L, k0, c = p["beta"], p["least_weight"] * p["rho"] * p["size"], p["size"]
    lam = L**2 / k0 / 2
    spent = (p["e0"] + lam * p["spread"]) / p["T"]
    gained = p["eta"] ** 2 * p["sigma2"] * (L / c / 2 + lam - lam / c)
    return (spent + gained) * 2 / p["eta"] / (1 - p["dissimilarity"] / ((k0 / L) ** 2 - 1))


def star_clients(p):
    """The same with a heavier consensus distance, over the share of the clients' gradients."""
    c, L, lag = p["size"], p["beta"], p["beta"] / p["least_weight"] / p["rho"] / p["size"]
    lam = p["tilt"] * lag * L / 2
    gained = (p["e0"] + lam * p["spread"]) / p["T"] + p["eta"] ** 2 * p["sigma2"] * (L / c / 2 + lam - lam / c)
    return gained / (p["kept"] * p["eta"] / 2)


def star_consensus(p):
    """The larger root of p (2 - p) b^2 - 2 (1 - p) eta m a b - eta^2 m^2 a^2 - Xi_0/T - noise."""
    k = p["least_weight"] * p["rho"] * p["size"] - p["beta"]
    share, push = p["eta"] * k, p["eta"] * mpmath.sqrt(p["dissimilarity"] * p["mean_gradient2"])
    gained = p["spread"] / p["T"] + p["eta"] ** 2 * p["sigma2"] * (1 - 1 / p["size"]) + push**2
    first, second = share * (2 - share), -2 * (1 - share) * push
    return 2 * ((-second + mpmath.sqrt(second**2 + 4 * first * gained)) / first / 2) ** 2


def star_midpoints(p):
    """Minkowski, multiplied out."""
    A, C, L = p["mean_gradient2"], p["consensus2"], p["beta"]
    mean = A * (2 + p["dissimilarity"]) / 2
    return mean + L**2 * C / 4 + L * mpmath.sqrt(mean * C)


FORMULAS = {
    ("cobo/theorem-1-star", "corrected"): star,
    ("cobo/algorithm-1-output", "corrected"): star,
    ("cobo/corollary-2-star", "corrected"): star_clients,
    ("cobo/theorem-1-star-consensus", "corrected"): star_consensus,
    ("cobo/theorem-1-star-midpoint", "corrected"): star_midpoints,
    ("cobo/example-2-similarity", "corrected"): lambda p: abs(1 - 2 / (1 + p["own_curvature"] / p["peer_curvature"])),
    ("cobo/example-2-dissimilarity", "printed"): lambda p: zeta2(p, printed=True),
    ("cobo/example-2-dissimilarity", "corrected"): zeta2,
    ("cobo/alignment", "corrected"): lambda p: (
        (1 / (1 + p["M"] ** 2) - mpmath.mpf(1) / 2) * (p["gradient"] ** 2 + p["peer_gradient"] ** 2)
    ),
    ("cobo/cluster-dissimilarity", "corrected"): spread_of_gradients,
    ("cobo/lemma-3", "printed"): lemma_3_printed,
    ("cobo/lemma-3", "corrected"): lemma_3,
    ("cobo/mean-descent", "corrected"): lambda p: (
        (p["decrease"] + p["beta"] / 2 * p["eta"] ** 2 * p["sigma2"] / p["size"]) * 2 / p["eta"]
        + p["beta"] * p["spread"] * p["beta"]
    ),
    ("cobo/lemma-4", "printed"): lemma_4_printed,
    ("cobo/lemma-4", "corrected"): lemma_4,
    ("cobo/theorem-1-mean-gradient", "corrected"): lambda p: averages(p)[0],
    ("cobo/theorem-1-tuned", "corrected"): tuned,
    ("cobo/theorem-1-consensus", "printed"): lambda p: 6 * (p["M"] / p["rho"] / p["size"]) ** 2 * rate(p),
    ("cobo/theorem-1-consensus", "corrected"): lambda p: 2 * averages(p)[1],
    ("cobo/theorem-1-midpoint-gradient", "printed"): lambda p: 3 * rate(p),
    ("cobo/theorem-1-midpoint-gradient", "corrected"): lambda p: client_gradient(p, part=2),
    ("cobo/corollary-2", "printed"): lambda p: 4 * rate(p),
    ("cobo/corollary-2", "corrected"): client_gradient,
    ("cobo/selection-margin", "corrected"): lambda p: -margin(p),
    ("cobo/selection-time", "corrected"): lambda p: 1 / p["weight_step"] / margin(p),
    ("cobo/selection-radius", "corrected"): contracted_radius,
}

VACUOUS: set = set()
"""No point meets the conditions."""

_MINIBATCH = "minibatch 4 beta eta (size - 2) sigma2/size^2 <= batch"

UNIT_FAULTS = {
    ("cobo/example-2-dissimilarity", "printed"): {"bound"},
    ("cobo/lemma-3", "printed"): {"bound"},
    ("cobo/lemma-4", "printed"): {_MINIBATCH},
    ("cobo/theorem-1-consensus", "printed"): {_MINIBATCH},
    ("cobo/theorem-1-midpoint-gradient", "printed"): {_MINIBATCH},
    ("cobo/corollary-2", "printed"): {_MINIBATCH},
}
"""What does not scale like its unit: "bound", or the name of a condition."""
