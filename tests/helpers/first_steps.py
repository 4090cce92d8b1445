"""When a curve first is at most a precision, by looking at all of it."""

import numpy as np


def first_below(curve, epsilon):
    """To a fraction of a step, the logarithm being interpolated: 0 at the start, inf where it never is."""
    below = np.flatnonzero(curve <= epsilon)
    if not below.size or below[0] == 0:
        return 0.0 if below.size else np.inf
    before, after = curve[below[0] - 1 : below[0] + 1]
    return below[0] - 1 + np.log(before / epsilon) / np.log(before / after)
