"""A plan as a table in a file: one CSV of clients, together and alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.support.files import make_folder, write_whole
from suffice.support.text import csv_text

from ..plan_row import Row

if TYPE_CHECKING:  # a plan of constants is shown without torch
    from ..bootstrap import Stability
    from ..simulated import Measured

COLUMNS = (
    "epsilon [loss]", "method", "client", "collaborators", "step size [theta^2/loss]", "iterations <= [1]",
    "vectors <= [1]", "speed-up [1]", "theorem", "promise", "refused because", "measured [1]", "measured/predicted [1]",
    "least share of a planned peer over resamples [1]", "iterations, low [1]", "iterations, high [1]",
)  # fmt: skip


def write_csv(
    path: Path,
    rows: Sequence[Row],
    *,
    measured: Sequence[Measured] | None = None,
    stability: Sequence[Stability] | None = None,
) -> Path:
    """The rows of a plan, exact plans first: together, then alone.

    Measured numbers are mean hitting times. Low and high are the middle 95 % over resamples, of measured plans two
    standard errors.
    """
    lines: list[Sequence[object]] = [COLUMNS]
    for at, row in enumerate(rows):
        entry, stable = None if measured is None else measured[at], None if stability is None else stability[at]
        for name, found, gain in (
            ("measured", row.measured, row.measured_speedup),
            ("measured, alone", row.measured_local, None),
        ):
            if found is not None:
                peers = [row.names[k] for k in found.model.weights.nonzero()[0] if k != row.client]
                lines.append([
                    row.epsilon, name, row.name, "; ".join(peers), found.model.eta, found.iterations, "", gain, "",
                    f"first t with a mean excess <= epsilon over {found.seeds} simulated paths", found.note,
                    "", "", "", *("" if end is None else end for end in found.between),
                ])  # fmt: skip
        for name, plan, peers, speedup in (
            ("exact", row.exact, row.collaborators, row.exact_speedup),
            ("exact, alone", row.exact_local, (), None),
        ):
            if plan is not None:
                tried = ["", "", "", "", ""] if row.schedules is not None else _tried(entry, stable, name == "exact")
                lines.append([
                    row.epsilon, name, row.name, "; ".join(peers), plan.eta, plan.iterations, "", speedup, "",
                    "first T with E[e_T] <= epsilon, exact", plan.note, *tried,
                ])  # fmt: skip
        if row.schedules is None or row.local is None:
            continue
        cluster = [row.names[k] for k in row.cluster if k != row.client]
        for name, part, peers, speedup in (
            ("all-for-one", row.schedules.hitting, cluster, row.guaranteed_speedup),
            ("local", row.local.hitting, (), None),
        ):
            together = name == "all-for-one"
            lines.append([
                row.epsilon, name, row.name, "; ".join(peers), part["eta"], part["expected_iterations"], "", speedup,
                "adaptive/corollary-1-expected-time", "E[tau], stopped", "",
                *_tried(entry, stable, together),
            ])  # fmt: skip
    make_folder(path.parent, "csv")
    return write_whole(path, csv_text(lines).encode())


def _tried(entry: Measured | None, stable: Stability | None, together: bool) -> tuple[object, ...]:
    """The last five columns of a client: mean hitting time, over its bound, and what resamples say."""
    mean = None if entry is None else entry.together if together else entry.alone
    ratio = None if entry is None else entry.ratio_together if together else entry.ratio_alone
    weakest = stable.weakest if stable is not None and together else None
    ends = None if stable is None else stable.iterations if together else stable.local_iterations
    return mean, ratio, weakest, *(ends or ("", ""))
