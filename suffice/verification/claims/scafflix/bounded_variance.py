"""Theorem 1 with bounded variance and wider steps, and under Assumption 3 at short steps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from ...claim import Claim
from ...evidence import Evidence, Measured, measured_by
from ...family import Domain, Family, Values
from ...instances.rows import columns
from .rates import domains, measure, on_a_line


def _attained(*, wide: bool) -> Values:
    """Each iteration an equality where all clients contract by 1 - p^2; elsewhere the first one, of models, of control
    variates or of noise alone. Noise is bounded if `wide`, else it saturates Assumption 3."""
    apart: dict[str, Any] = {"curvature": [[0.3], [1.0], [7.0]], "alpha": [0.3, 1.0, 0.6], "saturation": not wide}
    one = {"models": [[1.0], [-2.0], [0.5]], "control": [[1.0], [1.0], [-2.0]], "C": [0.3, 2.0, 1.0]}
    given = []
    for part, spare, (T, C) in product((1.0, 0.4), (1.3, 9.0), product((1, 3, 40), (0.0, 0.01, 1.0))):
        x = part * (2 / (spare + 1) if wide else 1 / spare)  # gamma mu
        zeta = x * (2 - (x if wide else part))
        given.append({**apart, **one, "fraction": part, "spare": spare, "p": np.sqrt(zeta), "T": T, "C": C})
    for (spare, p, name), C, part in product(((9.0, 1.0, "models"), (1.1, 0.3, "control")), (0.0, 0.1), (1.0, 0.6)):
        given.append({**apart, "fraction": part, "spare": spare, "p": p, "C": C, name: one[name]})
    return on_a_line(3, [*given, {**apart, "fraction": 0.7, "spare": 1.1, "p": 0.9, "C": one["C"]}])


def _beyond_wide() -> Evidence:
    """One client with curvatures mu < L, its model along L and a step 5 % beyond 2/(L + mu)."""
    many = on_a_line(1, [{"fraction": 1.05, "spare": 1.0, "saturation": 0.0, "T": T} for T in (1, 3)])
    plane = {"curvature": [0.5, 2], "models": [0, 1], "control": [0, 0], "target": [0, 0]}
    return measure(many | {name: np.array([[at]] * 2) for name, at in plane.items()}, "theorem-1", wide=True)


@measured_by("one iteration by hand", "one client in R^1 whose slope is L up to s and mu beyond")
def _kinked(values: Values) -> Measured:
    """Noise that saturates Assumption 3 with A = L = 1: E|a|^2 = d^2 - 2 gamma u d + 2 gamma^2 D at d = 1."""
    mu, s, eta = values["mu"], values["s"], values["eta"]
    slope, bregman = s + mu * (1 - s), mu / 2 + (1 - mu) * (s - s**2 / 2)
    one = np.ones_like(mu)
    given = {"p": one, "contraction": eta * mu, "reach": eta, "eta_min": eta, "noise": 0 * one, "Psi0": one, "T": one}
    return 1 - 2 * eta * slope + 2 * eta**2 * bregman, given


def _beyond_noisy() -> Evidence:
    """On quadratics the bound holds beyond 1/A; where the curvature is larger at the optimum it does not."""
    return _kinked(columns(("mu", "s", "eta"), [(0.1, 0.1, 1.2), (0.1, 0.05, 1.1)]))


def claims() -> tuple[Claim, ...]:
    def claim(key: str, condition: str, outside: Callable[[], Evidence], *, wide: bool) -> Claim:
        still = {"saturation": Domain(low=0, high=0)} if wide else {}
        family = Family(
            name="three clients",
            domains=domains(3, 2, personal=True) | still,
            measure=lambda values: measure(values, "theorem-1", wide=wide),
            sharp=lambda: _attained(wide=wide),
        )
        return Claim.on(f"scafflix/{key}", family, outside_conditions={condition: outside})

    return (
        claim("theorem-1-sharp", "every step gamma_i <= 2/(L_i + mu_i): wide_reach <= 1", _beyond_wide, wide=True),
        claim("theorem-1-noisy", "every step gamma_i <= 1/A_i: reach <= 1", _beyond_noisy, wide=False),
    )
