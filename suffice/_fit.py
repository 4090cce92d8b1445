"""`fit`: one model per site for the rows that nobody has seen yet, from rows or from messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import MAX_MEMORY, InputError
from suffice.bounds.population import Fitted, Fold, collaborate
from suffice.bounds.population.encoding import Encoding, pooled_mean
from suffice.bounds.population.gain import PER_COEFFICIENT, Gains, gains
from suffice.bounds.population.messages import Units

from .fitted import Fit
from .site_models import POPULATION, SiteModel

if TYPE_CHECKING:
    from suffice.simulate.data.message import Message
    from suffice.simulate.data.site_rows import Sites


def fit(
    source: Any,
    *,
    client: str = "client",
    target: str = "target",
    loss: str = "auto",
    weight: str | None = None,
    drop: Sequence[str] = (),
    split: str | None = None,
    seed: int = 0,
    max_memory: float = MAX_MEMORY,
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """A model for every site, with as much from the others' rows as predicts best.

    source      a CSV with a column of sites, a folder of one CSV per site, .npz or LIBSVM files, a data frame, a
                mapping of columns, a problem (`suffice.read`; models are then in its columns, standardised or not), or
                messages of sites (`suffice.summarise`), as they are or as paths
    loss        "least-squares", "logistic" (two values), "multinomial" (labels); "auto" chooses by the target
    weight      a column of weights of rows, finite and >= 0
    drop        columns to leave out
    split       divides one table: "column:NAME", or of numeric tables "iid:8", "contiguous:8", ..., by `seed`

    Categories become one column per level but the most frequent; gaps of a number are filled with its mean and marked
    by a column of their own; a text that differs in nearly every row is left out. Nothing is tuned: the rule is that
    of `suffice.bounds.population.rule`. Raises `InputError`.
    """
    from suffice.simulate.data.message import Message, read_message, sites_of_messages
    from suffice.simulate.data.site_source import read_sites

    given = [source] if isinstance(source, Message) else source
    if isinstance(given, Sequence) and not isinstance(given, str) and given:
        if loss not in ("auto", "least-squares"):
            raise InputError("loss", loss, "messages hold sums for least squares; for classes give the rows")
        messages = [entry if isinstance(entry, Message) else _read(entry, read_message) for entry in given]
        sites, loss = sites_of_messages(messages), "least-squares"
    else:
        sites, loss = read_sites(
            given,
            client=client,
            target=target,
            weight=weight,
            drop=drop,
            loss=loss,
            split=split,
            seed=seed,
            max_memory=max_memory,
        )
    if loss != "least-squares":
        from .fit_classes import fit_classes

        return fit_classes(sites, loss, client, progress)
    return _least_squares(sites, client, progress)


def _read(entry: Any, reader: Callable[[Any], Message]) -> Message:
    if not isinstance(entry, str | Path):
        raise InputError("messages", entry, "give messages (suffice.summarise) or paths of their files")
    return reader(entry)


def summarise(
    source: Any,
    *,
    site: str,
    target: str = "target",
    weight: str | None = None,
    drop: Sequence[str] = (),
    client: str = "client",
    reveal: bool = False,
    max_memory: float = MAX_MEMORY,
) -> Message:
    """What one site sends instead of its rows; `summarise(...).write("lyon.json")` puts it into a file.

    `source` is a table of this site's rows, read as `fit` does; a column `client` in it is ignored. `fit` of all
    messages gives the models of `fit` of all rows, to rounding, where every site sends five folds. A site with fewer
    rows in a fold than a model has coefficients sends one message for all of them, unless `reveal`: a fold of one row
    is that row. Raises `InputError`.
    """
    from suffice.simulate.data.message import message_of
    from suffice.simulate.data.site_source import read_sites

    if not isinstance(site, str) or not site.strip():
        raise InputError("site", site, "give the site's name")
    sites, _ = read_sites(
        source,
        client=client,
        target=target,
        weight=weight,
        drop=drop,
        loss="least-squares",
        site=site,
        max_memory=max_memory,
    )
    return message_of(sites, reveal=reveal)


def encode(sites: Sites, folds: Sequence[Sequence[Fold]]) -> tuple[Encoding, list[list[Fold]], Units, list[str]]:
    """The encoding that all sites' messages settle, the messages in it, their units, and what is said of columns."""
    from suffice.simulate.data.site_source import categories

    levels, gaps = categories(sites.design)
    mean = pooled_mean(folds)
    encoding = Encoding.of(sites.design.names, levels, gaps, mean[:-1])
    encoded = encoding.folds(folds)
    units = Units.pooled(encoded)
    notes = [
        f"{name}: dropped, {why}" if "dropped" not in why else f"{name}: {why}" for name, why in sites.design.left_out
    ]
    notes += [
        f"{name}: the same in all rows, so its coefficient is 0"
        for name, constant in zip(encoding.columns, units.constant)
        if constant
    ]
    notes += [f"{reference}: the reference level" for reference in encoding.references.values()]
    notes += [f"{name}: gaps are filled with {value:.6g}" for name, value in encoding.gaps.items()]
    return encoding, encoded, units, notes


def _least_squares(sites: Sites, client: str, progress: Callable[[int, int], None] | None) -> Fit:
    folds = [site.folds for site in sites.sites]
    encoding, encoded, units, notes = encode(sites, folds)
    if units.constant[-1]:
        raise InputError(f"column {sites.target}", "constant", "nothing to learn; give a target that varies")
    messages = units.messages(encoded)
    fitted = collaborate(messages, progress=progress)
    counts = np.array([site.count for site in sites.sites])
    found = gains(messages, fitted.held_out, counts)
    slopes, intercepts = units.given(fitted.models)
    shared_slopes, shared_intercept = units.given(fitted.population)
    columns = encoding.columns
    models = [(dict(zip(columns, row.tolist())), float(intercept)) for row, intercept in zip(slopes, intercepts)]
    shared = (dict(zip(columns, shared_slopes.tolist())), float(shared_intercept))
    size = messages.size
    numbers = len(encoded[0]) * (1 + (size + 1) + (size + 1) * (size + 2) // 2)
    return assemble(
        sites, client, "least-squares", fitted, found, models, shared,
        scale=float(units.scale[-1] ** 2), encoding=encoding, left_out=notes,
        exchanged={"rounds": 1, "numbers_per_site": numbers},
    )  # fmt: skip


def assemble(
    sites: Sites,
    client: str,
    loss: str,
    fitted: Fitted,
    found: Gains,
    models: Sequence[tuple[dict[str, Any], Any]],
    shared: tuple[dict[str, Any], Any],
    *,
    scale: float,
    encoding: Encoding,
    left_out: Sequence[str],
    exchanged: dict[str, int],
) -> Fit:
    """The `Fit` of standardised results; losses are multiplied by `scale`."""
    names = sites.names
    clients = []
    for at, site in enumerate(sites.sites):
        influence = fitted.influences[at]
        # more than half of the equal share
        chosen = tuple(names[k] for k in np.argsort(-influence) if k != at and influence[k] > 0.5 / len(names))
        clients.append(
            SiteModel(
                name=site.name,
                rows=site.count,
                collaborators=chosen,
                weights=dict(zip(names, influence.tolist())),
                coefficients=models[at][0],
                intercept=models[at][1],
                expected_loss=_number(found.together[at], scale),
                expected_loss_alone=_number(found.alone[at], scale),
                gain=_number(found.gain[at], scale),
                gain_se=_number(found.error[at], scale),
                notes=_site_notes(site.count, found, at),
            )
        )
    population = SiteModel(
        name=POPULATION, rows=0, collaborators=(), weights={}, coefficients=shared[0], intercept=shared[1],
        expected_loss=None, expected_loss_alone=None, gain=None, gain_se=None,
    )  # fmt: skip
    rule = {
        "name": "candidates from all alike to nobody alike, averaged by held-out folds",
        "candidates": [
            {"family": family, "setting": setting, "weight": weight, "score": score * scale}
            for family, setting, weight, score in sorted(fitted.candidates, key=lambda entry: -entry[2])
        ],
        "families": _families(fitted),
        "network_gain": _number(found.network, scale),
        "network_gain_se": _number(found.network_error, scale),
        **exchanged,
    }
    return Fit(
        loss=loss, client=client, target=sites.target, classes=sites.classes, clients=tuple(clients),
        population=population, rule=rule, left_out=tuple(left_out), notes=sites.notes, design=sites.design,
        encoding=encoding,
    )  # fmt: skip


def _site_notes(count: int, found: Gains, at: int) -> tuple[str, ...]:
    if np.isnan(found.together[at]):
        return ("no row of this site was held out: its losses are not known",)
    if np.isnan(found.gain[at]):
        return (f"{count} rows are fewer than {PER_COEFFICIENT} per coefficient: see the network's gain",)
    return ()


def _families(fitted: Fitted) -> dict[str, float]:
    weights: dict[str, float] = {}
    for family, _, weight, _ in fitted.candidates:
        weights[family] = weights.get(family, 0.0) + weight
    return weights


def _number(value: float, scale: float) -> float | None:
    return None if np.isnan(value) else float(value * scale)
