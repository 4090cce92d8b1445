"""The adaptive paper, written anew from the theory: every argument is an mpmath number in the dictionary p."""

from __future__ import annotations

import mpmath


def level(p, printed=False):
    """B_T: the recursion itself, one step at a time; the printed row keeps the whole noise floor."""
    B, noise = p["e0"], p["eta"] ** 2 * p["beta"] * p["s2"] / 2
    for _ in range(int(p["T"])):
        B = B - p["eta"] * p["mu"] * B + (0 if printed else noise)
    return B + (noise / (p["eta"] * p["mu"]) if printed else 0)


def drift(p):
    """Delta of Corollary 1: half of the full contraction at eta = mu eps / (beta s2)."""
    best = p["mu"] * p["eps"] / (p["beta"] * p["s2"])
    return p["eta"] * p["mu"] * (1 - p["eta"] / best / 2)


def still_running(p):
    x = p["e0"] / p["eps"]
    for _ in range(int(p["T"])):
        x -= drift(p) * x
    return x


def floor(p):
    """K of the horizon row: what a step 1/(mu T) leaves of the noise."""
    return p["s2"] / p["mu"] ** 2 * p["beta"] / p["T"] / 2


def horizon(p):
    """One of the two contractions, and the noise of the larger step."""
    K = floor(p)
    L = mpmath.log(p["e0"] / K)
    slowest = p["e0"]
    for _ in range(int(p["T"])):
        slowest -= p["q"] * p["mu"] / p["beta"] * slowest
    return K * L + max(K, slowest)


def offset_level(p):
    """nu: the noise at step t + gamma times (t + gamma)^2, over C - 1; or the start."""
    return max(p["beta"] * p["s2"] / 2 * (p["C"] / p["mu"]) ** 2 / (p["C"] - 1), p["e0"] * (1 + p["gamma"]))


def decreasing(p):
    return offset_level(p) / (1 + p["T"] + p["gamma"])


def seldom(p):
    """The share of paths that still run, by its logarithm."""
    y, power = min(mpmath.mpf(1), decreasing(p) / p["eps"]), min(p["C"], 2)
    return mpmath.exp(power * mpmath.log(y) + (power - 1) * (1 - y))


def seldom_after(p):
    power = min(p["C"], 2)
    stretch = (1 - 1 / power) * (1 - p["delta"]) - mpmath.log(p["delta"]) / power
    return max(mpmath.mpf(0), mpmath.exp(stretch) * offset_level(p) / p["eps"] - p["gamma"] - 1)


def best_decreasing(p):
    """The row at the least offset, at C = 2 and where its two terms meet: the smaller nu counts."""
    chi = 2 * p["mu"] * p["e0"] / p["q"] / p["s2"]
    C = chi / (chi - 1) if chi > 2 else mpmath.mpf(2)
    return decreasing(p | {"C": C, "gamma": C * p["beta"] / p["mu"] / p["q"] - 1})


def mixed(p):
    """s2 at every path but a share p, which has V_max if that is larger."""
    return p | {"s2": (1 - p["below"]) * p["s2"] + p["below"] * max(p["s2"], p["V_max"])}


def constant(p, contraction, noise):
    value = p["e0"]
    for _ in range(int(p["T"])):
        value = value - contraction * value + noise
    return value


def theorem_1(p):
    return constant(p, p["eta"] * p["mu"], p["eta"] ** 2 * p["beta"] * p["V"] / 2)


def one_step(p, gradient2, gap2, variance):
    """Lemma 1 as a sum of squares: eta A / 2 of each."""
    return p["e0"] + p["eta"] / 2 * (gap2 - gradient2) + p["eta"] ** 2 * p["beta"] / 2 * variance


def mean_gradient(p):
    """Smoothness along a step of length eta A against the mean gradient, by the inner product."""
    inner = (p["gradient"] ** 2 + p["aggregate"] ** 2 - p["aggregate_gap"] ** 2) / 2
    length = p["eta"] * p["weight"]
    second = length**2 * p["aggregate"] ** 2 + p["eta"] ** 2 * p["V"]
    return p["e0"] - length * inner + p["beta"] / 2 * second


def hitting(p):
    return mpmath.log(mpmath.e * p["e0"] / p["eps"]) / drift(p)


def best_hitting(p):
    return hitting(p | {"eta": min(p["q"] / p["beta"], p["mu"] * p["eps"] / p["beta"] / p["s2"])})


def gradient_mean(p):
    return p["eta"] * p["beta"] * p["s2"] + p["e0"] / p["eta"] / p["T"] * 2


def theorem_3(p):
    return gradient_mean(p | {"eta": min(p["q"] / p["beta"], mpmath.sqrt(2 * p["e0"] / p["T"] / p["beta"] / p["s2"]))})


def gradient_hitting(p):
    return 2 * p["e0"] / p["eta"] / (p["G"] - p["eta"] * p["beta"] * p["s2"])


def best_gradient_hitting(p):
    return gradient_hitting(p | {"eta": min(p["q"] / p["beta"], p["G"] / p["beta"] / p["s2"] / 2)})


def parallel(p, rho):
    """Two variances side by side, the peer's divided by rho^2; the own one alone where the peer does not count."""
    if rho == 0:
        return p["sigma2"]
    peer = p["peer_sigma2"] / rho**2
    return p["sigma2"] * peer / (p["sigma2"] + peer)


def multiplicative_total(p):
    """The maximum over Y >= 0 of (p^2 + 4 K Y)/(p + Y)^2, at its stationary point or at 0."""
    K, peak = p["advantage"], p["peak"]
    Y = max(mpmath.mpf(0), peak * (1 - peak / (2 * K)))
    return p["noise_factor"] * (peak**2 + 4 * K * Y) / (peak + Y) ** 2


def least_squares(p):
    """E|D|^2 and the label noise, one step at a time."""
    u = p["eta"] * p["h"]
    factor = (1 - 2 * u) ** 2 + 4 * u**2 * (p["d"] + 1) / p["batch"]
    return constant(p, 1 - factor, 4 * u**2 * p["label_variance"] * p["d"] / p["batch"])


def largest_variance(p, phi_1):
    """One client, and peers of similarity phi(1) with the mass Y / phi(1) that is worst: sums of phi^2 and of psi."""
    Y = max(mpmath.mpf(0), phi_1 * (1 - 2 * phi_1))
    return p["sigma2"] * (phi_1**2 + Y) / (phi_1 + Y) ** 2


def binary_variance(p):
    """Members alone, or the closed form with the mass that is worst."""
    lam, S, P = p["threshold"], p["mass"], p["similar_mass"]
    return S / P**2 if 2 * lam * S >= P else 1 / (4 * lam * (P - lam * S))


def sharp_step_ratio(p):
    """Bisection for the ratio at which the own term pays for peers at the worst x = phi*(r)."""

    def least(q):
        x = q / (2 + mpmath.sqrt(4 - 3 * q))
        return x * (x * (2 - x) - q)

    low, high = mpmath.mpf(0), mpmath.mpf(1)
    for _ in range(190):
        q = (low + high) / 2
        low, high = (q, high) if 1 - q + (1 / p["share"] - 1) * least(q) >= 0 else (low, q)
    return low


def similarity(p, power):
    return max(mpmath.mpf(0), 1 - p["c"] - p["b"] ** power / p["mu"] / p["eps"] / 2)


FORMULAS = {
    ("adaptive/property-1", "printed"): lambda p: 2 * (p["shift"] ** 2 + (p["distortion"] * p["gradient"]) ** 2),
    ("adaptive/property-1", "corrected"): lambda p: 8 * p["shift"] ** 2 + 2 * (p["distortion"] * p["gradient"]) ** 2,
    ("adaptive/lemma-1-best-weights", "corrected"): lambda p: (
        p["e0"] - (p["gradient"] ** 2 / 2) ** 2 / (2 * p["beta"] * p["continuous_variance"])
    ),
    ("adaptive/lemma-2-variance", "printed"): lambda p: parallel(p, similarity(p, 1)),
    ("adaptive/lemma-2-variance", "corrected"): lambda p: parallel(p, similarity(p, 2)),
    ("adaptive/corollary-1-variance", "corrected"): lambda p: p["sigma2"] / p["near"] / p["least_psi"],
    ("adaptive/section-4-variance", "corrected"): lambda p: p["sigma2"] / p["near"] / p["peak"],
    ("adaptive/lemma-2", "printed"): lambda p: similarity(p, 1),
    ("adaptive/lemma-2", "corrected"): lambda p: similarity(p, 2),
    ("adaptive/lemma-2-gradient", "corrected"): lambda p: max(mpmath.mpf(0), 1 - p["c"] - p["b"] ** 2 / p["G"]),
    ("adaptive/definition-1-weights", "printed"): lambda p: mpmath.mpf(1),
    ("adaptive/definition-1-weights", "corrected"): lambda p: (
        1 / p["variance_ratio"] / (1 + p["similarity"] / p["variance_ratio"])
    ),
    ("adaptive/remark-3-binary", "printed"): lambda p: p["threshold"],
    ("adaptive/remark-3-binary", "corrected"): lambda p: 1 - (1 - p["threshold"]) * (1 - p["share"]),
    ("adaptive/remark-3-continuous", "printed"): lambda p: p["share"],
    ("adaptive/remark-3-continuous", "corrected"): lambda p: 2 / (1 + 1 / mpmath.sqrt(p["share"])),
    ("adaptive/remark-3-sharp", "corrected"): sharp_step_ratio,
    ("adaptive/definition-1-effective-local", "corrected"): lambda p: 1 / (p["peak"] / p["sigma2"]),
    ("adaptive/definition-1-variance-local", "corrected"): lambda p: largest_variance(p, p["peak"]),
    ("adaptive/largest-variance-binary", "corrected"): lambda p: largest_variance(p, p["threshold"]),
    ("adaptive/largest-variance-continuous", "corrected"): lambda p: largest_variance(p, mpmath.mpf(1)),
    ("adaptive/definition-2-binary", "printed"): lambda p: 1 / p["threshold"] / p["similar_mass"],
    ("adaptive/definition-2-binary", "corrected"): binary_variance,
    ("adaptive/continuous-dominates", "corrected"): lambda p: 1 / (p["similar_mass"] ** 2 / p["mass"]),
    ("adaptive/best-threshold-gap", "corrected"): lambda p: 1 + mpmath.atanh(1 - p["share"]),
    ("adaptive/equation-1-gap", "corrected"): lambda p: (
        p["gap"] ** 2 + p["sigma2"] / p["m"] + p["peer_sigma2"] / p["m"]
    ),
    ("adaptive/equation-1-norm", "corrected"): lambda p: (p["m"] * p["gradient"] ** 2 + p["sigma2"]) / p["m"],
    ("adaptive/equation-1-identical", "corrected"): lambda p: (
        (p["sigma2"] / p["m"] + p["peer_sigma2"] / p["m"]) / (p["gradient"] ** 2 + p["sigma2"] / p["m"])
    ),
    ("adaptive/lemma-1", "printed"): lambda p: one_step(p, p["weight"] * p["next_gradient2"], p["discrepancy"], p["V"]),
    ("adaptive/lemma-1", "corrected"): lambda p: one_step(
        p, p["weight"] * p["gradient"] ** 2, p["discrepancy"], p["V"]
    ),
    ("adaptive/lemma-1-mean-gradient", "corrected"): mean_gradient,
    ("adaptive/lemma-1-multiplicative", "corrected"): lambda p: one_step(
        p, p["gradient"] ** 2, 0, p["V"] + p["Q"] * p["gradient"] ** 2
    ),
    ("adaptive/theorem-1", "corrected"): theorem_1,
    ("adaptive/theorem-1-normalised", "corrected"): lambda p: theorem_1(p | {"mu": p["mu"] * p["q"]}),
    ("adaptive/theorem-3-multiplicative", "corrected"): lambda p: (
        (2 * p["e0"] / p["T"] + p["eta"] ** 2 * p["beta"] * p["V"]) / (p["eta"] - p["eta"] * p["split"])
    ),
    ("adaptive/theorem-1-multiplicative", "corrected"): lambda p: theorem_1(p | {"mu": p["mu"] - p["split"] * p["mu"]}),
    ("adaptive/multiplicative-total", "corrected"): multiplicative_total,
    ("adaptive/peer-noise", "corrected"): lambda p: (
        p["sigma2"]
        + p["noise_factor"]
        * (
            p["gradient"] ** 2 * (1 + p["c"])
            + p["b"] ** 2
            + 2 * p["gradient"] * mpmath.sqrt(p["b"] ** 2 + p["c"] * p["gradient"] ** 2)
        )
    ),
    ("adaptive/theorem-1-fixed-weights", "corrected"): lambda p: constant(
        p, p["eta"] * p["mu"] * (1 - p["c"] - p["split"]), p["eta"] * (p["bias2"] + p["eta"] * p["beta"] * p["V"]) / 2
    ),
    ("adaptive/least-squares-variance", "corrected"): lambda p: (
        p["gradient"] ** 2 / p["batch"]
        + 4 * p["trace"] / p["batch"] * p["e0"]
        + 4 * p["trace"] / p["batch"] * p["label_variance"]
    ),
    ("adaptive/least-squares-rate", "corrected"): least_squares,
    ("adaptive/theorem-2-constant", "printed"): lambda p: level(p, printed=True),
    ("adaptive/theorem-2-constant", "corrected"): level,
    ("adaptive/theorem-2-constant-running", "corrected"): lambda p: level(p) / p["eps"],
    ("adaptive/theorem-2-constant-stopped", "corrected"): lambda p: level(p) + p["eps"],
    ("adaptive/theorem-2-constant-unconditional", "corrected"): lambda p: level(mixed(p)),
    ("adaptive/theorem-2-constant-gradient-running", "corrected"): lambda p: (
        2 * p["beta"] * level(p) / (2 * p["mu"] * p["eps"])
    ),
    ("adaptive/theorem-2-horizon", "printed"): lambda p: floor(p) * mpmath.log(mpmath.e * p["e0"] / floor(p)),
    ("adaptive/theorem-2-horizon", "corrected"): horizon,
    ("adaptive/theorem-2-horizon-running", "corrected"): lambda p: horizon(p) / p["eps"],
    ("adaptive/theorem-2-horizon-stopped", "corrected"): lambda p: horizon(p) + p["eps"],
    ("adaptive/theorem-2-horizon-unconditional", "corrected"): lambda p: horizon(mixed(p)),
    ("adaptive/theorem-2-decreasing", "printed"): lambda p: offset_level(p | {"gamma": 0}) / p["T"],
    ("adaptive/theorem-2-decreasing", "corrected"): decreasing,
    ("adaptive/theorem-2-decreasing-running", "corrected"): lambda p: decreasing(p) / p["eps"],
    ("adaptive/theorem-2-decreasing-stopped", "corrected"): lambda p: decreasing(p) + p["eps"],
    ("adaptive/theorem-2-decreasing-unconditional", "corrected"): lambda p: decreasing(mixed(p)),
    ("adaptive/theorem-2-decreasing-best", "corrected"): best_decreasing,
    ("adaptive/theorem-2-offset", "corrected"): lambda p: (p["C"] * p["beta"] - p["mu"] * p["q"]) / (p["mu"] * p["q"]),
    ("adaptive/corollary-1", "printed"): lambda p: offset_level(p | {"gamma": 0, "e0": 0}) / p["eps"],
    ("adaptive/corollary-1", "corrected"): lambda p: max(mpmath.mpf(0), offset_level(p) / p["eps"] - p["gamma"] - 1),
    ("adaptive/corollary-1-decreasing-confidence", "corrected"): lambda p: max(
        mpmath.mpf(0), offset_level(p) / p["eps"] / p["delta"] - p["gamma"] - 1
    ),
    ("adaptive/theorem-2-decreasing-running-sharp", "corrected"): seldom,
    ("adaptive/corollary-1-decreasing-confidence-sharp", "corrected"): seldom_after,
    ("adaptive/corollary-1-probability", "corrected"): still_running,
    ("adaptive/corollary-1-expected-time", "corrected"): hitting,
    ("adaptive/corollary-1-confidence", "corrected"): lambda p: (
        (mpmath.log(p["e0"]) - mpmath.log(p["eps"]) - mpmath.log(p["delta"])) / drift(p)
    ),
    ("adaptive/corollary-1-best-step", "corrected"): best_hitting,
    ("adaptive/theorem-3", "printed"): lambda p: mpmath.sqrt(8 * p["beta"] * p["s2"] * p["e0"] / p["T"]),
    ("adaptive/theorem-3", "corrected"): theorem_3,
    ("adaptive/theorem-3-any-step", "corrected"): gradient_mean,
    ("adaptive/theorem-3-unconditional", "corrected"): lambda p: gradient_mean(mixed(p)),
    ("adaptive/theorem-3-hitting-time", "corrected"): gradient_hitting,
    ("adaptive/theorem-3-best-step", "corrected"): best_gradient_hitting,
}


def contracting(formula):
    """The formula of additive noise at what multiplicative noise leaves of mu."""
    return lambda p: formula(p | {"mu": p["mu"] - p["split"] * p["mu"]})


FORMULAS |= {
    ("adaptive/theorem-3-multiplicative-unconditional", "corrected"): lambda p: (
        gradient_mean(mixed(p)) / (1 - p["split"])
    ),
    ("adaptive/theorem-3-multiplicative-hitting-time", "corrected"): lambda p: gradient_hitting(
        p | {"G": p["G"] - p["split"] * p["G"]}
    ),
    ("adaptive/theorem-3-multiplicative-best-step", "corrected"): lambda p: best_gradient_hitting(
        p | {"G": p["G"] - p["split"] * p["G"]}
    ),
}
FALLING = ["-decreasing-confidence", "-decreasing-confidence-sharp"]
FORMULAS |= {
    (f"adaptive/{result}-multiplicative{row}", "corrected"): contracting(
        FORMULAS[f"adaptive/{result}{row}", "corrected"]
    )
    for result, rows in (
        (
            "theorem-2",
            [
                f"-{steps}{reading}"
                for steps in ("constant", "horizon", "decreasing")
                for reading in ("", "-running", "-stopped", "-unconditional")
            ]
            + ["-decreasing-running-sharp"],
        ),
        (
            "corollary-1",
            ["", "-probability", "-expected-time", "-confidence", "-best-step", *FALLING],
        ),
    )
    for row in rows
}

VACUOUS = {("adaptive/theorem-2-decreasing", "printed"), ("adaptive/corollary-1", "printed")}
"""No point meets the conditions."""

UNIT_FAULTS = {("adaptive/lemma-2", "printed"): {"bound"}, ("adaptive/lemma-2-variance", "printed"): {"bound"}}
"""What does not scale like its unit: "bound", or the name of a condition."""
