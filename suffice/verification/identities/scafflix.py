"""Steps of the Scafflix paper's proofs."""

from __future__ import annotations

from .proof_step import Identity, Step
from .vector import scalars, vectors


def coin() -> Step:
    """The coin's effect on the Lyapunov function.

    x_i is measured from the optimum, k_i = h_i - h_i^*, sum_i k_i = 0. Families over any number of clients have the
    inner product <x, y> = sum_i <x_i, y_i>/gamma_i; m are the copies of the mean that minimises
    sum_i |m - x_i|^2/gamma_i, y = x - m, and k is the family of the gamma_i k_i: <m, y> = <m, k> = 0.
    Then E Psi+ = |x - k|^2 + (1/p^2 - 1) |k|^2.
    """
    (p,) = scalars("p,")
    m, y, k = vectors("m y k")
    x = m + y
    moved = k + p * (m - x)
    return Step(
        left=p * (m @ m) + (1 - p) * (x @ x) + (p * (moved @ moved) + (1 - p) * (k @ k)) / p**2,
        right=(x - k) @ (x - k) + (1 / p**2 - 1) * (k @ k),
        terms=[(2 * p, m @ y), (2, -(m @ k))],
        positive=[p],
        facts=[m @ y, -(m @ k)],
    )


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
        positive=[p],
        atoms=[gamma, slow, rare],
    )


def wide_step() -> Step:
    """The gradient map contracts distances by 1 - gamma mu up to gamma = 2/(L + mu).

    x from the optimum, u = grad f(x) - grad f(x*) - mu x, L > mu; f - mu |.|^2/2 is convex and (L - mu)-smooth, so its
    gradient is cocoercive: <u, x> >= |u|^2/(L - mu). (For L = mu, u = 0.)
    """
    gamma, mu, apart = scalars("gamma mu apart")  # apart = L - mu
    x, u = vectors("x u")
    spare = 2 - gamma * (apart + 2 * mu)
    cocoercive = u @ x - (u @ u) / apart
    w = x - gamma * (u + mu * x)
    return Step(
        left=w @ w,
        right=(1 - gamma * mu) ** 2 * (x @ x),
        terms=[(gamma * spare / apart, u), (2 * gamma * (1 - gamma * mu), cocoercive)],
        positive=[apart],
        atoms=[gamma, spare, 1 - gamma * mu],
        facts=[cocoercive],
    )


def wide_iteration() -> Step:
    """One client's share of Psi after the coin: contraction by 1 - zeta, zeta <= min(x (2 - x), p^2), x = gamma mu."""
    gamma, mu, p, zeta, C = scalars("gamma mu p zeta C")
    x, k = vectors("x k")
    slow, rare = gamma * mu * (2 - gamma * mu) - zeta, p**2 - zeta
    return Step(
        left=(1 - gamma * mu) ** 2 * (x @ x) + gamma**2 * C + gamma**2 * (1 / p**2 - 1) * (k @ k),
        right=(1 - zeta) * (x @ x + gamma**2 / p**2 * (k @ k)) + gamma**2 * C,
        terms=[(slow, x), (gamma**2 / p**2 * rare, k)],
        positive=[p],
        atoms=[gamma, slow, rare],
    )


def short_step() -> Step:
    """Assumption 3: E|w - w*|^2 <= (1 - gamma mu (2 - gamma A))|x - x*|^2 + gamma^2 C when gamma <= 1/A.

    As `gradient_step`; what is left of D there counts as D >= (mu/2)|x - x*|^2.
    """
    gamma, mu, A, C, D, second = scalars("gamma mu A C D second")
    x, g = vectors("x g")
    spare = 1 - gamma * A
    convex, noise, strong = g @ x - D - mu / 2 * (x @ x), 2 * A * D + C - second, D - mu / 2 * (x @ x)
    return Step(
        left=x @ x - 2 * gamma * (g @ x) + gamma**2 * second,
        right=(1 - gamma * mu * (2 - gamma * A)) * (x @ x) + gamma**2 * C,
        terms=[(2 * gamma, convex), (gamma**2, noise), (2 * gamma * spare, strong)],
        atoms=[gamma, spare],
        facts=[convex, noise, strong],
    )


IDENTITIES = (
    Identity(key="scafflix/theorem-1", says="the coin", step=coin),
    Identity(key="scafflix/theorem-1", says="contraction of the gradient step", step=gradient_step),
    Identity(key="scafflix/theorem-1", says="both parts contract", step=one_iteration),
    Identity(key="scafflix/theorem-1-sharp", says="the coin", step=coin),
    Identity(key="scafflix/theorem-1-sharp", says="contraction of the wider step", step=wide_step),
    Identity(key="scafflix/theorem-1-sharp", says="both parts contract", step=wide_iteration),
    Identity(key="scafflix/theorem-1-noisy", says="the coin", step=coin),
    Identity(key="scafflix/theorem-1-noisy", says="contraction of the short step", step=short_step),
)
