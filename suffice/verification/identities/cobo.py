"""Steps of the CoBo paper's proofs."""

from __future__ import annotations

from dataclasses import replace

from .minkowski import minkowski
from .proof_step import Identity, Step
from .vector import ratio, scalars, vectors


def mean_step() -> Step:
    """The cluster's mean moves along m = mean_i grad f_i(x_i); |grad fbar(xbar) - m|^2 <= beta^2 Xi."""
    eta, beta, Xi, noise, f = scalars("eta beta Xi noise f")
    g, m = vectors("g m")
    spare = 1 - eta * beta
    spread = beta**2 * Xi - (g - m) @ (g - m)
    return Step(
        left=f - eta * (g @ m) + eta**2 * beta / 2 * (m @ m + noise),
        right=f - eta / 2 * (g @ g) + eta / 2 * beta**2 * Xi + eta**2 * beta / 2 * noise,
        terms=[(eta * spare / 2, m), (eta / 2, spread)],
        atoms=[eta, spare],
        facts=[spread],
    )


def deviation_step() -> Step:
    """Deviations y from the mean become (1 - q) z - (q/s) G, |z| <= |y|, q = eta s: convexity of the square.

    s = least_weight rho c. The penalty takes y to at most 1 - q of its norm, and to 0 where q = 1: z exists.
    """
    q, s = scalars("q s")
    y, z, G = vectors("y z G")
    after = (1 - q) * z - (q / s) * G
    kept = y @ y - z @ z
    return Step(
        left=after @ after,
        right=(1 - q) * (y @ y) + q / s**2 * (G @ G),
        terms=[(q * (1 - q), z + (1 / s) * G), (1 - q, kept)],
        positive=[s],
        atoms=[q, 1 - q],
        facts=[kept],
    )


def mean_step_in_full() -> Step:
    """`mean_step` at any step size, with what it leaves out."""
    step = mean_step()
    eta, beta = scalars("eta beta")
    (m,) = vectors("m")
    return replace(step, right=step.right - eta / 2 * (1 - eta * beta) * (m @ m), terms=step.terms[1:], atoms=[eta])


def kept_gradients() -> Step:
    """Corollary II: theta (|G|^2 + |a + b|^2), G = g - e, is at most what one step loses, s = tilt r + theta < tilt."""
    h, r, m, tilt, theta = scalars("h r m tilt theta")
    g, e, a, b = vectors("g e a b")
    s, G = tilt * r + theta, g - e
    kap = tilt * s * m**2 / (tilt - s)
    left, wide = 1 - kap, tilt * (tilt - s) - tilt * s * m**2  # wide = (tilt - s) (tilt - kap)
    rest = 1 - h - theta + left * (tilt - 1) * (tilt - s) / wide
    near = m**2 * (g @ g) - b @ b
    return Step(
        left=theta * (G @ G + (a + b) @ (a + b)),
        right=g @ g + (tilt - 1) * (e @ e) + (1 - h) * (G @ G) + tilt * (a @ a) - tilt * r * ((a + b) @ (a + b)),
        terms=[
            (tilt - s, a - s / (tilt - s) * b),
            (tilt * s / (tilt - s), near),
            ((tilt - s) / wide, left * g + (tilt - 1) * e),
            (rest, G),
        ],
        positive=[tilt - s, wide],
        atoms=[tilt, s, rest],
        facts=[near],
    )


def kept_gradients_alike() -> Step:
    """The same for clients alike, b = 0, where s = tilt is allowed."""
    h, r, tilt, theta = scalars("h r tilt theta")
    g, e, a = vectors("g e a")
    s, G = tilt * r + theta, g - e
    rest = 1 - h - theta + (tilt - 1) / tilt
    return Step(
        left=theta * (G @ G + a @ a),
        right=g @ g + (tilt - 1) * (e @ e) + (1 - h) * (G @ G) + tilt * (1 - r) * (a @ a),
        terms=[(tilt - s, a), (1 / tilt, g + (tilt - 1) * e), (rest, G)],
        positive=[tilt],
        atoms=[tilt - s, rest],
    )


def kept_gradients_without_tilt() -> Step:
    """The same for tilt = 1, where kap = tilt is allowed."""
    h, r, m, theta = scalars("h r m theta")
    g, e, a, b = vectors("g e a b")
    s, G = r + theta, g - e
    near = m**2 * (g @ g) - b @ b
    left, mean = 1 - s * m**2 / (1 - s), 1 - h - theta
    return Step(
        left=theta * (G @ G + (a + b) @ (a + b)),
        right=g @ g + (1 - h) * (G @ G) + a @ a - r * ((a + b) @ (a + b)),
        terms=[(1 - s, a - s / (1 - s) * b), (s / (1 - s), near), (left, g), (mean, G)],
        positive=[1 - s],
        atoms=[s, left, mean],
        facts=[near],
    )


def midpoint_step() -> Step:
    """Lemma 3: z moves along w = grad f - e in the mean, noise of the given variance; d is f at z less the mean after.

    |grad f(z)|^2 <= (2/eta) d + |e|^2 + (L/eta) variance when eta L <= 1.
    """
    eta, beta, variance, d = scalars("eta beta variance d")
    g, w = vectors("g w")
    spare = 1 - eta * beta
    smooth = d - eta * (g @ w) + eta**2 * beta / 2 * (w @ w) + beta / 2 * variance
    return Step(
        left=g @ g,
        right=2 * d / eta + (g - w) @ (g - w) + beta / eta * variance,
        terms=[(2 / eta, smooth), (spare, w)],
        positive=[eta],
        atoms=[spare],
        facts=[smooth],
    )


def kept_deviation() -> Step:
    """Lemma 4: |(1 - eta s) d - eta L a| <= (1 - p)|d| for |a| <= |d|, p = eta (s - L), eta s <= 1."""
    eta, s, L = scalars("eta s L")
    d, a = vectors("d a")
    spare = 1 - eta * s
    after = spare * d - (eta * L) * a
    lipschitz = d @ d - a @ a
    return Step(
        left=after @ after,
        right=(1 - eta * (s - L)) ** 2 * (d @ d),
        terms=[(eta**2 * L**2, lipschitz), (spare * eta * L, lipschitz), (spare * eta * L, a + d)],
        atoms=[eta, L, spare],
        facts=[lipschitz],
    )


def drifted_deviation() -> Step:
    """Lemma 4: |(1 - p) u + p v|^2 <= (1 - p)|u|^2 + p |v|^2, p v = eta b with b of mean square m^2 |grad fbar|^2."""
    eta, p, square = scalars("eta p square")
    u, b = vectors("u b")
    drift = square - b @ b
    after = (1 - p) * u + eta * b
    return Step(
        left=after @ after,
        right=(1 - p) * (u @ u) + eta**2 / p * square,
        terms=[(p * (1 - p), u - (eta / p) * b), (eta**2 / p, drift)],
        positive=[p],
        atoms=[eta, 1 - p],
        facts=[drift],
    )


def alignment() -> Step:
    """<a, b> >= (1 - M^2)/(2 (1 + M^2)) (|a|^2 + |b|^2) when |a - b| <= M |a + b|."""
    (M,) = scalars("M,")
    a, b = vectors("a b")
    near = M**2 * ((a + b) @ (a + b)) - (a - b) @ (a - b)
    return Step(
        left=(1 - M**2) / (2 * (1 + M**2)) * (a @ a + b @ b),
        right=a @ b,
        terms=[(1 / (1 + M**2) / 2, near)],
        positive=[1 + M**2],
        facts=[near],
    )


def cluster_dissimilarity() -> Step:
    """The mean of |g_i - g|^2 over c clients against |g|^2, from (A4) for every pair.

    Of families let <x, y> = (1/c) sum_i <x_i, y_i>; g stands for its copies, y for the g_i - g. Over pairs i < j
    sum |g_i - g_j|^2 = c^2 <y, y> and sum |g_i + g_j|^2 = c (2 (c - 1) <g, g> + (c - 2) <y, y>).
    """
    M, c = scalars("M c")
    g, y = vectors("g y")
    pairs = M**2 * c * (2 * (c - 1) * (g @ g) + (c - 2) * (y @ y)) - c**2 * (y @ y)
    rest = c * (1 - M**2) + 2 * M**2
    return Step(
        left=y @ y,
        right=2 * M**2 * (c - 1) / rest * (g @ g),
        terms=[(1 / (c * rest), pairs)],
        positive=[c, rest],
        facts=[pairs],
    )


def different_minimisers() -> Step:
    """Example 2: a^2 |u|^2 + b^2 |u - D|^2 >= a^2 b^2/(a^2 + b^2) |D|^2."""
    a, b = scalars("a b")
    u, D = vectors("u D")
    both = a**2 + b**2
    return Step(
        left=a**2 * b**2 / both * (D @ D),
        right=a**2 * (u @ u) + b**2 * ((u - D) @ (u - D)),
        terms=[(both, u - (b**2 / both) * D)],
        positive=[both],
    )


def selection_margin() -> Step:
    """<z - m_i, z - m_j> <= r^2 - D^2/4 at the midpoint z of models within r of their minimisers, x and y apart."""
    a, b, r = scalars("a b r")
    x, y, D = vectors("x y D")  # D = m_j - m_i
    half = ratio(1, 2) * D
    middle = ratio(1, 2) * (x + y)  # z from the middle of both minimisers
    one, other = r**2 - x @ x, r**2 - y @ y
    return Step(
        left=a * b * ((middle + half) @ (middle - half)),
        right=-a * b * ((D @ D) / 4 - r**2),
        terms=[(a * b / 2, one), (a * b / 2, other), (a * b / 4, x - y)],
        atoms=[a, b],
        facts=[one, other],
    )


IDENTITIES = (
    Identity(key="cobo/alignment", says="inner product of two gradients", step=alignment),
    Identity(key="cobo/cluster-dissimilarity", says="clients around their mean", step=cluster_dissimilarity),
    Identity(key="cobo/example-2-dissimilarity", says="least sum of two squares", step=different_minimisers),
    Identity(key="cobo/lemma-3", says="a step that is not along the gradient", step=midpoint_step),
    Identity(key="cobo/lemma-3", says="both parts of its error", step=minkowski),
    Identity(key="cobo/mean-descent", says="step of the cluster's mean", step=mean_step),
    Identity(key="cobo/lemma-4", says="what is kept of a deviation", step=kept_deviation),
    Identity(key="cobo/lemma-4", says="what the drift adds", step=drifted_deviation),
    Identity(key="cobo/theorem-1-star", says="step of the cluster's mean", step=mean_step),
    Identity(key="cobo/theorem-1-star", says="step of the deviation from the mean", step=deviation_step),
    Identity(key="cobo/corollary-2-star", says="step of the cluster's mean", step=mean_step_in_full),
    Identity(key="cobo/corollary-2-star", says="step of the deviation from the mean", step=deviation_step),
    Identity(key="cobo/corollary-2-star", says="gradients kept", step=kept_gradients),
    Identity(key="cobo/corollary-2-star", says="gradients kept, clients alike", step=kept_gradients_alike),
    Identity(key="cobo/corollary-2-star", says="gradients kept, no tilt", step=kept_gradients_without_tilt),
    Identity(key="cobo/selection-margin", says="the test at a midpoint", step=selection_margin),
)
