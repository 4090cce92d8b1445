"""Assumptions of exact moments on an algorithm, tested on simulated paths before anything is concluded from them.

The engine probes a step at unit states and unit noises, once per distinct iteration, and treats the outcomes of coins
as independent. So: a step is a function of its arguments and leaves them alone; it is affine in the state and in the
one draw of noise; what else it draws is listed by `outcomes` with its probability, and is drawn anew each iteration or
held for a fixed number of them; it depends on t periodically. A declared `phase` is not trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor

from suffice.simulate import Algorithm, Randomness
from suffice.simulate.algorithms.algorithm import Draw, State
from suffice.simulate.moment_maps import Maps, images_of, origin, possible, probe
from suffice.simulate.moment_powers import Block, Cycle, MomentPowers
from suffice.simulate.problem import Problem, QuadraticProblem
from suffice.simulate.problems.gradient_noise import AdditiveNoise
from suffice.simulate.threads import one_thread
from suffice.support.errors import InputError

LONGEST_CYCLE = 20
"""Iterations of the longest cycle that is looked for."""
APERIODIC = 2 * LONGEST_CYCLE
"""Where no cycle is found, the largest T: each iteration is probed."""
_LATE = (97, 1000, 4999, 9000)
_AFFINE = 1e-9
_SAME = 1e-11
_PATHS = 4096
_DEVIATIONS = 7.0
"""Standard errors that count as a disagreement: 3e-12 each for a normal, over fewer than 1e5 comparisons a check."""
_TOSSES = 2048


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """The result of the tests. `cycle` has length `APERIODIC` where `periodic` is False; `reason` is "" or says what
    fails, and what to write instead."""

    cycle: Cycle
    periodic: bool
    reason: str = ""


class _Fails(Exception):
    """An assumption that the engine rests on and that the algorithm does not meet."""


def assumptions(problem: QuadraticProblem, algorithm: Algorithm, eta: Any) -> Assumptions:
    """Test `algorithm` on `problem`; `InputError` for faults of the algorithm itself."""
    step = torch.as_tensor(eta, dtype=problem.dtype)
    try:
        with one_thread():
            states = _path(problem, algorithm, step)
            held = _held(problem, algorithm)
            _check_affine(problem, algorithm, step, states)
            cycle, periodic = _cycle(problem, algorithm, step, held)
            found = Assumptions(cycle=cycle, periodic=periodic)
            _simulated(problem, algorithm, step, found)
        return found
    except _Fails as failure:
        return Assumptions(cycle=Cycle(blocks=()), periodic=False, reason=str(failure))


def paths_only(problem: Problem, algorithm: Algorithm, eta: Any) -> str:
    """Why simulated paths may not be used, "" where their assumptions hold; `InputError` as in `assumptions`."""
    step = torch.as_tensor(eta, dtype=problem.dtype)
    with one_thread():
        for state, draw in _path(problem, algorithm, step)[::8]:
            with torch.no_grad():
                whole = algorithm.step(problem, state, draw, step)
                extra = {name: value[1:3] for name, value in draw.extra.items()}
                few = Draw(iteration=draw.iteration, noise=draw.noise[1:3], extra=extra)
                part = algorithm.step(problem, {name: value[1:3] for name, value in state.items()}, few, step)
            for name, value in part.items():
                if float((value - whole[name][1:3]).abs().max()) > _AFFINE * float(value.abs().max() + 1e-300):
                    return f"its paths depend on each other (state {name!r}): keep the leading axis, the seed, apart"
    return ""


def listed(problem: Problem, algorithm: Algorithm) -> tuple[bool, ...]:
    """Whether iteration t = 1, 2, ... keeps the outcome of the one before; () where nothing is tossed, or where draws
    are not as `outcomes` lists them."""
    try:
        with one_thread():
            if all(len(algorithm.outcomes(problem, t)) == 1 for t in range(1, APERIODIC + 1)):
                return ()
            return tuple(_held(problem, algorithm))
    except (_Fails, InputError):
        return ()


def _randomness(paths: int) -> Randomness:
    return Randomness(seeds=torch.arange(paths), root=0xA55)


def steps_once(problem: Problem, algorithm: Algorithm, eta: Any) -> None:
    """Raise `InputError` where the first step fails, or has too many outcomes: for instance where the algorithm is not
    for this number of clients."""
    algorithm.outcomes(problem, 1)
    with one_thread():
        _path(problem, algorithm, torch.as_tensor(eta, dtype=problem.dtype), last=1)


def _path(
    problem: Problem, algorithm: Algorithm, eta: Tensor, paths: int = 4, last: int = APERIODIC
) -> list[tuple[State, Draw]]:
    """States before, and draws of, iterations 1 to `last` of a few paths; each step is taken twice."""
    randomness, visited = _randomness(paths), []
    state = _asked(algorithm, "init", problem, problem.start.expand(paths, *problem.start.shape).clone())
    for t in range(1, last + 1):
        draw = _asked(algorithm, "draw", problem, randomness, t)
        if not isinstance(draw, Draw):
            raise _fault(algorithm, f"its `draw` returns {type(draw).__name__}: return a Draw")
        again = algorithm.draw(problem, randomness, t) if t <= 4 else draw
        if not (torch.equal(draw.noise, again.noise) and _equal(draw.extra, again.extra)):
            raise _fault(algorithm, "its `draw` differs when called again: take all from `randomness`")
        kept, drawn = _copy(state), Draw(iteration=t, noise=draw.noise.clone(), extra=_copy(draw.extra))
        after = _asked(algorithm, "step", problem, _copy(state), drawn, eta)
        if not _equal(after, _asked(algorithm, "step", problem, state, draw, eta)):
            says = "two calls of its `step` with the same arguments differ: draw in `draw`, keep memory in the state"
            raise _fault(algorithm, says)
        if not (_equal(kept, state) and torch.equal(drawn.noise, draw.noise) and _equal(drawn.extra, draw.extra)):
            raise _fault(algorithm, "its `step` changes its arguments: return new tensors")
        visited.append((kept, draw))
        state = _copy(after)
    return visited


def _fault(algorithm: Algorithm, says: str) -> InputError:
    return InputError("algorithm", algorithm.name, says)


def _asked(algorithm: Algorithm, method: str, *given: Any) -> Any:
    """The result of a method; `InputError` where the method fails, or returns a state of a wrong form."""
    try:
        with torch.no_grad():
            found = getattr(algorithm, method)(*given)
    except InputError:
        raise
    except Exception as error:
        times = [each.iteration if isinstance(each, Draw) else each for each in given if isinstance(each, Draw | int)]
        at = "".join(f" at t = {t}" for t in times)
        raise _fault(algorithm, f"its `{method}` fails{at} ({type(error).__name__}: {error})") from error
    if method == "draw":
        return found
    if not isinstance(found, dict) or "models" not in found:
        raise _fault(algorithm, 'its `init` and `step` return a dictionary with "models" first')
    for name, value in found.items():
        if not isinstance(value, Tensor) or value.is_complex() or not bool(torch.isfinite(value).all()):
            raise _fault(algorithm, f"its state {name!r} is not a tensor of finite real numbers")
    return found


def _copy(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.clone() for name, value in tensors.items()}


def _equal(one: Any, two: Any) -> bool:
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)


# --- what is drawn ------------------------------------------------------------------------------------------


def _held(problem: Problem, algorithm: Algorithm) -> list[bool]:
    """Whether iteration t = 1, 2, ... keeps the outcome of the one before; `_Fails` unless outcomes are as listed."""
    tossed = any(len(algorithm.outcomes(problem, t)) > 1 for t in range(1, APERIODIC + 1))
    randomness = _randomness(_TOSSES if tossed else 2)
    indices: list[Tensor] = []
    held: list[bool] = []
    held_odds = 0
    for t in range(1, APERIODIC + 1):
        draw = algorithm.draw(problem, randomness, t)
        usual = problem.draw(randomness, t)
        if draw.noise.shape != usual.shape:
            raise _Fails(
                f"its draw holds noise of shape {tuple(draw.noise.shape[1:])} instead of {tuple(usual.shape[1:])}: "
                "exact moments know one sample per client and iteration, so make each sample an iteration of its own"
            )
        odds, index = _matched(problem, algorithm, t, draw)
        coin = (odds > 0).sum() > 1  # what is certain comes again without being held
        same = bool(coin and t > 1 and len(odds) == held_odds and (index == indices[-1]).all())
        held.append(same)
        if not tossed:
            continue
        if not same:
            _check_frequencies(t, odds, index)
        for lag in range(1, 7):
            if same or lag > len(indices) or (any(held[t - lag : t]) and len(odds) < 2):
                continue
            _check_independent(t, lag, index, indices[-lag])
        indices.append(index)
        held_odds = len(odds)
    return held


def _matched(problem: Problem, algorithm: Algorithm, t: int, draw: Draw) -> tuple[np.ndarray, Tensor]:
    """The odds of the outcomes at t, and which of them each path drew, (S,)."""
    listed = algorithm.outcomes(problem, t)
    odds = np.array([probability for probability, _ in listed])
    if abs(odds.sum() - 1) > 1e-9 or (odds < 0).any():
        raise _Fails(f"the probabilities that `outcomes` lists at t = {t} sum to {odds.sum():.6g}, not to 1")
    index = torch.full((len(draw.noise),), -1)
    for at, (_, extra) in enumerate(listed):
        if draw.extra.keys() != extra.keys():
            names = ", ".join(map(repr, sorted(draw.extra.keys() ^ extra.keys())))
            raise _Fails(
                f"its draw and its `outcomes` differ in {names}: let `outcomes` list every value of extra with its "
                "probability, and give each further sample of noise an iteration of its own"
            )
        match = torch.ones(len(index), dtype=torch.bool)
        for name, value in extra.items():
            match &= (draw.extra[name] == value).reshape(len(index), -1).all(1)
        index[match] = at
    if bool((index < 0).any()):
        missed = int((index < 0).nonzero()[0])
        drawn = ", ".join(f"{name} = {value[missed].tolist()}" for name, value in draw.extra.items())
        raise _Fails(
            f"at t = {t} it drew {drawn}, which is none of the {len(listed)} values of extra that `outcomes` lists: "
            "list every one with its probability, of coins of several clients every combination"
        )
    return odds, index


def _check_frequencies(t: int, odds: np.ndarray, index: Tensor) -> None:
    counts = np.bincount(index.numpy(), minlength=len(odds))
    error = np.sqrt(np.maximum(odds * (1 - odds) * len(index), 1))
    if (np.abs(counts - odds * len(index)) > _DEVIATIONS * error).any():
        worst = int(np.abs((counts - odds * len(index)) / error).argmax())
        raise _Fails(
            f"at t = {t} it drew outcome {worst} of `outcomes` in {counts[worst] / len(index):.3g} of its paths "
            f"where {odds[worst]:.3g} is listed: correct the probability"
        )


def _check_independent(t: int, lag: int, now: Tensor, before: Tensor) -> None:
    """Each pair of outcomes is as frequent as independence says."""
    one, two = now.numpy(), before.numpy()
    joint = np.zeros((one.max() + 1, two.max() + 1))
    np.add.at(joint, (one, two), 1)
    expected = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True) / len(now)
    share = expected / len(now)
    if (np.abs(joint - expected) > _DEVIATIONS * np.sqrt(np.maximum(expected * (1 - share), 1)) + 1).any():
        raise _Fails(
            f"its outcomes at t = {t} and t = {t - lag} depend on each other, and exact moments take them as drawn "
            "anew or held for whole blocks: draw anew in each iteration, or keep what is remembered in the state"
        )


# --- the step ------------------------------------------------------------------------------------------------


def _check_affine(
    problem: QuadraticProblem, algorithm: Algorithm, eta: Tensor, visited: list[tuple[State, Draw]]
) -> None:
    """`_Fails` unless steps are affine in the state and, where the problem adds noise to gradients, in the noise."""
    _, centre, _ = origin(problem, algorithm)
    for t in (1, 2, 3, 4, 5, 7, 12, APERIODIC - 1):
        state, draw = visited[t - 1]
        z = torch.cat([(state[name] - centre[name]).flatten(1) for name in centre], dim=1)
        z, noise = torch.cat((z, torch.ones_like(z))), torch.cat((draw.noise, draw.noise))
        extra = {name: torch.cat((value, value)) for name, value in draw.extra.items()}
        after = partial(images_of, problem, algorithm, centre, eta, iteration=t, extra=extra)
        steps = {"state": (z, partial(after, noise))}
        if isinstance(problem, AdditiveNoise):
            steps["noise"] = noise, partial(after, states=0 * z)
        for what, (at, step) in steps.items():
            gap = _bend(step, at)
            if not gap <= _AFFINE:  # nor is what is no number
                raise _Fails(
                    f"its step at t = {t} is not affine in the {what} (off by {gap:.2g} of its size): second moments "
                    "do not determine it, so `linear` must be False"
                )


def _bend(step: Callable[[Tensor], Tensor], at: Tensor) -> float:
    """How far a step is from the mean of those at two points around it, as a share of what its argument moves it.

    One of the points has 2 or 3 times each entry, in turn, so that neither lies on the ray through the other.
    """
    one = at * (2 + torch.arange(at[0].numel()) % 2).reshape(at.shape[1:])
    quiet, moved, *parts = map(step, (0 * at, at, one, 2 * at - one))
    size = (moved - quiet).abs().max() + 1e-3 * quiet.abs().max()
    return float((sum(parts) / 2 - moved).abs().max() / max(float(size), 1e-300))


def _cycle(problem: QuadraticProblem, algorithm: Algorithm, eta: Tensor, held: list[bool]) -> tuple[Cycle, bool]:
    """The shortest cycle of steps and of draws that are held, seen at least three times and again at large t."""
    _, centre, _ = origin(problem, algorithm)
    seen: list[tuple[int, list[tuple[float, Maps]]]] = []

    def kind(t: int) -> int:
        """The first iteration that takes the same step as t, t itself if none does."""
        outcomes = possible(algorithm.outcomes(problem, t))
        maps = [(p, probe(problem, algorithm, centre, eta, t, at)) for at, (p, _) in enumerate(outcomes)]
        for first, others in seen:
            if len(maps) == len(others) and all(p == q and _alike(a, b) for (p, a), (q, b) in zip(maps, others)):
                return first
        seen.append((t, maps))
        return t

    kinds = [kind(t) for t in range(1, APERIODIC + 1)]
    # where another instance's steps change is not known
    for length in () if getattr(algorithm, "changing", False) else range(1, LONGEST_CYCLE + 1):
        repeated = all(
            kinds[t] == kinds[t + length] and held[t + length] == (held[t] or (t % length == 0 and held[length]))
            for t in range(APERIODIC - length)
        )
        if repeated and not held[length % APERIODIC] and all(kind(t) == kinds[(t - 1) % length] for t in _LATE):
            return Cycle(blocks=_blocks(kinds[:length], held[:length])), True
    blocks = _blocks(list(range(1, APERIODIC + 1)), held)
    if len({len(block.iterations) for block in blocks[:-1]}) > 1:
        raise _Fails(
            "its steps repeat in no cycle, and the outcomes that it keeps in rounds of different lengths: draw anew in "
            "each iteration, or in rounds of one length"
        )
    return Cycle(blocks=blocks), False


def _blocks(kinds: list[int], held: list[bool]) -> tuple[Block, ...]:
    starts = [at for at in range(len(kinds)) if not held[at]]
    return tuple(Block(iterations=tuple(kinds[at:end])) for at, end in pairwise([*starts, len(kinds)]))


def _alike(one: Maps, two: Maps) -> bool:
    parts = [(getattr(one, name), getattr(two, name)) for name in ("mean", "noise", "weights", "deviations")]
    return all(
        a.shape == b.shape and (not a.numel() or (a - b).abs().max() <= _SAME * (a.abs().max() + 1e-300))
        for a, b in parts
    )


def _simulated(problem: QuadraticProblem, algorithm: Algorithm, eta: Tensor, found: Assumptions) -> None:
    """The mean over simulated paths against the moments, at a few t: what no other test has seen."""
    randomness = Randomness(seeds=torch.arange(_PATHS), root=0xA56)
    state = algorithm.init(problem, problem.start.expand(_PATHS, *problem.start.shape).clone())
    powers = MomentPowers(problem, algorithm, eta=eta, cycle=found.cycle)
    for t in range(1, 13):
        with torch.no_grad():
            state = algorithm.step(problem, state, algorithm.draw(problem, randomness, t), eta)
        if t not in (1, 2, 3, 6, 12):
            continue
        excess = problem.excess(state["models"])
        error = excess.std(0) / _PATHS**0.5
        for client in range(problem.clients):
            exact, rounding = powers.excess(t, client)
            mean = float(excess[:, client].mean())
            if abs(mean - exact) > _DEVIATIONS * float(error[client]) + rounding + 1e-9 * abs(exact):
                apart = abs(mean - exact) / max(float(error[client]), 1e-300)
                raise _Fails(
                    f"simulated paths give E[e] = {mean:.6g} at t = {t} for client {client}, exact moments "
                    f"{exact:.6g}, {apart:.0f} standard errors away: let `step` use nothing besides its arguments, and "
                    "`outcomes` list all that is drawn besides the problem's noise"
                )
