"""One iteration on second moments, found by calling an algorithm's own step: for one instance or for a batch.

For a linear algorithm on quadratic losses one iteration is z+ = A(draw) z in the homogeneous state
z = (state - centre, 1). Clients draw independently and the step is affine in each client's gradient, so with the
problem's scenarios (points x_kj of weight w_kj that have the mean and covariance of client k's draw)
    E[z+ z+^T] = Abar M Abar^T + sum_k sum_j w_kj D_kj M D_kj^T,   D_kj = A(x_kj) - sum_j w_kj A(x_kj),
M = E[z z^T]; a batch of m samples divides the second term by m. A coin is one more independent draw: Abar is the mean
of its outcomes' Abar_r, and sum_r p_r (Abar_r - Abar) M (Abar_r - Abar)^T is added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from suffice.bounds import InputError

from .algorithms.base import Algorithm, Draw, State
from .batches import over_tensors, tensors, with_tensors
from .problem import QuadraticProblem
from .problems.additive import AdditiveNoise

Images = Callable[[Tensor, Tensor, State], Tensor]
"""Where one step takes the states `directions` (K, n), seen from the centre, under draws (B, J, N, ...) and what the
coins show: (B, J, K, n)."""
Outcomes = Sequence[tuple[Tensor, State]]
"""What the coins may show, with its probability (B,)."""

_ENTRIES = 1 << 24
"""Numbers that one call of `step` may hold at once."""


@dataclass(frozen=True, kw_only=True)
class Maps:
    """One iteration on the second moment M (..., m, m) of the homogeneous state; leading axes are those of a batch.

    M+ = mean M mean^T + noise + sum_k weights_k D_k M D_k^T, D = deviations: none where no coin is thrown and noise is
    additive. mean, noise (..., m, m), weights (..., K), deviations (..., K, m, m).
    """

    mean: Tensor
    weights: Tensor
    deviations: Tensor
    noise: Tensor

    def advance(self, moment: Tensor) -> Tensor:
        after = self.mean @ moment @ self.mean.mT + self.noise
        for weight, deviation in zip(self.weights.unbind(-1), self.deviations.unbind(-3)):
            after = after + weight[..., None, None] * (deviation @ moment @ deviation.mT)
        return after

    def operator(self) -> Tensor:
        """The same as a matrix (..., m^2, m^2) on the entries of M, the last of which is 1."""
        every = torch.cat((self.mean[..., None, :, :], self.deviations), -3)
        weights = torch.cat((torch.ones_like(self.mean[..., 0, :1]), self.weights), -1)
        result = torch.einsum("...k,...kac,...kbd->...abcd", weights, every, every).flatten(-4, -3).flatten(-2)
        result[..., -1] += self.noise.flatten(-2)
        return result

    def path(self, moment: Tensor, iterations: Tensor) -> tuple[Tensor, Tensor]:
        """M_T and the sum of M_t over t < T for T = `iterations` (B,), by doubling. For additive noise alone.

        With P and Q the mean and the noise of k iterations M_{k+t} = P M_t P^T + Q.
        """
        if self.weights.shape[-1]:
            raise InputError("maps", "random maps", "only additive noise composes: use the operator")
        P, Q = torch.eye(self.mean.shape[-1]).to(self.mean).expand_as(self.mean), torch.zeros_like(self.noise)
        M, total, reached = moment, torch.zeros_like(moment), torch.zeros_like(iterations)
        for bit in reversed(range(int(iterations.max()).bit_length())):
            total = total + P @ total @ P.mT + reached[:, None, None] * Q
            M, Q, P, reached = P @ M @ P.mT + Q, P @ Q @ P.mT + Q, P @ P, 2 * reached
            odd = ((iterations >> bit) & 1 == 1)[:, None, None]
            total, M = torch.where(odd, total + M, total), torch.where(odd, self.advance(M), M)
            Q, P = torch.where(odd, self.advance(Q), Q), torch.where(odd, self.mean @ P, P)
            reached = reached + odd[:, 0, 0]
        return M, total


def origin(problem: QuadraticProblem, algorithm: Algorithm) -> tuple[State, State, Tensor]:
    """The state before the first step, the centre (optima; zero for other states), and z = (state - centre, 1)."""
    template = algorithm.init(problem, problem.start[None])
    centre = {name: torch.zeros_like(value) for name, value in template.items()} | {"models": problem.optimum[None]}
    start = _flatten({name: template[name] - centre[name] for name in template})
    return template, centre, torch.cat((start, torch.ones_like(start[:, :1])), dim=1)[0]


def probe(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    centre: State,
    eta: Tensor,
    iteration: int,
    outcomes: Sequence[tuple[float, Mapping[str, Tensor]]] | None = None,
) -> Maps:
    """The maps of one iteration, under `outcomes` of the coins: all that the algorithm lists unless given."""
    weights, draws = problem.scenarios()
    listed = possible(algorithm.outcomes(problem, iteration)) if outcomes is None else outcomes
    tossed = [
        (torch.full((1,), float(odds), dtype=problem.dtype), {name: value[None] for name, value in extra.items()})
        for odds, extra in listed
    ]

    def images(draws: Tensor, directions: Tensor, extra: State) -> Tensor:
        shown = {name: value[0] for name, value in extra.items()}
        return _images(problem, algorithm, centre, eta, draws[0], directions, iteration, shown)[None]

    found = _maps(
        images, tossed, weights[None], draws[None], _others(problem, draws[None]), _states(centre), problem.batch
    )
    return over_tensors(lambda each: each[0], found)


def probe_batch(
    problems: QuadraticProblem,
    algorithms: Algorithm,
    centre: State,
    eta: Tensor,
    iteration: int,
    outcome: int | None = None,
) -> Maps:
    """The maps of B instances (`batches.stack`), from calls of the one unmodified `step` for all of them.

    centre (B, 1, ...) by name, eta (B,) or (B, N); with `outcome` the coins show that one of the algorithm's list, else
    all of them in proportion. `torch.func.vmap` has to be able to follow `step`, `outcomes` and
    `scenarios`: no branch on a number.
    """
    weights, draws = vmap(lambda given: with_tensors(problems, given).scenarios())(tensors(problems))
    given = (tensors(problems), tensors(algorithms), centre, eta)

    def images(draws: Tensor, directions: Tensor, extra: State) -> Tensor:
        def one(problem: list[Tensor], algorithm: list[Tensor], centre: State, eta: Tensor, draws: Tensor,
                extra: State) -> Tensor:  # fmt: skip
            rebuilt = with_tensors(problems, problem), with_tensors(algorithms, algorithm)
            return _images(*rebuilt, centre, eta, draws, directions, iteration, extra)

        most = max(1, _ENTRIES // (draws.shape[1] * directions.numel() * draws.shape[2]))
        return vmap(one, chunk_size=most if most < len(eta) else None)(*given, draws, extra)

    def shown(problem: list[Tensor], algorithm: list[Tensor]) -> Outcomes:
        listed = possible(with_tensors(algorithms, algorithm).outcomes(with_tensors(problems, problem), iteration))
        if outcome is not None:
            listed = [(1.0, listed[outcome][1])]
        return [(torch.as_tensor(odds, dtype=problems.dtype), dict(extra)) for odds, extra in listed]

    # an instance without tensors of its own would be no batch: eta goes along
    outcomes = vmap(lambda problem, algorithm, _: shown(problem, algorithm))(*given[:2], eta)
    return _maps(
        images, outcomes, weights, draws, _others(problems, draws), _states(centre) // len(eta), problems.batch
    )


def possible(listed: Sequence[tuple[Any, Mapping[str, Tensor]]]) -> list[tuple[Any, Mapping[str, Tensor]]]:
    """Outcomes without those of probability 0, such as tails of a coin that always shows heads."""
    return [(odds, extra) for odds, extra in listed if isinstance(odds, Tensor) or odds > 0]


def _others(problem: QuadraticProblem, draws: Tensor) -> Tensor:
    """What the other clients draw (B, 1, N, ...) while one varies: nothing where noise is added to gradients.

    Any draw would do but for rounding: a unit state is lost beside noise 1e9 times as large.
    """
    return torch.zeros_like(draws[:, :1]) if isinstance(problem, AdditiveNoise) else draws[:, :1]


def _maps(
    images: Images, outcomes: Outcomes, weights: Tensor, draws: Tensor, others: Tensor, states: int, batch: int
) -> Maps:
    """From scenarios of weights (B, J, N), draws (B, J, N, ...), while other clients draw `others`."""
    count, scenarios, clients = weights.shape
    unit = torch.cat((torch.eye(states), torch.zeros(1, states))).to(weights)  # unit states, and the origin last
    # Noise is additive where it moves a generic state just as it moves the origin.
    generic = torch.stack((torch.zeros(states), 1 + torch.arange(1, states + 1).cos() / 2)).to(weights)
    own = torch.eye(clients, dtype=torch.bool).view(1, clients, 1, clients, *(1,) * (draws.ndim - 3))
    points = torch.where(own, draws[:, None], others[:, None]).flatten(1, 2)  # (B, N J, N, ...): one client varies
    shares = weights.mT / batch  # (B, N, J)
    means, noise = [], weights.new_zeros(count, states + 1, states + 1)
    kept: list[tuple[Tensor, Tensor]] = []
    for odds, extra in outcomes:
        reference = _matrices(images(others, unit, extra))[:, 0]
        moved = images(points, generic, extra).unflatten(1, (clients, scenarios))  # (B, N, J, 2, n)
        grown = moved[..., 1, :] - moved[..., 0, :] - (reference[:, :-1, :-1] @ generic[1])[:, None, None]
        mean = reference.clone()
        size = torch.maximum(reference.abs().amax((1, 2)), moved.abs().amax((1, 2, 3, 4)))[:, None, None, None]
        if bool((grown.abs() <= 1e-12 * states * size).all()):
            middle = torch.einsum("bkj,bkja->bka", weights.mT, moved[..., 0, :])
            mean[:, :-1, -1] += (middle - reference[:, None, :-1, -1]).sum(1)
            column = moved[..., 0, :] - middle[:, :, None]
            noise[:, :-1, :-1] += torch.einsum("b,bkj,bkja,bkjc->bac", odds, shares, column, column)
        else:
            maps = _matrices(images(points, unit, extra)).unflatten(1, (clients, scenarios))  # (B, N, J, m, m)
            middle = torch.einsum("bkj,bkjac->bkac", weights.mT, maps)
            mean += (middle - reference[:, None]).sum(1)
            kept.append(((odds[:, None, None] * shares).flatten(1), (maps - middle[:, :, None]).flatten(1, 2)))
        means.append((odds, mean))
    mean = torch.stack([odds[:, None, None] * each for odds, each in means]).sum(0)
    if len(means) > 1:
        kept += [(odds[:, None], (each - mean)[:, None]) for odds, each in means]
    none = (weights[:, :0, 0], mean[:, None][:, :0])
    factors, deviations = (torch.cat(part, 1) for part in zip(none, *kept))
    return Maps(mean=mean, noise=noise, weights=factors, deviations=deviations)


def _images(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    centre: State,
    eta: Tensor,
    draws: Tensor,
    directions: Tensor,
    iteration: int,
    extra: Mapping[str, Tensor],
) -> Tensor:
    """Of every direction (K, n) under every draw (J, N, ...), (J, K, n), from one call of `step` or from a few."""
    most = max(1, _ENTRIES // (directions.numel() * draws.shape[1]))
    if len(draws) > most:
        given = problem, algorithm, centre, eta
        return torch.cat([_images(*given, few, directions, iteration, extra) for few in draws.split(most)])
    count, states = len(draws), directions.repeat(len(draws), 1)
    parts = states.split([value.numel() for value in centre.values()], dim=1)
    state = {
        name: value + part.reshape(len(part), *value.shape[1:]) for (name, value), part in zip(centre.items(), parts)
    }
    moved = Draw(iteration=iteration, noise=draws.repeat_interleave(len(directions), 0), extra=extra)
    with torch.no_grad():
        after = algorithm.step(problem, state, moved, eta)
    return _flatten({name: after[name] - centre[name] for name in centre}).unflatten(0, (count, len(directions)))


def _matrices(images: Tensor) -> Tensor:
    """The matrices (B, J, m, m) on the homogeneous state that take unit states, and the origin last, to the images."""
    origin = images[..., -1:, :]
    upper = torch.cat((images[..., :-1, :] - origin, origin), -2).mT
    last = torch.zeros_like(upper[..., :1, :])
    last[..., -1] = 1
    return torch.cat((upper, last), -2)


def _states(centre: State) -> int:
    return sum(value.numel() for value in centre.values())


def _flatten(state: State) -> Tensor:
    return torch.cat([value.flatten(1) for value in state.values()], dim=1)
