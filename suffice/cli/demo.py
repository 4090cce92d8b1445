"""The command `suffice demo`: a bit of everything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.support.progress import progress
from suffice.support.tables import Table, console

from .app import app
from .console import echo, run_next

if TYPE_CHECKING:
    from suffice.simulate import LeastSquares, Logistic

CLIENTS = 8
PRECISIONS = (0.2, 0.1, 0.03)
BMI = 2
CLAIMS = ("adaptive/theorem-2-constant", "cobo/example-2-dissimilarity", "scafflix/corollary-1")


@app.command()
def demo(out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("out")) -> None:
    """Show an exceeded bound, a plan for eight clients, and verdicts: three sentences say what was seen."""
    from suffice.bounds.saved_errata import said, saved_rows
    from suffice.figures.catalogue import figure
    from suffice.planning.plan import plan
    from suffice.verification import verify

    from .verify import answer, verdict_table

    pictures = figure("theorem-2-truth").save(out)
    advice = plan(diabetes(), epsilon=PRECISIONS[::-1], start="zero")
    with progress("checking claims") as report:
        verdicts = verify(CLAIMS, progress=report)

    wrong = next(row for row in saved_rows() if row["id"] == "adaptive-theorem-2-expectation")
    seen = [
        f"In {wrong['location']} as printed {said(wrong)}.",
        f"442 diabetes patients are planned for in eight groups by age. {advice.answer}",
        answer(verdicts),
    ]
    Table(columns=(), rows=(), lines=seen).show()
    screen = console()
    screen.rule("Theorem 2 beside the exact excess on its counterexample, a picture")
    for path in pictures:
        echo(f"  {path}")
    screen.rule("The plan")
    advice.table().show()
    screen.rule("Verdicts")
    verdict_table(verdicts).show()
    run_next("why the first bound fails", "errata", wrong["id"])
    if not all(verdict.expected for verdict in verdicts):
        raise typer.Exit(1)


def diabetes() -> LeastSquares | Logistic:
    """scikit-learn's 442 diabetes patients, split by age into eight clients.

    The body-mass index and the response are standardised over all patients; the models have an intercept.
    """
    import numpy as np
    from sklearn.datasets import load_diabetes

    from suffice.simulate.problems.from_arrays import from_arrays

    features, response = load_diabetes(return_X_y=True, scaled=False)
    age = features[:, 0]
    groups = np.array_split(np.argsort(age, kind="stable"), CLIENTS)
    names = [f"{age[group].min():.0f}-{age[group].max():.0f}" for group in groups]
    X, y = [features[group, BMI : BMI + 1] for group in groups], [response[group] for group in groups]
    return from_arrays(X, y, names=names, standardise_target=True)
