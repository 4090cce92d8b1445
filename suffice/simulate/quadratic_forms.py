"""Quantities of an algorithm as functions of its state, and of a linear one as quadratic forms.

A quantity is four words. `of` what of a state: q >= 0; `at` which models, against which losses; `over` which iterates:
E[q_T], E[sum_t w_t q_t] with w_t >= 0 that sum to 1 over t = 0, ..., T, or E[q] at the mean sum_t w_t theta_t of the
models; `until` T or tau = min{t: q_t < level}. With z = (state - centre, 1), q(state) = z^T F z on quadratics, and
second moments give it; `value` gives it of simulated states of any problem. What depends on tau paths alone give.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.support.errors import InputError

from . import mean_loss
from .algorithms.algorithm import State
from .moment_maps import at_states, unit_states
from .problem import Problem, QuadraticProblem
from .stopping_time import STOPPED

OF = ("excess", "distance", "gradient", "consensus")
LEVELS = {"excess": "eps", "gradient": "G"}
"""The scalar below which each of these quantities falls at tau."""
AT = ("client", "clients", "mean model", "client on mean loss", "clients on mean loss")
"""The second and the last are means over the clients; the first two are against each client's own loss."""
Over = str | tuple[str, Any] | Callable[..., np.ndarray]
_GIVEN = ("state", "problem", "client", "best")


CANCELLED = 1e-6
"""Weights that sum to 1 up to so much are divided by their sum."""


@dataclass(frozen=True, kw_only=True)
class QuadraticForm:
    """`of`: a word of `OF`, or a function of some of: state (a dictionary of tensors (S, ...)), problem, client, best
    (the minimiser of the clients' mean loss) and scalars, that returns (S,) numbers. `over`: "last", "average" (t < T),
    ("suffix", T0) (t >= T0, T0 a number or a function of T), a function of T and scalars that returns w_0, ..., w_T, or
    a word of `STOPPED`. `mean`: at the mean of the models with these weights."""

    of: str | Callable[..., Any]
    at: str = "client"
    over: Over = "last"
    mean: bool = False
    until: str = "T"

    @property
    def level(self) -> str:
        """The name of the scalar below which a path stops; "" where `until` is T."""
        return LEVELS[str(self.of)] if self.until == "tau" else ""

    @property
    def scalars(self) -> tuple[str, ...]:
        """The names of the scalars that the quantity depends on."""
        names = [name for each in (self.of, self.over) if callable(each) for name in inspect.signature(each).parameters]
        return tuple(dict.fromkeys(name for name in (*names, self.level) if name and name not in (*_GIVEN, "T")))

    @property
    def mean_loss(self) -> bool:
        """Whether the quantity is about the clients' mean loss, so that e0 and distance2 of a bound are too."""
        return "best" in inspect.signature(self.of).parameters if callable(self.of) else "mean" in self.at

    @property
    def weighted(self) -> bool:
        """Whether the quantity weighs several iterates, rather than being read where the path ends."""
        return self.over not in STOPPED

    @property
    def steady(self) -> bool:
        """Whether the quantity is at the mean of theta_0, ..., theta_T with equal weights: each step adds alike."""
        return self.mean and self.over == ("suffix", 0)

    @property
    def stepped(self) -> bool:
        """Whether `weights` of the iterates are needed: of every weighted quantity but a steady one."""
        return self.weighted and not self.steady

    def weights(self, iterations: np.ndarray, scalars: Mapping[str, np.ndarray]) -> np.ndarray:
        """w_0, ..., w_T of each T (B,) and scalars (B,), (B, max T + 1); NaN where a suffix is empty."""
        found = np.zeros((len(iterations), int(iterations.max(initial=0)) + 1))
        names = [name for name in inspect.signature(self.over).parameters if name != "T"] if callable(self.over) else []
        for at, T in enumerate(iterations.astype(int).tolist()):
            t = np.arange(T + 1.0)
            if callable(self.over):
                row = np.asarray(self.over(T=T, **{name: float(scalars[name][at]) for name in names}))
                # closed forms of their sum lose digits where eta mu is small
                found[at, : T + 1] = row / row.sum() if abs(row.sum() - 1) <= CANCELLED else row
                continue
            first = self.over[1]
            inside = t < max(T, 1) if self.over == "average" else t >= (first(T) if callable(first) else first)
            found[at, : T + 1] = inside / inside.sum() if inside.any() else np.nan
        return found

    def value(self, problem: Problem, state: State, client: int, scalars: Mapping[str, Any]) -> Tensor:
        """q of each of the states, (S,)."""
        models = state["models"]
        if callable(self.of):
            return self._own(problem, state, client, scalars)
        if self.of == "consensus":  # (1/N^2) sum_ij |x_i - x_j|^2 = (2/N) sum_i |x_i - xbar|^2
            return 2 * ((models - models.mean(1, keepdim=True)) ** 2).sum(-1).mean(-1)
        one = slice(client, client + 1) if self.at.startswith("client ") else slice(None)
        if "mean" not in self.at:
            own = _OWN[self.of](problem, models)
            return own[:, client] if self.at == "client" else own.mean(-1)
        x = models.mean(1, keepdim=True) if self.at == "mean model" else models[:, one]
        return _OF_MEAN_LOSS[self.of](problem, x.flatten(0, 1)).unflatten(0, x.shape[:2]).mean(-1)

    def _own(self, problem: Problem, state: State, client: int, scalars: Mapping[str, Any]) -> Tensor:
        assert callable(self.of)
        given = {"state": state, "problem": problem, "client": client, **scalars}
        names, count = inspect.signature(self.of).parameters, len(state["models"])
        if "best" in names:
            given["best"] = mean_loss.minimiser(problem)
        found = self.of(**{name: given[name] for name in names})
        if not isinstance(found, Tensor) or found.shape != (count,):
            shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            name = getattr(self.of, "__name__", "function")
            raise InputError("of", name, f"it returns {shape}: return one number a path, a tensor ({count},)")
        return found

    def on_state(self, problem: QuadraticProblem, client: int, centre: State, scalars: Mapping[str, Any]) -> Tensor:
        """F on the homogeneous state z = (state - centre, 1), models first."""
        if callable(self.of):
            return _polarised(lambda state: self.value(problem, state, client, scalars), centre)
        F = self._matrix(problem, client)
        n, size = len(F) - 1, sum(value.numel() for value in centre.values()) + 1
        found = F.new_zeros(size, size)
        found[:n, :n], found[:n, -1], found[-1, :n], found[-1, -1] = F[:n, :n], F[:n, n], F[n, :n], F[n, n]
        return found

    def _matrix(self, problem: QuadraticProblem, client: int) -> Tensor:
        """F on (delta_1, ..., delta_N, 1), delta_k = theta_k - theta_k*: the mean over k of L_k^T B_k L_k, where L_k
        takes it to what is squared and R_k(theta) - R_k* = (theta - theta_k*)^T A_k (theta - theta_k*)."""
        N, d = problem.clients, problem.features
        away = torch.eye(N * d + 1).to(problem.optimum)[:-1].unflatten(0, (N, d))
        last = away.new_zeros(N * d + 1)
        last[-1] = 1
        models = away + problem.optimum[..., None] * last
        own = slice(client, client + 1) if self.at in ("client", "client on mean loss") else slice(None)
        if self.of == "consensus":
            A, L = 2 * torch.eye(d).to(away)[None], models - models.mean(0, keepdim=True)
        elif "mean" in self.at:  # u = x - x*, the mean loss being f(x) - f* = u^T A u, A the mean of the A_k
            x = models.mean(0, keepdim=True) if self.at == "mean model" else models[own]
            A, L = problem.A.mean(0, keepdim=True), x - mean_loss.minimiser(problem)[:, None] * last
        else:
            A, L = problem.A[own], away[own]
        B = 4 * A @ A if self.of == "gradient" else torch.eye(d).to(A) if self.of == "distance" else A
        return (L.mT @ B @ L).mean(0)


_OWN: dict[Any, Callable[[Problem, Tensor], Tensor]] = {
    "excess": lambda problem, x: problem.excess(x),
    "distance": lambda problem, x: ((x - problem.optimum) ** 2).sum(-1),
    "gradient": lambda problem, x: (problem.gradient(x) ** 2).sum(-1),
}
"""Quantities of models (S, N, d), each on its client's loss, (S, N)."""
_OF_MEAN_LOSS: dict[Any, Callable[[Problem, Tensor], Tensor]] = {
    "excess": mean_loss.excess,
    "distance": lambda problem, x: (x - mean_loss.minimiser(problem)).square().sum(-1),
    "gradient": lambda problem, x: mean_loss.gradient(problem, x).square().sum(-1),
}
"""Quantities of models (S, d) on the clients' mean loss, (S,)."""


def _polarised(q: Callable[[State], Tensor], centre: State) -> Tensor:
    """F with q = z^T F z, from q at the centre c, at c + e_i, c - e_i and c + e_i + e_j: with q(c) = f,
    F_ii = (q(c + e_i) + q(c - e_i))/2 - f,  2 F_i1 = (q(c + e_i) - q(c - e_i))/2,
    2 F_ij = q(c + e_i + e_j) - q(c + e_i) - q(c + e_j) + f."""
    like = next(iter(centre.values()))
    n = sum(value.numel() for value in centre.values())
    unit = unit_states(n, like)
    i, j = torch.triu_indices(n, n, 1)
    values = q(at_states(centre, torch.cat((unit, -unit[:-1], unit[i] + unit[j]))))
    plus, minus, f, pairs = values[:n], values[n + 1 : 2 * n + 1], values[n], values[2 * n + 1 :]
    off = values.new_zeros(n + 1, n + 1)
    off[i, j] = (pairs - plus[i] - plus[j] + f) / 2
    off[:n, n] = (plus - minus) / 4
    diagonal = torch.cat(((plus + minus) / 2 - f, f[None]))
    return off + off.mT + torch.diag(diagonal)


def forms() -> dict[str, QuadraticForm]:
    """The quantities that have names."""
    known: dict[str, tuple[Any, ...]] = {
        "excess": ("excess", "client"),
        "last_distance": ("distance", "client"),
        "last_gradient": ("gradient", "client"),
        "mean_excess": ("excess", "clients"),
        "last_consensus": ("consensus", "clients"),
        "random_iterate_excess": ("excess", "client", "average"),
        "average_gradient": ("gradient", "client", "average"),
        "average_client_gradient": ("gradient", "clients", "average"),
        "average_consensus": ("consensus", "clients", "average"),
        "mean_iterate_excess": ("excess", "client", ("suffix", 0), True),
        "global_excess": ("excess", "mean model"),
        "global_distance": ("distance", "mean model"),
        "global_gradient": ("gradient", "mean model"),
        "average_global_excess": ("excess", "mean model", "average"),
        "average_mean_gradient": ("gradient", "mean model", "average"),
        "stopped_excess": ("excess", "client", "last", False, "tau"),
        "excess_while_running": ("excess", "client", "while running", False, "tau"),
        "still_running": ("excess", "client", "still running", False, "tau"),
        "hitting_time": ("excess", "client", "time", False, "tau"),
        "gradient_still_running": ("gradient", "client", "still running", False, "tau"),
        "gradient_hitting_time": ("gradient", "client", "time", False, "tau"),
        "stopped_gradient": ("gradient", "client", "average", False, "tau"),
    }
    words = ("of", "at", "over", "mean", "until")
    return {name: QuadraticForm(**dict(zip(words, row))) for name, row in known.items()}
