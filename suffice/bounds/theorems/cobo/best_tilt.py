"""Corollary II with one Lyapunov function: the largest share that a tilt allows, and the best tilt."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from .theorem_1_star import clients_conditions, of_settled, star_clients

_EXCESSES = np.geomspace(1e-4, 1e6, 61)
_GIVEN = tuple(name for name in signature(clients_conditions).parameters if name not in ("tilt", "kept"))


def largest_share_kept(known: Mapping[str, Any], tilt: Any) -> np.ndarray:
    """The largest `kept` that cobo/corollary-2-star allows with this `tilt`, by bisection, less 1e-9 of itself.

    `known` holds the other arguments, arrays that broadcast with `tilt`. 0 where the penalty is too small for the tilt.
    """
    given = {name: np.asarray(known[name], float) for name in _GIVEN}
    tilt = np.broadcast_to(tilt, np.broadcast_shapes(np.shape(tilt), *(value.shape for value in given.values())))
    low, high = np.zeros(tilt.shape), np.full(tilt.shape, 2.0)  # kept <= 2 - L eta - 1/tilt
    for _ in range(60):
        middle = (low + high) / 2
        sides = clients_conditions(**given, tilt=tilt, kept=middle).values()
        fits = np.logical_and.reduce(np.broadcast_arrays(*(np.less_equal(left, right) for left, right in sides)))
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    return low * (1 - 1e-9)


def best_tilt(known: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """`tilt` and `kept` of the least bound of cobo/corollary-2-star, over 61 tilts from 1 + 1e-4 to 1e6.

    Every pair gives a valid bound, so that the grid costs sharpness only. `kept` is 0, which no bound takes, where the
    penalty is too small for every tilt.
    """
    used = [name for name in signature(star_clients).parameters if name not in ("tilt", "kept")]
    columns = {name: np.asarray(known[name], float)[..., None] for name in {*used, *_GIVEN}}
    tilt = 1 + _EXCESSES
    kept = largest_share_kept(columns, tilt)
    with np.errstate(divide="ignore", invalid="ignore"):
        bounds = star_clients(**{name: columns[name] for name in used}, tilt=tilt, kept=kept)
    at = np.argmin(np.where(kept > 0, bounds, np.inf), axis=-1)
    return {"tilt": tilt[at], "kept": np.take_along_axis(kept, at[..., None], -1)[..., 0]}


def of_settled_clients(**values) -> Mapping[str, Any]:
    """The arguments of `star_clients` from those of the corrected Corollary II, at the best tilt."""
    given = of_settled(**values)
    return {**given, **best_tilt(given)}
