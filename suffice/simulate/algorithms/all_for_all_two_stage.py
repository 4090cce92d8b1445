"""All-for-all in two stages: one constant step, then decreasing ones and a weighted mean of the models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_number, as_whole

from ..oracle import Oracle
from .algorithm import Draw, State, checked
from .all_for_all import AllForAll


@dataclass(frozen=True, kw_only=True)
class TwoStageAllForAll(AllForAll):
    """`first` rounds at eta; then eta (kappa + 1)/(n + 2), n = offset + t, and `models` are the mean of the models
    since then, with weights n (n + 1)/(n + 2), t = 0, 1, ...

    kappa is L smax/(mu smin), offset 2 kappa unless given. With eta = 2/(L smax + mu smin) it is the run of
    sample-optimal/theorem-3-two-stage, which asks for offset >= 2 kappa - 2.
    """

    first: int = checked(as_whole, least=0)
    kappa: float = checked(as_number, least=1)
    offset: float | None = None
    name: str = "all-for-all-two-stage"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._offset >= 2 * self.kappa - 2:
            raise InputError("offset", self.offset, f"give at least 2 kappa - 2 = {2 * self.kappa - 2:g}")

    @property
    def _offset(self) -> float:
        return 2 * self.kappa if self.offset is None else as_number("offset", self.offset)

    def init(self, problem: Oracle, models: Tensor) -> State:
        return {**super().init(problem, models), "last": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        pace, share = map(float, self.schedule(np.array(draw.iteration)))
        last = super().step(problem, {"models": state["last"]}, draw, eta * pace)["models"]
        models = last if share == 1 else state["models"] + share * (last - state["models"])
        return {"models": models, "last": last}

    def schedule(self, iterations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The factor of eta in each iteration, and the share of the latest model in the mean, p_n over the sum up to n.

        p_n = n - 1 + 2/(n + 2), whose sum has a closed form.
        """
        t = np.maximum(iterations - self.first, 1)  # of the model after the round, in stage 2
        a, n = self._offset, self._offset + t
        share = n * (n + 1) / (n + 2) / ((t + 1) * (a - 1 + t / 2) + 2 * (digamma(n + 3) - digamma(a + 2)))
        earlier = iterations <= self.first
        return np.where(earlier, 1.0, (self.kappa + 1) / (n + 1)), np.where(earlier, 1.0, share)

    def phase(self, iteration: int) -> int:
        return max(iteration - self.first, 0)
