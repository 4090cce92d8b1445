"""A cell: an algorithm, a quantity, a kind of clients and their number; its instances, and what must be said of bounds.

The family of a cell holds few instances, all of whose expected values are known: dimensions, steps, iterations and
noise. Its bound is that value, by the scalar `truth`, times a factor: it is attained everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product

import numpy as np
import torch
from plain_algorithms import OPTIONS, RULES

import suffice as sf
from suffice.simulate import Quadratics
from suffice.simulate.catalogue import algorithm
from suffice.simulate.problems.growing_noise import GrowingNoise
from suffice.simulate.quadratic_forms import forms
from suffice.verification import Domain, Outcome
from suffice.verification.families import FamilyInstance, ProblemFamily

from . import truth

NOISE = {"exact": (0.0, 0.25, 1.0), "quiet": (0.0,), "noisy": (0.5,)}
DIMENSIONS = tuple(range(1, 9))
OF_ONE_DIMENSION = ("ifca", "scafflix", "all-for-all-two-stage")
"""Their options are vectors."""
OVER = {
    "linear": lambda t, T: 2 * (t + 1) / ((T + 1) * (T + 2)),
    "half": ("suffix", lambda T: T // 2),
}
REFUSED, NOT_JUDGED = "refused", "not judged"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """`route`: "exact" by second moments, "quiet" or "noisy" by paths without and with noise; `variant`: one of
    `truth.VARIANTS`."""

    algorithm: str
    quantity: str
    kind: str
    N: int
    route: str
    dimensions: tuple[int, ...] = DIMENSIONS
    variant: str = ""

    def __str__(self) -> str:
        shape = "/".join(map(str, self.dimensions)) if len(self.dimensions) < len(DIMENSIONS) else "1-8"
        return ":".join((self.algorithm, self.quantity, self.kind, f"{self.N}x{shape}", self.route, self.variant))

    @property
    def draws(self) -> bool:
        return self.route == "noisy" or (self.route == "quiet" and truth.draws_more(self.algorithm))

    @property
    def tolerance(self) -> float:
        """Of the factors: what is drawn is known to a fifth, by either side."""
        return 0.2 if self.draws else 1e-3

    def judged(self, direction: str) -> str:
        """How the verdict comes about; from below a hitting time is refused, as paths end."""
        if direction == "lower" and "hitting_time" in self.quantity:
            return REFUSED
        if direction == "lower" and self.draws:
            return NOT_JUDGED
        return "sampled" if self.draws else "exact"

    @property
    def words(self):
        if "/" not in self.quantity:
            return self.quantity
        of, at, over, how = self.quantity.split("/")
        weights = OVER.get(over, over)
        given = {"at": at} if of not in ("consensus", "psi") else {}
        return sf.quantity(
            of=psi if of == "psi" else of, over=("mean iterate", weights) if how == "mean" else weights,
            until="tau" if how == "tau" else "T", **given,
        )  # fmt: skip

    @property
    def client(self) -> int:
        return self.N // 2

    def value(self, d: int, step: float, T: int, sigma2: float) -> float:
        given = self.algorithm, self.kind, self.N, d, step
        if self.route != "exact":
            return truth.of_paths(*given, sigma2, T, self.quantity, self.client, self.variant)
        flat, noisy = truth.exact(*given, T, self.quantity, self.client, self.variant)
        return flat + sigma2 * noisy

    def quadratics(self, d: int, sigma2: float) -> Quadratics:
        given = truth.problem(self.kind, self.N, d)
        made = Quadratics.of(given.H / 2, -given.m, sigma2=sigma2, start=given.start)
        growth = torch.from_numpy(given.H[:, ::-1].copy())
        return GrowingNoise(**vars(made), growth=growth) if self.variant == "growing" else made

    @cached_property
    def settings(self) -> dict[tuple[int, ...], FamilyInstance]:
        """Every instance by the places of its dimension, step and noise, and T."""
        found = {}
        axes = self.dimensions, truth.STEPS, NOISE[self.route], range(1, truth.LONGEST + 1)
        for (a, d), (b, step), (c, sigma2), (_, T) in product(*map(enumerate, axes)):
            given = truth.problem(self.kind, self.N, d)
            e0 = float(given.excess(given.start[None])[0, self.client])
            value = self.value(d, step, T, sigma2)
            arguments = {name: truth.level(given, name, self.client) for name in truth.LEVEL}
            arguments |= {"mu": 0.5, "beta": given.beta, "e0": e0, "sigma2": sigma2, "scale": 1 + e0}
            arguments["truth"] = value if value > 1e-12 * (1 + e0) else 0.0
            made = FamilyInstance(
                problem=self.quadratics(d, sigma2), eta=step / given.beta, iterations=T, arguments=arguments
            )
            found[a, b, c, T] = made.complete()
        return found

    @cached_property
    def family(self) -> ProblemFamily:
        sizes = {"shape": len(self.dimensions), "step": len(truth.STEPS), "noise": len(NOISE[self.route])}
        domains = {name: Domain(low=0, high=size - 1, integer=True) for name, size in sizes.items()}
        every = np.array(list(self.settings), dtype=float).T
        return ProblemFamily(
            name=str(self),
            sharp=lambda: dict(zip((*domains, "T"), every)),
            domains={**domains, "T": Domain(low=1, high=truth.LONGEST, integer=True)},
            build=lambda values: self.settings[tuple(int(values[name]) for name in (*domains, "T"))],
            parameters={"truth": None, "scale": None},
        )

    def check(self, direction: str, side: float, root: int = 0) -> sf.verification.Verdict:
        """The verdict on the truth times 1 + side * tolerance; where all of it is 0, on 0 and so much of `scale`."""
        away = side * self.tolerance
        none = not any(each.arguments["truth"] for each in self.settings.values())

        def factor(*, truth, scale):
            return truth * (1 + away)

        def shift(*, truth, scale):
            return truth + away * scale

        options = OPTIONS.get(self.algorithm, {})
        if "participants" in options:
            options = options | {"participants": truth.participants(self.N) % self.N}  # 0: all
        steps = {"step": lambda *, t, eta: eta * truth.falling(t)} if self.variant == "steps" else {}
        eta = truth.STEPS[0] / truth.problem(self.kind, self.N, self.dimensions[0]).beta
        made = algorithm(self.algorithm, self.quadratics(self.dimensions[0], 0.5), eta=eta, **options)
        return sf.check(
            shift if none else factor, quantity=self.words, direction=direction, algorithm=made,
            family=self.family, client=self.client, root=root, **steps,
        )  # fmt: skip

    def faults(self, root: int = 0, directions: Sequence[str] = ("upper", "lower")) -> list[str]:
        """What is judged wrongly; a direction that is not judged must say so."""
        wrong: list[str] = []
        for direction in directions:
            good, how = (1.0 if direction == "upper" else -1.0), self.judged(direction)
            for side in (-good, good):
                try:
                    verdict = self.check(direction, side, root)
                except sf.InputError as error:
                    if how != REFUSED or "paths end at T, which refutes no lower bound" not in str(error):
                        wrong.append(f"{self}, {direction}: {error}")
                    continue
                violated = verdict.outcome is Outcome.VIOLATED
                # where the value is 0, or chance hides what is positive, the verdict says that no bound could fail
                stands = verdict.valid or "bound of it could fail there" in verdict.summary
                right = violated == (side == -good) and (violated or stands)
                if how == NOT_JUDGED:  # what happens to draw nothing may be refuted
                    right = right or (not violated and "samples cannot refute a lower bound" in verdict.not_tried)
                if not right or how == REFUSED:
                    wrong.append(f"{self}, {direction} bound x {1 + side * self.tolerance:g}: {verdict.summary}")
        return wrong


def psi(state, best):
    """A function of the state that no word says: sum_k |x_k - x*|^2."""
    return ((state["models"] - best) ** 2).sum((1, 2))


def products(name: str, turn: int) -> list[Cell]:
    """One in ten of the quantities in four words, with steps of one size, falling ones and noise that grows, on two or
    three clients that differ."""
    found = []
    whole = [
        (quantity, variant) for variant, quantity in product(truth.VARIANTS, truth.PRODUCT)
        if ("/rounds/" not in quantity or "period" in OPTIONS.get(name, {}))
        and (variant != "growing" or (name in truth.LINEAR and not truth.stops(quantity)))
    ]  # fmt: skip
    for place, (quantity, variant) in enumerate(whole[turn % 10 :: 10]):
        exact = name in truth.LINEAR and not truth.stops(quantity)
        route = "exact" if exact else "noisy" if name == "all-for-one" else "quiet"
        N, d = 2 + place % 2, 1 + (place // 2) % 2
        cell = Cell(algorithm=name, quantity=quantity, kind="differing", N=N, route=route, dimensions=(d,))
        found.append(replace(cell, variant=variant))
    return found


@cache
def cells() -> tuple[Cell, ...]:
    """All of them. Each algorithm, quantity and kind of clients comes with some numbers of clients, in turn, and these
    with every dimension where moments are cheap and one other, in turn: each algorithm meets all shapes."""
    found: list[Cell] = []
    for name in RULES:
        turn = Counter[int]()
        by_paths = {"quiet": 1 if name in truth.LINEAR else 2, "noisy": 1}
        if name == "all-for-one":  # it divides by variances
            by_paths = {"noisy": 2}
        for place, (quantity, kind) in enumerate(product(truth.QUANTITIES, truth.KINDS)):
            if quantity not in forms() or (name == "wga-bc" and kind == "one"):
                continue
            exact = name in truth.LINEAR and quantity not in truth.STOPPED
            for route, count in ({"exact": 2} if exact else by_paths).items():
                for at in range(count if kind == "differing" else 1):
                    # paths cost, and are many only where nothing else tells: small problems do
                    few = route == "noisy" and len(by_paths) > 1
                    N = 1 if kind == "one" else 2 + (place // 3 % 3 if few else (3 * place + 2 * at) % 7)
                    d = 1 + ((place + place // 9) % 3 if few else turn[N] % 8)
                    turn[N] += not few
                    cheap = {each for each in DIMENSIONS if exact and N * each <= 8 and name not in OF_ONE_DIMENSION}
                    sizes = tuple(sorted({d, *cheap}))
                    found.append(Cell(algorithm=name, quantity=quantity, kind=kind, N=N, route=route, dimensions=sizes))
    turns = Counter[bool]()  # of algorithms with rounds and of the others
    for name in RULES:
        found += products(name, turns["period" in OPTIONS.get(name, {})])
        turns["period" in OPTIONS.get(name, {})] += 1
    return tuple(found)


def table() -> str:
    """In Markdown, how bounds of each algorithm are judged, from above and from below."""
    columns = {
        "expected values, quadratics": lambda each: each.route == "exact",
        "by paths, without noise": lambda each: each.route == "quiet",
        "by paths, with noise": lambda each: each.route == "noisy",
    }
    lines = [f"| algorithm | {' | '.join(columns)} |", "|---|" + "---|" * len(columns)]
    for name in RULES:
        entries = []
        for within in columns.values():
            some = [each for each in cells() if each.algorithm == name and each.N > 1 and within(each)]
            ways = sorted({f"{each.judged('upper')}, {each.judged('lower')}" for each in some} - {f"exact, {REFUSED}"})
            entries.append("; ".join(way for way in ways if not way.endswith(REFUSED)))
        lines.append(f"| {name} | {' | '.join(entries)} |")
    return "\n".join(lines)


def drawn(seed: int) -> list[tuple[Cell, str]]:
    """Cells with a direction: a small one of each algorithm, one of each quantity on the one path that differing
    clients take where nothing is drawn."""
    rng = np.random.default_rng(seed)
    whole = [replace(each, dimensions=each.dimensions[:1]) for each in cells()]
    whole = [whole[at] for at in rng.permutation(len(whole))]
    words = [each for each in whole if "/" in each.quantity]
    whole = [each for each in whole if "/" not in each.quantity]
    found = {each.algorithm: each for each in whole if each.N * each.dimensions[0] <= 6}
    found |= {
        each.quantity: each for each in whole if (each.route, each.kind, each.draws) == ("quiet", "differing", False)
    }
    for each in words:  # two of each variant, over the starts of rounds and otherwise
        group = [each.variant, "/rounds/" in each.quantity]
        found.setdefault(f"{group} 1" if f"{group} 0" in found else f"{group} 0", each)
    ways = {each: str(rng.choice(["upper", "lower"])) if each.route == "exact" else "upper" for each in found.values()}
    return list(ways.items())
