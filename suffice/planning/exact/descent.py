"""Descent on E e_T over rates v >= 0, many problems at once, each racing the others of its client.

Every problem minimises ln E e_g, g = one step (or 2 %) less than the fastest plan that any problem of the same client
has found; when one gets there, g falls for all of them. A problem ends that no longer gets lower, or too slowly.
The method is L-BFGS on the free rates (those not at 0 with a derivative that would push them below), projected; all
trials of a round are evaluated together, and one that fails is tried again closer by in the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from suffice.simulate.moments.recursion import share_of_step

MEMORY = 8
ROUNDS = 120
FIRST = 0.1
"""Length of the first step, of that of the rates."""
STALLED = 1e-4
"""Decrease of ln E e_g that counts as none."""
STALLS, FAILS = 3, 12
"""In a row that end a problem: decreases that count as none, trials that fail."""
ARMIJO = 1e-4
"""Of the decrease that the derivative promises: as much a trial has to bring."""
PATIENCE = 40
"""Rounds at the present pace within which the precision has to be in reach."""
FINER = 40
"""Goals are a 40th below the best time, and at least one step."""


State = dict[str, np.ndarray]
"""Of all problems, by name: rates x with f = ln E e_g and gradient g there; the direction d, the step along it and the
rates of the next trial; S and Y of L-BFGS; how many trials failed and how many decreases stalled in a row, the pace of
decreases; who is alive, and fresh: without an f of the present goal."""


class Trial(Protocol):
    """Rates V (G, K, N) followed for some steps: `excess` (G, K, steps + 1)."""

    excess: np.ndarray

    def stable(self, groups: np.ndarray, problems: np.ndarray) -> np.ndarray:
        """Whether rates are below the step limit, one truth value for each pair."""
        ...

    def derivatives(self, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """ln E e_g (G, K) and its derivatives by the rates (G, K, N), g = goals (G,) steps."""
        ...


class Maps(Protocol):
    """What tells the excess of rates, for G groups; an index selects some of them."""

    def __getitem__(self, groups: Any) -> Maps: ...

    def trial(self, V: np.ndarray, steps: int) -> Trial: ...


@dataclass(kw_only=True)
class Found:
    """The fastest rates of one client so far: fractional time, group and rates."""

    time: float
    group: int = -1
    v: np.ndarray | None = None


def next_goal(time: float, finer: int = FINER) -> int:
    """Steps in which a plan would be faster than one of `time`."""
    steps = int(np.ceil(time))
    return steps - max(1, steps // finer)


@dataclass(kw_only=True)
class Descent:
    """K problems in each of G groups.

    maps     of the groups: what evaluates trials
    client   (G,) whose group it is
    epsilon  (G,) precisions
    V        (G, K, N) rates to start from; not all 0
    allowed  (G, K, N) rates that may differ from 0
    goal     by client, steps
    hunt     lower the goal whenever one is reached; else minimise at the goals given
    """

    maps: Maps
    client: np.ndarray
    epsilon: np.ndarray
    V: np.ndarray
    allowed: np.ndarray
    goal: dict[int, int]
    hunt: bool = True
    found: dict[int, Found] = field(default_factory=dict)

    def run(self, rounds: int = ROUNDS) -> np.ndarray:
        """The rates where each problem ended, (G, K, N); `found` has the fastest of each client."""
        shape, N = self.V.shape[:2], self.V.shape[2]
        scale = self.V.sum(-1, keepdims=True)
        x = self.V / scale
        end = x.copy()
        at: State = {
            "place": np.arange(shape[0] * shape[1]).reshape(shape), "scale": scale, "x": x, "trial": x.copy(),
            "free": self.allowed, "f": np.full(shape, np.inf), "g": np.zeros_like(x), "d": np.zeros_like(x),
            "step": np.zeros(shape), "fails": np.zeros(shape, dtype=int), "stalls": np.zeros(shape, dtype=int),
            "pace": np.full(shape, np.inf), "alive": np.ones(shape, dtype=bool), "fresh": np.ones(shape, dtype=bool),
            "S": np.zeros((*shape, MEMORY, N)), "Y": np.zeros((*shape, MEMORY, N)),
        }  # fmt: skip
        group, maps = np.arange(shape[0]), self.maps
        for _ in range(rounds):
            goals = np.array([self.goal[c] for c in self.client[group].tolist()])
            at["alive"] &= (goals > 0)[:, None]
            kept = np.flatnonzero(at["alive"].any(1))
            width = int(at["alive"].sum(1).max()) if kept.size else 0
            if not width:
                break
            if len(kept) < len(group) or width < at["alive"].shape[1]:
                order = np.argsort(~at["alive"][kept], axis=1, kind="stable")[:, :width]
                at = {name: _take(array[kept], order) for name, array in at.items()}
                group, maps, goals = group[kept], maps if len(kept) == len(group) else maps[kept], goals[kept]
            self._round(at, maps, group, goals)
            end.reshape(-1, N)[at["place"]] = at["x"]
        return end * scale

    def _round(self, at: State, maps: Maps, group: np.ndarray, goals: np.ndarray) -> None:
        V = at["trial"] * at["scale"]
        before, blocked = goals, np.zeros(V.shape[:2], dtype=bool)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            tried = maps.trial(V, int(goals.max()))
            if self.hunt:
                blocked = self._hits(at, tried, V, group, goals)
                goals = np.array([self.goal[c] for c in self.client[group].tolist()])
            f, gradient = tried.derivatives(goals)
            f = np.where(blocked | ~np.isfinite(gradient).all(-1), np.inf, f)
            # rates that see next to nothing have derivatives that overflow: their trials fail
            self._decide(at, f, gradient * at["scale"], goals != before, np.log(self.epsilon[group])[:, None])

    def _hits(self, at: State, tried: Trial, V: np.ndarray, group: np.ndarray, goals: np.ndarray) -> np.ndarray:
        """Note every problem that arrives in time; True for those that do so beyond the step limit."""
        e, epsilon = tried.excess, self.epsilon[group][:, None, None]
        below = (e[..., 1:] <= epsilon) & (np.arange(1, e.shape[-1]) <= goals[:, None, None]) & at["alive"][..., None]
        arrived = np.argwhere(below.any(-1))
        blocked = np.zeros(below.shape[:2], dtype=bool)
        if not len(arrived):
            return blocked
        stable = tried.stable(arrived[:, 0], arrived[:, 1])
        for (j, k), steady in zip(arrived.tolist(), stable.tolist()):
            blocked[j, k] = not steady
            if not steady:
                continue
            t, c = int(np.argmax(below[j, k])), int(self.client[group[j]])
            time = float(t + share_of_step(e[j, k, t], e[j, k, t + 1], epsilon[j, 0, 0]))
            if c not in self.found or time < self.found[c].time:
                self.found[c] = Found(time=time, group=int(group[j]), v=V[j, k].copy())
                self.goal[c] = next_goal(time)
        return blocked

    def _decide(self, at: State, f: np.ndarray, gradient: np.ndarray, moved: np.ndarray, target: np.ndarray) -> None:
        """Accept or refuse every trial, and choose the next."""
        moved = np.broadcast_to(moved[:, None], f.shape)
        slope = (at["g"] * (at["trial"] - at["x"])).sum(-1)
        better = (f <= at["f"] + ARMIJO * slope) & (slope < 0)
        accept = (at["fresh"] | moved | better) & np.isfinite(f)
        comparable = accept & ~at["fresh"] & ~moved  # f before and after is of one goal
        _remember(at, gradient, comparable)
        _note_progress(at, at["f"] - f, comparable)
        for name, new in (("x", at["trial"]), ("g", gradient), ("f", f)):
            at[name] = np.where(_wide(accept, new), new, at[name])
        # another problem lowered the goal after a trial that failed: what is known here is of the old goal
        stale = moved & ~accept
        at["f"] = np.where(stale, np.inf, at["f"])
        at["fails"] = np.where(accept, 0, at["fails"] + 1)
        _next_trial(at, accept, stale)
        at["alive"] &= (at["fails"] < FAILS) & (at["stalls"] < STALLS) & ~(at["fresh"] & ~np.isfinite(f) & ~moved)
        if self.hunt:
            at["alive"] &= ~(PATIENCE * at["pace"] < at["f"] - target)


def _remember(at: State, gradient: np.ndarray, comparable: np.ndarray) -> None:
    """The last changes of rates and gradient, where the loss bends upwards along them: L-BFGS's S and Y."""
    change, turn = at["trial"] - at["x"], gradient - at["g"]
    pair = comparable & ((change * turn).sum(-1) > 0)
    for name, new in (("S", change), ("Y", turn)):
        pushed = np.concatenate((new[..., None, :], at[name][..., :-1, :]), axis=-2)
        at[name] = np.where(pair[..., None, None], pushed, at[name])


def _note_progress(at: State, decrease: np.ndarray, comparable: np.ndarray) -> None:
    """Decreases in a row that count as none, and the running mean of decreases."""
    gain = np.where(comparable, decrease, np.inf)
    at["stalls"] = np.where(comparable, np.where(gain < STALLED, at["stalls"] + 1, 0), at["stalls"])
    mean = np.where(np.isfinite(at["pace"]), 0.6 * at["pace"] + 0.4 * gain, gain)
    at["pace"] = np.where(comparable, mean, at["pace"])


def _next_trial(at: State, accept: np.ndarray, stale: np.ndarray) -> None:
    """A whole step along a new direction, or a quarter of the one that failed; where stale, the same rates again."""
    at["d"] = np.where(accept[..., None], _direction(at), at["d"])
    at["step"] = np.where(accept, 1.0, at["step"] / 4)
    ahead = np.maximum(at["x"] + at["step"][..., None] * at["d"], 0)
    at["trial"] = np.where(stale[..., None], at["x"], ahead)
    at["fresh"] = stale


def _wide(chosen: np.ndarray, like: np.ndarray) -> np.ndarray:
    return chosen.reshape(*chosen.shape, *[1] * (like.ndim - chosen.ndim))


def _direction(at: State) -> np.ndarray:
    """Minus L-BFGS's inverse Hessian times the gradient on the free rates."""
    free = (at["free"] & ((at["x"] > 0) | (at["g"] < 0))).astype(float)
    S, Y = at["S"] * free[..., None, :], at["Y"] * free[..., None, :]
    sy, yy = (S * Y).sum(-1), (Y * Y).sum(-1)
    used = sy > 1e-12 * yy
    inverse = np.where(used, 1 / np.where(used, sy, 1), 0)
    q, taken = at["g"] * free, []
    steepest = q
    for j in range(MEMORY):
        a = inverse[..., j] * (S[..., j, :] * q).sum(-1)
        taken.append(a)
        q = q - a[..., None] * Y[..., j, :]
    first = np.argmax(used, axis=-1)[..., None]
    any_used = used.any(-1)
    gamma = np.take_along_axis(sy / np.where(yy > 0, yy, 1), first, axis=-1)[..., 0]
    norm = np.linalg.norm(steepest, axis=-1)
    size = FIRST * np.linalg.norm(at["x"], axis=-1) / np.where(norm > 0, norm, 1)
    q = q * np.where(any_used, gamma, size)[..., None]
    for j in reversed(range(MEMORY)):
        b = inverse[..., j] * (Y[..., j, :] * q).sum(-1)
        q = q + (taken[j] - b)[..., None] * S[..., j, :]
    uphill = ((q * at["g"]).sum(-1) <= 0)[..., None]
    return -np.where(uphill, steepest * size[..., None], q) * free


def _take(array: np.ndarray, order: np.ndarray) -> np.ndarray:
    return np.take_along_axis(array, _wide(order, array), axis=1)


def parts(items: Sequence[int], numbers: Callable[[int], float], most: float) -> list[list[int]]:
    """Items in runs whose numbers add up to `most` at most, one item at least: what descends together."""
    runs: list[list[int]] = []
    total = np.inf
    for item in items:
        more = numbers(item)
        if total + more > most:
            runs.append([])
            total = 0.0
        runs[-1].append(item)
        total += more
    return runs
