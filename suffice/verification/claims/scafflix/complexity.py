"""Corollaries 1 and 2, equalised steps, bounded variance: what is spent until the target is met for good."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from suffice.bounds import find
from suffice.simulate.moment_powers import of_entries, packed, unpacked

from ...claim import Claim
from ...evidence import Evidence
from ...family import Domain, Family, Values
from ...instances.rows import plain, rows
from ...measurement_cache import cached
from .moments import Clients, orthogonal
from .rates import DRAWN

BITS = 18
"""Iterations up to 2^18 are looked at."""


# --- the three rules of steps --------------------------------------------------------------------------


def _corollary_1(values: Values, A: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """gamma_i = 1/A_i and any p."""
    return 1 / A, values["p"]


def _corollary_1_best(values: Values, A: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """gamma_i = 1/A_i and p = 1/sqrt(kappa_max)."""
    return 1 / A, (A / mu).max(-1) ** -0.5


def _corollary_2(values: Values, A: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """gamma_i = min(1/A_i, eps mu_min / (2 C_i)), p^2 = min gamma_i mu_i."""
    eta = 1 / np.maximum(A, 2 * values["C"] / (values["eps"] * mu.min(-1))[:, None])
    return eta, np.sqrt((eta * mu).min(-1))


def _equalised(values: Values, A: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """gamma_i = zeta / mu_i, p^2 = zeta = min(min mu_i/A_i, eps / mean(C_i/mu_i))."""
    zeta = 1 / np.maximum((A / mu).max(-1), (values["C"] / mu).mean(-1) / values["eps"])
    return zeta[:, None] / mu, np.sqrt(zeta)


def _wide(values: Values, A: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """gamma_i = 2/(L_i + mu_i) with A_i for L_i, and any p."""
    return 2 / (A + mu), values["p"]


def _wide_best(values: Values, A: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same and p = 2 sqrt(kappa)/(kappa + 1)."""
    kappa = (A / mu).max(-1)
    return 2 / (A + mu), 2 * np.sqrt(kappa) / (kappa + 1)


def _wide_equalised(values: Values, A: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """gamma_i = 2/((M + 1) mu_i), p = 2 sqrt(M)/(M + 1), M = max(kappa, mean(C_i/mu_i)/eps)."""
    M = np.maximum((A / mu).max(-1), (values["C"] / mu).mean(-1) / values["eps"])
    return 2 / ((M + 1)[:, None] * mu), 2 * np.sqrt(M) / (M + 1)


WIDE, EQUALISED = (_wide, _wide_best), (_equalised, _wide_equalised)
NOISY = (_corollary_2, *EQUALISED)

Rule = Callable[[Values, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def clients(values: Values, rule: Rule) -> Clients:
    """A_i = `spare` L_i; steps and p by the rule; sum_i alpha_i h_i^0 = 0."""
    A = values["spare"] * values["curvature"].max(-1)
    eta, p = rule(values, A, values["curvature"].min(-1))
    control = orthogonal(values["control"], values["alpha"])
    drawn = {name: values[name] for name in DRAWN if name != "p"}
    return Clients(**drawn, A=A, eta=eta, p=p, control=control)


def last_above(given: Clients, value: Callable[[np.ndarray], np.ndarray], target: np.ndarray) -> np.ndarray:
    """A T with E[value after T iterations] above the target, the largest that doubling finds; -1 if it finds none.

    Each T returned has been evaluated: a bound at or below it is refuted whether or not the value falls monotonically.
    """
    powers = [of_entries(given.maps)]
    while len(powers) <= BITS:
        powers.append(powers[-1] @ powers[-1])
    shape, lines = given.start.shape, torch.from_numpy(given.lines)
    state = packed(torch.from_numpy(given.start).flatten(0, 1))
    found = np.where(value(given.start) > target, 0, -1)
    T = np.zeros(len(target), dtype=np.int64)
    for bit in reversed(range(BITS + 1)):
        moved = (powers[bit][lines] @ state[..., None])[..., 0]
        above = value(unpacked(moved, shape[-1]).numpy().reshape(shape)) > target
        T = T + above * (1 << bit)
        state = torch.where(torch.from_numpy(above).repeat_interleave(shape[1])[:, None], moved, state)
        found = np.where(above, T, found)
    return found


@cached
def _spent(values: Values, rule: Rule) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The last iteration above the target, -1 where there is none, and the arguments."""
    given = clients(values, rule)
    Psi0, mu, C = given.lyapunov(given.start), given.mu, given.C
    target = values["eps"] if "eps" in values else Psi0 * values["relative"]
    last = last_above(given, given.weighted if rule in EQUALISED else given.lyapunov, target)
    return last, {
        "kappa_max": (given.A / mu).max(-1),
        "p": given.p,
        "Psi0": Psi0,
        "eps_Psi": target,
        "eps_mu": target,
        "noise_max": (C / mu).max(-1),
        "noise_mean": (C / mu).mean(-1),
        "mu_min": mu.min(-1),
        "mu_max": mu.max(-1),
    }


def measure(values: Values, rule: Rule, *, communications: bool) -> Evidence:
    """The last iteration above the target.

    Or communications p T: of the first T that is below it for good, or of the first whole T at least the bound of the
    iterations, which may be larger; the statements on communications speak of the latter.
    """
    last, arguments = _spent(values, rule)
    measured = np.maximum(last, 0).astype(float)
    if communications:
        measured = arguments["p"] * np.maximum(last + 1, np.ceil(_iterations(rule, arguments)))
    return Evidence(
        engine="exact moments with coins",
        measured=measured,
        arguments=arguments,
        label="{} diagonal quadratics in R^{}".format(*values["curvature"].shape[1:]),
        values=values,
    )


_KEYS: dict[Rule, str] = {
    _corollary_1: "corollary-1",
    _corollary_1_best: "corollary-1",
    _corollary_2: "corollary-2",
    _equalised: "equalised",
    _wide: "corollary-1-sharp",
    _wide_best: "corollary-1-sharp",
    _wide_equalised: "equalised-sharp",
}


def _iterations(rule: Rule, arguments: Mapping[str, np.ndarray]) -> np.ndarray:
    """The bound of the iterations."""
    theorem = find(f"scafflix/{_KEYS[rule]}-iterations")
    assert theorem.bound is not None
    with np.errstate(divide="ignore"):  # ln(1 - p^2) at p = 1
        return theorem.bound(**{parameter.name: arguments[parameter.name] for parameter in theorem.parameters})


# --- families -------------------------------------------------------------------------------------------


def _domains(n: int, d: int, *, noisy: bool, growing: bool = True) -> dict[str, Domain]:
    """Without noise the target is a fraction of Psi_0; with noise it is absolute, and fixes the steps. Variance may
    grow with the distance where the statement speaks of Assumption 3."""
    target = {"eps": Domain(low=1e-2, high=10, log=True)} if noisy else {
        "relative": Domain(low=1e-6, high=2, log=True),
        "p": Domain(low=0.05, high=1, log=True),
    }  # fmt: skip
    return {
        "curvature": Domain(low=0.1, high=1, log=True, shape=(n, d)),
        "spare": Domain(low=1, high=2, shape=(n,)),
        "C": Domain(low=1e-3, high=0.3, log=True, shape=(n,)) if noisy else Domain(low=0, high=0, shape=(n,)),
        "alpha": Domain(low=0.2, high=1, shape=(n,)),
        "saturation": Domain(low=0, high=float(growing)),
        "models": Domain(low=-3, high=3, shape=(n, d)),
        "control": Domain(low=-3, high=3, shape=(n, d)),
        **target,
    }


def _rows(n: int, given: Sequence[Mapping[str, Any]], target: Mapping[str, float]) -> Values:
    """Clients on a line; plain: saturated ones with curvature 1, models at 1, no noise C."""
    usual = {"C": 0, "alpha": 1, "saturation": 1, "models": 1}
    return rows(plain(_domains(n, 1, noisy="eps" in target), **{**usual, **target}), *given)


def _one_rate(saturation: float = 1.0) -> Values:
    """One client, any p: Psi contracts by 1 - mu/A exactly, without noise by the square of 1 - gamma mu; targets from
    just below Psi_0 on."""
    return _rows(1, [
        {"curvature": 2.0, "spare": kappa, "p": p, "relative": relative}
        for kappa in (1.0, 300.0) for p in (kappa**-0.5, 1.0) for relative in (1 - 1e-9, 1e-3, 1e-12)
    ] + [
        {"spare": 4e4, "p": 1.0, "relative": 0.9}, {"spare": 1.0, "p": 1.0, "relative": 1 - 1e-9},
    ], {"relative": 0.1, "p": 1.0, "saturation": saturation})  # fmt: skip


def _two_rates(saturation: float = 1.0, kappa: float = 1.0) -> Values:
    """Two clients whose control variates matter: A/mu at kappa/p^2 or a little below."""
    return _rows(2, [
        {"curvature": [[1.0], [2.0]], "spare": share * kappa * p**-2, "p": p, "relative": relative, "models": x,
         "control": [[1.0], [-1.0]]}
        for p in (0.1, 0.05) for share in (1.0, 0.95, 0.8) for relative in (1e-3, 1e-12) for x in (0.0, 1.0)
    ], {"relative": 0.1, "p": 1.0, "saturation": saturation})  # fmt: skip


def _far(rule: Rule) -> Values:
    """One client far away, and targets so close that the factors 2 in the logarithms do not count.

    The noise asks for steps of 1/A or a little less; at gamma = 1/A Psi contracts by 1 - mu/A exactly.
    """
    rows_ = []
    for kappa in (100.0, 1e3):
        for share in (1e-6, 0.5, 1.0, 1.01):
            for far in (1e15, 1e3, 1.0):
                # the noise for which eps asks for a step of 1/(A share); eps = 1, mu = 1
                rows_.append({"spare": kappa, "C": share * kappa / (2 if rule is _corollary_2 else 1), "models": far})
        rows_.append({"spare": kappa, "models": 1 + 1e-9 if rule not in EQUALISED else 2**0.5 * (1 + 1e-9)})
        rows_.append({"spare": kappa, "models": (0.5**0.5 if rule not in EQUALISED else 1) * (1 + 1e-9)})
    return _rows(1, rows_, {"eps": 1.0, "saturation": rule is not _wide_equalised})


def claims() -> tuple[Claim, ...]:
    rules: dict[str, Rule] = {
        "corollary-1": _corollary_1,
        "corollary-2": _corollary_2,
        "equalised": _equalised,
        "equalised-sharp": _wide_equalised,
    }

    def families(rule: Rule, *, communications: bool) -> tuple[Family, ...]:
        def one(n: int, d: int, sharp: Callable[[], Values]) -> Family:
            return Family(
                name=f"{n} clients",
                domains=_domains(n, d, noisy=rule in NOISY, growing=rule not in (*WIDE, _wide_equalised)),
                measure=lambda values: measure(values, rule, communications=communications),
                sharp=sharp,
            )

        if rule in NOISY:
            return (one(2, 2, lambda: _far(rule)),)
        if rule in WIDE:
            return one(1, 1, lambda: _one_rate(0.0)), one(2, 2, lambda: _two_rates(0.0, 4.0))
        return one(1, 1, _one_rate), one(2, 2, _two_rates)

    def claim(key: str, rule: Rule, *, communications: bool) -> Claim:
        found = families(rule, communications=communications)
        wide = dict(found[-1].domains)  # kappa is at most 20 in the others
        for name, most in (("spare", 300), ("C", 300 if wide["C"].high else 0)):
            wide[name] = replace(wide[name], high=most, log=most > 0)
        of_iterations = f"scafflix/{_KEYS[rule]}-iterations"
        return Claim.on(key, *found, in_regime=(replace(found[-1], domains=wide),), extends=of_iterations)

    return (
        *(
            claim(f"scafflix/{key}-{kind}", rule, communications=kind == "communications")
            for key, rule in rules.items()
            for kind in ("iterations", "communications")
        ),
        claim("scafflix/corollary-1", _corollary_1_best, communications=True),
        claim("scafflix/corollary-1-sharp-iterations", _wide, communications=False),
        claim("scafflix/corollary-1-sharp", _wide_best, communications=True),
    )
