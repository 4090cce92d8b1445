"""How many rounds any method needs: Theorem 1 of sample-optimal at the start that asks for most."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.bounds.evaluate import evaluate
from suffice.bounds.theorems.sample_optimal.lower_bound import OPTIMISED, best_level, signal


def needed_rounds(*, b: Any, mu: Any, sigma2: Any, eps: Any, ball: Any) -> Any:
    """Theorem 1 at its best e_0, rounded down; 0 where eps >= mu r^2/2, or so near that nothing is proved."""
    e0 = best_level(b=b, mu=mu, eps=eps, ball=ball)
    signal2 = signal(b=b, mu=mu, e0=e0)
    bound = evaluate(OPTIMISED, enforce=False, eps=eps, e0=e0, mu=mu, sigma2=sigma2, signal2=signal2, ball=ball)
    return np.where(e0 > eps, bound, 0.0)[()]
