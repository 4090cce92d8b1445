"""Theorems 1 and 2: the Lyapunov function and the excess loss of the mean model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ...claim import Claim
from ...evidence import Evidence
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from .moments import Clients, orthogonal
from .step_moments import simulated

DRAWN = ("curvature", "C", "alpha", "p", "saturation", "models")


def clients(values: Values, *, constraint: str = "weighted", wide: bool = False) -> Clients:
    """A_i = `spare` L_i and gamma_i = `fraction` / A_i, or `wide`: 2 `fraction`/(A_i + mu_i), A_i for L_i.

    The control variates start as `control`, projected so that sum_i alpha_i h_i^0 = 0, or as printed sum_i h_i^0 = 0,
    around h_i^* = `target` projected onto sum_i alpha_i h_i^* = 0.
    """
    A = values["spare"] * values["curvature"].max(-1)
    alpha = values["alpha"]
    star = orthogonal(values["target"], alpha)
    start = orthogonal(values["control"], alpha if constraint == "weighted" else np.ones_like(alpha))
    eta = values["fraction"] * (2 / (A + values["curvature"].min(-1)) if wide else 1 / A)
    return Clients(**{name: values[name] for name in DRAWN}, A=A, eta=eta, control=start - star)


QUANTITIES: Mapping[str, Callable[[Clients, np.ndarray], np.ndarray]] = {
    "theorem-1": Clients.lyapunov,
    "theorem-1-excess": Clients.excess,
    "theorem-2": lambda given, moment: given.shape[1] / given.eta.min(-1) * given.lyapunov(moment),
}


def measure(values: Values, quantity: str, *, constraint: str = "weighted", wide: bool = False) -> Evidence:
    """The quantity after T iterations beside all arguments."""
    given = clients(values, constraint=constraint, wide=wide)
    measured = QUANTITIES[quantity](given, given.after(values["T"]))
    return Evidence(
        engine="exact moments with coins",
        measured=measured,
        arguments={**given.arguments(), "T": values["T"]}
        | ({"wide_reach": (given.eta * (given.A + given.mu) / 2).max(-1)} if wide else {}),
        label=f"{given.shape[1]} diagonal quadratics in R^{given.shape[2]}",
        values=values,
    )


# --- families -------------------------------------------------------------------------------------------


def domains(n: int, d: int, *, personal: bool) -> dict[str, Domain]:
    """Clients, weights, noise and starts; alpha_i = 1 unless `personal`."""
    return {
        "curvature": Domain(low=0.05, high=2, log=True, shape=(n, d)),
        "spare": Domain(low=1, high=2, shape=(n,)),
        "C": Domain(low=1e-3, high=3, log=True, shape=(n,)),
        "alpha": Domain(low=0.1 if personal else 1, high=1, shape=(n,)),
        "fraction": Domain(low=0.1, high=1, shape=(n,)),
        "p": Domain(low=0.05, high=1, log=True),
        "saturation": Domain(low=0, high=1),
        "models": Domain(low=-1, high=1, shape=(n, d)),
        "control": Domain(low=-2, high=2, shape=(n, d)),
        "target": Domain(low=-2, high=2, shape=(n, d)),
        "T": Domain(low=0, high=40, integer=True),
    }


def on_a_line(n: int, given: Sequence[Mapping[str, Any]]) -> Values:
    """Clients on a line; plain: equal ones at the optimum, alpha = 1, gamma = 1/A, no noise C, T = 1."""
    return rows(plain(domains(n, 1, personal=True), C=0, alpha=1, fraction=1, saturation=1, T=1), *given)


def _attained(personal: bool) -> Values:
    """Noise that saturates Assumption 3 at gamma_i = 1/A_i: where gamma_i mu_i = p^2 each iteration is an equality;
    elsewhere the first one is, from h_i^* (the models contract) or from x* (the control variates do)."""
    apart: dict[str, Any] = {"curvature": [[0.3], [1.0], [7.0]]}
    if personal:
        apart["alpha"] = [0.3, 1.0, 0.6]
    one = {"models": [[1.0], [-2.0], [0.5]], "control": [[1.0], [1.0], [-2.0]], "C": [0.3, 2.0, 1.0]}
    equal = [
        {**apart, **one, "p": p, "spare": p**-2, "T": T, "C": C}
        for p, T, C in product((0.3, 0.9), (1, 3, 40), (0.0, 0.01, 1.0))
    ]
    first = [
        {**apart, "spare": spare, "p": p, "C": C, **{name: one[name]}}
        for spare, p, name in ((4.0, 0.9, "models"), (1.5, 0.3, "control")) for C in (0.0, 0.1)
    ]  # fmt: skip
    noise = {**apart, "p": 0.9, "spare": 0.9**-2, "C": one["C"]}  # from the optimum
    return on_a_line(3, [*equal, *first, noise])


def _alone() -> Values:
    """One client, whose mean model is its own: the excess of 3 x^2 / 2 at the start, of noise, and of both."""
    return on_a_line(1, [
        {"curvature": 3.0, "models": x, "C": C, "T": T, "p": p, "fraction": fraction}
        for x, C, T, p, fraction in (
            (1.0, 0.0, 0, 0.9, 1.0), (1.0, 0.0, 0, 0.9, 0.3), (1.0, 2.0, 0, 0.9, 0.5),
            (0.0, 2.0, 1, 0.9, 1.0), (0.0, 2.0, 1, 0.9, 0.3), (0.0, 2.0, 2, 1.0, 0.8), (0.0, 2.0, 4, 1.0, 0.7),
            (1.0, 1.0, 1, 0.2, 1.0), (1.0, 0.0, 1, 0.2, 1.0), (1.0, 0.0, 1, 1.0, 1e-3), (1.0, 1.0, 3, 1.0, 1e-3),
        )
    ])  # fmt: skip


def _equal_reach() -> Values:
    """Three clients at the start with gamma_i L_i equal and h_i = h_i^*."""
    return on_a_line(3, [
        {"curvature": [[0.5], [1.0], [4.0]], "alpha": [0.3, 1.0, 0.6], "models": 1.0, "T": 0, "fraction": fraction}
        for fraction in (0.1, 0.7, 1.0)
    ])  # fmt: skip


def _rarely() -> Values:
    """Two clients that hardly ever communicate: the control variates keep the mean model away."""
    return on_a_line(2, [
        {"spare": [1.0, 2.0], "p": 0.1, "control": [[1.0], [-1.0]], "T": T, "saturation": 0.0} for T in (60, 200)
    ])  # fmt: skip


def _misled() -> Values:
    """f_1 = x^2/2 and f_2 = (x - 2)^2/2 with weights 1 and 1/2 from 0 (x* = 0.4) and h = (1, -1), T = 30."""
    return on_a_line(2, [
        {"alpha": [1.0, 0.5], "spare": [2.0, 1.0], "saturation": 0.0, "p": p, "models": -0.4, "T": 30,
         "control": [[1.0], [-1.0]], "target": [[0.4], [-0.8]]}
        for p in (0.5, 1.0)
    ])  # fmt: skip


def claims() -> tuple[Claim, ...]:
    def family(name: str, *, personal: bool, sharp: Callable[[], Values], constraint: str = "weighted") -> Family:
        return Family(
            name="three clients",
            domains=domains(3, 2, personal=personal),
            measure=lambda values: measure(values, name, constraint=constraint),
            sharp=sharp,
        )

    def alone(name: str) -> Family:
        return Family(
            name="one client",
            domains=domains(1, 1, personal=True),
            measure=lambda values: measure(values, name),
            sharp=_alone,
        )

    longer = on_a_line(1, [{"fraction": 1.05, "spare": 1.2, "models": 1.0, "T": T} for T in (1, 3)])
    reach = "every step gamma_i <= 1/A_i: reach <= 1"
    return (
        Claim.on(
            "scafflix/theorem-1",
            family("theorem-1", personal=True, sharp=_misled, constraint="plain"),
            edition="printed",
        ),
        Claim.on(
            "scafflix/theorem-1",
            family("theorem-1", personal=True, sharp=lambda: _attained(True)),
            exact=lambda effort, root: [simulated(effort.instances // 6, root)],
            outside_conditions={reach: lambda: measure(longer, "theorem-1")},
        ),
        Claim.on(
            "scafflix/theorem-1-excess",
            family("theorem-1-excess", personal=True, sharp=_equal_reach),
            alone("theorem-1-excess"),
            exact=lambda effort, root: [measure(_rarely(), "theorem-1-excess")],
            outside_conditions={reach: lambda: measure(longer, "theorem-1-excess")},
        ),
        Claim.on(
            "scafflix/theorem-2",
            family("theorem-2", personal=False, sharp=lambda: _attained(False)),
            outside_conditions={reach: lambda: measure(longer, "theorem-2")},
        ),
    )
