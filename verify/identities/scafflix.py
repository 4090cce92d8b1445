"""Steps of the Scafflix paper's proofs."""

from __future__ import annotations

from .proof_step import Identity, Step
from .vector import scalars, total, vectors


def coin() -> Step:
    """The coin's effect on the Lyapunov function of two clients; an equality.

    xh_i is measured from the optimum, k_i = h_i - h_i^*, and the mean m minimises sum_i |m - xh_i|^2/gamma_i. The
    constraint sum_i h_i = 0 makes k_2 = -k_1. Then E Psi+ = sum_i |xh_i - gamma_i k_i|^2/gamma_i
    + gamma_i (1/p^2 - 1) |k_i|^2.
    """
    p, g1, g2 = scalars("p gamma1 gamma2")
    x1, x2, k1 = vectors("x1 x2 k1")
    gammas, xs, ks = (g1, g2), (x1, x2), (k1, -k1)
    mean = (1 / (1 / g1 + 1 / g2)) * total([(1 / g) * x for g, x in zip(gammas, xs)])
    left, right = 0, 0
    for g, x, k in zip(gammas, xs, ks):
        moved = k + (p / g) * (mean - x)
        left += p * (mean @ mean) / g + (1 - p) * (x @ x) / g
        left += g / p**2 * (p * (moved @ moved) + (1 - p) * (k @ k))
        right += (x - g * k) @ (x - g * k) / g + g * (1 / p**2 - 1) * (k @ k)
    return Step(left=left, right=right, terms=[], atoms=[])


def gradient_step() -> Step:
    """w = x - gamma g: E|w - w*|^2 <= (1 - gamma mu)|x - x*|^2 + gamma^2 C when gamma <= 1/A.

    D is the Bregman distance of f from x* to x; strong convexity gives <grad f(x) - grad f(x*), x - x*> >=
    D + (mu/2)|x - x*|^2, and Assumption 3 gives E|g - grad f(x*)|^2 <= 2 A D + C.
    """
    gamma, mu, A, C, D, second = scalars("gamma mu A C D second")
    x, g = vectors("x g")  # x from the optimum; g the mean gradient from the optimum's
    spare = 1 - gamma * A
    convex = g @ x - D - mu / 2 * (x @ x)
    noise = 2 * A * D + C - second
    return Step(
        left=x @ x - 2 * gamma * (g @ x) + gamma**2 * second,
        right=(1 - gamma * mu) * (x @ x) + gamma**2 * C,
        terms=[(2 * gamma, convex), (gamma**2, noise), (2 * gamma * spare, D)],
        atoms=[gamma, spare],
        facts=[convex, noise, D],
    )


def one_iteration() -> Step:
    """One client's share of Psi after the coin: contraction by 1 - zeta, zeta <= min(gamma mu, p^2).

    x from the optimum, k = h - h^*; the gradient step has left (1 - gamma mu)|x|^2 + gamma^2 C of the model's part.
    """
    gamma, mu, p, zeta, C = scalars("gamma mu p zeta C")
    x, k = vectors("x k")
    slow, rare = gamma * mu - zeta, p**2 - zeta
    return Step(
        left=(1 - gamma * mu) * (x @ x) + gamma**2 * C + gamma**2 * (1 / p**2 - 1) * (k @ k),
        right=(1 - zeta) * (x @ x + gamma**2 / p**2 * (k @ k)) + gamma**2 * C,
        terms=[(slow, x), (gamma**2 / p**2 * rare, k)],
        atoms=[gamma, p, slow, rare],
    )


IDENTITIES = (
    Identity(key="scafflix/theorem-1", says="the coin, two clients", step=coin),
    Identity(key="scafflix/theorem-1", says="contraction of the gradient step", step=gradient_step),
    Identity(key="scafflix/theorem-1", says="both parts contract", step=one_iteration),
)
