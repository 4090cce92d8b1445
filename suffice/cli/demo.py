"""The command `suffice demo`: a bit of everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.support.progress import progress
from suffice.support.tables import Table, console, times_text

from .app import app
from .console import echo

if TYPE_CHECKING:
    from suffice.simulate import LeastSquares, Logistic

CLIENTS = 8
PRECISIONS = (0.2, 0.1, 0.03)
BMI = 2
SEEDS = 4096
"""The excess on single paths has heavy tails: so many that its mean is known to 2 %."""

CLAIMS = ("adaptive/theorem-2-constant", "cobo/example-2-dissimilarity", "scafflix/corollary-1")


@app.command()
def demo(out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("out")) -> None:
    """Show in about a minute an exceeded bound, a plan for eight clients, and verdicts, and say what was seen."""
    from suffice.bounds.saved_errata import kept, said
    from suffice.figures.catalogue import figure
    from suffice.planning.plan import plan
    from suffice.planning.tables.trials import measured_tables
    from suffice.verification import verify

    from .verify import answer, verdict_table

    screen = console()
    screen.rule("Theorem 2 of adaptive as printed, beside the exact excess on its counterexample")
    for path in figure("theorem-2-truth").save(out):
        echo(f"  {path}")

    screen.rule("A plan on real data: 442 diabetes patients, eight clients by age, progression on body-mass index")
    advice = plan(diabetes(), epsilon=PRECISIONS, start="zero")
    with progress("simulating the plan") as report:
        measured = advice.simulate(seeds=SEEDS, progress=report)
    measured_tables(measured)[0].show()

    screen.rule("Some verdicts (`suffice verify` checks every claim)")
    with progress("checking claims") as report:
        verdicts = verify(CLAIMS, progress=report)
    verdict_table(verdicts).show()

    screen.rule("What was seen")
    wrong = next(row for row in kept() if row["id"] == "adaptive-theorem-2-expectation")
    gains = [row.exact_speedup for row in advice]
    lines = [
        f"In {wrong['location']} as printed {said(wrong)}: `suffice errata {wrong['id']}`, `suffice explore`.",
        f"A client that trains by the plan takes {times_text(min(gains))} to {times_text(max(gains))} times fewer "
        "iterations than alone: `suffice plan`.",
        f"{answer(verdicts)} `suffice theorem` lists all results, and `suffice fit FILE` answers for your own data.",
    ]
    Table(columns=(), rows=(), lines=lines).show()
    if not all(verdict.expected for verdict in verdicts):
        raise typer.Exit(1)


def diabetes(predictors: list[int] | None = None) -> LeastSquares | Logistic:
    """scikit-learn's 442 diabetes patients, split by age into eight clients.

    Predictors (default: body-mass index alone) and response are standardised over all patients; the
    models have an intercept.
    """
    import numpy as np
    from sklearn.datasets import load_diabetes

    from suffice.simulate.problems.from_arrays import from_arrays

    bunch: Any = load_diabetes(scaled=False)
    features, response = np.asarray(bunch.data), np.asarray(bunch.target)
    age = features[:, 0]
    groups = np.array_split(np.argsort(age, kind="stable"), CLIENTS)
    chosen = features[:, [BMI] if predictors is None else predictors]
    return from_arrays(
        [chosen[group] for group in groups],
        [response[group] for group in groups],
        names=[f"{age[group].min():.0f}-{age[group].max():.0f}" for group in groups],
        standardise="pooled",
        standardise_target=True,
    )
