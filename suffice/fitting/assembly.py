"""From standardised results to a `Fit`: what columns become, who counts for whom, what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.simulate.data.encoding import Encoding, pooled_mean
from suffice.simulate.data.folds import Fold, Units

from .candidates import Fitted
from .fitted import Fit
from .gain import PER_COEFFICIENT, Gains
from .site_models import LEFT_OUT, POPULATION, SiteModel
from .table import findings

if TYPE_CHECKING:
    from suffice.simulate import Quadratics
    from suffice.simulate.data.folds import Rows
    from suffice.simulate.data.site_rows import Sites

Model = tuple[dict[str, Any], Any]
"""Coefficients and intercept, or of each class."""


def encode(
    sites: Sites, folds: Sequence[Sequence[Fold]], trusted: Sequence[Sequence[Fold]]
) -> tuple[Encoding, list[list[Fold]], Units, list[str]]:
    """The encoding that the `trusted` messages settle, all in it, their units, and what is said of columns."""
    levels, gaps = sites.design.categories
    encoding = Encoding.of(sites.design.names, levels, gaps, pooled_mean(trusted)[:-1])
    encoded = encoding.folds(folds)
    units = Units.pooled(encoded)
    return encoding, encoded, units, sites.design.remarks(encoding, units.constant)


def typically_filled(sites: Sites, folds: Sequence[Sequence[Fold]]) -> list[list[Fold]]:
    """Encoded messages in which gaps are filled with the median of the sites' means, which a wrong unit cannot move."""
    names, (levels, gaps) = sites.design.names, sites.design.categories
    mean = pooled_mean(folds)[:-1]
    each = np.array([pooled_mean([site])[:-1] for site in folds])
    for name, gap in gaps.items():
        there = 1 - each[:, names.index(gap)]
        known = each[there > 0, names.index(name)] / there[there > 0]
        mean[names.index(name)] = (1 - mean[names.index(gap)]) * (np.median(known) if len(known) else 0.0)
    return Encoding.of(names, levels, gaps, mean).folds(folds)


def assemble(
    sites: Sites,
    client: str,
    loss: str,
    fitted: Fitted,
    found: Gains,
    models: Sequence[Model],
    shared: Model,
    *,
    scale: float,
    encoding: Encoding,
    left_out: Sequence[str],
    exchanged: dict[str, Any],
    expected: Callable[[], Quadratics] | None = None,
    suspects: Sequence[dict[str, Any]] = (),
    groups: dict[str, Any] | None = None,
    power: float | None = None,
) -> Fit:
    """The `Fit` of standardised results; losses are multiplied by `scale`."""
    names = sites.names
    if len(names) == 1:  # nobody else's rows: what is averaged and ridge alone are two ways of being alone
        found = replace(found, alone=found.together, gain=np.full(1, np.nan), error=np.full(1, np.nan), decisive=None)
        found = replace(found, network=np.nan, network_error=np.nan)
    apart = {entry["site"] for entry in suspects if entry["left_out"] == "site"}
    clients = tuple(
        _site_model(site, at, fitted, found, models[at], names, scale, apart=site.name in apart)
        for at, site in enumerate(sites.sites)
    )
    population = SiteModel(
        name=POPULATION, rows=0, collaborators=(), weights={}, coefficients=shared[0], intercept=shared[1],
        expected_loss=None, expected_loss_alone=None, gain=None, gain_se=None,
    )  # fmt: skip
    rule: Any = _averaged(fitted, found, names, scale) | {
        "suspects": list(suspects),
        "groups": [entry | _gain_of(entry["sites"], clients) for entry in groups["groups"]] if groups else [],
        "distances": {key: groups[key] for key in ("compared", "distances")} if groups else None,
        "spread_power": power,
        "fewest_numbers": None,
        **exchanged,
    }
    fit = Fit(
        loss=loss, client=client, target=sites.target, classes=sites.classes, clients=clients,
        population=population, rule=rule, left_out=tuple(left_out), notes=sites.notes, design=sites.design,
        encoding=encoding, expected=expected,
    )  # fmt: skip
    return replace(fit, notes=(*findings(fit), *fit.notes))


def _site_model(
    site: Rows, at: int, fitted: Fitted, found: Gains, model: Model, names: Sequence[str], scale: float, *, apart: bool
) -> SiteModel:
    """Of site `at` of all."""
    influence = fitted.influences[at]
    # more than half of the equal share
    chosen = tuple(names[k] for k in np.argsort(-influence) if k != at and influence[k] > 0.5 / len(names))
    return SiteModel(
        name=site.name,
        rows=site.count,
        collaborators=chosen,
        weights=dict(zip(names, influence.tolist())),
        coefficients=model[0],
        intercept=model[1],
        expected_loss=_number(found.together[at], scale),
        expected_loss_alone=_number(found.alone[at], scale),
        expected_loss_constant=_number(found.constant[at], scale),
        gain=_number(found.gain[at], scale),
        gain_se=_number(found.error[at], scale),
        notes=_site_notes(site.count, found, at, apart=apart),
    )


def _averaged(fitted: Fitted, found: Gains, names: Sequence[str], scale: float) -> dict[str, Any]:
    """What was averaged, and what all sites gain."""
    return {
        "name": "candidates from all alike to nobody alike, averaged by held-out folds",
        "candidates": [
            {"family": family, "setting": setting, "weight": weight, "score": score * scale}
            for family, setting, weight, score in sorted(fitted.candidates, key=lambda entry: -entry[2])
        ],
        "families": _families(fitted),
        "network_gain": _number(found.network, scale),
        "network_gain_se": _number(found.network_error, scale),
        "network_gain_sites": found.among,
        "network_gain_decided_by": None if found.decisive is None else names[found.decisive[0]],
        "network_gain_without": None if found.decisive is None else _number(found.decisive[1], scale),
    }


def _site_notes(count: int, found: Gains, at: int, *, apart: bool) -> tuple[str, ...]:
    if apart:
        return (LEFT_OUT,)
    if np.isnan(found.together[at]):
        return ("no row of this site was held out: its losses are not known",)
    if len(found.gain) == 1:
        return ("there is only one site, so there is nothing to gain",)
    if np.isnan(found.gain[at]):
        return (f"{count} rows are fewer than {PER_COEFFICIENT} per coefficient: see the network's gain",)
    return ()


def _gain_of(group: Sequence[str], clients: Sequence[SiteModel]) -> dict[str, float | None]:
    """Per row of the group's sites whose gains are known, as if these were independent."""
    known = [one for one in clients if one.name in group and one.gain is not None and one.gain_se is not None]
    rows = sum(one.rows for one in known)
    if not rows:
        return {"gain": None, "gain_se": None}
    gain = sum(one.rows * (one.gain or 0.0) for one in known) / rows
    return {"gain": gain, "gain_se": sum((one.rows * (one.gain_se or 0.0)) ** 2 for one in known) ** 0.5 / rows}


def _families(fitted: Fitted) -> dict[str, float]:
    weights: dict[str, float] = {}
    for family, _, weight, _ in fitted.candidates:
        weights[family] = weights.get(family, 0.0) + weight
    return weights


def _number(value: float, scale: float) -> float | None:
    return None if np.isnan(value) else float(value * scale)
