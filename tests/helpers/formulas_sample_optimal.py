"""The sample-optimality paper, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

import mpmath


def risk(u):
    """E (1 - tanh(uT))^2 = exp(-u^2/2) E sech(uZ) by sech x = 2 sum_k (-1)^k exp(-(2k + 1) |x|), term by term.

    The terms e^(x^2) erfc(x) are completely monotone: the alternating sum is accelerated (Cohen, Rodriguez Villegas,
    Zagier 2000), n terms leave 5.8^-n.
    """
    n = int(1.4 * mpmath.mp.dps)
    with mpmath.workdps(mpmath.mp.dps + 10):
        scale = (3 + mpmath.sqrt(8)) ** n
        scale = (scale + 1 / scale) / 2
        b, c, total = mpmath.mpf(-1), -scale, mpmath.mpf(0)
        for k in range(n):
            c = b - c
            a = 2 * k + 1
            total += c * mpmath.exp((a**2 - 1) * u**2 / 2) * mpmath.erfc(a * u / mpmath.sqrt(2))
            b *= mpmath.mpf(k + n) * (k - n) / (k + mpmath.mpf(1) / 2) / (k + 1)
        return 2 * total / scale


def signal(rho):
    """R^{-1}(rho)^2 by the secant method, at 16 digits and from there; nothing to be told apart at rho >= 1."""
    if rho >= 1:
        return mpmath.mpf(0)
    with mpmath.workdps(16):
        guess = mpmath.sqrt(-mpmath.log(rho))
        guess = mpmath.findroot(lambda u: mpmath.log(risk(u) / rho), (guess, guess * mpmath.mpf("1.1")))
    pair = (guess, guess * (1 + mpmath.mpf("1e-12")))
    return mpmath.findroot(lambda u: mpmath.log(risk(u) / rho), pair, tol=1e-90) ** 2


HALF = mpmath.mpf(
    0.8508444376141607
)  # signal(1/2) rounded down to a float: see tests/bounds/theorems/sample_optimal/test_theorem_2.py


def iterate(start, keep, gain, times):
    """x <- keep x + gain."""
    x = start
    for _ in range(int(times)):
        x = keep * x + gain
    return x


def theorem_2(p):
    gain = p["eta"] * (p["bias"] ** 2 + p["eta"] * p["beta"] * p["sigma2"] * p["lambda2"]) / 2
    return iterate(p["e0"], 1 - p["eta"] * p["mu"], gain, p["T"])


def theorem_2_least_squares(p):
    gain = p["eta"] * (p["bias"] ** 2 + p["eta"] * p["beta"] * p["noise2"]) / 2
    return iterate(p["e0"], 1 - p["eta"] * p["mu"] / 2, gain, p["T"])


def theorem_2_tuned(p):
    """e^-y e_0 or A, whichever is larger, plus A y, at y = mu T/L or ln(e_0/A), whichever is smaller (in size)."""
    A = p["beta"] * p["sigma2"] * p["lambda2"] / p["mu"] ** 2 / p["T"] / 2
    y = min(p["mu"] * p["T"] / p["beta"], mpmath.log(p["e0"]) - mpmath.log(A))
    return mpmath.exp(-y) * p["e0"] + A * y + p["bias"] ** 2 / p["mu"] / 2


def theorem_2_weak(p):
    spread = iterate(p["distance2"], (1 - p["eta"] * p["mu"]) ** 2, p["eta"] ** 2 * p["sigma2"] * p["lambda2"], p["T"])
    root, shift = mpmath.sqrt(spread), p["bias"] / p["mu"]
    return p["beta"] * (spread + 2 * root * shift + shift**2) / 2


def rounds(p, slack, lambda2, smin=1, smax=1):
    """Steps until exp(-eta mu smin t) brings e_0 - (eps - slack/2) down to slack/2, eta the smaller of the two."""
    if p["e0"] <= p["eps"]:
        return mpmath.mpf(0)
    noise = p["beta"] * p["sigma2"] * lambda2
    inverse_step = max(p["beta"] * smax, noise / p["mu"] / smin / slack)
    return inverse_step / p["mu"] / smin * mpmath.log((p["e0"] - (p["eps"] - slack / 2)) / (slack / 2))


def quarter(p, slack, lambda2, smin=1, smax=1):
    """Twice as fast a contraction, with twice the step against the noise: a quarter of `rounds`."""
    return rounds(p, slack, lambda2, smin, smax) / 4


def theorem_3(p):
    gain = (
        p["eta"] ** 2 * p["beta"] * p["sigma2"] * p["weight2"] / 2 + p["eta"] * p["mu"] * p["smin"] * p["peer_excess"]
    )
    return iterate(p["e0"], 1 - p["eta"] * p["mu"] * p["smin"], gain, p["T"])


def averaged_rounds(p):
    s = p["eps"] - p["peer_excess"]
    return p["mean_distance2"] / s * max(p["beta"] * p["smax"], p["sigma2"] * p["lambda2"] / (s / 2))


def averaged_sharp(p):
    """Distance and noise of one step each, over T and one more step."""
    return (
        p["mean_distance2"] / (p["T"] + 1) / p["eta"] / 2 + p["eta"] / 2 * p["sigma2"] * p["lambda2"] + p["peer_excess"]
    )


def averaged_sharp_rounds(p):
    """T with averaged_sharp(T) = eps at the larger possible of two steps; 0 if it would be less."""
    s = p["eps"] - p["peer_excess"]
    eta = 1 / max(p["beta"] * p["smax"], p["sigma2"] * p["lambda2"] / s)
    T = p["mean_distance2"] / eta / 2 / (s - eta / 2 * p["sigma2"] * p["lambda2"]) - 1
    return max(T, mpmath.mpf(0))


def samples(p, failure):
    pairs = p["N"] * (p["N"] - 1) / 2
    tail = mpmath.log(pairs) - mpmath.log(failure)
    square = p["proxy_trace"] + 2 * mpmath.sqrt(2 * p["proxy_trace"] * p["nu2"] * tail) + 2 * p["nu2"] * tail
    return square * (2 / (p["moment_gap"] / 2) ** 2)


def theorem_5(p):
    noise = p["eta"] ** 2 * p["beta"] * p["sigma2"] * (1 + p["size"] * p["failure"]) / (2 * p["size"])
    bias = p["eta"] * p["failure"] * p["b_max"] ** 2 / 2
    return iterate(p["e0"], 1 - p["eta"] * p["mu"], noise + bias, p["T"])


def theorem_4(p):
    wrong = 1 / max(p["size"], 2 * p["b_max"] ** 2 / p["mu"] / p["eps"])
    return 1 + samples(p, wrong) + rounds(p, p["eps"] / 2, 1 / p["size"]) + 1


def theorem_3_sharp(p):
    """Round by round: the distance to the least of phi contracts by a square, and the noise enters after the step."""
    keep, best = (1 - p["eta"] * p["mu"] * p["smin"]) ** 2, min(p["e0"], p["peer_excess"])
    noise = p["beta"] / 2 * p["sigma2"] * p["weight2"] * p["eta"] ** 2
    return best + iterate(p["e0"] - best, keep, noise, p["T"])


def theorem_5_sharp(p):
    """Right clusters, and with probability p others whose bias stays."""
    least = min(p["b_max"] ** 2 / p["mu"] / 2, p["e0"])
    given = p | {"smin": 1, "weight2": 1 / p["size"] + p["failure"], "peer_excess": p["failure"] * least}
    return theorem_3_sharp(given | {"e0": p["e0"]}) if p["failure"] <= 1 else None


def two_stages_of_a_mixture(p, left):
    """`left` is c - B: the mixture's excess left^2/(2 mu) takes 2 s/(mu excess) rounds of noise."""
    noise, excess = p["sigma2"] * p["lambda2"], left**2 / p["mu"] / 2
    far = p["distance2"] * p["beta"] / max(noise / p["mu"], excess)
    return 5 + 2 * noise / p["mu"] / excess + max(0, mpmath.log(far)) * p["beta"] / (4 * p["mu"])


def two_stages(p):
    """Round by round: stage 1's distance, then the last one's inequality summed with the mean weight."""
    m, M, s = p["mu"] * p["smin"], p["beta"] * p["smax"], p["sigma2"] * p["lambda2"]
    eta = 2 / (M + m)
    D = iterate(p["start2"], (1 - eta * m) ** 2, eta**2 * s, p["T1"])
    n, a = p["offset"] + p["T2"] / 2, p["offset"]
    weights = (p["T2"] + 1) * n * (n + 1) / (n + 2)
    noise = (p["T2"] + 1) * (n + 1) / (n + 2) * s / m
    return p["peer_excess"] + (a * (a + 1) * m * D / 4 + noise) / weights


def two_stage_rounds(p):
    m, s, left = p["mu"] * p["smin"], p["sigma2"] * p["lambda2"], p["eps"] - p["peer_excess"]
    start = 2 * p["beta"] * p["smax"] * p["e0"] / (m * max(s / m, left))
    fall = p["beta"] * p["smax"] / m * mpmath.log(start) / 4 if start > 1 else 0
    return fall + s / m / (left / 2) + mpmath.mpf(3) / 2


def quadratic_last_iterate(p):
    """Start and bias by convexity or by roots; the noise of one direction of curvature L, round by round."""
    u = (1 - p["eta"] * p["mu"]) ** p["T"]
    bias = p["bias"] ** 2 / p["mu"] / 2 * (1 - u)
    roots = u * mpmath.sqrt(p["e0"]) + mpmath.sqrt(bias)
    noise = iterate(0, (1 - p["eta"] * p["beta"]) ** 2, p["eta"] ** 2 * p["sigma2"] * p["lambda2"], p["T"])
    return min(u * p["e0"] + bias, roots**2) if isinstance(roots, mpmath.mpf) else roots, p["beta"] / 2 * noise


def last_iterate(p):
    x, s, K = p["eta"] * p["beta"], p["sigma2"] * p["lambda2"], p["window"]
    n = max(p["T"] - K - 1, 0)
    D = (1 - p["eta"] * p["mu"]) ** (2 * n) * p["distance2"] + p["eta"] * s * min(n * p["eta"], 1 / p["mu"])
    mean = D / (K + 3) / (2 * p["eta"]) + p["eta"] * s / 2
    return mean - mean / x + (2 * K + 1) ** x * mean / x


def growing_mean(p):
    s = p["sigma2"] * p["lambda2"] + 2 * p["growth"] * p["row_weight"] * p["peer_excess"]
    total = p["start2"] / p["eta"] + p["T"] * p["eta"] * s
    return p["peer_excess"] + total / (2 * (1 + p["T"]) * (1 - p["eta"] * p["growth"] * p["row_weight"]))


def growing_stages(p):
    """As without growth, stage 1 round by round, with the weights that growth leaves."""
    m, extra, a = p["mu"] * p["smin"], p["growth"] * p["row_weight"], p["offset"]
    s = p["sigma2"] * p["lambda2"] + 2 * extra * p["peer_excess"]
    keep = 1 - 2 * p["eta"] * m + p["eta"] ** 2 * m * (m + extra)
    D = iterate(p["start2"], keep, p["eta"] ** 2 * s, p["T1"])
    n = a + p["T2"] / 2
    weights = (p["T2"] + 1) * (n + 1) * (n - 2 * extra / m) / (n + 2)
    return p["peer_excess"] + (a * (a + 1) * m * D / 4 + (p["T2"] + 1) * (n + 1) / (n + 2) * s / m) / weights


def estimated_rows(p):
    """The bound of the averaged iterate, T for T + 1, when the links are right and when nothing is known of them."""

    def given(smax, lambda2, gradient2):
        eta = p["step_share"] / p["beta"]
        run = p["mean_distance2"] * smax / eta / p["T"] + eta * p["sigma2"] * lambda2
        return (run + gradient2 / p["mu"]) / 2

    right = given(p["clusters"], 1 / p["size"], (p["linked_gap"] * p["sensitivity"]) ** 2)
    wrong = given(p["clusters"] * p["size"], 1, p["b_max"] ** 2)
    return right + p["failure"] * (wrong - right)


CORRECTED = {
    "assumption-3-peer": lambda p: (p["b"] / p["mu"]) * p["b"] / 2,
    "section-5-bias": lambda p: p["bias2"] / p["mu"] / 2,
    "theorem-1": lambda p: HALF * p["sigma2"] / p["mu"] / p["eps"] / p["near"] / 4,
    "theorem-1-sum": lambda p: HALF * p["sigma2"] / p["signal2"],
    "theorem-1-optimised": lambda p: p["sigma2"] * signal(p["eps"] / p["e0"]) / p["signal2"],
    "theorem-1-excess": lambda p: p["e0"] * risk(mpmath.sqrt(p["signal2"] / p["sigma2"] * p["T"])),
    "theorem-2": theorem_2,
    "theorem-2-tuned": theorem_2_tuned,
    "theorem-2-weak": theorem_2_weak,
    "theorem-2-mixture": lambda p: (
        p["mixture_excess"] + p["bias"] * mpmath.sqrt(2 * p["mixture_excess"] / p["mu"]) + p["bias"] ** 2 / p["mu"] / 2
    ),
    "theorem-2-mixture-rounds": lambda p: two_stages_of_a_mixture(p, mpmath.sqrt(2 * p["mu"] * p["eps"]) - p["bias"]),
    "theorem-2-optimal-rounds": lambda p: two_stages_of_a_mixture(p, mpmath.sqrt(p["signal2"] * p["lambda2"])),
    "theorem-2-rounds": lambda p: rounds(p, p["eps"] - p["bias"] ** 2 / p["mu"] / 2, p["lambda2"]),
    "theorem-2-rounds-threshold": lambda p: rounds(p, p["eps"] / 2, 1 / p["near"]),
    "theorem-2-threshold": lambda p: p["eps"],
    "theorem-2-least-squares": theorem_2_least_squares,
    "theorem-2-quadratic": lambda p: sum(quadratic_last_iterate(p)),
    "theorem-2-last-iterate": last_iterate,
    "theorem-3": theorem_3,
    "theorem-3-averaged": lambda p: (
        (p["mean_distance2"] + 2 * p["eta"] ** 2 * p["T"] * p["sigma2"] * p["lambda2"]) / (2 * p["eta"] * p["T"])
        + p["peer_excess"]
    ),
    "theorem-3-averaged-sharp": averaged_sharp,
    "theorem-3-averaged-sharp-rounds": averaged_sharp_rounds,
    "theorem-3-rounds": lambda p: rounds(p, p["eps"] - p["peer_excess"], p["weight2"], p["smin"], p["smax"]),
    "theorem-3-averaged-rounds": averaged_rounds,
    "corollary-1": lambda p: rounds(p, p["eps"] / 2, p["lambda2"]),
    "corollary-1-general": lambda p: rounds(p, p["eps"] / 2, p["weight2"], p["smin"], p["smax"]),
    "linear-dissimilarity": lambda p: p["moment"] / p["scale"] * mpmath.sqrt(1 + (p["ball"] / p["scale"]) ** 2),
    "theorem-5": theorem_5,
    "theorem-5-samples": lambda p: samples(p, p["failure"]),
    "theorem-4": theorem_4,
    "corollary-2": lambda p: rounds(p, p["eps"] / 2, 1 / p["size"]),
    "theorem-5-threshold": lambda p: (
        sum((i - j) ** 2 for i in range(int(p["clusters"])) for j in range(int(p["clusters"])))
        / p["clusters"] ** 2
        * (p["link"] * p["sensitivity"] + p["deviation"] * p["sensitivity"]) ** 2
        / p["mu"]
        / 2
    ),
    "theorem-3-two-stage-step": lambda p: (
        p["start2"]
        - 2 * p["eta"] * p["filtered_excess"]
        - p["eta"] * p["mu"] * p["smin"] * (p["start2"] - 2 * p["eta"] * p["filtered_excess"])
        + p["eta"] ** 2 * p["sigma2"] * p["lambda2"]
    ),
    "theorem-3-two-stage": two_stages,
    "theorem-3-two-stage-rounds": two_stage_rounds,
    "theorem-3-growing": growing_mean,
    "theorem-3-two-stage-growing": growing_stages,
    "theorem-5-rows": estimated_rows,
    "theorem-3-sharp": theorem_3_sharp,
    "theorem-3-sharp-rounds": lambda p: quarter(p, p["eps"] - p["peer_excess"], p["weight2"], p["smin"], p["smax"]),
    "corollary-1-sharp": lambda p: quarter(p, p["eps"] / 2, p["lambda2"]),
    "corollary-1-general-sharp": lambda p: quarter(p, p["eps"] / 2, p["weight2"], p["smin"], p["smax"]),
    "theorem-5-sharp": theorem_5_sharp,
    "corollary-2-sharp": lambda p: quarter(p, p["eps"] / 2, 1 / p["size"]),
    "theorem-4-sharp": lambda p: (
        1
        + samples(p, 1 / max(p["size"], 2 * p["b_max"] ** 2 / p["mu"] / p["eps"]))
        + quarter(p, p["eps"] / 2, 1 / p["size"])
        + 1
    ),
}
PRINTED = {
    "section-5-bias": lambda p: p["bias"],
    "theorem-2": lambda p: (
        p["e0"] / mpmath.exp(p["T"] * p["mu"] / p["beta"]) ** mpmath.mpf("0.5") + p["bias2"] / p["mu"]
    ),
    "theorem-2-threshold": lambda p: p["eps"],
    "theorem-3": lambda p: (
        p["e0"] / mpmath.exp(p["T"] * p["mu"] / p["beta"]) ** mpmath.mpf("0.5") + p["bias2"] / p["mu"] / 2
    ),
    "corollary-1": lambda p: (
        2
        * p["beta"]
        / p["mu"]
        * max(1, p["sigma2"] * p["lambda2"] / p["eps"] / p["mu"])
        * mpmath.log(p["e0"] / p["eps"])
    ),
    "linear-dissimilarity": lambda p: p["ball"] / p["scale"] * p["moment"] / p["scale"],
}
FORMULAS = {
    **{(f"sample-optimal/{key}", "corrected"): formula for key, formula in CORRECTED.items()},
    **{(f"sample-optimal/{key}", "printed"): formula for key, formula in PRINTED.items()},
}

VACUOUS: set = set()
"""No point meets the conditions."""

UNIT_FAULTS: dict = {
    ("sample-optimal/theorem-2-threshold", "printed"): {"threshold b^2 <= eps/2"},
    ("sample-optimal/section-5-bias", "printed"): {"bound"},
}
"""What does not scale like its unit: "bound", or the name of a condition."""

SLOW = {"sample-optimal/theorem-1-optimised", "sample-optimal/theorem-1-excess"}
"""Records whose 50 digits take a quadrature each."""
