"""Methods compared on one problem: what each needs, at its best step, until the mean excess over clients is epsilon.

Exact where it can be: sites alone and fixed weights by their second moments, a server's model by those of its rounds
(`simulate.moments.server_rounds`), other linear rules on small quadratics by the probed moment map. The others, and all
of losses that are not quadratic, are measured: the best step by few paths, the time by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants
from suffice.simulate.moments.gradient_moments import GradientMoments
from suffice.simulate.moments.server_rounds import Arrived, ServerRounds, fastest_step
from suffice.support.errors import InputError
from suffice.support.numbers import as_numbers, as_whole, plain
from suffice.support.pictures import Picture, draw

from .constant_plan import ConstantPlan
from .constant_prediction import referred, started
from .exact.plan import exact_plans
from .guaranteed.records import Promise, promises
from .measured_methods import LOCAL_STEPS, MEASURED, PROX_STEPS, PULLS, Setting, local_steps, measured_methods
from .method_theorems import coverage
from .number import Number
from .precision import precisions
from .prices import Prices, Spent

if TYPE_CHECKING:
    from suffice.simulate import Problem
    from suffice.support.tables import Table

HORIZON = 10_000
"""Iterations after which a method counts as never arriving."""
LARGEST = 150
"""Numbers 1 + d + d(d+1)/2 up to which the moments of a server's model are followed."""
MOST_BATCH = 64
"""Times the problem's own batch."""
NEARER = 0.98
"""Of the least excess: what does not come down to it with twice the batch never arrives by larger ones."""
NAMES = (*MEASURED, "Fixed weights")
MERGED = ("FedProx", "SCAFFOLD", "Scaffnew", "All-for-all")
"""Methods that are shown at the cheapest of their settings."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method at its best step.

    setting  what was chosen beside the step; matrix: the coordinates of plans; eta  the median of sites' own
    time     iterations until the mean excess over clients is at most epsilon: exact, or measured with its ends
    sites    how many clients are at their own epsilon or below, then
    excess   the mean over clients, then; the least that was met where it never is
    batch    samples of one stochastic gradient
    cost     of `spent` by the prices that were given
    theorem  what covers it, at the step that its conditions allow; or `why_not` none does
    """

    name: str
    setting: str = ""
    eta: float | None = None
    time: Number
    sites: int | None = None
    excess: float | None = None
    batch: int = 1
    spent: Spent | None = None
    cost: float = float("inf")
    promise: Promise | None = None
    covered: str = ""

    @property
    def key(self) -> str:
        return f"{self.name} {self.setting}"

    def to_dict(self) -> dict[str, Any]:
        low, high = self.time.error
        spent = self.spent
        answer = {
            "method": self.name,
            "setting": self.setting,
            "step": self.eta,
            "iterations": self.time.value,
            "kind": self.time.kind,
            "between": [low, high] if self.time.kind == "measured" else None,
            "note": self.time.why_not,
            "sites": self.sites,
            "excess": self.excess,
            "batch": self.batch,
            "rounds": spent and spent.rounds,
            "vectors_down": spent and spent.down,
            "vectors_up": spent and spent.up,
            "bytes_down": spent and spent.bytes_down,
            "bytes_up": spent and spent.bytes_up,
            "gradients": spent and spent.gradients,
            "cost": self.cost if np.isfinite(self.cost) else None,
            "theorem": self.promise.theorem if self.promise else "none",
            "guaranteed_step": self.promise.eta if self.promise else None,
            "guaranteed_rounds": self.promise.rounds if self.promise else None,
            "fails": self.covered,
        }
        return plain(answer)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The methods at each precision, cheapest first, or the records' promises where there are constants alone.

    epsilon_of  of each precision what it is of, as `Precision.of` has it
    """

    precisions: Mapping[float | str, tuple[Method, ...]]
    epsilon_of: Mapping[float | str, str] = field(default_factory=dict)
    promises: tuple[Promise, ...] = ()
    prices: Prices
    participation: float = 1.0
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n\n".join(table.text() for table in self.tables())

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables())

    def tables(self) -> list[Table]:
        from .tables.methods import method_tables

        return method_tables(self)

    def plot(self, path: str | Path | None = None) -> Picture:
        """A picture of the rounds that each method needs at each precision; with `path` also written there, as one
        .pdf, .png or .svg file, or into a folder, which gets the data too. Raises `InputError`, also of constants."""
        figure = draw("methods", self)
        if path is not None:
            figure.write(path)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """The object of `suffice plan --methods --json`."""
        return {
            "methods": [
                {"epsilon": key, "epsilon_of": self.epsilon_of[key]} | one.to_dict()
                for key, there in self.precisions.items()
                for one in there
            ],
            "promises": [one.to_dict() for one in self.promises],
            "cost": self.prices._asdict(),
            "participation": self.participation,
        }  # fmt: skip


def compare_methods(
    source: Problem | Constants,
    epsilon: float | str | Sequence[float | str] | None = None,
    *,
    start: str | None = None,
    participation: float = 1.0,
    cost: str | Mapping[str, float] | None = None,
    only: Sequence[str] | None = None,
    seeds: int = 256,
    root: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """One table per precision: each method at its best step, what it sends and computes, and which theorem covers it.

    source         a problem (rows by `read`, quadratics) or constants of clients, at least two of them
    epsilon        excess loss to reach [loss], a share such as "10%", or "noise"; or several of them, as in `plan`
    start          "constant" or "zero", where rows with an intercept start, as in `plan`
    participation  share in (0, 1] of the clients that take part in a round, of methods with a server that draws them
    cost           prices such as "round=1 vector=.1 gradient=.001"; if one is of gradients, the batch is chosen, too
    only           names of the methods to compare; all by default
    seeds, root    how many runs a measured method gets, and the number from which their randomness is derived

    On rows a share is one of the excess over the best constant, and the default is "noise". Constants give every
    record's step, T, cluster and variance, or the condition that fails. Raises `InputError`.
    """
    prices = Prices.of(cost)
    share = float(as_numbers("participation", participation, (), positive=True))
    if share > 1:
        raise InputError("participation", participation, "give the share of clients that take part, in (0, 1]")
    as_whole("seeds", seeds, least=2)
    names = NAMES if only is None else tuple(only)
    for name in names:
        if name not in NAMES:
            raise InputError("only", name, f"there are {', '.join(NAMES)}")
    if isinstance(source, Constants):
        if share < 1 or cost is not None:
            name = "participation" if share < 1 else "cost"
            raise InputError(name, participation if share < 1 else cost, "constants alone run nothing; give data")
        found = promises(source, referred(source, epsilon))
        return Comparison(precisions={}, promises=tuple(found), prices=prices, names=source.names)
    if source.clients < 2:
        raise InputError("methods", f"{source.clients} client", "there is nobody to compare with; give at least two")
    source = started(source, start)
    known: dict[float | str, tuple[Method, ...]] = {}
    wanted = precisions(referred(source, epsilon), source.excess(source.start[None])[0].double().cpu().numpy())
    for done, one in enumerate(wanted):
        setting = Setting(source, one.levels(source.clients), share, prices, names, seeds, root)
        known[one.key] = tuple(sorted(_methods(setting), key=_order))
        if progress is not None:
            progress(done + 1, len(wanted))
    of = {one.key: one.of for one in wanted}
    return Comparison(precisions=known, epsilon_of=of, prices=prices, participation=share, names=source.names)


def _order(method: Method) -> tuple[float, float]:
    return method.cost, np.inf if method.time.value is None else method.time.value


def _methods(setting: Setting) -> list[Method]:
    problem, moments = setting.problem, setting.problem.gradient_moments()
    found: list[Method] = []
    if moments is not None and 1 + moments.features * (moments.features + 3) // 2 <= LARGEST:
        found = _exact(setting, moments)
    covered = coverage(problem, setting.epsilon, setting.share)
    alone = next((one for one in found if one.name == "Local"), None)
    names = [name for name in MEASURED if name in setting.names and name not in {one.name for one in found}]
    known = (None, None) if alone is None else (alone.time.value, alone.eta)
    found += [Method(**one) for one in measured_methods(setting, names, *known)]
    found = [one for one in found if one.name in setting.names]
    priced = [one if one.spent is None else replace(one, cost=setting.prices.of_all(one.spent)) for one in found]
    return [
        replace(one, **dict(zip(("promise", "covered"), covered(one.name, one.setting)))) for one in _cheapest(priced)
    ]


def _cheapest(methods: Sequence[Method]) -> list[Method]:
    """Of each name in `MERGED` the cheapest setting, of the others all."""
    best: dict[str, Method] = {}
    for one in methods:
        key = one.name if one.name in MERGED else one.key
        if key not in best or _order(one) < _order(best[key]):
            best[key] = one
    return list(best.values())


def _exact(setting: Setting, moments: GradientMoments) -> list[Method]:
    """In the problem's batch; where gradients cost, too, in twice as many samples, those that gained once more."""
    best: dict[str, Method] = {}
    batch, wanted = moments.batch, None
    while True:
        gained = set()
        for one in _of_batch(setting, replace(moments, batch=batch), wanted):
            one = replace(one, cost=np.inf if one.spent is None else setting.prices.of_all(one.spent))
            if one.key not in best or _gains(one, best[one.key]):
                gained.add(one.key)
                best[one.key] = one
        free = not setting.prices.gradient or not any(setting.prices._replace(gradient=0.0))
        if free or not gained or batch >= MOST_BATCH * moments.batch:
            return list(best.values())
        batch, wanted = 2 * batch, gained


def _gains(one: Method, before: Method) -> bool:
    """Whether a larger batch is cheaper; or where neither arrives, brings the least excess down, as noise does, not
    bias."""
    if one.spent is None and before.spent is None:
        return (one.excess or np.inf) < NEARER * (before.excess or np.inf)
    return one.cost < before.cost


def _of_batch(setting: Setting, moments: GradientMoments, wanted: set[str] | None) -> Iterator[Method]:
    """All methods, or those of some keys."""
    for words in ("", "matrix") if {"Local", "Fixed weights"} & {*setting.names} else ():
        if wanted is None or wanted & {f"Local {words}", f"Fixed weights {words}"}:
            plans = exact_plans(moments, setting.epsilon, precondition=bool(words), horizon=HORIZON)
            yield _separate("Local", words, [alone for _, alone in plans], setting, moments)
            yield _separate("Fixed weights", words, [together for together, _ in plans], setting, moments)
    scale = 1 / (2 * float(np.linalg.eigvalsh(moments.A)[:, -1].max()))
    groups = [int(key.split()[1]) for key in wanted or () if key.startswith("All-for-all")]
    if "All-for-all" in setting.names and (wanted is None or groups):
        yield _all_for_all(setting, moments, scale, groups)
    rounds = [("FedAvg", steps, 0.0) for steps in LOCAL_STEPS]
    rounds += [("FedProx", steps, share / scale) for steps in PROX_STEPS for share in PULLS]
    for name, steps, pull in rounds:
        words = local_steps(steps, pull)
        if name in setting.names and (wanted is None or f"{name} {words}" in wanted):
            yield _server(name, words, setting, moments, scale, steps, pull)


def _separate(
    name: str, words: str, plans: Sequence[ConstantPlan], setting: Setting, moments: GradientMoments
) -> Method:
    """Every site by its own plan, until it is at its own precision: then it stops."""
    epsilon, N = setting.epsilon, len(plans)
    missing = [plan.iterations is None for plan in plans]
    if all(missing):
        return Method(name=name, setting=words, time=_never(), batch=moments.batch)
    ends = np.array([plan.iterations or 0 for plan in plans])
    T = int(ends.max())
    mean = np.zeros(T + 1)
    for plan, end in zip(plans, ends.tolist()):
        curve = plan.curve(end) if end else np.array([plan.start])
        mean += np.concatenate((curve, np.full(T - end, curve[-1]))) / N
    below = np.flatnonzero(mean <= epsilon.mean())
    if not below.size:
        return Method(name=name, setting=words, time=_never(), excess=float(mean.min()), batch=moments.batch)
    T = int(below[0])
    taken = np.minimum(ends, T)
    peers = np.array([(plan.weights > 0).sum() for plan in plans])
    others = np.array([(np.delete(plan.weights, i) > 0).sum() for i, plan in enumerate(plans)])
    sent, talking = float(taken @ others), taken[others > 0]
    spent = Spent(T, int(talking.max()) if talking.size else 0, sent, sent, float(taken @ peers) * moments.batch,
                  setting.problem.features)  # fmt: skip
    return Method(
        name=name, setting=words, eta=float(np.median([plan.eta for plan in plans])), time=Number(T, "exact"),
        sites=int((ends <= T).sum() - sum(missing)), excess=float(mean[T]), batch=moments.batch, spent=spent,
    )  # fmt: skip


def _server(
    name: str, chosen: str, setting: Setting, moments: GradientMoments, scale: float, steps: int, pull: float = 0.0
) -> Method:
    p, N = setting.participants, len(setting.epsilon)
    rounds = ServerRounds(moments=moments, steps=steps, participants=p, pull=pull)
    found = fastest_step([rounds], scale, float(setting.epsilon.mean()), HORIZON // steps)
    taken = 0 if found.rounds is None else found.rounds
    sent = float(p * taken) if N > 1 else 0.0
    spent = Spent(taken * steps, taken, sent, sent, float(p * taken * steps * moments.batch), setting.problem.features)
    return _arrived(name, chosen, found, spent, setting, moments)


def _all_for_all(setting: Setting, moments: GradientMoments, scale: float, known: Sequence[int]) -> Method:
    """Equal weights inside groups of sites, by their optima: the best number of groups, beside the `known` best."""
    from scipy.cluster.hierarchy import fcluster, linkage

    N = len(setting.epsilon)
    root = np.linalg.cholesky(moments.A.mean(0) + 1e-12 * np.trace(moments.A.mean(0)) * np.eye(moments.features))
    tree = linkage(moments.optimum @ root, "average")
    best: tuple[Any, Method] | None = None
    counts = sorted({1, 2, 3, 4, 6, 8, 12, N // 2, N} & set(range(1, N + 1)))
    near = [counts.index(groups) + step for groups in known for step in (-1, 0, 1)]
    for groups in [counts[at] for at in near if 0 <= at < len(counts)] or counts:
        labels = fcluster(tree, groups, "maxclust")
        members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        servers = [
            ServerRounds(moments=moments.only(part.tolist()), participants=len(part)) for part in members
        ]  # fmt: skip
        found = fastest_step(servers, scale, float(setting.epsilon.mean()), HORIZON)
        order = np.argsort(np.concatenate(members))
        found = found._replace(excess=found.excess[order])
        T, talking = found.rounds or 0, sum(len(part) for part in members if len(part) > 1)
        spent = Spent(T, T if talking else 0, float(T * talking), float(T * talking), float(T * N * moments.batch),
                      setting.problem.features)  # fmt: skip
        count = len(members)
        one = _arrived("All-for-all", f"{count} group{'s' if count > 1 else ''}", found, spent, setting, moments)
        cost = np.inf if one.spent is None else setting.prices.of_all(spent)
        key = (cost, np.inf if found.rounds is None else found.rounds, found.least)
        if talking and (best is None or key < best[0]):
            best = key, one
    assert best is not None
    return best[1]


def _arrived(
    name: str, chosen: str, found: Arrived, spent: Spent, setting: Setting, moments: GradientMoments
) -> Method:
    known: dict[str, Any] = {"name": name, "setting": chosen, "eta": found.eta, "batch": moments.batch}
    if found.rounds is None:
        return Method(time=_never(), excess=found.least, **known)
    sites = int((found.excess <= setting.epsilon * (1 + 1e-12)).sum())
    return Method(time=Number(int(spent.iterations), "exact"), sites=sites, excess=found.least, spent=spent, **known)


def _never() -> Number:
    return Number(None, "exact", why_not=f"not within {HORIZON:,} iterations at any step tried")
