"""Steps of the sample-optimality paper's proofs."""

from __future__ import annotations

from .minkowski import minkowski
from .proof_step import Identity, Step
from .vector import ratio, scalars, vectors
from .worst_case import contraction as loss_contraction
from .worst_case import contraction_of_one_curvature as one_curvature


def fixed_weights_descent() -> Step:
    """One step along h = sum_j lambda_j grad f_j; noise = sigma^2 sum_j lambda_j^2."""
    eta, beta, noise, e = scalars("eta beta noise e")
    g, h = vectors("g h")
    spare = 1 - eta * beta
    return Step(
        left=e - eta * (g @ h) + eta**2 * beta / 2 * (h @ h + noise),
        right=e - eta / 2 * (g @ g) + eta / 2 * ((g - h) @ (g - h)) + eta**2 * beta / 2 * noise,
        terms=[(eta * spare / 2, h)],
        atoms=[eta, spare],
    )


def all_for_all_averaged() -> Step:
    """Theorem 3, averaged iterate: a whole run of T rounds, a the gradient at the comparator, u from it to the start.

    g is the first gradient, G the mean of the sum of the others, z the family of the noises of the rounds, d that of
    what each adds to this sum: <z, d> = sum_t <z_t, d_t>.
    """
    eta, T = scalars("eta T")
    u, a, g, G, z, d = vectors("u a g G z d")
    q = T / (T + 1)
    p = u + eta * a
    w = p - eta * g
    return Step(
        left=q * ((G + g) @ w) - eta / 2 * (G @ G + d @ d + T * (a @ a)) - eta * (z @ d),
        right=T * (u @ u) / (2 * eta * (T + 1)) + eta / 2 * (z @ z),
        terms=[
            (eta / 2, z + d),
            (eta / 2, G - q / eta * w),
            (T * (T + 2) / (2 * eta * (T + 1) ** 2), w - (T + 1) / (T + 2) * p),
            (T / (2 * eta * (T + 1) * (T + 2)), u - (T + 1) * eta * a),
        ],
        positive=[eta, T + 1, T + 2],
        atoms=[T],
    )


def growing_descent() -> Step:
    """Noise s_j^2 + 2 A (f_j - f_j*): half of the gradient pays for A, half contracts.

    noise2 = sum_j lambda_j^2 (s_j^2 + 2 A b_j^2/mu), Lambda = sum_j lambda_j^2, B the bias.
    """
    eta, beta, mu, A, Lambda, noise2, B, e = scalars("eta beta mu A Lambda noise2 B e")
    (g,) = vectors("g")
    pl, room = g @ g - 2 * mu * e, mu - 4 * eta * beta * A * Lambda
    growth = 2 * A / mu * (g @ g)
    return Step(
        left=e - eta / 2 * (g @ g) + eta / 2 * B**2 + eta**2 * beta / 2 * (noise2 + Lambda * growth),
        right=(1 - eta * mu / 2) * e + eta / 2 * B**2 + eta**2 * beta / 2 * noise2,
        terms=[(eta / 4, pl), (eta * room / (4 * mu), g)],
        positive=[mu],
        atoms=[eta, room],
        facts=[pl],
    )


def contraction() -> Step:
    """Theorem 2 after PL: one factor 1 - eta mu and the bias."""
    eta, beta, mu, noise, B, e = scalars("eta beta mu noise B e")
    (g,) = vectors("g")
    pl = g @ g - 2 * mu * e
    return Step(
        left=e - eta / 2 * (g @ g) + eta / 2 * B**2 + eta**2 * beta / 2 * noise,
        right=(1 - eta * mu) * e + eta * mu * (B**2 / (2 * mu) + eta * beta * noise / (2 * mu)),
        terms=[(eta / 2, pl)],
        positive=[mu],
        atoms=[eta],
        facts=[pl],
    )


def followed_mixture() -> Step:
    """From the mixture's excess to the agent's own: r^2 = delta, w = |x - y|, m^2 = 2 mu, e and f the agent's excess at
    x and y."""
    r, w, m, B, e, f = scalars("r w m B e f")
    lipschitz, least, convex = r**2 + B * w - (e - f), B**2 / m**2 - f, r - m / 2 * w
    return Step(
        left=e,
        right=(r + B / m) ** 2,
        terms=[(1, lipschitz), (1, least), (2 * B / m, convex)],
        positive=[m],
        atoms=[B],
        facts=[lipschitz, least, convex],
    )


def least_noise() -> Step:
    """|z|^2 >= 1/S where <g, z> >= 1, S = |g|^2: g the closenesses (c - b)_+, z the weights over c - B."""
    g, z = vectors("g z")
    enough, S = g @ z - 1, g @ g
    return Step(
        left=1 / S,
        right=z @ z,
        terms=[(1, z - (1 / S) * g), (2 / S, enough)],
        positive=[S],
        facts=[enough],
    )


def second_stage() -> Step:
    """One step of stage 2 times (n + 1)(n + 2), eta = 2/(mu (n + 2)) <= 1/L: what the weights telescope.

    u from the mixture's minimiser, g the gradient, D = |u|^2, delta its excess, s the noise. Strong convexity and
    interpolation between the minimiser and the point, mixed with weights 1 - eta L and eta L.
    """
    mu, L, n, s, delta = scalars("mu L n s delta")
    u, g = vectors("u g")
    eta = 2 / (mu * (n + 2))
    short = 1 - eta * L
    convex = g @ u - delta - mu / 2 * (u @ u)
    interpolation = g @ u - (1 - mu / L) * delta - (g @ g) / (2 * L) - mu / 2 * (u @ u)
    factor = (n + 1) * (n + 2)
    return Step(
        left=factor * ((u - eta * g) @ (u - eta * g) + eta**2 * s),
        right=n * (n + 1) * (u @ u - 2 * eta * delta) + factor * eta**2 * s,
        terms=[(2 * eta * short * factor, convex), (2 * eta**2 * L * factor, interpolation)],
        positive=[mu, L, n + 2],
        atoms=[n + 1, short],
        facts=[convex, interpolation],
    )


def two_stage_step() -> Step:
    """One round from the minimiser 0, g the gradient and delta the excess at u; M = L smax, m = mu smin, s the noise.

    Facts: strong convexity, and interpolation between u and 0 of the loss less m |u|^2/2, which is M - m smooth.
    """
    eta, m, M, s, delta = scalars("eta m M s delta")
    u, g = vectors("u g")
    gap, spare = M - m, 1 - eta * M
    convex = g @ u - delta - m / 2 * (u @ u)
    rest = g - m * u
    interpolation = g @ u - delta - m / 2 * (u @ u) - (rest @ rest) / (2 * gap)
    return Step(
        left=(u - eta * g) @ (u - eta * g) + eta**2 * s,
        right=(1 - eta * m) * (u @ u - 2 * eta * delta) + eta**2 * s,
        terms=[(2 * eta * spare, convex), (2 * eta**2 * gap, interpolation)],
        positive=[gap],
        atoms=[eta, spare],
        facts=[convex, interpolation],
    )


def growing_stages() -> Step:
    """The same telescoping with noise s + 2 A delta, g = 2 A/m; E is the distance after the round."""
    n, m, D, E, delta, s, A = scalars("n m D E delta s A")
    eta = 2 / (m * (n + 2))
    one = (1 - eta * m) * (D - 2 * eta * delta) + eta**2 * (s + 2 * A * delta) - E
    return Step(
        left=(n + 1) * (n + 2) * E + 4 / m * (n + 1) * (n - 2 * A / m) / (n + 2) * delta,
        right=n * (n + 1) * D + 4 * s / m**2 * (n + 1) / (n + 2),
        terms=[((n + 1) * (n + 2), one)],
        positive=[m, n + 2],
        atoms=[n + 1],
        facts=[one],
    )


def growing_mean() -> Step:
    """One round of convex losses, D and E the distances before and after, noise s + 2 A delta."""
    eta, D, E, delta, s, A = scalars("eta D E delta s A")
    one = D - 2 * eta * delta + eta**2 * (s + 2 * A * delta) - E
    return Step(left=2 * eta * (1 - eta * A) * delta, right=D - E + eta**2 * s, terms=[(1, one)], facts=[one])


def distance_contraction() -> Step:
    """A step of at most 2/(M + m) contracts distances by 1 - eta m."""
    eta, m, M = scalars("eta m M")
    u, g = vectors("u g")
    room, both = 2 - eta * (M + m), M + m
    coercive, steep = g @ u - (g @ g + m * M * (u @ u)) / both, g @ g - m**2 * (u @ u)
    return Step(
        left=(u - eta * g) @ (u - eta * g),
        right=(1 - eta * m) ** 2 * (u @ u),
        terms=[(2 * eta, coercive), (eta * room / both, steep)],
        positive=[both],
        atoms=[eta, room],
        facts=[coercive, steep],
    )


def two_stage_telescoping() -> Step:
    """Stage 2 at eta = 2/(m (n + 2)): weighted distances telescope; E is the distance after the round."""
    n, m, D, E, delta, s = scalars("n m D E delta s")
    eta = 2 / (m * (n + 2))
    one = (1 - eta * m) * (D - 2 * eta * delta) + eta**2 * s - E
    return Step(
        left=(n + 1) * (n + 2) * E + 4 / m * n * (n + 1) / (n + 2) * delta,
        right=n * (n + 1) * D + 4 * s / m**2 * (n + 1) / (n + 2),
        terms=[((n + 1) * (n + 2), one)],
        positive=[m, n + 2],
        atoms=[n + 1],
        facts=[one],
    )


def two_stage_count(early: bool) -> Step:
    """n >= R + c suffices for (1 + (2 k + 1) (b + 2)/(n (b + 1)))/b <= 2/R, b = 2 k + (n - 1)/2: at R = n - c.

    c = 1/2 for k = 1 + j (`early`), c = 0 for k = 3/2 + j; n = 1 + r. Both sides times R b n (b + 1), times 2.
    """
    j, r = scalars("j r")
    k, n = 1 + (0 if early else ratio(1, 2)) + j, 1 + r
    twice = 4 * k + n - 1  # 2 b
    one, square = ratio(1, 1), (r - 1) ** 2
    left = (n - (ratio(1, 2) if early else 0)) * (n * (twice + 2) + (2 * k + 1) * (twice + 4))
    counted = [(12 * j**2, one), (24 * j, one), (ratio(17, 2), one), (8 * j**2 * r, one), (13 * j * r, one),
               (2 * j * r**2, one), (ratio(1, 2), square)]  # fmt: skip
    later = [(8 * j**2, one), (16 * j, one), (8 * j**2 * r, one), (18 * j * r, one), (2 * j * r**2, one), (r, one),
             (r**2, one)]  # fmt: skip
    terms, facts = (counted, [one, square]) if early else (later, [one])
    return Step(left=left, right=twice * n * (twice + 2), terms=terms, atoms=[j, r], facts=facts)


def convex_mixture() -> Step:
    """The mean of an iterate between start z and bias w, 0 <= u <= 1."""
    (u,) = scalars("u,")
    z, w = vectors("z w")
    rest = 1 - u
    mixed = u * z + rest * w
    return Step(left=mixed @ mixed, right=u * (z @ z) + rest * (w @ w), terms=[(u * rest, z - w)], atoms=[u, rest])


def last_mean() -> Step:
    """One round of the last ones, v from the first of them, a the gradient there; e the excess now, d at the first."""
    eta, L, e, d = scalars("eta L e d")
    v, g, a = vectors("v g a")
    x, rest = eta * L, 1 - eta * L
    between, smooth = g @ v - (e - d) - (g - a) @ (g - a) / (2 * L), 2 * L * d - a @ a
    return Step(
        left=(v - eta * g) @ (v - eta * g),
        right=v @ v - 2 * eta * (e - d) + 2 * eta * x * d / rest,
        terms=[(2 * eta, between), (eta**2 / rest, smooth), (eta**2 * x * rest, 1 / x * (g - a) - 1 / rest * a)],
        positive=[eta, L, rest],
        facts=[between, smooth],
    )


def shorter_mean() -> Step:
    """A mean S of k + 1 losses whose first one, d, is at least (1 - x) (S - n): the mean of the others."""
    x, k, S, n, d = scalars("x k S n d")
    first = d - (1 - x) * (S - n)
    return Step(
        left=((k + 1) * S - d) / k,
        right=(1 + x / k) * S + (1 - x) * n / k,
        terms=[(1 / k, first)],
        positive=[k],
        facts=[first],
    )


IDENTITIES = (
    Identity(key="sample-optimal/theorem-2", says="descent along a mixed gradient", step=fixed_weights_descent),
    Identity(key="sample-optimal/theorem-2", says="contraction up to the bias", step=contraction),
    Identity(key="sample-optimal/theorem-2-mixture", says="excess of a followed mixture", step=followed_mixture),
    *(
        Identity(key=f"sample-optimal/theorem-2-{kind}-rounds", says=says, step=step)
        for kind in ("mixture", "optimal")
        for says, step in (("excess of a followed mixture", followed_mixture), ("a step of stage 2", second_stage))
    ),
    Identity(key="sample-optimal/theorem-2-optimal-rounds", says="weights of least noise", step=least_noise),
    Identity(key="sample-optimal/theorem-2-weak", says="distance to the own minimiser", step=minkowski),
    Identity(key="sample-optimal/theorem-2-least-squares", says="noise that grows is paid for", step=growing_descent),
    Identity(key="sample-optimal/theorem-2-quadratic", says="a mean between start and bias", step=convex_mixture),
    Identity(key="sample-optimal/theorem-2-last-iterate", says="rounds seen from an earlier one", step=last_mean),
    Identity(key="sample-optimal/theorem-2-last-iterate", says="a shorter mean", step=shorter_mean),
    Identity(key="sample-optimal/theorem-3-averaged-sharp", says="a run and its comparator", step=all_for_all_averaged),
    Identity(key="sample-optimal/theorem-3-two-stage-step", says="a round and its minimiser", step=two_stage_step),
    Identity(key="sample-optimal/theorem-3-two-stage", says="stage 1 contracts distances", step=distance_contraction),
    Identity(key="sample-optimal/theorem-3-two-stage", says="stage 2 telescopes", step=two_stage_telescoping),
    Identity(key="sample-optimal/theorem-3-growing", says="a round with growing noise", step=growing_mean),
    Identity(key="sample-optimal/theorem-3-two-stage-growing", says="stage 2 telescopes", step=growing_stages),
    Identity(
        key="sample-optimal/theorem-3-two-stage-rounds", says="rounds, any kappa", step=lambda: two_stage_count(True)
    ),
    Identity(
        key="sample-optimal/theorem-3-two-stage-rounds",
        says="rounds, kappa from 3/2 on",
        step=lambda: two_stage_count(False),
    ),
    Identity(key="sample-optimal/theorem-3-sharp", says="contraction of the loss by a square", step=loss_contraction),
    Identity(key="sample-optimal/theorem-3-sharp", says="the same at one curvature", step=one_curvature),
)
