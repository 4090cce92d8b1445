"""The command `suffice demo`: a bit of everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.support.progress import progress
from suffice.support.tables import console

from .app import app
from .console import echo

if TYPE_CHECKING:
    from suffice.simulate import LeastSquares, Logistic

CLIENTS = 8
PRECISIONS = (0.2, 0.1, 0.03)
BMI = 2
SEEDS = 4096
"""The excess on single paths has heavy tails: so many that its mean is known to 2 %."""

CLAIMS = (
    "adaptive/property-1",
    "adaptive/lemma-2",
    "adaptive/theorem-2-constant",
    "adaptive/theorem-2-decreasing",
    "worst-case/one-step",
    "sample-optimal/theorem-3-sharp",
    "cobo/example-2-dissimilarity",
    "scafflix/corollary-1",
)
ERRATA = (
    "adaptive-property-1-constant",
    "adaptive-definition-2-square",
    "adaptive-theorem-2-expectation",
    "adaptive-theorem-2-decreasing-step",
)
"""A few of each paper; `suffice verify` and `suffice errata` go through all."""


@app.command()
def demo(out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("out")) -> None:
    """Show the main features in about a minute: a figure, a plan for eight clients, verdicts, errata."""
    from suffice.figures.catalogue import figure
    from suffice.planning.plan import plan
    from suffice.planning.tables.trials import measured_tables
    from suffice.verification import errata, verify

    from .errata import errata_table
    from .verify import verdict_table

    screen = console()
    screen.rule("Figure 1: the size of a sufficient cluster, as published and as stated")
    for edition in ("published", "stated"):
        for path in figure("adaptive-1", edition=edition).save(out / edition):
            echo(f"  {path}")

    screen.rule("A plan on real data: 442 diabetes patients, eight clients by age, progression on body-mass index")
    advice = plan(diabetes(), epsilon=PRECISIONS, start="zero")
    with progress("simulating the plan") as report:
        measured = advice.simulate(seeds=SEEDS, progress=report)
    advice.table().show()
    measured_tables(measured)[0].show()

    screen.rule("All ten predictors, to a tenth of each client's excess over its best constant")
    plan(diabetes(list(range(10))), epsilon="10%").table().show()

    screen.rule("Some verdicts (`suffice verify` checks every claim)")
    with progress("checking claims") as report:
        verdicts = verify(CLAIMS, progress=report)
    verdict_table(verdicts).show()

    screen.rule("Some of the errata (`suffice errata` lists all)")
    errata_table([entry.to_dict() for name in ERRATA for entry in errata(name)]).show()
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
