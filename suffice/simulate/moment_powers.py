"""Expected values after very many iterations: powers of the moment map by repeated squaring instead of T steps.

The moments M = E[z z^T] of one iteration (`moment_maps`) obey M+ = A M A^T + Q where the noise is additive and no
coin is tossed, and in any case a linear map of the m = s (s + 1)/2 entries of the symmetric (s, s) matrix M. Both kinds
compose, so that a cycle of iterations is again one such map, and its power takes log2(T) products. Rounding grows like
T 2^-53 relative to the largest moment met, not to the last one: `scale` says how large that was.

All is of a batch of B instances side by side, which may be one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import accumulate, cycle, islice
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.func import vmap

from .algorithms.algorithm import Algorithm
from .moment_maps import Maps, origin, possible, probe, probe_batch
from .problem import QuadraticProblem
from .problem_batches import over_tensors, stack, tensors, with_tensors
from .quadratic_forms import QuadraticForm


def rounding(iterations: Any) -> Any:
    """Share of the largest moment met that may be lost: a mode that neither grows nor decays adds up what every step
    loses, and control variates lose a few units in the last place."""
    return 2.0**-53 * (1000 + 8 * iterations)


SQUARED = 8.0
"""How much more is lost where the map of the entries is squared: control variates at 1/eta of the models' scale cancel
late (against 50 digits Scaffnew lost five times `rounding` after 4,000 iterations)."""
_NUDGE = 2.0**-48
MOST_ENTRIES = 60
"""Entries of a symmetric moment (s <= 10) up to which coins and noise that depends on the state are squared."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """Successive iterations that share one outcome of the coins: `first` = (t, t + 1, ...), representatives."""

    iterations: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """The iterations 1, 2, ..., p as blocks; iteration p + 1 takes the step of iteration 1 again.

    An iteration stands here by the first one that takes the same step, so that each step is probed once.
    """

    blocks: tuple[Block, ...]

    @property
    def length(self) -> int:
        return sum(len(block.iterations) for block in self.blocks)

    def until(self, iterations: int) -> tuple[Block, ...]:
        """The blocks that begin within the first `iterations`, and the first block in any case."""
        begins = accumulate((len(block.iterations) for block in self.blocks), initial=0)
        return tuple(block for block, begin in zip(self.blocks, begins) if begin < max(iterations, 1))


ONE_STEP = Cycle(blocks=(Block(iterations=(1,)),))
Probed = Callable[[int, int | None], Maps]
"""The maps of iteration t when its coins show the outcome of that number, or, with None, all outcomes in proportion."""
Branches = list[tuple[Any, list[Maps]]]
"""(probability, maps of a block's iterations) for each outcome that the block holds: one where the block is of one
iteration, whose maps are averaged over its coins."""


def branches(
    problem: QuadraticProblem, algorithm: Algorithm, blocks: Sequence[Block], probed: Probed
) -> list[Branches]:
    """The branches of each block, with the probabilities of the outcomes that `algorithm` lists for `problem`."""
    found: list[Branches] = []
    for block in blocks:
        listed = possible(algorithm.outcomes(problem, block.iterations[0])) if len(block.iterations) > 1 else []
        held = list(enumerate(listed)) if len(listed) > 1 else [(None, (1.0, {}))]
        # floats such as 1/6 do not sum to 1 in exact arithmetic, in which this may be asked
        odds = torch.as_tensor([float(share) for _, (share, _) in held], dtype=problem.dtype)
        shares = zip((odds / odds.sum()).unbind(), (number for number, _ in held))
        found.append([(share, [probed(t, number) for t in block.iterations]) for share, number in shares])
    return found


def entries(size: int) -> int:
    """How many numbers a symmetric (s, s) matrix has."""
    return size * (size + 1) // 2


def packed(moment: Tensor) -> Tensor:
    """The m entries of symmetric matrices (..., s, s)."""
    rows, columns = torch.triu_indices(*moment.shape[-2:])
    return moment[..., rows, columns]


def unpacked(entries: Tensor, size: int) -> Tensor:
    """The symmetric matrices (..., s, s) of m entries."""
    rows, columns = torch.triu_indices(size, size)
    # zeros, as exact arithmetic compares all entries, and NaN that memory holds by chance would count as rounding
    moment = entries.new_zeros(*entries.shape[:-1], size, size)
    moment[..., rows, columns] = moment[..., columns, rows] = entries
    return moment


def of_entries(maps: Maps) -> Tensor:
    """One iteration on the m entries of M, (..., m, m): the entry (c, d) comes to (a, b) by A_ac A_bd + A_ad A_bc."""
    every = torch.cat((maps.mean[..., None, :, :], maps.deviations), -3).flatten(-2)
    weights = torch.cat((torch.ones_like(maps.mean[..., 0, :1]), maps.weights), -1)
    products = ((every.mT * weights[..., None, :]) @ every).flatten(-2)  # A_ac A_bd, (..., s^4)
    size = maps.mean.shape[-1]
    c, d = torch.triu_indices(size, size)
    a, b = c[:, None], d[:, None]
    found = products[..., ((a * size + c) * size + b) * size + d]
    found += (c != d) * products[..., ((a * size + d) * size + b) * size + c]
    found[..., -1] += packed(maps.noise)
    return found


def moments_after(
    blocks: Sequence[Branches], moment: Tensor, iterations: Tensor, nudge: int = 0
) -> tuple[Tensor, Tensor]:
    """The moments (B, s, s) after T = `iterations` (B,) of a cycle of blocks, and the largest entries met (B,).

    Infinite or NaN where they overflow.
    """
    length = sum(len(block[0][1]) for block in blocks)
    rest, scale = iterations % length, moment.abs().amax((1, 2))
    if all(len(block) == 1 and not any(maps.weights.shape[-1] for maps in block[0][1]) for block in blocks):
        moment, scale = _powers([maps for block in blocks for maps in block[0][1]], moment, iterations // length, nudge)
    elif entries(moment.shape[-1]) <= MOST_ENTRIES:
        moment, scale = operator_powers(blocks, moment, iterations // length, nudge=nudge)
    else:
        rest = iterations
    for t, after in enumerate(moments_of_steps(blocks, moment, int(rest.max())), 1):
        moment = torch.where((rest >= t)[:, None, None], after, moment)
        scale = torch.maximum(scale, moment.abs().amax((1, 2)))
    return moment, scale


def summed_moments(
    blocks: Sequence[Branches], moment: Tensor, iterations: Tensor, weights: Tensor, mean: bool
) -> tuple[Tensor, Tensor]:
    """sum_t w_t E[z_t z_t^T], or with `mean` E[S S^T] of S = sum_t w_t z_t, weights (B, max T + 1); and the largest
    entries met."""
    shares, size = weights[..., None, None].unbind(1), moment.shape[-1]
    total = shares[0] * moment
    if mean:
        moment = torch.cat((torch.cat((moment, total), -1), torch.cat((total, shares[0] * total), -1)), -2)
    last, scale = moment, moment.abs().amax((1, 2))

    def advance(maps: Maps, moment: Tensor, t: int) -> Tensor:
        return maps.advance_sum(moment, weights[:, t]) if mean else maps.advance(moment)

    for t, after in enumerate(moments_of_steps(blocks, moment, int(iterations.max()), advance), 1):
        running = iterations >= t
        last = torch.where(running[:, None, None], after, last)
        scale = torch.where(running, torch.maximum(scale, after.abs().amax((1, 2))), scale)
        if not mean:
            total = torch.where(shares[t] > 0, total + shares[t] * after, total)
    return (last[:, size:, size:] if mean else total), scale


def form_value(
    form: QuadraticForm, F: Tensor, blocks: Sequence[Branches], moment: Tensor, iterations: Tensor,
    weights: Tensor | None, nudge: int = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The expected value of the form F (B, s, s) and an estimate of its absolute rounding error, (B,) each, from the
    moment at the start; `weights` (B, max T + 1) where it is `stepped`."""
    size, share = F.shape[-1], 1.0
    if form.steady:
        places = torch.cat(((F != 0).any(0).any(0)[:-1].nonzero()[:, 0], torch.tensor([size - 1])))
        sums = torch.cat((torch.eye(size)[places], torch.eye(size))).to(F)
        blocks = [[(odds, [each.with_sum(sums) for each in steps]) for odds, steps in block] for block in blocks]
        moment, scale = moments_after(blocks, sums @ moment @ sums.mT, iterations, nudge)
        F, share, kept = F[:, places][:, :, places], 1 / (iterations.double() + 1) ** 2, len(places)
        moment = moment[:, :kept, :kept]
    elif weights is None:
        moment, scale = moments_after(blocks, moment, iterations, nudge)
    elif form.over == "average" and not form.mean and 2 * entries(size) <= MOST_ENTRIES:
        moment, scale = averaged_moments(blocks, moment, iterations, nudge)
    else:
        moment, scale = summed_moments(blocks, moment, iterations, weights, form.mean)
    return share * (F * moment).sum((1, 2)), share * rounding(iterations.double()) * scale * F.abs().sum((1, 2))


def moments_of_steps(
    blocks: Sequence[Branches],
    moment: Tensor,
    steps: int,
    advance: Callable[..., Tensor] = lambda maps, moment, _: maps.advance(moment),
) -> Iterator[Tensor]:
    """The moments at t = 1..steps of a cycle of blocks, each of which holds its outcome; `advance` is given t too."""
    every = ((block, at) for block in cycle(blocks) for at in range(len(block[0][1])))
    given: list[Tensor] = []
    for t, (block, at) in enumerate(islice(every, steps), 1):
        given = [advance(maps[at], each, t) for (_, maps), each in zip(block, given if at else [moment] * len(block))]
        moment = torch.stack([share * each for (share, _), each in zip(block, given)]).sum(0)
        yield moment


def _nudged(sizes: Tensor, seed: int) -> Tensor:
    """Up to `_NUDGE` times numbers of these sizes, drawn; 0 of the seed 0."""
    drawn = 2 * torch.rand(sizes.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 1
    return _NUDGE * sizes * drawn if seed else torch.zeros_like(sizes)


def _powers(cycle: Sequence[Maps], moment: Tensor, turns: Tensor, nudge: int) -> tuple[Tensor, Tensor]:
    """The moments (B, s, s) after `turns` (B,) cycles of M -> A M A^T + Q, and the largest ones met."""
    scale = moment.abs().amax((1, 2))
    A, Q = cycle[0].mean, cycle[0].noise
    for maps in cycle[1:]:
        A, Q = maps.mean @ A, maps.advance(Q)
    if nudge:  # a step's own sums of products are rounded, which a nudged A would not show
        Q = Q + _nudged(A.abs() @ moment.abs() @ A.abs().mT, nudge)
    for bit in range(int(turns.max()).bit_length()):
        if bit:
            A, Q = A @ A, A @ Q @ A.mT + Q
        odd = ((turns >> bit) & 1 == 1)[:, None, None]
        if odd.any():
            moment = torch.where(odd, A @ moment @ A.mT + Q, moment)
            scale = torch.maximum(scale, moment.abs().amax((1, 2)))
    return moment, scale


def cycle_operator(cycle: Sequence[Branches], like: Tensor) -> tuple[Tensor, Tensor]:
    """The maps (..., m, m) of the entries of M: to those after a cycle, and to the sum of those before each step."""
    K = torch.eye(entries(like.shape[-1]), dtype=like.dtype)
    total = torch.zeros_like(K)
    for block in cycle:
        mixed = torch.zeros_like(K)
        for share, steps in block:
            after = K
            for maps in steps:
                total = total + share * after
                after = of_entries(maps) @ after
            mixed = mixed + share * after
        K = mixed
    return K, total


def averaged_moments(
    blocks: Sequence[Branches], moment: Tensor, iterations: Tensor, nudge: int = 0
) -> tuple[Tensor, Tensor]:
    """(1/T) sum_{t<T} E[z_t z_t^T], E[z_0 z_0^T] where T = 0, and the largest entries met.

    With K and C the maps of `cycle_operator` and x the entries of M, C (1 + K + ... + K^(n-1)) x is the sum over n
    cycles; sum_{i<2n} K^i = (1 + K^n) sum_{i<n} K^i."""
    length, size = sum(len(block[0][1]) for block in blocks), moment.shape[-1]
    scale, x, turns = moment.abs().amax((1, 2)), packed(moment), iterations // length
    K, within = cycle_operator(blocks, moment)
    K = K + _nudged(K, nudge) if nudge else K
    passed, sums = torch.zeros_like(x), torch.eye(x.shape[-1]).to(x)
    for bit in range(int(turns.max()).bit_length()):
        if bit:
            K, sums = K @ K, sums + K @ sums
        odd = ((turns >> bit) & 1 == 1)[:, None]
        passed = torch.where(odd, passed + (sums @ x[..., None])[..., 0], passed)
        x = torch.where(odd, (K @ x[..., None])[..., 0], x)
        scale = torch.maximum(scale, SQUARED * x.abs().amax(1))
    total, now = unpacked((within @ passed[..., None])[..., 0], size), unpacked(x, size)
    rest = iterations.clamp_min(1) - turns * length
    for t, after in enumerate([now, *moments_of_steps(blocks, now, max(int(rest.max()) - 1, 0))]):
        total = torch.where((rest > t)[:, None, None], total + after, total)
        scale = torch.where(rest > t, torch.maximum(scale, after.abs().amax((1, 2))), scale)
    return total / iterations.clamp_min(1)[:, None, None], scale


def operator_powers(
    cycle: Sequence[Branches], moment: Tensor, turns: Tensor, which: Tensor | None = None, nudge: int = 0
) -> tuple[Tensor, Tensor]:
    """The same as `_powers` for any cycle, coins or not, by powers of the map of the entries of M; `which` (B,) is the
    place of each instance's map among the cycle's, where several instances share one."""
    scale, entries = moment.abs().amax((1, 2)), packed(moment)
    K, _ = cycle_operator(cycle, moment)
    K = K + _nudged(K, nudge) if nudge else K
    for bit in range(int(turns.max()).bit_length()):
        if bit:
            K = K @ K
        odd = ((turns >> bit) & 1 == 1).nonzero()[:, 0]
        if len(odd):
            own = odd if which is None else which[odd]
            entries[odd] = (K[own] @ entries[odd, :, None])[..., 0]
            scale[odd] = torch.maximum(scale[odd], SQUARED * entries[odd].abs().amax(1))
    return unpacked(entries, moment.shape[-1]), scale


class MomentPowers:
    """Quantities of one problem, algorithm and step size at any T, or with `many` of a batch of so many problems, which
    `torch.func.vmap` has to follow, with steps eta (B,) or (B, N): each distinct step is probed once. A seed
    `nudge` other than 0 changes them by about 16 times what rounding does."""

    def __init__(
        self, problem: QuadraticProblem, algorithm: Algorithm, *, eta: Any, cycle: Cycle, nudge: int = 0, many: int = 0
    ) -> None:
        self._problem, self._algorithm, self._cycle, self._nudge, self._many = problem, algorithm, cycle, nudge, many
        self._centre, z = self._of_each(lambda one: origin(one, algorithm)[1:])
        self._start = (z[..., :, None] * z[..., None, :]) if many else torch.outer(z, z)[None]
        given = problem, stack([algorithm] * many) if many else algorithm, self._centre
        asked = partial(probe_batch if many else probe, *given, torch.as_tensor(eta, dtype=problem.dtype))
        self._probed = cache(asked if many else lambda *which: over_tensors(lambda each: each[None], asked(*which)))

    def _of_each(self, function: Callable[..., Any], *own: Any) -> Any:
        """`function(problem, ...)`; of a batch side by side."""
        if not self._many:
            return function(self._problem, *own)
        whole = self._problem
        return vmap(lambda given, *own: function(with_tensors(whole, given), *own))(tensors(whole), *own)

    @property
    def size(self) -> int:
        """The size s of the moment (s, s)."""
        return self._start.shape[-1]

    def blocks(self, iterations: int) -> list[Branches]:
        one = self._problem
        one = with_tensors(one, [each[0] for each in tensors(one)]) if self._many else one
        return branches(one, self._algorithm, self._cycle.until(iterations), self._probed)

    def found(
        self, form: QuadraticForm, iterations: Any, client: int, scalars: Mapping[str, Any]
    ) -> tuple[Tensor, Tensor]:
        """A quantity of one client, and an estimate of its absolute rounding error, (1,) each; of a batch (B,) each,
        iterations and scalars (B,)."""
        T, given = np.atleast_1d(iterations), {name: np.atleast_1d(each) for name, each in scalars.items()}
        own = {name: torch.from_numpy(each.astype(float)) for name, each in given.items()} if self._many else scalars
        F = self._of_each(lambda one, *at: form.on_state(one, client, *at), self._centre, own)
        F, weights = F if self._many else F[None], torch.from_numpy(form.weights(T, given)) if form.stepped else None
        steps = torch.from_numpy(T.astype(np.int64))
        return form_value(form, F, self.blocks(int(T.max())), self._start, steps, weights, self._nudge)

    def value(
        self, form: QuadraticForm, iterations: int, client: int, scalars: Mapping[str, float] | None = None
    ) -> tuple[float, float]:
        """The quantity and its error as floats, of one problem."""
        value, error = self.found(form, iterations, client, scalars or {})
        return float(value), float(error)

    def excess(self, iterations: int, client: int) -> tuple[float, float]:
        """E[e_T] of one client, and an estimate of its absolute rounding error."""
        return self.value(QuadraticForm(of="excess"), iterations, client)
