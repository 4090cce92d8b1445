"""The first line of a plan: who trains with whom, and how long that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from suffice.support.tables import number

from ..plan_row import Kind, Row

Timed = tuple[Row, float | None, float | None]
"""A row with its iterations together and alone, None where none are known."""
FOLLOWED: tuple[Kind, ...] = ("exact", "measured", "guaranteed")
"""The best known first."""
VERBS = {"same": ("gains nothing by others", "gain nothing by others"),
         "there": ("starts there already", "start there already"),
         "lost": ("has no known time", "have no known time")}  # fmt: skip


def answer(precisions: Mapping[float | str, Sequence[Row]]) -> str:
    """At the first precision at which something is to be planned, empty where nothing is: the clients that peers help,
    by how many, the medians over these of iterations together and alone, and how many others there are of each kind.

    Times are of the plan to follow, exact or measured, or else those that theorems bound.
    """
    for key, rows in precisions.items():
        kind = next((kind for kind in FOLLOWED if all(rows[0].both(kind))), None)
        timed = [] if kind is None else [(row, *(plan.iterations for plan in row.both(kind))) for row in rows]
        if kind is not None and any(alone != 0 for _, _, alone in timed):
            text = _said(timed, kind)
            estimated = kind == "guaranteed" and rows[0].refusal
            at = key if isinstance(key, str) else number(key)
            text = f"At {at}: {text}" if len(precisions) > 1 else text[0].upper() + text[1:]
            return f"{text}{'; nothing of this is guaranteed' if estimated else ''}."
    return ""


def _said(timed: Sequence[Timed], kind: Kind) -> str:
    groups: dict[str, list[Timed]] = {name: [] for name in ("helped", *VERBS)}
    for row, together, alone in timed:
        quicker = together is not None and (alone is None or together < alone)
        name = "helped" if quicker and row.peers(kind) else "lost" if alone is None else "same" if alone else "there"
        groups[name].append((row, together, alone))
    helped, same, most = groups["helped"], groups["same"], "at most " if kind == "guaranteed" else ""
    if helped:
        many, peers = len(helped), [len(row.peers(kind)) for row, _, _ in helped]
        who = f"all {many} clients" if many == len(timed) else f"{many} of {len(timed)} clients"
        whom = f"{min(peers)}" if min(peers) == max(peers) else f"{min(peers)} to {max(peers)}"
        text = f"train {who} with {whom} other{'s' * (max(peers) > 1)}: {most}{_iterations(helped, 1)} where "
        unknown = sum(alone is None for _, _, alone in helped)
        takes = f"it takes {most}{number(_median(helped, 2), 6)} alone"
        text += f"alone no time is known for {unknown} of them" if unknown else takes
    elif same:
        text = (
            f"train {'each' if len(timed) > 1 else 'the only'} client alone: {most}{_iterations(groups.pop('same'), 2)}"
        )
    else:
        text = f"no time is known for {len(groups.pop('lost'))} of {len(timed)} clients"
    counts = [f"{len(found)} {verbs[len(found) > 1]}" for name, verbs in VERBS.items() if (found := groups.get(name))]
    return "; ".join([text, *counts])


def _median(timed: Sequence[Timed], at: int) -> float:
    """Of the times together, `at` 1, or alone, 2."""
    return float(np.median([np.inf if one[at] is None else one[at] for one in timed]))


def _iterations(timed: Sequence[Timed], at: int) -> str:
    median = _median(timed, at)
    return f"{number(median, 6)} iteration{'s' * (median != 1)}{' in the median' * (len(timed) > 1)}"
