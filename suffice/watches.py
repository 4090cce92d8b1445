"""What the methods' theorems control, followed along simulated paths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor

    from simulate import Problem

State = dict[str, "Tensor"]


class Watch(ABC):
    """Sees every state of a block of seeds in turn, from t = 0; `value` is then (S, K) for K parts."""

    def see(self, t: int, state: State) -> None:
        self.state = state

    @abstractmethod
    def value(self) -> Tensor: ...


class Excess(Watch):
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

    def see(self, t: int, state: State) -> None:
        super().see(t, state)
        self.t, models = t, state["models"]
        self.total = models if t <= 1 else self.total + models

    def value(self) -> Tensor:
        return self.problem.excess(self.total / max(self.t, 1)).mean(-1, keepdim=True)


class ClusterGradient(Watch):
    """The average over the iterates 0 to t - 1 of |grad fbar(xbar)|^2 of every cluster, (S, K); at t = 0 of the start.

    xbar is the mean of the cluster's models and fbar that of its losses.
    """

    def __init__(self, problem: Problem, clusters: Sequence[Sequence[int]]) -> None:
        import torch

        self.problem = problem
        share = np.zeros((len(clusters), problem.clients))
        for at, members in enumerate(clusters):
            share[at, list(members)] = 1 / len(members)
        self.share = torch.from_numpy(share).to(problem.start)
        self.owner = self.share.argmax(0)  # the cluster of every client

    def see(self, t: int, state: State) -> None:
        if t == 0:
            self.total: Tensor = self._square(state)
        elif t > 1:
            self.total = self.total + self._square(self.state)  # the state before: t - 1
        self.t = t
        super().see(t, state)

    def _square(self, state: State) -> Tensor:
        import torch

        mean = torch.matmul(self.share, state["models"])[:, self.owner]
        return (torch.matmul(self.share, self.problem.gradient(mean)) ** 2).sum(-1)

    def value(self) -> Tensor:
        return self.total / max(self.t, 1)


class Distance(Watch):
    """(1/(2n)) sum_i mu_i |x_i - x_i*|^2 for given x_i* (N, d), (S, 1)."""

    def __init__(self, solution: Tensor, mu: np.ndarray) -> None:
        import torch

        self.solution, self.weight = solution, torch.from_numpy(mu).to(solution) / 2

    def value(self) -> Tensor:
        squares = ((self.state["models"] - self.solution) ** 2).sum(-1)
        return (self.weight * squares).mean(-1, keepdim=True)


class Lyapunov(Watch):
    """Psi = gamma_min mean(|x_i - x_i*|^2 / gamma_i + gamma_i |h_i - grad f_i(x_i*)|^2 / p^2), (S, 1)."""

    def __init__(self, problem: Problem, solution: Tensor, *, eta: np.ndarray, p: float) -> None:
        import torch

        self.solution, self.p = solution, p
        self.gamma = torch.from_numpy(eta).to(solution)
        self.control = problem.gradient(solution[None])[0]

    def value(self) -> Tensor:
        models = ((self.state["models"] - self.solution) ** 2).sum(-1) / self.gamma
        control = self.gamma * ((self.state["control"] - self.control) ** 2).sum(-1) / self.p**2
        return self.gamma.min() * (models + control).mean(-1, keepdim=True)
