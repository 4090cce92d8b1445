"""`suffice demo`: one thread through the whole house."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .console import console, progress
from .plan_tables import plan_table
from .report import errata_table, verdict_table

if TYPE_CHECKING:
    from rich.console import Console

    from simulate import LeastSquares, Logistic

CLIENTS = 8
PRECISIONS = (0.2, 0.1, 0.03)
BMI = 2

CLAIMS = (
    "adaptive/property-1",
    "adaptive/lemma-2",
    "adaptive/theorem-2-constant",
    "adaptive/theorem-2-decreasing",
    "worst-case/one-step",
    "sample-optimal/theorem-3",
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


def diabetes(predictors: list[int] | None = None) -> LeastSquares | Logistic:
    """scikit-learn's 442 diabetes patients, split by age into eight clients.

    Predictors (default: body-mass index alone) and response are standardised over all patients; the
    models have an intercept.
    """
    from sklearn.datasets import load_diabetes

    from ..client_data import from_arrays

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


def run_demo(out: Path) -> bool:
    """Everything once; True when every verdict is the expected one."""
    from figures import figure
    from verify import errata, verify

    from ..advice import plan

    screen = console()
    screen.rule("Figure 1: the size of a sufficient cluster, as published and as stated")
    for edition in ("published", "stated"):
        for path in figure("adaptive-1", edition=edition).save(out / edition):
            screen.print(f"  {path}", highlight=False)

    screen.rule("A plan on real data: 442 diabetes patients, eight clients by age, progression on body-mass index")
    advice = plan(diabetes(), epsilon=PRECISIONS)
    with progress("simulating the plan") as report:
        measured = advice.simulate(seeds=256, progress=report)
    plan_table(advice, measured)

    screen.rule("A refusal: all ten predictors")
    refuse(screen)

    screen.rule("Some verdicts: suffice verify checks every claim")
    with progress("checking claims") as report:
        verdicts = verify(CLAIMS, progress=report)
    verdict_table(verdicts)

    screen.rule("Some of the errata: suffice errata lists all")
    errata_table([entry.to_dict() for name in ERRATA for entry in errata(name)])
    return all(verdict.expected for verdict in verdicts)


def refuse(screen: Console) -> None:
    """The ten-predictor problem, where the certificates admit nobody, in one paragraph."""
    from ..advice import plan

    problem = diabetes(list(range(10)))
    constants = problem.constants()
    advice = plan(problem, epsilon=PRECISIONS)
    together = sum(bool(row.collaborators) for row in advice)
    screen.print(
        f"Condition number up to {(constants.beta / constants.mu).max():,.0f}; {together} of {len(advice)} rows may "
        "collaborate. At these precisions the squared gradient may be as small as 2 mu eps, and against that every "
        "pair of clients differs too much: no theorem here promises a gain.",
        highlight=False,
    )
