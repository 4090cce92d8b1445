"""`fit`: one model per site for the rows that nobody has seen yet, from rows or from the messages of `summarise`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from suffice.simulate.data.folds import FOLDS, Sums
from suffice.support.errors import InputError
from suffice.support.memory import MAX_MEMORY
from suffice.support.numbers import as_flag
from suffice.support.parse import nearest

from .assembly import assemble, encode, named, typically_filled
from .fitted import Fit
from .gain import spread_power
from .robust import RobustFit, fitted_robustly, gained
from .similar_sites import Likeness

if TYPE_CHECKING:
    from suffice.simulate import Quadratics
    from suffice.simulate.data.encoding import Encoding
    from suffice.simulate.data.message import Message
    from suffice.simulate.data.sites import Sites

LOOKED_AT = 5
"""Rows are read once more for so many sites, to name one."""


def fit(
    source: Any,
    *,
    client: str = "client",
    target: str = "target",
    loss: str = "auto",
    drop: Sequence[str] = (),
    split: str | None = None,
    seed: int = 0,
    max_memory: float = MAX_MEMORY,
    keep: Sequence[str] = (),
    progress: Callable[[int, int], None] | None = None,
) -> Fit:
    """Fit a model for each site that borrows from the others where that improves predictions.

    source      a CSV with a column of sites, a folder of one CSV per site, .npz or LIBSVM files, a data frame, a
                mapping of columns, a problem (`suffice.read`; models are then in its columns, standardised or not), or
                messages of sites (`suffice.summarise`), as they are or as paths
    client      the column of sites
    target      the column to predict
    loss        "least-squares", "logistic" (two values), "multinomial" (labels); "auto" chooses from the target: two
                texts or 0 and 1, -1 and 1, 1 and 2 are classes, any other numbers are numbers, more texts are labels
    drop        columns to leave out
    split, seed  how one table is split into sites: "column:NAME", or "iid:8", "contiguous:8", ..., drawn by the seed
    max_memory  bytes that the table may take
    keep        sites that are not left out of the others' models, however far their rows are from these
    progress    is called with the work done and the whole of it

    Categories become one column per level except the most frequent; missing numbers are replaced by the mean and marked
    by an extra column; a text that differs in nearly every row is left out. There is nothing to tune: the method is in
    `suffice.fitting.model_averaging`. Raises `InputError`.
    """
    from suffice.simulate.data.message import Message, read_message, sites_of_messages
    from suffice.simulate.data.site_source import read_sites

    given, sent = [source] if isinstance(source, Message) else source, []
    if isinstance(given, Sequence) and not isinstance(given, str) and given:
        if loss not in ("auto", "least-squares"):
            raise InputError("loss", loss, "a fit of classes needs the rows of all sites; messages are for numbers")
        messages = [entry if isinstance(entry, Message) else read_message(entry) for entry in given]
        sites, loss, sent = sites_of_messages(messages), "least-squares", [message.numbers for message in messages]
    else:
        how: dict[str, Any] = {"client": client, "target": target, "drop": drop, "max_memory": max_memory}
        sites, loss = read_sites(given, loss=loss, split=split, seed=seed, **how)
    if loss != "least-squares":
        from .classifiers import classified

        return classified(sites, loss, client, progress)
    with threadpool_limits(1, "blas"):  # two threads would wait for each other at products of small matrices
        return _least_squares(sites, client, keep, progress, sent)


def summarise(
    source: Any,
    *,
    site: str,
    target: str = "target",
    drop: Sequence[str] = (),
    client: str = "client",
    reveal: bool = False,
    max_memory: float = MAX_MEMORY,
) -> Message:
    """Sum up a site's rows in the message that it sends instead of them; `.write("lyon.json")` writes it to a file.

    source   a table of this site's rows, read as `fit` does
    site     the name of the site
    target, drop, client  columns to predict, to leave out, and of sites, which is ignored
    reveal   whether a message may tell single rows
    max_memory  bytes that the table may take

    `fit` of all messages gives the models of `fit` of all rows, to rounding, if every site sends five folds. If a site
    has fewer rows in a fold than a model has coefficients, it sends one message for all of them, unless `reveal`: a
    fold of one row is that row. Raises `InputError`.
    """
    from suffice.simulate.data.message import message_of
    from suffice.simulate.data.site_source import read_sites

    as_flag("reveal", reveal)
    if not isinstance(site, str) or not site.strip():
        raise InputError("site", site, "give the site's name")
    how: dict[str, Any] = {"client": client, "target": target, "drop": drop, "max_memory": max_memory}
    sites, _ = read_sites(source, loss="least-squares", site=site, **how)
    return message_of(sites, reveal=reveal)


def _least_squares(
    sites: Sites, client: str, keep: Sequence[str], progress: Callable[[int, int], None] | None, sent: Sequence[int]
) -> Fit:
    """`sent`: numbers in each site's message, none where there are rows."""
    sums, counts = sites.sums, sites.counts
    for name in keep:
        if name not in sites.names:
            near = nearest(name, sites.names)
            raise InputError("keep", name, f"did you mean {near}?" if near else "name a site of the table")
    kept = np.isin(np.array(sites.names, dtype=object), list(keep))
    suspected = Likeness.of(typically_filled(sites, sums), counts, kept)
    lone = suspected.sites > 0
    encoding, encoded, units, notes = encode(
        sites, sums, sums.without((suspected.folds > 0) | (lone & ~lone.all())[:, None])
    )
    if units.constant[-1]:
        remedy = (
            "the same in every row to 12 digits: nothing to learn; give a target that varies more, or less its mean"
        )
        raise InputError(f"column {sites.target}", float(f"{units.mean[-1]:.12g}"), remedy)
    found = fitted_robustly(encoded, counts, suspected, progress)
    columns, units, fitted = encoding.columns, found.units, replace(found.fitted, influences=found.influences)
    trusted = encoded.without(suspected.folds > 0)
    models = found.slopes[None], found.intercepts[None]
    shared = units.given(fitted.population[None])
    if len(found.group) == 1:  # two sites that were fitted apart: no network has a population
        shared = found.slopes.mean(0)[None], found.intercepts.mean()[None]
    rows = encoded.rows[:, :FOLDS]  # that are held out in turn
    noise = found.losses.sum(1) / np.maximum(rows.sum(1), 1.0)
    power = spread_power(sums.sites[1][~lone, -1], noise[~lone])
    rule = {
        "suspects": _looked_at(found, suspected, sites, encoding),
        "groups": named(suspected, trusted, sites.names, columns, found.group),
        "distances": {
            "compared": [sites.names[k] for k in suspected.at[: len(suspected.far)]],
            "distances": suspected.far.tolist(),
        },
        "spread_power": power,
        "rounds": 1,
        "numbers_per_site": max(sent, default=sites.design.numbers(FOLDS)),
        "fewest_numbers": min(sent, default=None),
    }
    return assemble(
        sites, client, "least-squares", fitted, gained(found, rows, counts), models, shared,
        scale=float(units.scale[-1] ** 2), encoding=encoding, left_out=notes, rule=rule,
        expected=partial(_expected_losses, found, trusted, sites.names),
    )  # fmt: skip


def _looked_at(found: RobustFit, suspected: Likeness, sites: Sites, encoding: Encoding) -> list[dict[str, Any]]:
    """A `Suspect` for each site to look at, those with most of the squared error first."""
    entries, losses = [], found.losses.sum(1)
    heavy = found.losses.max(1) > 0.5 * losses  # one fold of five
    for k in np.argsort(-losses, kind="stable"):
        folds = np.flatnonzero(suspected.folds[k])
        left = "site" if suspected.sites[k] else "fold" if len(folds) else None
        place = share = times = None
        if sites.again is not None and (left or heavy[k]) and len(entries) < LOOKED_AT:
            X, y, places = sites.again(sites.names[k])
            squares = (y - found.intercepts[k] - encoding.encoded(X) @ found.slopes[k]) ** 2
            if len(y) >= 2 * FOLDS and squares.max() > 0.5 * squares.sum() > 0:
                place, share = places[int(squares.argmax())], float(squares.max() / squares.sum())
        if left:
            times = float(suspected.sites[k] if left == "site" else suspected.folds[k].max())
        if left or place is not None:
            entries.append({
                "site": sites.names[k], "left_out": left, "times": times, "units": float(suspected.units[k]),
                "folds": [int(fold) + 1 for fold in folds] if left == "fold" else [],
                "row": place, "row_share": share,
            })  # fmt: skip
    return entries


def _expected_losses(found: RobustFit, sums: Sums, names: Sequence[str]) -> Quadratics:
    """R_i(theta) = (theta - theta_i)'A_i (theta - theta_i) about the fit's models, up to a constant. A_i is the site's
    second moment, drawn to the pooled one with the weight of d rows, since few rows leave it singular; a row's
    gradient at the model has the variance 4 s tr A_i when residuals of variance s do not depend on the columns.
    """
    from suffice.simulate import Quadratics

    units, network = found.units, found.messages
    messages = units.messages(sums)
    second, rows = messages.second.sum(0), messages.rows.sum(0)
    size = messages.size
    A = (second + size * network.metric) / (rows + size)[:, None, None]
    noise = np.maximum(network.fits.loss(found.fitted.models)[0], 0.0).sum() / network.rows.sum()
    models = units.standard(found.slopes, found.intercepts)
    return Quadratics.of(A, -models, sigma2=4 * max(noise, 1e-12) * np.trace(A, axis1=1, axis2=2), names=names)
