"""bound-against-measured-curves: every corrected theorem with a horizon T, measured and bound against T.

One panel per theorem whose claim measures instances at a horizon T, by the exact engines of `suffice verify`; six of
them unless told otherwise. Blue: a
sharp instance. Red: an ill-conditioned one, the random instance of the largest beta/mu, where the engine's arguments
have both and they differ (else the one of median ratio, in orange). Thick: measured; dashed: the bound. Both are
divided by the bound at the first T, as quantities differ from row to row. A horizon at which an instance misses the
hypotheses is left out.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .style import BLUE, COLUMN_WIDTH, ORANGE, VERMILION, headline

if TYPE_CHECKING:
    from suffice.verification import Claim, Evidence, Family

POINTS = 12
"""A curve has so many horizons at most."""
LONG = 12
"""Families with fewer iterations make no curve."""
DRAWS, CANDIDATES = 48, 24
SMALLEST = 1e-12
KEYS = (
    "adaptive/theorem-2-constant",
    "adaptive/theorem-3",
    "worst-case/noise-floor",
    "sample-optimal/theorem-3-sharp",
    "cobo/theorem-1-star",
    "scafflix/theorem-1",
)
"""These are drawn unless others are asked for."""
COLUMNS = 3
LOOKS = {"sharp": BLUE, "largest beta/mu": VERMILION, "random": ORANGE}
LEAST = 1e-6
NARROW = 4.0
"""A vertical axis spans at least this factor."""


@maker("bound-against-measured-curves", "the same over the horizon, for theorems of your choice")
def bound_curves(*, keys: tuple[str, ...] = KEYS, iterations: int | None = None, progress: Progress) -> Content:
    """keys: theorems, a panel each; `all` for every one that has a horizon.

    iterations: the longest horizon, for every theorem its own by default
    """
    from suffice.verification.claims import all_claims

    claims = [claim for claim in all_claims() if claim.theorem.guarantee and not claim.theorem.superseded_by]
    claims = [claim for claim in claims if _family(claim) is not None]
    every = [claim.theorem.key for claim in claims]
    claims = [claim for claim in claims if keys == ("all",) or claim.theorem.key in keys]
    wrong = [key for key in keys if key != "all" and key not in {claim.theorem.key for claim in claims}]
    if wrong or not keys:
        near = [known for known in every if wrong and wrong[0] in known] or get_close_matches(
            "".join(wrong[:1]), every, 1
        )
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise InputError("keys", ", ".join(wrong), f"no corrected claim of this name has a horizon{hint}")
    data: dict[str, dict[str, np.ndarray]] = {}
    for done, claim in enumerate(claims):
        for kind, curve in _curves(claim, iterations).items():
            data[SEPARATOR.join((claim.theorem.key, kind))] = curve
        progress(done + 1, len(claims))
    if not data:
        raise InputError("iterations", iterations, "the hypotheses hold at fewer than two horizons up to there")
    return Content(
        title="Bounds against exact measurements over the horizon, sharp and ill-conditioned",
        data=data,
        units={
            "T": "1, iterations",
            "measured": "1, over the bound at the first T",
            "bound": "1, over the bound at the first T",
            "condition": "1, beta/mu; NaN if the engine does not say",
        },
        setup={"draws": DRAWS, "seed": 0},
        keys=("theorem", "instance"),
    )


def _family(claim: Claim) -> Family | None:
    """The first family with long horizons, one with sharp instances if there is one."""
    takes = {parameter.name for parameter in claim.theorem.parameters}
    long = [f for f in claim.families if "T" in f.domains and f.domains["T"].high >= LONG] if "T" in takes else []
    return next((family for family in long if family.sharp is not None), long[0] if long else None)


def _curves(claim: Claim, longest: int | None) -> dict[str, dict[str, np.ndarray]]:
    family = _family(claim)
    assert family is not None
    curves = {}
    if family.sharp is not None:
        values = family.sharp()
        ratio = _ratio(claim, family.evidence(values))
        sharp = [_curve(claim, family, values, at, longest) for at in np.argsort(-ratio)[:CANDIDATES]]
        # sharp at most horizons, not at its own alone
        best = max(filter(None, sharp), key=lambda pair: (pair[1], np.ptp(pair[0]["bound"])), default=None)
        if best is not None:
            curves["sharp"] = best[0]
    values = family.draw(DRAWS, seed=0)
    evidence = family.evidence(values)
    ratio, condition = _ratio(claim, evidence), _condition(evidence)
    counted = np.flatnonzero(np.isfinite(ratio))
    known = bool((condition[counted] > 1).any())
    rank = -condition[counted] if known else np.abs(ratio[counted] - np.median(ratio[counted]))
    drawn = (_curve(claim, family, values, at, longest) for at in counted[np.argsort(rank)])
    first = next(filter(None, drawn), None)
    if first is not None:
        curves["largest beta/mu" if known else "random"] = first[0]
    return curves


def _curve(
    claim: Claim, family: Family, values: Any, at: int, longest: int | None
) -> tuple[dict[str, np.ndarray], float] | None:
    """Instance `at` over the horizons, and its median ratio to two digits; None if it counts at fewer than two."""
    domain, theorem = family.domains["T"], claim.theorem
    grid = np.unique(np.geomspace(max(domain.low, 1), longest or domain.high, POINTS).round())
    many = {name: np.repeat(value[[at]], len(grid), axis=0) for name, value in values.items()} | {"T": grid}
    evidence = family.evidence(many)
    if evidence.measured.shape != grid.shape:
        return None
    bound = evidence.bound(theorem)
    kept = evidence.counted(theorem) & np.isfinite(bound) & (bound > 0)
    # what has fallen further than that is rounding
    kept &= bound > SMALLEST * np.max(bound[kept], initial=0)
    if kept.sum() < 2:
        return None
    scale = bound[kept][0]
    curve = {
        "T": grid[kept],
        "measured": evidence.measured[kept] / scale,
        "bound": bound[kept] / scale,
        "condition": _condition(evidence)[kept],
    }
    return curve, round(float(np.median(evidence.ratio(theorem)[kept])), 2)


def _ratio(claim: Claim, evidence: Evidence) -> np.ndarray:
    """Ratios, -inf where the hypotheses fail."""
    return np.where(evidence.counted(claim.theorem), evidence.ratio(claim.theorem), -np.inf)


def _condition(evidence: Evidence) -> np.ndarray:
    """beta/mu of each instance; NaN if unknown, infinite where mu is 0."""
    if not {"mu", "beta"} <= set(evidence.arguments):
        return np.full(evidence.measured.shape, np.nan)
    with np.errstate(divide="ignore"):
        return np.broadcast_to(evidence.arguments["beta"] / evidence.arguments["mu"], evidence.measured.shape)


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: a panel per theorem."""
    from matplotlib.ticker import LogLocator

    keys = list(dict.fromkeys(name.split(SEPARATOR)[0] for name in figure.data))
    columns = min(COLUMNS, len(keys))
    rows = -(-len(keys) // columns)
    canvas.set_size_inches(2 * COLUMN_WIDTH, 0.9 + 1.6 * rows)
    grid = canvas.subplots(rows, columns, squeeze=False)
    panels = grid.ravel()
    for axes in grid[:, 0]:
        axes.set_ylabel("relative to the bound\nat the smallest $T$")
    for axes in panels[len(keys) :]:
        axes.axis("off")
    below = False
    for axes, key in zip(panels, keys):
        for kind, colour in LOOKS.items():
            curve = figure.data.get(SEPARATOR.join((key, kind)))
            if curve is None:
                continue
            axes.plot(curve["T"], curve["measured"], color=colour, alpha=0.45, linewidth=2.2)
            axes.plot(curve["T"], curve["bound"], "--", color=colour, linewidth=1)
        axes.set_xscale("log")
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        low = max(low, LEAST)
        spare = max((NARROW * low / high) ** 0.5, 1.0)
        axes.set_ylim(low / spare, high * spare)
        for kind, colour in LOOKS.items():
            curve = figure.data.get(SEPARATOR.join((key, kind)), {"T": np.empty(0), "measured": np.empty(0)})
            under = curve["measured"] < low / spare  # zeros among them
            below |= bool(under.any())
            if under.any():
                axes.plot(curve["T"][under], np.full(under.sum(), low / spare), "v", color=colour, clip_on=False)
        axes.set_title(key.replace("/", "\n"), loc="left")
        if high / low * spare**2 < 300:  # powers of ten would leave one tick
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        axes.set_xlabel("horizon $T$")
    handles = [panels[0].plot([], [], color="0.3", alpha=0.45, linewidth=2.2)[0]]
    handles += [panels[0].plot([], [], "--", color="0.3", linewidth=1)[0]]
    words = ["measured", "bound"]
    names = {"sharp": "sharp instance", "largest beta/mu": r"largest $\beta/\mu$ drawn", "random": "median draw"}
    for kind in dict.fromkeys(name.split(SEPARATOR)[1] for name in figure.data):
        handles += panels[0].plot([], [], color=LOOKS[kind])
        words.append(names[kind])
    if below:
        handles += panels[0].plot([], [], "v", color="0.3")
        words.append("measured below the axis (or 0)")
    canvas.legend(handles, words, loc="outside lower center", ncols=6, handlelength=1.8, columnspacing=1.0)
    ratios = [curve["bound"] / curve["measured"] for name, curve in figure.data.items() if name.endswith("| sharp")]
    near = sum(bool((ratio < 1.01).all()) for ratio in ratios)
    message = f"Along the horizon {near} of the {len(ratios)} bounds with a sharp instance stay within 1 % of it"
    headline(canvas, message, "Thick lines are measured, dashed ones are bounds; blue is an instance made to be sharp")
