"""A plan as a table in a file: one CSV of clients, together and alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.support.files import make_folder, write_whole
from suffice.support.text import csv_text

from ..number import Kind
from ..plan_row import Row

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..bootstrap import Stability
    from ..simulated import Measured

COLUMNS = (
    "epsilon [loss]", "method", "client", "collaborators", "step size [theta^2/loss]", "iterations <= [1]",
    "vectors <= [1]", "speed-up [1]", "theorem", "promise", "refused because", "measured [1]", "measured/predicted [1]",
    "least share of a planned peer over resamples [1]", "iterations, low [1]", "iterations, high [1]",
)  # fmt: skip
METHODS: dict[Kind, tuple[tuple[str, str], str, str]] = {
    "measured": (
        ("measured", "measured, alone"),
        "",
        "first t with a mean excess <= epsilon over {plan.seeds} simulated paths",
    ),
    "exact": (("exact", "exact, alone"), "", "first T with E[e_T] <= epsilon, exact"),
    "guaranteed": (("all-for-one", "local"), "adaptive/corollary-1-expected-time", "E[tau], stopped"),
}
"""Of each kind of plan: its names with peers and alone, the theorem behind it, and what it promises."""


def write_csv(
    path: Path,
    rows: Sequence[Row],
    *,
    measured: Sequence[Measured] | None = None,
    stability: Sequence[Stability] | None = None,
) -> Path:
    """The rows of a plan, the guaranteed plans last: together, then alone.

    Measured numbers are mean hitting times. Low and high are the middle 95 % over resamples, of measured plans two
    standard errors.
    """
    lines: list[Sequence[object]] = [COLUMNS]
    for at, row in enumerate(rows):
        entry, stable = None if measured is None else measured[at], None if stability is None else stability[at]
        for kind, (methods, theorem, promise) in METHODS.items():
            for together, method, plan in zip((True, False), methods, row.plans.get(kind, ())):
                if kind == "measured":
                    tried = ["", "", "", *plan.time.error]
                else:  # of the guaranteed plans, where there are any
                    told = kind == "guaranteed" or row.schedules is None
                    tried = _tried(entry, stable, together) if told else [""] * 5
                lines.append([
                    row.epsilon, method, row.name, "; ".join(row.peers(kind) if together else ()), plan.eta,
                    plan.time.value, "", row.gain(kind) if together else "", theorem,
                    promise.format(plan=plan), plan.time.why_not, *tried,
                ])  # fmt: skip
    make_folder(path.parent, "csv")
    return write_whole(path, csv_text(lines).encode())


def _tried(entry: Measured | None, stable: Stability | None, together: bool) -> tuple[object, ...]:
    """The last five columns of a client: mean hitting time, over its bound, and what resamples say."""
    run = None if entry is None else entry.plans["together" if together else "alone"]
    weakest = stable.weakest if stable is not None and together else None
    ends = None if stable is None else stable.iterations if together else stable.local_iterations
    return run and run.time, run and run.ratio, weakest, *(ends or ("", ""))
