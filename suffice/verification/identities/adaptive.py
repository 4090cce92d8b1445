"""Steps of the adaptive paper's proofs.

Sums over N clients with weights a_k >= 0 are inner products of families, <x, y> = sum_k a_k <x_k, y_k>; a vector stands
for the family of its copies. A family h is m + y, m the copies of its weighted mean: sum_k a_k y_k = 0, and <m, y> = 0.
No step uses more of N.
"""

from __future__ import annotations

from .minkowski import minkowski
from .proof_step import Identity, Step
from .vector import scalars, vectors


def lemma_1() -> Step:
    """From smoothness and unbiased, uncorrelated noise to Lemma 1: h = (grad R_k)_k, g the copies of grad R_i.

    A = sum_k a_k, A |grad R_i|^2 = <g, g>, <grad R_i, sum_k a_k grad R_k> = <g, h>, |sum_k a_k grad R_k|^2 = A <m, m>.
    """
    eta, beta, A, V, e = scalars("eta beta A V e")
    g, m, y = vectors("g m y")
    h, spare = m + y, 1 - eta * beta * A
    return Step(
        left=e - eta * (g @ h) + eta**2 * beta / 2 * (A * (m @ m) + V),
        right=e - eta / 2 * (g @ g - (h - g) @ (h - g)) + eta**2 * beta / 2 * V,
        terms=[(eta * spare / 2, m), (eta / 2, y), (eta, m @ y)],
        atoms=[eta, spare],
        facts=[m @ y],
    )


def contraction() -> Step:
    """Lemma 1 with sum_k alpha_k r_k = 1 and PL: one factor 1 - eta mu."""
    eta, mu, beta, V, e = scalars("eta mu beta V e")
    (g,) = vectors("g")
    pl = g @ g - 2 * mu * e
    return Step(
        left=e - eta / 2 * (g @ g) + eta**2 * beta / 2 * V,
        right=(1 - eta * mu) * e + eta**2 * beta / 2 * V,
        terms=[(eta / 2, pl)],
        atoms=[eta],
        facts=[pl],
    )


def decreasing_induction() -> Step:
    """B_{t-1} <= nu/n and eta_t = C/(mu n) give B_t <= nu/(n + 1); S = C^2 beta s2/(2 mu^2) <= (C - 1) nu, n >= C."""
    n, C, nu, S, B = scalars("n C nu S B")
    before, enough = nu - n * B, (C - 1) * nu - S
    return Step(
        left=(1 - C / n) * B + S / n**2,
        right=nu / (n + 1),
        terms=[((n - C) * n**-2, before), (n**-2, enough), (n**-2 * (n + 1) ** -1, nu)],
        positive=[n, n + 1],
        atoms=[n - C],
        facts=[before, enough, nu],
    )


def hitting_drift() -> Step:
    """While e >= eps the noise is a share of e: one factor 1 - Delta, Delta = eta mu - eta^2 beta s2/(2 eps)."""
    eta, mu, beta, s2, eps, e = scalars("eta mu beta s2 eps e")
    running = e - eps
    return Step(
        left=(1 - eta * mu) * e + eta**2 * beta * s2 / 2,
        right=(1 - eta * mu + eta**2 * beta * s2 / (2 * eps)) * e,
        terms=[(eta**2 * beta * s2 * eps**-1 / 2, running)],
        positive=[eps],
        atoms=[eta, beta, s2],
        facts=[running],
    )


def telescoping() -> Step:
    """Theorem 3: u_t = E[e_t 1{tau >= t}], v_t = E[e_{t-1} 1{tau >= t}] <= u_{t-1}, all summed over t <= T.

    sum_t u_t is u, sum_t v_t is v, and sum_t u_{t-1} = u + first - last with first = u_0 and last = u_T.
    """
    eta, beta, s2, u, v, G, P, first, last = scalars("eta beta s2 u v G P first last")
    descent = v - u + eta**2 * beta * s2 / 2 * P - eta / 2 * G
    inclusion = u + first - last - v
    return Step(
        left=G,
        right=2 * first / eta + eta * beta * s2 * P,
        terms=[(2 / eta, fact) for fact in (descent, inclusion, last)],
        positive=[eta],
        facts=[descent, inclusion, last],
    )


def mean_gradient() -> Step:
    """Lemma 1 before Jensen, an equality: m = sum_k alpha_k grad R_k/A, and smoothness on the left."""
    eta, beta, A, V, e = scalars("eta beta A V e")
    g, m = vectors("g m")
    return Step(
        left=e - eta * A * (g @ m) + eta**2 * beta / 2 * (A**2 * (m @ m) + V),
        right=e
        + eta * A / 2 * ((m - g) @ (m - g) + eta * A * beta * (m @ m))
        + eta**2 * beta / 2 * V
        - eta * A / 2 * (g @ g + m @ m),
        terms=[],
    )


def jensen() -> Step:
    """A |sum_k a_k h_k/A|^2 <= sum_k a_k |h_k|^2, h_k = grad R_k - grad R_i: <m, m> and <h, h> of the families."""
    m, y = vectors("m y")
    return Step(left=m @ m, right=(m + y) @ (m + y), terms=[(1, y), (2, m @ y)], facts=[m @ y])


def normalised_contraction() -> Step:
    """Weights that sum to 1, mean similarity r >= q, PL: one factor 1 - eta mu q."""
    eta, mu, beta, V, e, q, r = scalars("eta mu beta V e q r")
    (g,) = vectors("g")
    pl = g @ g - 2 * mu * e
    return Step(
        left=e - eta / 2 * r * (g @ g) + eta**2 * beta / 2 * V,
        right=(1 - eta * mu * q) * e + eta**2 * beta / 2 * V,
        terms=[(eta * q / 2, pl), (eta * (r - q) / 2, g)],
        atoms=[eta, q, r - q],
        facts=[pl],
    )


def growing_noise() -> Step:
    """Noise V + Q |grad R_i|^2 with eta beta Q <= kappa, and PL: one factor 1 - eta (1 - kappa) mu."""
    eta, mu, beta, V, Q, e, kappa = scalars("eta mu beta V Q e kappa")
    (g,) = vectors("g")
    pl, spare = g @ g - 2 * mu * e, kappa - eta * beta * Q
    return Step(
        left=e - eta / 2 * (g @ g) + eta**2 * beta / 2 * (V + Q * (g @ g)),
        right=(1 - eta * (1 - kappa) * mu) * e + eta**2 * beta / 2 * V,
        terms=[(eta * (1 - kappa) / 2, pl), (eta * spare / 2, g)],
        atoms=[eta, 1 - kappa, spare],
        facts=[pl],
    )


def property_1() -> Step:
    """|M g + 2 s|^2 <= 8 |s|^2 + 2 D^2 |g|^2 with D the operator norm of M, s = A_k (xi_i - xi_k)."""
    (D,) = scalars("D,")
    g, Mg, s = vectors("g Mg s")
    norm = D**2 * (g @ g) - Mg @ Mg
    return Step(
        left=(Mg + 2 * s) @ (Mg + 2 * s),
        right=8 * (s @ s) + 2 * D**2 * (g @ g),
        terms=[(1, Mg - 2 * s), (2, norm)],
        facts=[norm],
    )


def similarity() -> Step:
    """gap^2/|g|^2 <= b^2/G + c from Assumption 3 and x = |g|^2 >= G."""
    b, c, G, x, gap = scalars("b c G x gap")
    assumption, level = b**2 + c * x - gap**2, x - G
    return Step(
        left=gap**2 / x,
        right=b**2 / G + c,
        terms=[(1 / x, assumption), (b**2 / (G * x), level)],
        positive=[G, x],
        atoms=[b],
        facts=[assumption, level],
    )


def similarity_above_precision() -> Step:
    """The same at G = 2 mu eps, by PL and e >= eps."""
    b, c, mu, eps, e, x, gap = scalars("b c mu eps e x gap")
    assumption, pl, running = b**2 + c * x - gap**2, x - 2 * mu * e, e - eps
    return Step(
        left=gap**2 / x,
        right=b**2 / (2 * mu * eps) + c,
        terms=[
            (1 / x, assumption),
            (b**2 / (2 * mu * eps * x), pl),
            (b**2 / (eps * x), running),
        ],
        positive=[mu, eps, x],
        atoms=[b],
        facts=[assumption, pl, running],
    )


def running_step() -> Step:
    """E[e_t 1{tau >= t}] from v = E[e_{t-1} 1{tau >= t}] <= u = E[e_{t-1} 1{tau >= t-1}] and P(tau >= t) <= 1."""
    eta, mu, beta, s2, u, v, P = scalars("eta mu beta s2 u v P")
    stopped, spare = u - v, 1 - eta * mu
    return Step(
        left=spare * v + eta**2 * beta * s2 / 2 * P,
        right=spare * u + eta**2 * beta * s2 / 2,
        terms=[(spare, stopped), (eta**2 * beta * s2 / 2, 1 - P)],
        atoms=[eta, beta, s2, spare],
        facts=[stopped, 1 - P],
    )


def markov() -> Step:
    """P(tau > T) <= B_T/eps: m = E[e_T 1{tau >= T}] is at least eps P and at most B."""
    B, m, eps, P = scalars("B m eps P")
    above, below = m - eps * P, B - m
    return Step(
        left=P,
        right=B / eps,
        terms=[(1 / eps, above), (1 / eps, below)],
        positive=[eps],
        facts=[above, below],
    )


def stopping() -> Step:
    """E[e_min(T, tau)] <= eps + B: what stopped before T is below eps, p = P(tau < T)."""
    B, m, s, eps, p = scalars("B m s eps p")
    reached, below = eps * p - s, B - m
    return Step(
        left=m + s,
        right=eps + B,
        terms=[(1, reached), (1, below), (eps, 1 - p)],
        atoms=[eps],
        facts=[reached, below, 1 - p],
    )


def gradient_time(grows: bool = False) -> Step:
    """E[min(tau_G, T)] = sum_t P(tau_G >= t): the telescoping, and the sum over t <= T of G_t >= level P_t.

    Where noise `grows`, the level is (1 - kappa) times as high, and G_t with it.
    """
    eta, beta, s2, level, u, v, G, P, first, last, kappa = scalars("eta beta s2 level u v G P first last kappa")
    if grows:
        level, G = (1 - kappa) * level, (1 - kappa) * G
    descent = v - u + eta**2 * beta * s2 / 2 * P - eta / 2 * G
    inclusion = u + first - last - v
    steep = G - level * P
    room = level - eta * beta * s2
    return Step(
        left=P,
        right=2 * first / (eta * room),
        terms=[*((2 / (eta * room), fact) for fact in (descent, inclusion, last)), (1 / room, steep)],
        positive=[eta, room],
        facts=[descent, inclusion, steep, last],
    )


IDENTITIES = (
    Identity(key="adaptive/lemma-1", says="descent from smoothness", step=lemma_1),
    Identity(key="adaptive/lemma-1-mean-gradient", says="the square completed", step=mean_gradient),
    Identity(key="adaptive/lemma-1-mean-gradient", says="what Jensen adds", step=jensen),
    Identity(key="adaptive/lemma-1-multiplicative", says="gradient of a similar peer", step=minkowski),
    Identity(key="adaptive/property-1", says="the square of a sum", step=property_1),
    Identity(key="adaptive/lemma-2", says="similarity above a precision", step=similarity_above_precision),
    Identity(key="adaptive/lemma-2-gradient", says="similarity above a gradient level", step=similarity),
    Identity(key="adaptive/theorem-1", says="PL turns descent into contraction", step=contraction),
    Identity(key="adaptive/theorem-1-multiplicative", says="noise that grows with the gradient", step=growing_noise),
    Identity(key="adaptive/theorem-1-normalised", says="the same at a mean similarity", step=normalised_contraction),
    Identity(key="adaptive/theorem-2-constant", says="one step while running", step=running_step),
    Identity(key="adaptive/theorem-2-constant-running", says="Markov's inequality", step=markov),
    Identity(key="adaptive/theorem-2-constant-stopped", says="what stopped is below the precision", step=stopping),
    Identity(key="adaptive/theorem-2-decreasing", says="induction step nu/n to nu/(n + 1)", step=decreasing_induction),
    Identity(key="adaptive/corollary-1-probability", says="drift while running", step=hitting_drift),
    Identity(key="adaptive/theorem-3", says="telescoping", step=telescoping),
    Identity(key="adaptive/theorem-3-hitting-time", says="telescoping", step=gradient_time),
    Identity(
        key="adaptive/theorem-3-multiplicative-hitting-time",
        says="telescoping of what grows",
        step=lambda: gradient_time(grows=True),
    ),
)
