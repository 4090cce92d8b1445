"""Proof steps as exact identities: the right side minus the left is a nonnegative combination of nonnegative things.

Vectors are formal: a step holds in every dimension because only their inner products appear. A step is certified by
    right - left = sum_j c_j F_j,
each c_j a positive rational times a product of atoms declared nonnegative (eta, 1 - eta beta A, ...) and each
F_j a squared norm or a hypothesis of the theorem (PL, smoothness). SymPy expands the difference of both sides to
exactly zero, in rational arithmetic. This checks the step written here, not the paper's text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

Term = tuple[Any, Any]
"""(multiplier, fact): a Vector stands for its squared norm."""


class Vector:
    """A formal linear combination of basis vectors; `u @ v` is the inner product in Gram symbols."""

    def __init__(self, coefficients: dict[str, Any]) -> None:
        self.coefficients = coefficients

    def __add__(self, other: Vector) -> Vector:
        names = self.coefficients.keys() | other.coefficients.keys()
        return Vector({n: self.coefficients.get(n, 0) + other.coefficients.get(n, 0) for n in names})

    def __rmul__(self, factor: Any) -> Vector:
        return Vector({name: factor * value for name, value in self.coefficients.items()})

    def __neg__(self) -> Vector:
        return -1 * self

    def __sub__(self, other: Vector) -> Vector:
        return self + -1 * other

    def __matmul__(self, other: Vector) -> Any:
        import sympy

        total = sympy.Integer(0)
        for one, x in self.coefficients.items():
            for two, y in other.coefficients.items():
                total += x * y * sympy.Symbol("<{}, {}>".format(*sorted((one, two))), real=True)
        return total


def vectors(names: str) -> list[Vector]:
    """One basis vector per word."""
    return [Vector({name: 1}) for name in names.split()]


def total(items: Sequence[Vector]) -> Vector:
    """The sum of several vectors."""
    result = items[0]
    for item in items[1:]:
        result = result + item
    return result


@dataclass(frozen=True, kw_only=True)
class Step:
    """left <= right, because right - left = sum of multiplier * fact; `atoms` are >= 0 by hypothesis.

    `facts` are hypotheses (expressions >= 0) that terms may use besides squared norms.
    """

    left: Any
    right: Any
    terms: Sequence[Term]
    atoms: Sequence[Any]
    facts: Sequence[Any] = ()

    def certified(self) -> bool:
        """Whether the identity holds exactly and every multiplier and fact is admissible."""
        import sympy

        combination = sympy.Integer(0)
        for multiplier, fact in self.terms:
            if isinstance(fact, Vector):
                fact = fact @ fact
            elif fact not in self.facts:
                return False
            if not self._nonnegative(multiplier):
                return False
            combination += multiplier * fact
        return sympy.simplify(sympy.expand(self.right - self.left - combination)) == 0

    def _nonnegative(self, multiplier: Any) -> bool:
        """A positive rational times a product of atoms and their (possibly negative) powers."""
        import sympy

        rest = sympy.sympify(multiplier)
        for factor in sympy.Mul.make_args(rest):
            base, exponent = factor.as_base_exp()
            if factor.is_Rational and factor >= 0:
                continue
            if base in self.atoms and exponent.is_Integer:
                continue
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A named step of the proof of the theorem `key`."""

    key: str
    says: str
    step: Callable[[], Step]


def _symbols(names: str) -> Any:
    import sympy

    return sympy.symbols(names, real=True)


# --- adaptive ---------------------------------------------------------------------------------------------


def lemma_1() -> Step:
    """From smoothness and unbiased, uncorrelated noise to Lemma 1, for three peers."""
    eta, beta, V, e, *a = _symbols("eta beta V e a1 a2 a3")
    g, *h = vectors("g h1 h2 h3")
    A, mixed = sum(a), total([x * y for x, y in zip(a, h)])
    spare = 1 - eta * beta * A
    return Step(
        left=e - eta * (g @ mixed) + eta**2 * beta / 2 * (mixed @ mixed + V),
        right=e - eta / 2 * sum(x * (g @ g - (y - g) @ (y - g)) for x, y in zip(a, h)) + eta**2 * beta / 2 * V,
        terms=[
            *((eta * spare * x / 2, y) for x, y in zip(a, h)),
            *((eta**2 * beta * a[j] * a[k] / 2, h[j] - h[k]) for j, k in combinations(range(3), 2)),
        ],
        atoms=[eta, beta, spare, *a],
    )


def contraction() -> Step:
    """Lemma 1 with sum_k alpha_k r_k = 1 and PL: one factor 1 - eta mu."""
    eta, mu, beta, V, e = _symbols("eta mu beta V e")
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
    """B_{t-1} <= nu/n and eta_t = C/(mu n) give B_t <= nu/(n + 1); S = C^2 beta s2/(2 mu^2) <= (C - 1) nu."""
    n, C, nu, S = _symbols("n C nu S")
    enough = (C - 1) * nu - S
    return Step(
        left=(1 - C / n) * nu / n + S / n**2,
        right=nu / (n + 1),
        terms=[(n**-2, enough), (n**-2 * (n + 1) ** -1, nu)],
        atoms=[n, n + 1],
        facts=[enough, nu],
    )


def hitting_drift() -> Step:
    """While e >= eps the noise is a share of e: one factor 1 - Delta, Delta = eta mu - eta^2 beta s2/(2 eps)."""
    eta, mu, beta, s2, eps, e = _symbols("eta mu beta s2 eps e")
    running = e - eps
    return Step(
        left=(1 - eta * mu) * e + eta**2 * beta * s2 / 2,
        right=(1 - eta * mu + eta**2 * beta * s2 / (2 * eps)) * e,
        terms=[(eta**2 * beta * s2 * eps**-1 / 2, running)],
        atoms=[eta, beta, s2, eps],
        facts=[running],
    )


def telescoping() -> Step:
    """Theorem 3 over four steps: G_t, P_t, u_t = E[e_t 1{tau >= t}] and v_t = E[e_{t-1} 1{tau >= t}] <= u_{t-1}."""
    eta, beta, s2 = _symbols("eta beta s2")
    u, v, G, P = (_symbols(f"{name}0:5") for name in "uvGP")
    steps = range(1, 5)
    descent = [v[t] - u[t] + eta**2 * beta * s2 / 2 * P[t] - eta / 2 * G[t] for t in steps]
    inclusion = [u[t - 1] - v[t] for t in steps]
    return Step(
        left=sum(G[t] for t in steps),
        right=2 * u[0] / eta + eta * beta * s2 * sum(P[t] for t in steps),
        terms=[*((2 / eta, fact) for fact in (*descent, *inclusion)), (2 / eta, u[4])],
        atoms=[eta],
        facts=[*descent, *inclusion, u[4]],
    )


# --- sample-optimal ---------------------------------------------------------------------------------------


def fixed_weights_descent() -> Step:
    """One step along h = sum_j lambda_j grad f_j; noise = sigma^2 sum_j lambda_j^2."""
    eta, beta, noise, e = _symbols("eta beta noise e")
    g, h = vectors("g h")
    spare = 1 - eta * beta
    return Step(
        left=e - eta * (g @ h) + eta**2 * beta / 2 * (h @ h + noise),
        right=e - eta / 2 * (g @ g) + eta / 2 * ((g - h) @ (g - h)) + eta**2 * beta / 2 * noise,
        terms=[(eta * spare / 2, h)],
        atoms=[eta, spare],
    )


def all_for_all_descent() -> Step:
    """Theorem 3, last iterate: one step along W grad F, p = Lambda^T grad F, s the largest eigenvalue of W."""
    eta, beta, s, noise, F = _symbols("eta beta s noise F")
    (p,) = vectors("p")
    spare = 1 - eta * beta * s
    return Step(
        left=F - eta * (p @ p) + eta**2 * beta / 2 * (s * (p @ p) + noise),
        right=F - eta / 2 * (p @ p) + eta**2 * beta / 2 * noise,
        terms=[(eta * spare / 2, p)],
        atoms=[eta, spare],
    )


def all_for_all_averaged() -> Step:
    """Theorem 3, averaged iterate: y+ = y - eta (grad phi + n), phi convex and b-smooth, E|n|^2 = noise."""
    eta, b, noise, phi, best = _symbols("eta b noise phi best")
    g, y = vectors("g y")  # y is measured from the comparator
    spare = 1 - eta * b
    convex = g @ y - (phi - best)
    after = phi - eta * (g @ g) + eta**2 * b / 2 * (g @ g + noise)
    moved = y @ y - 2 * eta * (g @ y) + eta**2 * (g @ g + noise)
    return Step(
        left=after - best,
        right=(y @ y - moved) / (2 * eta) + eta * noise,
        terms=[(1, convex), (eta * spare / 2, g), (eta * spare / 2, noise)],
        atoms=[eta, spare],
        facts=[convex, noise],
    )


# --- cobo -------------------------------------------------------------------------------------------------


def mean_step() -> Step:
    """The cluster's mean moves along m = mean_i grad f_i(x_i); |grad fbar(xbar) - m|^2 <= beta^2 Xi."""
    eta, beta, Xi, noise, f = _symbols("eta beta Xi noise f")
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
    """y = x_i - xbar becomes (1 - q) y - (q/s) G, q = eta s, s = rho c: convexity of the square."""
    q, s = _symbols("q s")
    y, G = vectors("y G")
    after = (1 - q) * y - (q / s) * G
    return Step(
        left=after @ after,
        right=(1 - q) * (y @ y) + q / s**2 * (G @ G),
        terms=[(q * (1 - q), y + (1 / s) * G)],
        atoms=[q, 1 - q],
    )


# --- scafflix ---------------------------------------------------------------------------------------------


def coin() -> Step:
    """The coin's effect on the Lyapunov function of two clients; an equality.

    xh_i is measured from the optimum, k_i = h_i - h_i^*, and the mean m minimises sum_i |m - xh_i|^2/gamma_i. The
    constraint sum_i h_i = 0 makes k_2 = -k_1. Then E Psi+ = sum_i |xh_i - gamma_i k_i|^2/gamma_i
    + gamma_i (1/p^2 - 1) |k_i|^2.
    """
    p, g1, g2 = _symbols("p gamma1 gamma2")
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
    gamma, mu, A, C, D, second = _symbols("gamma mu A C D second")
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


IDENTITIES: tuple[Identity, ...] = (
    Identity(key="adaptive/lemma-1", says="descent from smoothness, three peers", step=lemma_1),
    Identity(key="adaptive/theorem-1", says="PL turns descent into contraction", step=contraction),
    Identity(key="adaptive/theorem-2-decreasing", says="induction step nu/n to nu/(n + 1)", step=decreasing_induction),
    Identity(key="adaptive/corollary-1-probability", says="drift while running", step=hitting_drift),
    Identity(key="adaptive/theorem-3", says="telescoping over four steps", step=telescoping),
    Identity(key="sample-optimal/theorem-2", says="descent along a mixed gradient", step=fixed_weights_descent),
    Identity(key="sample-optimal/theorem-3", says="descent along W grad F", step=all_for_all_descent),
    Identity(key="sample-optimal/theorem-3-averaged", says="one step towards a comparator", step=all_for_all_averaged),
    Identity(key="cobo/theorem-1-mean-gradient", says="step of the cluster's mean", step=mean_step),
    Identity(key="cobo/theorem-1-consensus", says="step of the deviation from the mean", step=deviation_step),
    Identity(key="scafflix/theorem-1", says="the coin, two clients", step=coin),
    Identity(key="scafflix/theorem-1", says="contraction of the gradient step", step=gradient_step),
)


def identities(key: str | None = None) -> list[Identity]:
    """All steps, or those of one theorem."""
    return [identity for identity in IDENTITIES if key in (None, identity.key)]
