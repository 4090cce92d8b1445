"""`fit`: one model per site for the rows that nobody has seen yet, from rows or from messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.simulate.data.folds import FOLDS, Messages
from suffice.support.errors import InputError
from suffice.support.memory import MAX_MEMORY

from .assembly import assemble, encode, typically_filled
from .fitted import Fit
from .gain import PER_COEFFICIENT
from .groups import groups_of
from .robust import Robust, emptied, fitted_robustly, gained, unsuspected
from .screen import kept_sites, suspects
from .unlike import unlike

if TYPE_CHECKING:
    from suffice.simulate import Quadratics
    from suffice.simulate.data.folds import Fold, Units
    from suffice.simulate.data.message import Message
    from suffice.simulate.data.site_rows import Sites


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
    `suffice.fitting.candidates`. Raises `InputError`.
    """
    from suffice.simulate.data.message import Message, read_message, sites_of_messages
    from suffice.simulate.data.site_source import read_sites

    given, sent = [source] if isinstance(source, Message) else source, []
    if isinstance(given, Sequence) and not isinstance(given, str) and given:
        if loss not in ("auto", "least-squares"):
            raise InputError("loss", loss, "a fit of classes needs the rows of all sites; messages are for numbers")
        messages = [entry if isinstance(entry, Message) else _read(entry, read_message) for entry in given]
        sites, loss, sent = sites_of_messages(messages), "least-squares", [message.numbers for message in messages]
    else:
        sites, loss = read_sites(
            given,
            client=client,
            target=target,
            drop=drop,
            loss=loss,
            split=split,
            seed=seed,
            max_memory=max_memory,
        )
    if loss != "least-squares":
        from .classification import classified

        return classified(sites, loss, client, progress)
    return _least_squares(sites, client, keep, progress, sent)


def _read(entry: Any, reader: Callable[[Any], Message]) -> Message:
    if not isinstance(entry, str | Path):
        raise InputError("messages", entry, "give messages (suffice.summarise) or paths of their files")
    return reader(entry)


def _least_squares(
    sites: Sites, client: str, keep: Sequence[str], progress: Callable[[int, int], None] | None, sent: Sequence[int]
) -> Fit:
    """`sent`: numbers in each site's message, none where there are rows."""
    folds = [site.folds for site in sites.sites]
    counts = np.array([site.count for site in sites.sites])
    kept = kept_sites(sites.names, keep)
    suspected = suspects(typically_filled(sites, folds), counts, kept)
    encoding, encoded, units, notes = encode(sites, folds, unsuspected(folds, suspected))
    if units.constant[-1]:
        remedy = (
            "the same in every row to 12 digits: nothing to learn; give a target that varies more, or less its mean"
        )
        raise InputError(f"column {sites.target}", float(f"{units.mean[-1]:.12g}"), remedy)
    found = fitted_robustly(encoded, counts, suspected, kept, progress)
    group, network = found.group, found.network
    columns, units = encoding.columns, network.units
    trusted = [emptied(site, out) for site, out in zip(encoded, found.out.folds)]
    models = [(dict(zip(columns, row.tolist())), float(at)) for row, at in zip(found.slopes, found.intercepts)]
    shared_slopes, shared_intercept = units.given(network.fitted.population)
    if len(group) == 1:  # two sites that were fitted apart: no network has a population
        shared_slopes, shared_intercept = found.slopes.mean(0), found.intercepts.mean()
    shared = (dict(zip(columns, shared_slopes.tolist())), float(shared_intercept))
    from suffice.simulate.data.message import numbers_of

    exchanged = {"rounds": 1, "numbers_per_site": max(sent, default=numbers_of(FOLDS, sites.design))}
    return assemble(
        sites, client, "least-squares", replace(network.fitted, influences=found.influences),
        gained(found, counts), models, shared,
        scale=float(units.scale[-1] ** 2), encoding=encoding, left_out=notes,
        exchanged=exchanged | ({"fewest_numbers": min(sent)} if sent else {}),
        differs=most_different(units.messages(trusted), units, counts, sites.names, columns, group),
        expected=partial(_expected_losses, found, trusted, sites.names), unlike=unlike(found, sites, encoding),
        groups=groups_of(units.messages(trusted), units, sites.names, columns),
    )  # fmt: skip


def most_different(
    messages: Messages,
    units: Units,
    counts: np.ndarray,
    names: Sequence[str],
    columns: Sequence[str],
    group: np.ndarray | None = None,
) -> dict[str, Any] | None:
    """Of all sites and columns the coefficient that, by least squares on the site's own rows, is the most standard
    errors away from that of the rows of all other sites of a `group` together; None where chance may explain it.

    Each of the two has the variance s (X'X)^-1, s = rss/(n - d). The largest of m values of Student's t exceeds their
    1 - 0.05/(2 m) quantile with probability 5 % at most (Bonferroni). Sites with few rows or with columns that depend
    on each other there have no standard errors here. A column that does not vary at a site is left out there: it would
    only move the site's level.
    """
    from scipy.special import stdtrit

    whole = messages.fits
    S, c, q, n = whole.second[0], whole.cross[0], whole.square[0], whole.rows[0]
    S = S + np.diag([0.0, *units.constant[:-1]])  # the same in all rows: a coefficient of 0 everywhere
    full = n >= PER_COEFFICIENT * messages.size
    variance = np.diagonal(S, axis1=1, axis2=2) / n[:, None] - (S[:, 0] / n[:, None]) ** 2
    varies = (variance > 1e-9) | (np.arange(messages.size) == 0)
    mine = np.where(varies[:, :, None] & varies[:, None], S, np.eye(messages.size))
    within = np.isin(np.arange(len(names)), np.arange(len(names)) if group is None else group).astype(float)
    rest_of = [np.tensordot(within, part, 1) - (within * part.T).T for part in (S, c, q, n)]
    for part in (mine, rest_of[0]):
        values = np.linalg.eigvalsh(part)
        full &= values[:, 0] > 1e-9 * values[:, -1]
    if len(names) < 3 or not full.any() or not columns:
        return None

    least = 1e-12 * q.sum()  # what is below is rounding

    def estimated(S: np.ndarray, c: np.ndarray, q: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inverse = np.linalg.inv(S)
        theta = (inverse @ c[..., None])[..., 0]
        noise = np.maximum(q - (c * theta).sum(-1), least) / free
        return theta, noise[:, None] * np.diagonal(inverse, axis1=1, axis2=2)

    free = n[full] - varies[full].sum(1)
    own = estimated(mine[full], np.where(varies, c, 0.0)[full], q[full], free)
    others = [part[full] for part in rest_of]
    rest = estimated(others[0], others[1], others[2], others[3] - messages.size)
    apart = np.abs(own[0] - rest[0]) / np.sqrt(np.maximum(own[1] + rest[1], 1e-300))
    apart = np.where(varies[full], apart, 0.0)[:, 1:]
    at, column = np.unravel_index(apart.argmax(), apart.shape)
    limit = stdtrit(free[at], 1 - 0.025 / apart.size)
    if not apart[at, column] > limit:
        return None
    slopes = [float(units.given(theta)[0][at, column]) for theta, _ in (own, rest)]
    return {
        "site": np.array(names)[full][at].item(), "column": columns[int(column)], "own": slopes[0], "others": slopes[1],
        "standard_errors": float(apart[at, column]), "compared": int(full.sum()),
    }  # fmt: skip


def _expected_losses(found: Robust, folds: Sequence[Sequence[Fold]], names: Sequence[str]) -> Quadratics:
    """R_i(theta) = (theta - theta_i)'A_i (theta - theta_i) about the fit's models, up to a constant. A_i is the site's
    second moment, drawn to the pooled one with the weight of d rows, since few rows leave it singular; a row's
    gradient at the model has the variance 4 s tr A_i when residuals of variance s do not depend on the columns.
    """
    from suffice.simulate import Quadratics

    units, network = found.network.units, found.network.messages
    messages = units.messages(folds)
    second, rows = messages.second.sum(0), messages.rows.sum(0)
    size = messages.size
    A = (second + size * network.metric) / (rows + size)[:, None, None]
    noise = np.maximum(network.fits.loss(found.network.fitted.models)[0], 0.0).sum() / network.rows.sum()
    models = units.standard(found.slopes, found.intercepts)
    return Quadratics.of(A, -models, sigma2=4 * max(noise, 1e-12) * np.trace(A, axis1=1, axis2=2), names=names)
