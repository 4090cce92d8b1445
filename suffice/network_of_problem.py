"""From a problem to what every method's theorem asks: starts, peer excess, smoothness, the released constants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.bounds import Constants, InputError, as_number
from suffice.bounds.arrays import LEAST
from suffice.bounds.planning.network import Network

if TYPE_CHECKING:
    from suffice.simulate import Problem

MOST_PEER_EXCESSES = 300
"""Clients up to which every loss is evaluated at every other client's optimum."""
BY_ROWS = "Scafflix: A and C by the largest smoothness of a row, C at the clients' models of the mixed objective"


def network(source: Problem | Constants, constants: Constants, *, alpha: float = 0.5) -> Network:
    """All that is known of `source`, whose constants are `constants`, for Scafflix's weight alpha in (0, 1]."""
    if isinstance(source, Constants):
        return Network(constants=constants)
    import torch

    if not LEAST <= as_number("alpha", alpha) <= 1:
        raise InputError("alpha", alpha, f"personalisation weights are in (0, 1], at least {LEAST:g}")
    start, optimum = _numpy(source.start), _numpy(source.optimum)
    peer_excess = None
    if source.clients <= MOST_PEER_EXCESSES:
        everywhere = source.optimum[:, None].expand(-1, source.clients, -1)
        peer_excess = np.maximum(_numpy(source.excess(everywhere)).T, 0)  # [i, s]: client i at the optimum of s
        np.fill_diagonal(peer_excess, 0.0)
    known: dict[str, Any] = {"constants": constants, "start": start, "batch": int(source.batch)}
    known["peer_excess"] = peer_excess
    alphas = np.full(source.clients, alpha)
    mixed = Network(constants=constants).mixed_solution(alphas)
    if mixed is not None:
        models = alphas[:, None] * mixed + (1 - alphas[:, None]) * optimum
        pair = source.expected_smoothness(torch.from_numpy(models).to(source.start))
        if pair is not None:
            known |= {"A": pair[0], "C": pair[1], "notes": (BY_ROWS,)}
    released = source.released_smoothness()
    if released is not None:
        known |= {"released": released[0], "released_mu": released[1]}
    return Network(**known)


def _numpy(tensor: Any) -> np.ndarray:
    return tensor.detach().double().cpu().numpy()
