"""This module says in words how far the check of one's own bound reached, and what it left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from suffice.simulate import Algorithm

from .assumptions import APERIODIC
from .dimension_sweep import in_words
from .generated_instances import LATE
from .problem_measure import ZEROS, Measure, own_number
from .verdict import Verdict


def tried(measured: Sequence[Measure], algorithm: Algorithm, verdict: Verdict) -> str:
    """Say which ranges the instances that met the hypotheses reached."""
    ranges = dict(verdict.ranges)
    if "distance2" not in verdict.theorem.bound_keywords:  # e0 says it
        ranges.pop("distance2", None)
    if "eta beta" in ranges:
        low, high = ranges.pop("eta beta")
        ranges.pop("eta")
        ranges = {"eta": (low, high)} | ranges
    parts = []
    for name, (low, high) in ranges.items():
        unit = "/beta" if name == "eta" and "eta beta" in verdict.ranges else ""
        one, two = (f"{end:,.0f}" if end == round(end) and end >= 1000 else f"{end:.3g}" for end in (low, high))
        parts.append(f"{name} = {one}{unit}" if one == two else f"{name} = {one}{unit} to {two}{unit}")
    names = [each.problems.name for each in measured if verdict.met.get(each.problems.name, 1) or not verdict.instances]
    if len(_pairs(names)) > 1:  # which N and d go together is said there
        parts = [part for part in parts if not part.startswith(("N = ", "d = "))]
    taken, period = {each.name for each in verdict.theorem.parameters}, own_number(algorithm, "period")
    if "T" in taken and period not in (None, 1.0):
        parts.append(f"T counting iterations, {period:g} to a round")
    none = "" if verdict.instances else ", of which none meets the hypotheses"
    return f"{algorithm.name} on {_short(names)}, {', '.join(parts)}{none}"


_SHAPED = re.compile(r"(one|\d+)( identical)? quadratics? in R\^(\d+)")


def _pairs(names: Sequence[str]) -> list[tuple[int, int]]:
    """The (clients, features) of quadratics; none where a name is of something else."""
    found = [_SHAPED.fullmatch(name) for name in names]
    return [(1 if each[1] == "one" else int(each[1]), int(each[3])) for each in found if each] if all(found) else []


def _short(names: Sequence[str]) -> str:
    """`one quadratic in R^2`; of several shapes `identical quadratics, N = 1 to 3 with d = 1, 2`."""
    if len(pairs := _pairs(names)) < 2:
        return "; ".join(names)
    return f"{'identical ' if any('identical' in name for name in names) else ''}quadratics, {in_words(pairs)}"


def not_tried(measured: Sequence[Measure], verdict: Verdict, left_out: Sequence[tuple[int, int]] = ()) -> str:
    """Say what no instance reached; `left_out` are pairs (N, d) that were too expensive."""
    families, last = [each.problems for each in measured], max(each.late for each in measured)
    parts = [f"{in_words(left_out)} (their moments take too long for this effort)"] if left_out else []
    parts += [f"{name} = 0" for name in ZEROS if verdict.ranges.get(name, (0.0, 0.0))[0] > 0]
    if all(each.movable for each in families):
        clients = [each.domains["direction"].shape[0] for each in families if "direction" in each.domains]
        parts += [f"d > {max(clients)}"] if clients else []
        if not any("minimiser" in each.domains for each in families):
            parts.append("clients that differ (give family=families.quadratics(clients=...))")
    if any(not each.periodic and "T >" not in each.problems.outside for each in measured):
        few = f"but for {', '.join(str(T) for T in LATE if last >= T)}: " if last else ""
        parts.append(f"T > {APERIODIC} ({few}the steps repeat in no cycle whose powers could be taken)")
    for name, (low, high) in verdict.ranges.items():
        if low == high == own_number(measured[0].algorithm, name):
            parts.append(f"other values of the algorithm's {name} than {low:g}")
    beyond: dict[str, list[str]] = {}
    limited = [each for each in families if each.outside]
    for each in limited:
        for part in each.outside.split(", "):
            part += f" (but for few instances up to {last:,})" if last and part.startswith("T > ") else ""
            beyond.setdefault(part, []).append(each.name)
    parts += [part if len(names) == len(limited) else f"{part} on {_short(names)}" for part, names in beyond.items()]
    return "; ".join(parts) if parts else "anything outside of the family"
