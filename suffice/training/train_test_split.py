"""A client's rows are divided into those that train its network and those that are held out for tests."""

from __future__ import annotations

import numpy as np

from suffice.simulate.randomness import Stream, single
from suffice.support.errors import InputError


def train_test_split(name: str, rows: int, share: float, *, seed: int, client: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of rows that train, and of a `share` for tests, drawn without replacement, or `InputError`."""
    held = max(1, round(share * rows))
    if held >= rows:
        remedy = f"too few to hold out test = {share:g}: merge it with another client, or leave it out"
        raise InputError(f"rows of client {name}", rows, remedy)
    order = single(seed).permutation(rows, iteration=client, stream=Stream.SPLIT)[0].numpy()
    return np.sort(order[held:]), np.sort(order[:held])
