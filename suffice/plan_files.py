"""A plan as files: one CSV of clients and methods, and the figure."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bounds import InputError, write_whole
from bounds.method_plan import MethodPlan

if TYPE_CHECKING:
    from figures import Figure

    from .advice import Measured, Plan
    from .method_runs import MethodRun
    from .stability import Stability

COLUMNS = (
    "epsilon [loss]", "method", "client", "collaborators", "step size [theta^2/loss]", "iterations <= [1]",
    "vectors <= [1]", "speed-up [1]", "theorem", "promise", "refused because", "measured [1]", "measured/predicted [1]",
    "least share of a planned peer over resamples [1]", "iterations, low [1]", "iterations, high [1]",
)  # fmt: skip


def write_csv(
    path: Path,
    plan: Plan,
    methods: Sequence[MethodPlan] = (),
    *,
    measured: Sequence[Measured] | None = None,
    runs: Sequence[MethodRun] | None = None,
    stability: Sequence[Stability] | None = None,
) -> Path:
    """Rows of clients (All-for-one, then local), and one of every other method for the whole network, client empty.

    A client's measured number is a mean hitting time; a method's is what its theorem controls, and its ratio is taken
    to what is promised. Low and high are the middle 95 % over resamples.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for at, row in enumerate(plan):
        entry, stable = None if measured is None else measured[at], None if stability is None else stability[at]
        for name, part, peers, speedup in (
            ("all-for-one", row.schedules.hitting, row.collaborators, row.speedup),
            ("local", row.local.hitting, (), None),
        ):
            together = name == "all-for-one"
            mean = None if entry is None else entry.together if together else entry.alone
            ratio = None if entry is None else entry.ratio_together if together else entry.ratio_alone
            weakest = stable.weakest if stable is not None and together else None
            ends = None if stable is None else stable.iterations if together else stable.local_iterations
            writer.writerow([
                row.epsilon, name, row.name, "; ".join(peers), part["eta"], part["expected_iterations"], "", speedup,
                "adaptive/corollary-1-expected-time", "E[tau], stopped", "", mean, ratio, weakest,
                *(ends or ("", "")),
            ])  # fmt: skip
    found = {(run.method, run.epsilon): run for run in runs or ()}
    for one in methods:
        run = found.get((one.method, one.epsilon))
        reason = "" if one.failure is None else f"{one.failure['condition']}: {one.failure['reason']}"
        eta = one.settings.get("eta", "") if isinstance(one.settings.get("eta", ""), (float, str)) else ""
        writer.writerow([
            one.epsilon, one.method, "", "", eta, one.samples_per_client, one.vectors, "", one.theorem, one.guarantee,
            reason, *(("", "") if run is None else (run.measured, run.ratio)), "", "", "",
        ])  # fmt: skip
    _make_folder(path.parent, "csv")
    return write_whole(path, out.getvalue().encode())


def write_plot(path: Path, plan: Plan) -> list[Path]:
    """The plan's figure by `write_figure`."""
    return write_figure(path, plan.plot())


def write_figure(path: Path, figure: Figure) -> list[Path]:
    """The figure as one file (.pdf, .png or .svg), or with its data into a folder."""
    kind = path.suffix.lower()
    if not kind or path.is_dir():
        _make_folder(path, "plot")
        return figure.save(path)
    if kind not in (".pdf", ".png", ".svg"):
        raise InputError("plot", str(path), "name a .pdf, .png or .svg file, or a folder")
    _make_folder(path.parent, "plot")
    return [write_whole(path, figure.picture(kind[1:]))]


def _make_folder(folder: Path, option: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(option, str(folder), f"{(error.strerror or 'no folder').lower()}; name another") from None
