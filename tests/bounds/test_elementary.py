"""What is said to round up or down does so by itself, before `evaluate` rounds a whole bound outward."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from suffice.bounds.elementary import decay, difference, fall, log_ratio, spare, survive

RNG = np.random.default_rng(1)
SHARES = np.concatenate((10 ** RNG.uniform(-14, 0, 300), 1 - 10 ** RNG.uniform(-14, 0, 300)))
COUNTS = np.floor(10 ** RNG.uniform(0, 6, 600))
LARGE, SMALL = 10 ** RNG.uniform(-3, 3, (2, 600))
SAFE = {
    "survive": (1, survive, SHARES, COUNTS),
    "fall": (1, fall, SHARES, COUNTS),
    "decay": (1, decay, LARGE),
    "log_ratio": (1, log_ratio, LARGE + SMALL, SMALL),
    "difference": (1, difference, LARGE + SMALL, SMALL),
    "spare": (-1, spare, SHARES),
}


@pytest.mark.parametrize("name", SAFE)
def test_floats_are_on_the_safe_side_of_sixty_digits_and_close(name):
    """But for a few roundings of the result, which `evaluate` covers; what cancellation makes large it does not."""
    side, function, *given = SAFE[name]
    with mpmath.workdps(60):
        for value, *numbers in zip(function(*given), *given):
            exact = function(*map(mpmath.mpf, numbers))
            away = side * (mpmath.mpf(float(value)) - exact)
            assert away >= -(2.0**-50) * abs(exact), numbers
            # a nudge of 2^-46 of a share, T times over; 2^-49 of both terms of a difference
            assert away <= 2.0**-44 * max(abs(exact) * (1 + numbers[-1]), *numbers) + 1e-290, numbers
