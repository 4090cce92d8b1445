"""The table of `suffice fit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from suffice.bounds.population.gain import PER_COEFFICIENT

from .render import Table, number

if TYPE_CHECKING:
    from .site_models import SiteModels

MOST = 40
"""Sites that are shown; all are in the JSON."""
WIDEST = 16
"""Characters of the collaborators that are named."""
COLUMNS = ("site", "rows", "own", "collaborators", "alone", "together", "gain", "+- 2 se")


def fit_table(fit: SiteModels) -> Table:
    """Sites with what they gain; the network and what was left out as lines below."""
    rows = []
    for model in fit.clients[:MOST]:
        rows.append(
            (
                model.name,
                str(model.rows),
                f"{model.weights.get(model.name, 0.0):.0%}",
                listed(model.collaborators, len(fit) - 1),
                number(model.expected_loss_alone),
                number(model.expected_loss),
                number(model.gain),
                number(None if model.gain_se is None else 2 * model.gain_se, 2),
            )
        )
    return Table(
        title=f"Models for new rows: {fit.loss}, target {fit.target} (losses from held-out folds)",
        columns=COLUMNS,
        numeric=("rows", "own", "alone", "together", "gain", "+- 2 se"),
        rows=rows,
        lines=_lines(fit),
    )


def listed(names: Sequence[str], others: int) -> str:
    """Collaborators in few characters: all others, or the first ones and how many more."""
    if len(names) == others > 2:
        return f"all {others} others"
    for shown in range(len(names), 0, -1):
        text = ", ".join(names[:shown]) + (f" + {len(names) - shown}" if shown < len(names) else "")
        if len(text) <= WIDEST or shown == len(names) == 1:
            return text
    return f"{len(names)} others" if names else "nobody"


def _lines(fit: SiteModels) -> list[str]:
    losses = "mean squared errors" if fit.loss == "least-squares" else "log-losses"
    lines = [f"own: share of its own rows in a site's model; alone, together: {losses}."]
    if len(fit) > MOST:
        lines.append(f"{len(fit) - MOST} more sites: --json or --out has all of them.")
    gain, error = fit.rule["network_gain"], fit.rule["network_gain_se"]
    if gain is not None and error is not None:
        sure = "collaboration pays off" if gain > 0 else "working alone is better"
        verdict = sure if abs(gain) > 2 * error else "not significant"
        lines.append(f"All sites, weighted by rows, gain {gain:.3g} +- {2 * error:.2g}: {verdict}.")
    decisive = fit.rule.get("network_gain_decided_by")
    if decisive is not None:
        without = fit.rule["network_gain_without"]
        lines.append(f"Most of that is {decisive} ({fit[decisive].rows} rows): without it, {without:.3g} per new row.")
    families = sorted(fit.rule["families"].items(), key=lambda entry: -entry[1])
    lines.append("Averaged: " + ", ".join(f"{name} {weight:.0%}" for name, weight in families if weight >= 0.005) + ".")
    if len(fit) == 1:
        lines.append("There is only one site, so there is nothing to gain.")
    elif any(model.gain is None for model in fit):
        size = len(fit.encoding.columns) + 1
        lines.append(
            f"A site's gain is shown from {PER_COEFFICIENT} rows per coefficient on ({size} coefficients, so from "
            f"{PER_COEFFICIENT * size} rows on): below, its interval would be unreliable."
        )
    known = [
        abs(model.gain) > 2 * model.gain_se for model in fit if model.gain is not None and model.gain_se is not None
    ]
    if known and not any(known):
        lines.append("At no single site does the gain shown exceed two standard errors.")
    rounds = fit.rule["rounds"]
    sent = f"{fit.rule['numbers_per_site']} numbers per site"
    lines.append(f"Federated, this takes {rounds} round{'s' if rounds > 1 else ''} of {sent}; no rows are exchanged.")
    lines += [f"Left out or changed: {note}." for note in fit.left_out]
    lines += [f"Note: {note}." for note in fit.notes]
    lines.append("These models predict new rows; for the speed of training see suffice plan.")
    return lines
