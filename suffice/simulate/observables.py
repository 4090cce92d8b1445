"""The random variables whose expectations theorems bound, followed along simulated paths or read off traced ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from suffice.bounds import Quantity

from .algorithms.base import Algorithm, State
from .problem import Problem
from .runner import iterate
from .seed_blocks import seed_blocks
from .threads import one_thread


class Observable(ABC):
    """Is updated with every state of a block of seeds in turn, from t = 0; `value` is then (S, K) for K parts."""

    def update(self, t: int, state: State) -> None:
        self.state = state

    @abstractmethod
    def value(self) -> Tensor: ...


class Excess(Observable):
    """e_i of every client, (S, N)."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def value(self) -> Tensor:
        return self.problem.excess(self.state["models"])


class MeanExcess(Excess):
    """Their mean over the clients, (S, 1)."""

    def value(self) -> Tensor:
        return super().value().mean(-1, keepdim=True)


class AveragedExcess(Excess):
    """The mean over the clients of the excess at the average of the iterates 1 to t, (S, 1); at t = 0 of the start."""

    def update(self, t: int, state: State) -> None:
        super().update(t, state)
        self.t, models = t, state["models"]
        self.total = models if t <= 1 else self.total + models

    def value(self) -> Tensor:
        return self.problem.excess(self.total / max(self.t, 1)).mean(-1, keepdim=True)


class ClusterGradient(Observable):
    """The average over the iterates 0 to t - 1 of |grad fbar(xbar)|^2 of every cluster, (S, K); at t = 0 of the start.

    xbar is the mean of the cluster's models and fbar that of its losses.
    """

    def __init__(self, problem: Problem, clusters: Sequence[Sequence[int]]) -> None:
        self.problem = problem
        share = np.zeros((len(clusters), problem.clients))
        for at, members in enumerate(clusters):
            share[at, list(members)] = 1 / len(members)
        self.share = torch.from_numpy(share).to(problem.start)
        self.owner = self.share.argmax(0)  # the cluster of every client

    def update(self, t: int, state: State) -> None:
        if t == 0:
            self.total: Tensor = self._square(state)
        elif t > 1:
            self.total = self.total + self._square(self.state)  # the state before: t - 1
        self.t = t
        super().update(t, state)

    def _square(self, state: State) -> Tensor:
        mean = torch.matmul(self.share, state["models"])[:, self.owner]
        return (torch.matmul(self.share, self.problem.gradient(mean)) ** 2).sum(-1)

    def value(self) -> Tensor:
        return self.total / max(self.t, 1)


class Distance(Observable):
    """(1/(2n)) sum_i mu_i |x_i - x_i*|^2 for given x_i* (N, d), (S, 1)."""

    def __init__(self, solution: Tensor, mu: np.ndarray) -> None:
        self.solution, self.weight = solution, torch.from_numpy(mu).to(solution) / 2

    def value(self) -> Tensor:
        squares = ((self.state["models"] - self.solution) ** 2).sum(-1)
        return (self.weight * squares).mean(-1, keepdim=True)


class Lyapunov(Observable):
    """Psi = gamma_min mean(|x_i - x_i*|^2 / gamma_i + gamma_i |h_i - grad f_i(x_i*)|^2 / p^2), (S, 1)."""

    def __init__(self, problem: Problem, solution: Tensor, *, eta: np.ndarray, p: float) -> None:
        self.solution, self.p = solution, p
        self.gamma = torch.from_numpy(eta).to(solution)
        self.control = problem.gradient(solution[None])[0]

    def value(self) -> Tensor:
        models = ((self.state["models"] - self.solution) ** 2).sum(-1) / self.gamma
        control = self.gamma * ((self.state["control"] - self.control) ** 2).sum(-1) / self.p**2
        return self.gamma.min() * (models + control).mean(-1, keepdim=True)


def observe(
    problem: Problem,
    algorithm: Algorithm,
    make: Callable[[], Observable],
    *,
    eta: np.ndarray,
    grid: np.ndarray,
    seeds: int,
    root: int = 0,
) -> np.ndarray:
    """The observable at the iterations `grid` (increasing) on every seed, (S, grid points, K).

    eta is one step size per client (N,); paths are those of `simulate.run`, and `make` builds an observable for each
    block of seeds.
    """
    steps, wanted, found = torch.from_numpy(eta).to(problem.start), set(grid.tolist()), []
    with one_thread():
        for block in seed_blocks(problem, range(seeds)):
            observable, values = make(), []
            for t, _, _, state in iterate(
                problem, algorithm, seeds=block, root=root, iterations=int(grid[-1]), eta=lambda t: steps
            ):
                observable.update(t, state)
                if t in wanted:
                    values.append(observable.value().double().cpu().numpy())
            found.append(np.stack(values, axis=1))
    return np.concatenate(found)[:seeds]


# All take the excess losses (S, T + 1) of one client at t = 0..T and the precision; tau = min{t: e_t < eps}.


def _tau(excess: np.ndarray, eps: float) -> np.ndarray:
    below = excess < eps
    return np.where(below.any(1), below.argmax(1), excess.shape[1])


def _last(excess: np.ndarray, eps: float) -> np.ndarray:
    return excess[:, -1]


def _while_running(excess: np.ndarray, eps: float) -> np.ndarray:
    return excess[:, -1] * (_tau(excess, eps) >= excess.shape[1] - 1)


def _still_running(excess: np.ndarray, eps: float) -> np.ndarray:
    return (_tau(excess, eps) > excess.shape[1] - 1).astype(float)


def _stopped(excess: np.ndarray, eps: float) -> np.ndarray:
    at = np.minimum(_tau(excess, eps), excess.shape[1] - 1)
    return np.take_along_axis(excess, at[:, None], 1)[:, 0]


def _hitting(excess: np.ndarray, eps: float) -> np.ndarray:
    """min(tau, T) <= tau: a bound of E[tau] bounds it too."""
    return np.minimum(_tau(excess, eps), excess.shape[1] - 1).astype(float)


OF_PATHS: dict[Quantity, Callable[[np.ndarray, float], np.ndarray]] = {
    Quantity.EXCESS: _last,
    Quantity.EXCESS_WHILE_RUNNING: _while_running,
    Quantity.STILL_RUNNING: _still_running,
    Quantity.STOPPED_EXCESS: _stopped,
    Quantity.HITTING_TIME: _hitting,
}
