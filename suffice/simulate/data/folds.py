"""Folds are what a site sends: for each fold of its rows their number, means and centred products, nothing else.

With z = (x, y) a fold of rows becomes (n, mean z, sum (z - mean)(z - mean)'). Sums of several folds follow exactly
(Chan, Golub and LeVeque's update), about any common centre, so that neither a column far from 0 nor the order of the
sites costs digits. A fold of one row *is* that row. Cross-validation over them is in `suffice.fitting`: `gain` and
`model_averaging`; the rows that networks hold back are in `suffice.simulate.problems.network_input`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

FOLDS = 5
"""Folds that every candidate is scored on: each is held out once."""
CONSTANT = 1e-13
"""A column whose deviation is below this share of its magnitude is constant: what is below is rounding."""
LEAST_VARIANCE = 1e-9
"""A site's rows vary in a column if their variance is more than this share of that of all rows: less is rounding."""


class Sums(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """Sums over rows z = (x, y), p = d + 1: how many `rows` (...), their `mean` (..., p) and centred `products`
    (..., p, p).

    Of all sites the first axes are (N, F + 1). The last of the slots is never held out: it has the rows of sites that
    sent one message for all of them. A message has folds without these axes, and its file the lower triangle of their
    products.
    """

    rows: Any
    mean: np.ndarray
    products: np.ndarray

    def __post_init__(self) -> None:
        if self.products.ndim == 1:
            p, lower = len(self.mean), self.products
            if len(lower) != p * (p + 1) // 2:
                raise ValueError(f"a fold does not have {p} means and {p * (p + 1) // 2} products")
            whole = np.zeros((p, p))
            whole[np.tril_indices(p)] = lower
            msgspec.structs.force_setattr(self, "products", whole + np.tril(whole, -1).T)

    @classmethod
    def zero(cls, p: int, *shape: int) -> Sums:
        """The sums of no rows, with the axes `shape`."""
        return cls(rows=np.zeros(shape), mean=np.zeros((*shape, p)), products=np.zeros((*shape, p, p)))

    @classmethod
    def of_rows(cls, X: np.ndarray, y: np.ndarray) -> Sums:
        """The sums of all rows X (n, d), y (n,)."""
        return cls.of_parts(X, y, np.zeros(1, int))[0] if len(y) else cls.zero(X.shape[1] + 1)

    @classmethod
    def of_parts(cls, X: np.ndarray, y: np.ndarray, starts: np.ndarray) -> Sums:
        """The sums (G,) of the rows X (n, d), y (n,) from each of `starts` (G,) to the next, at least one row each."""
        z = np.column_stack((X, y)).astype(float, copy=False)
        counts = np.diff(starts, append=len(z))
        rows = counts[:, None].astype(float)
        mean = np.add.reduceat(z, starts) / rows
        centred = z - np.repeat(mean, counts, axis=0)
        off = np.add.reduceat(centred, starts) / rows  # what rounding left in the mean of a column far from 0
        far = rows * off**2 > 1e-24 * np.add.reduceat(centred**2, starts)
        if far.any():
            mean += np.where(far, off, 0.0)
            centred = z - np.repeat(mean, counts, axis=0)
        products = np.array([part.T @ part for part in np.split(centred, starts[1:])])
        return cls(rows=rows[:, 0], mean=mean, products=products)

    @classmethod
    def of(cls, sites: Sequence[Sequence[Sums]]) -> Sums:
        """The sums of all sites, (N, F + 1), from the folds of each, or from its one message."""
        found = cls.zero(sites[0][0].mean.shape[-1], len(sites), FOLDS + 1)
        for k, site in enumerate(sites):
            for f, fold in enumerate(site):
                found.add((k, f if len(site) > 1 else FOLDS), fold)
        return found

    def add(self, at: Any, more: Sums) -> None:
        """Add, in place, further rows to those `at` some places of the first axes."""
        before, rows = self.rows[at], self.rows[at] + more.rows
        share = more.rows / np.maximum(rows, 1.0)
        apart = more.mean - self.mean[at]
        outer = apart[..., None] * apart[..., None, :]
        self.products[at] += more.products + (before * share)[..., None, None] * outer
        self.mean[at] += share[..., None] * apart
        self.rows[at] = rows

    def wrong(self, count: int) -> str:
        """Why no `count` rows have these sums of one fold, or "".

        The products are a Gram matrix C'C of centred rows. In floats an entry is
        off by at most (count + a few) eps |c_i| |c_j|, |c_i|^2 its diagonal, so that in units of these lengths no
        eigenvalue of p columns is below minus p times that.
        """
        if self.rows < 0 or (self.rows == 0 and (self.mean.any() or self.products.any())):
            return "sums of less than no rows"
        lengths = np.sqrt(np.maximum(np.diagonal(self.products), 1e-300))
        with np.errstate(over="ignore"):
            scaled = self.products / np.outer(lengths, lengths)
        least = -len(lengths) * (count + 10) * np.finfo(float).eps
        if np.abs(scaled).max() > 1 - least or np.linalg.eigvalsh(scaled)[0] < least:
            return "its products are not positive semidefinite, as sums over rows are"
        return ""

    @cached_property
    def sites(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows (N,), means (N, p) and centred products (N, p, p) of each site."""
        n = self.rows.sum(1)
        mean = (self.rows[..., None] * self.mean).sum(1) / np.maximum(n, 1.0)[:, None]
        off = self.mean - mean[:, None]
        return n, mean, self.products.sum(1) + (self.rows[..., None] * off).swapaxes(1, 2) @ off

    @cached_property
    def pooled(self) -> tuple[np.ndarray, np.ndarray]:
        """Means (p,) and mean squared deviations (p,) of the rows of all sites together."""
        mean = np.einsum("ks,ksp->p", self.rows, self.mean) / self.rows.sum()
        squares = np.einsum("kspp->p", self.products) + np.einsum("ks,ksp->p", self.rows, (self.mean - mean) ** 2)
        return mean, np.maximum(squares, 0.0) / self.rows.sum()  # -1e-36 by rounding, of a constant that fills gaps

    def without(self, out: np.ndarray) -> Sums:
        """With no rows in the folds that are `out` (N, F)."""
        kept = np.column_stack((~out, ~out.all(1)))
        products = np.where(kept[..., None, None], self.products, 0.0)
        return Sums(rows=kept * self.rows, mean=kept[..., None] * self.mean, products=products)

    def __getitem__(self, at: Any) -> Sums:
        """The sums of some sites, or of some slots of sites."""
        return Sums(rows=self.rows[at], mean=self.mean[at], products=self.products[at])

    def mapped(self, matrix: np.ndarray) -> Sums:
        """The sums of the rows (x'`matrix`, y), `matrix` (d, d')."""
        whole = np.pad(matrix, (0, 1))
        whole[-1, -1] = 1.0
        return Sums(rows=self.rows, mean=self.mean @ whole, products=whole.T @ self.products @ whole)

    def turned(self, by: np.ndarray) -> Sums:
        """Fold f as fold f + `by` (N,)."""
        moved = (np.arange(FOLDS) - by[:, None]) % FOLDS
        return self[np.arange(len(by))[:, None], np.column_stack((moved, np.full(len(by), FOLDS)))]

    def dealt(self, counts: np.ndarray) -> np.ndarray:
        """By how much each site's folds are moved on (N,), so that single rows of many sites do not all fall into the
        first: by the rows of all sites before it, in an order that nothing but data decides. Sites are ordered by
        their numbers of rows, then by the mean squared deviation of the target from its pooled mean, then by the
        columns'. Single precision leaves out what rounding makes of another order of the sites, or of other units."""
        rows, means, products = self.sites
        pooled, spread = self.pooled
        squares = np.diagonal(products, axis1=1, axis2=2) + rows[:, None] * (means - pooled) ** 2
        share = squares / np.maximum(rows, 1e-300)[:, None] / np.maximum(spread, 1e-300)
        share = np.clip(share, 0.0, 1e30).astype(np.float32)
        order = np.lexsort((*share[:, :-1].T, share[:, -1], counts))
        answer = np.zeros(len(counts), int)
        answer[order] = np.cumsum([0, *counts[order][:-1]]) % FOLDS
        return answer


@dataclass(frozen=True, kw_only=True)
class Messages:
    """The rows of all sites as quadratic functions of a model theta: for a fold, rss(theta) = q - 2 c'theta + theta'S
    theta.

    second (F, N, d, d) S, cross (F, N, d) c, square (F, N) q, rows (F, N) their number. The last of the F slots is
    never held out: it has the rows of sites that sent one message for all of them.
    """

    second: np.ndarray
    cross: np.ndarray
    square: np.ndarray
    rows: np.ndarray

    def each(self, of: Callable[[np.ndarray], np.ndarray]) -> Messages:
        """With `of` of each array."""
        return Messages(second=of(self.second), cross=of(self.cross), square=of(self.square), rows=of(self.rows))

    @property
    def sites(self) -> int:
        return self.rows.shape[1]

    @property
    def size(self) -> int:
        """Coefficients of a model, d."""
        return self.cross.shape[-1]

    @cached_property
    def fits(self) -> Messages:
        """The rows that each fit learns from: all folds, then all but one fold, as arrays whose first axis is B = F."""
        return self.each(lambda part: np.concatenate((part.sum(0)[None], part.sum(0) - part[:-1])))

    @cached_property
    def metric(self) -> np.ndarray:
        """A (d, d): the pooled second moment, never singular."""
        return self.second.sum((0, 1)) / self.rows.sum() + 1e-6 * np.eye(self.size)

    @cached_property
    def mean(self) -> np.ndarray:
        """(..., N, d) of each site's rows, 1 for the column of ones; 0 where there is no row."""
        ones = self.second[..., :1, 0]
        return np.where(ones > 0, self.second[..., 0, :] / np.where(ones > 0, ones, 1.0), 0.0)

    @cached_property
    def varying(self) -> np.ndarray:
        """(..., N, d) whether a column differs between a site's rows, in units in which its variance over all rows is
        1; True for the column of ones."""
        ones = np.maximum(self.second[..., :1, 0], 1e-300)
        answer = np.diagonal(self.second, axis1=-2, axis2=-1) / ones - self.mean**2 > LEAST_VARIANCE
        answer[..., 0] = True
        return answer

    def loss(self, models: np.ndarray) -> np.ndarray:
        """Summed squared residuals (..., N) of `models` (..., N, d), these messages' leading axes included."""
        quadratic = (models * (self.second @ models[..., None])[..., 0]).sum(-1)
        return np.maximum(self.square - 2 * (self.cross * models).sum(-1) + quadratic, 0.0)  # below only by rounding

    @property
    def held_out(self) -> Messages:
        """The folds that are held out in turn."""
        return self.each(lambda part: part[:-1])


@dataclass(frozen=True, kw_only=True)
class Units:
    """x = mean + scale * (standardised x), the target alike; a column that never varies keeps the scale 1."""

    mean: np.ndarray
    scale: np.ndarray
    constant: np.ndarray

    @classmethod
    def pooled(cls, sums: Sums) -> Units:
        """Means and deviations of the rows of all sites together."""
        mean, squares = sums.pooled
        scale = np.sqrt(squares)
        constant = scale <= CONSTANT * np.maximum(np.abs(sums.mean).max((0, 1)), 1e-300)
        return cls(mean=mean, scale=np.where(constant, 1.0, scale), constant=constant)

    def messages(self, sums: Sums) -> Messages:
        """Messages in standardised units with a first column of ones."""
        varying = np.where(self.constant, 0.0, 1 / self.scale)
        shift = np.pad((sums.mean - self.mean) * varying, ((0, 0), (0, 0), (1, 0)), constant_values=1.0)
        second = sums.rows[..., None, None] * shift[..., None] * shift[..., None, :]
        second[..., 1:, 1:] += sums.products * np.outer(varying, varying)
        second = second.swapaxes(0, 1)  # of d predictors and the target; the column of ones takes its place in d
        return Messages(
            second=second[..., :-1, :-1].copy(), cross=second[..., :-1, -1].copy(), square=second[..., -1, -1].copy(),
            rows=sums.rows.T,
        )  # fmt: skip

    def given(self, models: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (..., d - 1) and intercepts (...,) in the units of the given columns."""
        slopes = models[..., 1:] * self.scale[-1] / self.scale[:-1]
        return slopes, self.mean[-1] + models[..., 0] * self.scale[-1] - slopes @ self.mean[:-1]

    def standard(self, slopes: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
        """The inverse of `given`."""
        levels = (intercepts - self.mean[-1] + slopes @ self.mean[:-1]) / self.scale[-1]
        return np.concatenate((levels[..., None], slopes * self.scale[:-1] / self.scale[-1]), axis=-1)
