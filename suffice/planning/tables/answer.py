"""The first line of a plan: who trains with whom, and how long that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from suffice.support.tables import number

from ..client_plan import KINDS, ClientPlan, Kind

Timed = tuple[ClientPlan, float | None, float | None]
"""A row with its iterations together and alone, None where none are known."""
VERBS = {"same": "gain{s} nothing by others", "there": "start{s} there already", "lost": "ha{ve} no known time"}


def answer(precisions: Mapping[float | str, Sequence[ClientPlan]]) -> str:
    """A sentence for the first precision at which something is to be planned, empty where nothing is: the clients that
    peers help, by how many, the medians of their iterations together and alone, and how many others are of each kind.

    Times are of the plan to follow, exact or measured, or else those that theorems bound.
    """
    for key, rows in precisions.items():
        kind = next((kind for kind in KINDS if all(rows[0].both(kind))), None)
        timed = [] if kind is None else [(row, *(plan.iterations for plan in row.both(kind))) for row in rows]
        if kind is not None and any(alone != 0 for _, _, alone in timed):
            text = _said(timed, kind)
            at = key if isinstance(key, str) else number(key)
            text = f"At {at}: {text}" if len(precisions) > 1 else text[0].upper() + text[1:]
            unsure = "; nothing of this is guaranteed" * (kind == "guaranteed" and rows[0].refusal != "")
            return f"{text}{unsure}."
    return ""


def _said(timed: Sequence[Timed], kind: Kind) -> str:
    groups: dict[str, list[Timed]] = {name: [] for name in ("helped", *VERBS)}
    for row, together, alone in timed:
        quicker = together is not None and (alone is None or together < alone)
        name = "helped" if quicker and row.peers(kind) else "lost" if alone is None else "same" if alone else "there"
        groups[name].append((row, together, alone))
    helped, most, many = groups["helped"], "at most " * (kind == "guaranteed"), len(timed)
    if helped:
        peers, unknown = [len(row.peers(kind)) for row, _, _ in helped], sum(alone is None for *_, alone in helped)
        who = "all" if len(helped) == many else f"{len(helped)} of"
        whom = f"{min(peers)} to {max(peers)}" if min(peers) < max(peers) else f"{max(peers)}"
        text = (
            f"train {who} {many} clients with {whom} other{'s' * (max(peers) > 1)}: {most}{_median(helped, 1)} where "
        )
        takes = f"it takes {most}{_median(helped, 2).partition(' ')[0]} alone"
        text += f"alone no time is known for {unknown} of them" if unknown else takes
    elif groups["same"]:
        text = f"train {'each' if many > 1 else 'the only'} client alone: {most}{_median(groups.pop('same'), 2)}"
    else:
        text = f"no time is known for {len(groups.pop('lost'))} of {many} clients"
    counts = [(len(groups[name]), words) for name, words in VERBS.items() if groups.get(name)]
    return "; ".join(
        [text, *(f"{n} {words.format(s='s' * (n < 2), ve='s' if n < 2 else 've')}" for n, words in counts)]
    )


def _median(timed: Sequence[Timed], at: int) -> str:
    """The median of the iterations together, `at` 1, or alone, `at` 2, in words."""
    median = float(np.median([np.inf if one[at] is None else one[at] for one in timed]))
    return f"{number(median, 6)} iteration{'s' * (median != 1)}{' in the median' * (len(timed) > 1)}"
