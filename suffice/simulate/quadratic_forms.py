"""Quantities of an algorithm as functions of its models, and of a linear one as quadratic forms.

With delta_k = theta_k - theta_k* and z = (delta_1, ..., delta_N, 1) a quantity is E[z^T F z] at T; or its average over
t < T, which is that of an iterate drawn uniformly from the first T; or that of the mean of theta_0, ..., theta_T.
Second moments give it on quadratics; `value` gives it of simulated models of any problem. What depends on
tau = min{t: v_t < level}, v_t = `value` at t, is no quadratic form: paths alone give it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from suffice.bounds import Quantity

from . import mean_loss
from .algorithms.base import Algorithm, Around, Draw, State
from .oracle import Oracle
from .problem import Problem, QuadraticProblem, known

Matrix = Callable[[QuadraticProblem, int], Tensor]
"""F (N d + 1, N d + 1) of a problem and a client."""
OfModels = Callable[[Problem, Tensor, int], Tensor]
"""The quantity (S,) of a problem, models (S, N, d) and a client: never negative."""


@dataclass(kw_only=True)
class Stopping:
    """What is known at t of v_0, ..., v_t, each (..., S): v at min(t, tau), whether tau >= t, min(t, tau), and the sum
    of v_s over s < min(t, tau)."""

    level: Tensor
    value: Tensor
    running: Tensor
    steps: Tensor
    total: Tensor
    t: int = 0

    @classmethod
    def at_start(cls, level: Tensor, value: Tensor) -> Stopping:
        none = torch.zeros_like(value)
        return cls(level=level, value=value, running=none == 0, steps=none, total=none)

    def then(self, value: Tensor) -> None:
        """Go on to t + 1, given v there."""
        self.t += 1
        self.running = self.still
        self.steps = self.steps + self.running
        self.total = self.total + torch.where(self.running, self.value, 0.0)
        self.value = torch.where(self.running, value, self.value)

    @property
    def still(self) -> Tensor:
        """Whether tau > t."""
        return self.running & (self.value >= self.level)

    def keep(self, rows: Tensor) -> None:
        """Leave out all but these rows of the first axis."""
        for name in ("level", "value", "running", "steps", "total"):
            setattr(self, name, getattr(self, name)[rows])


@dataclass(frozen=True, kw_only=True)
class QuadraticForm:
    """`average`: over t < T. `of_mean`: at the mean of the iterates 0 to T. `stopped`: of what is known at T of a path
    and the time tau at which `value` falls below the scalar called `level`. `mean_loss`: of the clients' mean loss at
    the mean of their models, so that a bound's e0 and distance2 are those of that loss."""

    quantity: Quantity
    matrix: Matrix
    value: OfModels
    average: bool = False
    of_mean: bool = False
    mean_loss: bool = False
    level: str = ""
    stopped: Callable[[Stopping], Tensor] | None = None

    def on_state(self, problem: QuadraticProblem, client: int, size: int, iterations: int | Tensor) -> Tensor:
        """F on the homogeneous state (size, size) of the algorithm, or of `WithSum` of it for means."""
        F, n = self.matrix(problem, client), problem.clients * problem.features
        found = F.new_zeros(size, size)
        first, count = (n, iterations + 1) if self.of_mean else (0, 1)
        own = slice(first, first + n)
        found[own, own] = F[:n, :n] / count**2
        found[own, -1] = found[-1, own] = F[:n, n] / count
        found[-1, -1] += F[n, n]
        return found


_SUM = "sum of the models"
"""A name that no algorithm's own state has."""


@dataclass(frozen=True, kw_only=True)
class WithSum(Around):
    """The algorithm, and the sum over t = 0, ..., T of its models' distances from the optima as a second state."""

    of: Algorithm
    name: str
    linear: bool = True

    def init(self, problem: Oracle, models: Tensor) -> State:
        state = self.of.init(problem, models)
        rest = {name: value for name, value in state.items() if name != "models"}
        return {"models": state["models"], _SUM: _away(problem, state["models"]), **rest}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        after = self.of.step(problem, {name: value for name, value in state.items() if name != _SUM}, draw, eta)
        rest = {name: value for name, value in after.items() if name != "models"}
        return {"models": after["models"], _SUM: state[_SUM] + _away(problem, after["models"]), **rest}


def _away(problem: Oracle, models: Tensor) -> Tensor:
    return models - known(problem, "a sum of distances").optimum


def _of_client(block: Callable[[Tensor], Tensor]) -> Matrix:
    """delta_i^T block(A_i) delta_i of one client, R_i(theta) - R_i* = delta^T A_i delta."""

    def matrix(problem: QuadraticProblem, client: int) -> Tensor:
        n, d = problem.clients * problem.features, problem.features
        F = problem.start.new_zeros(n + 1, n + 1)
        own = slice(client * d, (client + 1) * d)
        F[own, own] = block(problem.A[client])
        return F

    return matrix


def _mean(matrix: Matrix) -> Matrix:
    """The mean of a form over the clients."""
    return lambda problem, client: sum(
        (matrix(problem, k) for k in range(problem.clients)), torch.zeros(())
    ) / problem.clients  # fmt: skip


def _consensus(problem: QuadraticProblem, client: int) -> Tensor:
    """(1/N^2) sum_ij |x_i - x_j|^2 = (2/N) (sum_i |x_i|^2 - N |xbar|^2), x = delta + the optima."""
    N, d = problem.clients, problem.features
    eye = torch.eye(N).to(problem.start)
    K = torch.kron(2 / N * (eye - 1 / N), torch.eye(d).to(eye))
    optima = problem.optimum.reshape(-1)
    lift = torch.cat((torch.eye(N * d).to(eye), optima[:, None]), dim=1)
    return lift.T @ K @ lift


def _of_mean_loss(block: Callable[[Tensor], Tensor]) -> Matrix:
    """u^T block(A) u, u = xbar - x*, A the mean of the A_k, f(x) - f* = (x - x*)^T A (x - x*).

    u = (1/N) sum_k delta_k + (the mean of the optima - x*): a linear map of z.
    """

    def matrix(problem: QuadraticProblem, client: int) -> Tensor:
        N, d = problem.clients, problem.features
        A = problem.A.mean(0)
        shift = problem.optimum.mean(0) - mean_loss.minimiser(problem)
        lift = torch.cat((torch.eye(d).to(A).repeat(1, N) / N, shift[:, None]), dim=1)
        return lift.T @ block(A) @ lift

    return matrix


def _mean_loss_excess(problem: Problem, models: Tensor, client: int) -> Tensor:
    return mean_loss.excess(problem, models.mean(1))


def _mean_loss_distance(problem: Problem, models: Tensor, client: int) -> Tensor:
    return (models.mean(1) - mean_loss.minimiser(problem)).square().sum(-1)


def _mean_loss_slope(problem: Problem, models: Tensor, client: int) -> Tensor:
    return mean_loss.gradient(problem, models.mean(1)).square().sum(-1)


def _spread(problem: Problem, models: Tensor, client: int) -> Tensor:
    return 2 * ((models - models.mean(1, keepdim=True)) ** 2).sum(-1).mean(-1)


def _excess(problem: Problem, models: Tensor, client: int) -> Tensor:
    return problem.excess(models)[:, client]


def _distance(problem: Problem, models: Tensor, client: int) -> Tensor:
    return ((models - problem.optimum) ** 2).sum(-1)[:, client]


def _slope(problem: Problem, models: Tensor, client: int) -> Tensor:
    return (problem.gradient(models) ** 2).sum(-1)[:, client]


def _mean_excess(problem: Problem, models: Tensor, client: int) -> Tensor:
    return problem.excess(models).mean(-1)


def _mean_slope(problem: Problem, models: Tensor, client: int) -> Tensor:
    return (problem.gradient(models) ** 2).sum(-1).mean(-1)


def _half_hessian(A: Tensor) -> Tensor:
    return A


def _squared_hessian(A: Tensor) -> Tensor:
    return 4 * A @ A


def _identity(A: Tensor) -> Tensor:
    return torch.eye(len(A)).to(A)


_E, _G, _D = (_of_client(block) for block in (_half_hessian, _squared_hessian, _identity))
_GLOBAL = (
    (Quantity.GLOBAL_EXCESS, _half_hessian, _mean_loss_excess, False),
    (Quantity.GLOBAL_DISTANCE, _identity, _mean_loss_distance, False),
    (Quantity.GLOBAL_GRADIENT, _squared_hessian, _mean_loss_slope, False),
    (Quantity.AVERAGE_GLOBAL_EXCESS, _half_hessian, _mean_loss_excess, True),
    (Quantity.AVERAGE_MEAN_GRADIENT, _squared_hessian, _mean_loss_slope, True),
)


def _unknown(problem: QuadraticProblem, client: int) -> Tensor:
    raise NotImplementedError("second moments do not tell what happens at a stopping time")


def _at_stop(quantity: Quantity, stopped: Callable[[Stopping], Tensor], level: str = "eps") -> QuadraticForm:
    value = _excess if level == "eps" else _slope
    return QuadraticForm(quantity=quantity, matrix=_unknown, value=value, level=level, stopped=stopped)


def forms() -> dict[str, QuadraticForm]:
    """By the quantity's name in lower case. Of a hitting time tau it is min(tau, T), which is at most tau."""
    known = [
        QuadraticForm(quantity=Quantity.EXCESS, matrix=_E, value=_excess),
        QuadraticForm(quantity=Quantity.LAST_DISTANCE, matrix=_D, value=_distance),
        QuadraticForm(quantity=Quantity.LAST_GRADIENT, matrix=_G, value=_slope),
        QuadraticForm(quantity=Quantity.MEAN_EXCESS, matrix=_mean(_E), value=_mean_excess),
        QuadraticForm(quantity=Quantity.LAST_CONSENSUS, matrix=_consensus, value=_spread),
        QuadraticForm(quantity=Quantity.RANDOM_ITERATE_EXCESS, matrix=_E, value=_excess, average=True),
        QuadraticForm(quantity=Quantity.AVERAGE_GRADIENT, matrix=_G, value=_slope, average=True),
        QuadraticForm(quantity=Quantity.AVERAGE_CLIENT_GRADIENT, matrix=_mean(_G), value=_mean_slope, average=True),
        QuadraticForm(quantity=Quantity.AVERAGE_CONSENSUS, matrix=_consensus, value=_spread, average=True),
        QuadraticForm(quantity=Quantity.MEAN_ITERATE_EXCESS, matrix=_E, value=_excess, of_mean=True),
        *(
            QuadraticForm(quantity=quantity, matrix=_of_mean_loss(block), value=value, mean_loss=True, average=average)
            for quantity, block, value, average in _GLOBAL
        ),
        _at_stop(Quantity.STOPPED_EXCESS, lambda at: at.value),
        _at_stop(Quantity.EXCESS_WHILE_RUNNING, lambda at: at.value * at.running),
        _at_stop(Quantity.STILL_RUNNING, lambda at: at.still.to(at.value)),
        _at_stop(Quantity.HITTING_TIME, lambda at: at.steps),
        _at_stop(Quantity.GRADIENT_STILL_RUNNING, lambda at: at.still.to(at.value), "G"),
        _at_stop(Quantity.GRADIENT_HITTING_TIME, lambda at: at.steps, "G"),
        _at_stop(Quantity.STOPPED_GRADIENT, lambda at: at.total / max(at.t, 1), "G"),
    ]
    return {form.quantity.name.lower(): form for form in known}
