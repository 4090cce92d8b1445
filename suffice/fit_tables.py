"""The table of `suffice fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .render import Table, number

if TYPE_CHECKING:
    from .site_models import SiteModels

MOST = 40
"""Sites that are shown; all are in the JSON."""
MOST_LISTED = 3
"""Collaborators that are named."""
COLUMNS = ("site", "rows", "own share", "collaborators", "loss alone", "loss together", "gain", "+- 2 se")


def fit_table(fit: SiteModels) -> Table:
    """Sites with what they gain; the network and what was left out as lines below."""
    rows = []
    for model in fit.clients[:MOST]:
        names = list(model.collaborators)
        shown = ", ".join(names[:MOST_LISTED])
        if len(names) > MOST_LISTED:
            shown = "all others" if len(names) == len(fit) - 1 else f"{shown} and {len(names) - MOST_LISTED} more"
        rows.append(
            (
                model.name,
                str(model.rows),
                f"{model.weights.get(model.name, 0.0):.0%}",
                shown or "nobody",
                number(model.expected_loss_alone),
                number(model.expected_loss),
                number(model.gain),
                number(None if model.gain_se is None else 2 * model.gain_se, 2),
            )
        )
    return Table(
        title=f"Models for new rows: {fit.loss}, target {fit.target} (losses from held-out folds)",
        columns=COLUMNS,
        numeric=("rows", "own share", "loss alone", "loss together", "gain", "+- 2 se"),
        optional=("own share",),
        rows=rows,
        lines=_lines(fit),
    )


def _lines(fit: SiteModels) -> list[str]:
    lines = []
    if len(fit) > MOST:
        lines.append(f"{len(fit) - MOST} more sites: --json or --out has all of them.")
    gain, error = fit.rule["network_gain"], fit.rule["network_gain_se"]
    if gain is not None and error is not None:
        sure = "collaboration pays off" if gain > 0 else "working alone is better"
        verdict = sure if abs(gain) > 2 * error else "not significant"
        lines.append(f"All sites together gain {gain:.3g} +- {2 * error:.2g} per new row: {verdict}.")
    decisive = fit.rule.get("network_gain_decided_by")
    if decisive is not None:
        without = fit.rule["network_gain_without"]
        lines.append(f"Most of that is {decisive} ({fit[decisive].rows} rows): without it, {without:.3g} per new row.")
    families = sorted(fit.rule["families"].items(), key=lambda entry: -entry[1])
    lines.append("Averaged: " + ", ".join(f"{name} {weight:.0%}" for name, weight in families if weight >= 0.005) + ".")
    if len(fit) == 1:
        lines.append("There is only one site, so there is nothing to gain.")
    elif any(model.gain is None for model in fit):
        lines.append("No gain is shown below three rows per coefficient: its interval would be unreliable.")
    rounds = fit.rule["rounds"]
    sent = f"{fit.rule['numbers_per_site']} numbers per site"
    lines.append(f"Federated, this takes {rounds} round{'s' if rounds > 1 else ''} of {sent}; no rows are exchanged.")
    lines += [f"Left out or changed: {note}." for note in fit.left_out]
    lines += [f"Note: {note}." for note in fit.notes]
    lines.append("These models predict new rows; for the speed of training see suffice plan.")
    return lines
