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

from .algorithms.algorithm import Algorithm, Draw, State
from .problem import QuadraticProblem
from .problem_batches import over_tensors, tensors, with_tensors
from .problems.gradient_noise import AdditiveNoise

Images = Callable[[Tensor, Tensor, State], Tensor]
"""Where one step takes the states (K, n), seen from the centre, under draws (B, K, N, ...) and what the coins show
(B, K, ...): (B, K, n)."""
Outcomes = Sequence[tuple[Tensor, State]]
"""Each outcome that the coins may show: its probability (B,), and the coins."""

_ENTRIES = 1 << 24
"""One call of `step` may hold so many numbers at once."""


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

    def with_sum(self, sums: Tensor) -> Maps:
        """The maps of (S, z), the 1 still last, where z+ comes with what S gains from it: (S+ - S, z+) = sums z+, sums
        (..., k + m, m)."""
        more = sums.shape[-2] - (size := self.mean.shape[-1])
        kept = torch.eye(more + size).to(sums) * (torch.arange(more + size) < more).to(sums)

        def wide(matrix: Tensor) -> Tensor:
            return torch.cat((torch.zeros_like(matrix[..., :1]).expand(*matrix.shape[:-1], more), matrix), -1)

        mean, noise = wide(sums @ self.mean) + kept, sums @ self.noise @ sums.mT
        deviations = wide(sums[..., None, :, :] @ self.deviations)
        return Maps(mean=mean, noise=noise, weights=self.weights, deviations=deviations)

    def advance_sum(self, moment: Tensor, share: Tensor) -> Tensor:
        """The moment (..., 2 m, 2 m) of (z, S), S+ = S + share z+. As draws are independent E[z+ S^T] = mean E[z S^T]
        =: C, E[z+ S+^T] = C + share M+ and E[S+ S+^T] = E[S S^T] + share (C + C^T) + share^2 M+."""
        m, w = self.mean.shape[-1], share[..., None, None]
        M, C = self.advance(moment[..., :m, :m]), self.mean @ moment[..., :m, m:]
        cross, both = C + w * M, moment[..., m:, m:] + w * (C + C.mT) + w * w * M
        return torch.cat((torch.cat((M, cross), -1), torch.cat((cross.mT, both), -1)), -2)


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
    outcome: int | None = None,
) -> Maps:
    """The maps of one iteration; with `outcome` the coins show that one of those possible, else all in proportion."""
    weights, draws = problem.scenarios()
    tossed = [
        (torch.full((1,), float(odds), dtype=problem.dtype), {name: value[None] for name, value in extra.items()})
        for odds, extra in _tossed(problem, algorithm, iteration, outcome)
    ]
    # floats such as 1/6 do not sum to 1 in exact arithmetic, in which this may be asked
    whole = sum((odds for odds, _ in tossed), torch.zeros(1, dtype=problem.dtype))
    weights, tossed = weights / weights.sum(0), [(odds / whole, extra) for odds, extra in tossed]

    def images(draws: Tensor, states: Tensor, extra: State) -> Tensor:
        shown = {name: value[0] for name, value in extra.items()}
        return images_of(problem, algorithm, centre, eta, draws[0], states, iteration, shown)[None]

    return over_tensors(lambda each: each[0], _maps(images, tossed, problem, weights[None], draws[None], centre))


def probe_batch(
    problems: QuadraticProblem,
    algorithms: Algorithm,
    centre: State,
    eta: Tensor,
    iteration: int,
    outcome: int | None = None,
) -> Maps:
    """The maps of B instances (`problem_batches.stack`), from calls of the one unmodified `step` for all of them.

    centre (B, 1, ...) by name, eta (B,) or (B, N); `outcome` as in `probe`. `torch.func.vmap` has to be able to follow
    `step`, `outcomes` and `scenarios`: no branch on a number.
    """
    weights, draws = vmap(lambda given: with_tensors(problems, given).scenarios())(tensors(problems))
    given = (tensors(problems), tensors(algorithms), centre, eta)

    def images(draws: Tensor, states: Tensor, extra: State) -> Tensor:
        def one(problem: list[Tensor], algorithm: list[Tensor], centre: State, eta: Tensor, draws: Tensor,
                extra: State) -> Tensor:  # fmt: skip
            rebuilt = with_tensors(problems, problem), with_tensors(algorithms, algorithm)
            return images_of(*rebuilt, centre, eta, draws, states, iteration, extra)

        most = max(1, _ENTRIES // (states.numel() * draws.shape[2]))
        return vmap(one, chunk_size=most if most < len(eta) else None)(*given, draws, extra)

    def shown(problem: list[Tensor], algorithm: list[Tensor]) -> Outcomes:
        listed = _tossed(with_tensors(problems, problem), with_tensors(algorithms, algorithm), iteration, outcome)
        return [(torch.as_tensor(odds, dtype=problems.dtype), dict(extra)) for odds, extra in listed]

    if type(algorithms).outcomes is Algorithm.outcomes:  # no coins
        outcomes = [(torch.ones(len(eta), dtype=problems.dtype), {})]
    else:  # an instance without tensors of its own would be no batch: eta goes along
        outcomes = vmap(lambda problem, algorithm, _: shown(problem, algorithm))(*given[:2], eta)
    return _maps(images, outcomes, problems, weights, draws, centre)


def possible(listed: Sequence[tuple[Any, Mapping[str, Tensor]]]) -> list[tuple[Any, Mapping[str, Tensor]]]:
    """Outcomes without those of probability 0, such as tails of a coin that always shows heads."""
    return [(odds, extra) for odds, extra in listed if isinstance(odds, Tensor) or odds > 0]


def _tossed(problem: Any, algorithm: Algorithm, t: int, outcome: int | None) -> list[tuple[Any, Mapping[str, Tensor]]]:
    listed = possible(algorithm.outcomes(problem, t))
    return listed if outcome is None else [(1.0, listed[outcome][1])]


def _varied(problem: QuadraticProblem, weights: Tensor, draws: Tensor, states: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draws and states under which an iteration is probed, of scenarios of weights (B, J, N), draws (B, J, N, ...).

    Points (B, N J, N, ...), in which one client's draw varies; draws (B, K, N, ...) and states (K, n): unit states and
    the origin while nothing varies, then, at every point, the origin and a generic state. Other clients draw nothing
    where noise is added to gradients. Any draw would do but for rounding: a unit state is lost beside noise 1e9 times
    as large.
    """
    _, scenarios, clients = weights.shape
    others = torch.zeros_like(draws[:, :1]) if isinstance(problem, AdditiveNoise) else draws[:, :1]
    # Noise is additive where it moves a generic state just as it moves the origin.
    generic = torch.stack((torch.zeros(states), 1 + torch.arange(1, states + 1).cos() / 2)).to(weights)
    own = torch.eye(clients, dtype=torch.bool).view(1, clients, 1, clients, *(1,) * (draws.ndim - 3))
    points = torch.where(own, draws[:, None], others[:, None]).flatten(1, 2)
    still = others.expand(-1, states + 1, *others.shape[2:])
    both = torch.cat((unit_states(states, weights), generic.repeat(clients * scenarios, 1)))
    return points, torch.cat((still, points.repeat_interleave(2, 1)), 1), both


def unit_states(states: int, like: Tensor) -> Tensor:
    """Unit states, and the origin last, (n + 1, n)."""
    return torch.cat((torch.eye(states), torch.zeros(1, states))).to(like)


_MANY_DRAWS = 16


def _maps(
    images: Images, outcomes: Outcomes, problem: QuadraticProblem, weights: Tensor, draws: Tensor, centre: State
) -> Maps:
    """All outcomes (at least one) are probed by one call of `images`, or by two where noise is not additive."""
    (count, scenarios, clients), shares = weights.shape, weights.mT / problem.batch
    states = sum(value.numel() for value in centre.values()) // count
    points, draws, given = _varied(problem, weights, draws, states)
    odds = torch.stack([share for share, _ in outcomes], 1)  # (B, R)

    def after(draws: Tensor, given: Tensor) -> Tensor:
        """(B, R, K, n), under all outcomes in one call."""
        extra = {
            name: torch.cat([shown[name].expand(-1, len(given), *(-1,) * (value.ndim - 2)) for _, shown in outcomes], 1)
            for name, value in outcomes[0][1].items()
        }
        times = len(outcomes), *(1,) * (draws.ndim - 2)
        return images(draws.repeat(1, *times), given.repeat(times[0], 1), extra).unflatten(1, (times[0], -1))

    image = after(draws, given)
    reference = matrices_of(image[:, :, : states + 1])
    moved = image[:, :, states + 1 :].unflatten(2, (clients, scenarios, 2))
    grown = moved[..., 1, :] - moved[..., 0, :] - (reference[..., :-1, :-1] @ given[-1])[:, :, None, None]
    # of each scenario: beside noise 1e8 times as large as its unit states another one has fewer digits
    size = torch.maximum(reference.abs().amax((2, 3))[..., None, None], moved.abs().amax((4, 5)))
    additive = (grown.abs().amax(-1) <= 1e-12 * states * size).all(1).all(0).flatten()
    noise = weights.new_zeros(count, states + 1, states + 1)
    kept: list[tuple[Tensor, Tensor]] = []
    origin = moved[..., 0, :]  # (B, R, N, J, n)
    if bool(additive.all()):
        middle = torch.einsum("bkj,brkja->brka", weights.mT, origin)
        mean = reference.clone()
        mean[..., :-1, -1] += (middle - reference[:, :, None, :-1, -1]).sum(2)
        column = origin - middle[:, :, :, None]
        weighted = odds[..., None, None, None] * shares[:, None, ..., None] * column
        noise[:, :-1, :-1] = weighted.flatten(1, 3).mT @ column.flatten(1, 3)
    else:
        unit, rows = unit_states(states, weights), additive.logical_not().nonzero()[:, 0]
        maps = reference[:, :, None].repeat(1, 1, clients * scenarios, 1, 1)
        maps[..., :-1, -1] = origin.flatten(2, 3)
        found = after(points[:, rows].repeat_interleave(len(unit), 1), unit.repeat(len(rows), 1))
        maps[:, :, rows] = matrices_of(found.unflatten(2, (len(rows), len(unit))))
        maps = maps.unflatten(2, (clients, scenarios))  # (B, R, N, J, m, m)
        middle = torch.einsum("bkj,brkjac->brkac", weights.mT, maps)
        mean = reference + (middle - reference[:, :, None]).sum(2)
        each = (odds[..., None, None] * shares[:, None]).flatten(2)
        apart, size = (maps - middle[:, :, :, None]).flatten(2, 3), maps.abs().amax((4, 5)).flatten(2)
        # what adds to the state alone is noise: of many clients there are far more such draws than others; of few a
        # component that nothing moves stays exactly where it is, as sums with noise would not
        alone = (apart[..., :-1].abs().amax((3, 4)) <= 1e-14 * size).all(1).all(0) & additive
        alone &= alone.sum() > _MANY_DRAWS
        added, rest = alone.nonzero()[:, 0], alone.logical_not().nonzero()[:, 0]
        column = apart[:, :, added][..., :-1, -1].flatten(1, 2)
        noise[:, :-1, :-1] = (each[:, :, added].flatten(1)[..., None] * column).mT @ column
        kept.append((each[:, :, rest].flatten(1), apart[:, :, rest].flatten(1, 2)))
    total = torch.einsum("br,brac->bac", odds, mean)
    if len(outcomes) > 1:
        kept.append((odds, mean - total[:, None]))
    none = (weights[:, :0, 0], mean[:, :0])
    factors, deviations = (torch.cat(part, 1) for part in zip(none, *kept))
    return Maps(mean=total, noise=noise, weights=factors, deviations=deviations)


def images_of(
    problem: QuadraticProblem,
    algorithm: Algorithm,
    centre: State,
    eta: Tensor,
    draws: Tensor,
    states: Tensor,
    iteration: int,
    extra: Mapping[str, Tensor],
) -> Tensor:
    """The images (K, n) of the states (K, n) under draws (K, N, ...) and what the coins show (K, ...), from one call of
    `step` or from a few."""
    most = max(1, _ENTRIES // (states.shape[1] * draws.shape[1]))
    if len(draws) > most:
        given = problem, algorithm, centre, eta
        split = [dict(zip(extra, part)) for part in zip(*(value.split(most) for value in extra.values()))]
        pieces = zip(draws.split(most), states.split(most), split or [{}] * (len(draws) // most + 1))
        return torch.cat([images_of(*given, few, some, iteration, shown) for few, some, shown in pieces])
    state = at_states(centre, states)
    with torch.no_grad():
        after = algorithm.step(problem, state, Draw(iteration=iteration, noise=draws, extra=extra), eta)
    return _flatten({name: after[name] - centre[name] for name in centre})


def at_states(centre: State, states: Tensor) -> State:
    """The states (K, n), seen from the centre, by name."""
    parts = states.split([value.numel() for value in centre.values()], dim=1)
    return {
        name: value + part.reshape(len(part), *value.shape[1:]) for (name, value), part in zip(centre.items(), parts)
    }


def matrices_of(images: Tensor) -> Tensor:
    """The matrices (..., m, m) on the homogeneous state that take unit states, and the origin last, to the images."""
    origin = images[..., -1:, :]
    upper = torch.cat((images[..., :-1, :] - origin, origin), -2).mT
    last = torch.zeros_like(upper[..., :1, :])
    last[..., -1] = 1
    return torch.cat((upper, last), -2)


def _flatten(state: State) -> Tensor:
    return torch.cat([value.flatten(1) for value in state.values()], dim=1)
