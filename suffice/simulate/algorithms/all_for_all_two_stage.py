"""All-for-all in two stages: one constant step, then decreasing ones and a weighted mean of the models."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import digamma
from torch import Tensor

from suffice.support.errors import InputError
from suffice.support.numbers import as_number, as_whole

from ..oracle import Oracle
from .all_for_all import AllForAll
from .base import Draw, State


@dataclass(frozen=True, kw_only=True)
class TwoStageAllForAll(AllForAll):
    """`first` rounds at eta; then eta (kappa + 1)/(n + 2), n = offset + t, and `models` are the mean of the models
    since then, with weights n (n + 1)/(n + 2), t = 0, 1, ...

    kappa is L smax/(mu smin), offset 2 kappa unless given. With eta = 2/(L smax + mu smin) it is the run of
    sample-optimal/theorem-3-two-stage, which asks for offset >= 2 kappa - 2.
    """

    first: int
    kappa: float
    offset: float | None = None
    name: str = "all-for-all-two-stage"

    def __post_init__(self) -> None:
        as_whole("first", self.first, least=0)
        if not as_number("kappa", self.kappa) >= 1:
            raise InputError("kappa", self.kappa, "give L smax/(mu smin), which is at least 1")
        if not self._offset >= 2 * self.kappa - 2:
            raise InputError("offset", self.offset, f"give at least 2 kappa - 2 = {2 * self.kappa - 2:g}")

    @property
    def _offset(self) -> float:
        return 2 * self.kappa if self.offset is None else as_number("offset", self.offset)

    def init(self, problem: Oracle, models: Tensor) -> State:
        return {**super().init(problem, models), "last": models}

    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        t = draw.iteration - self.first  # of the model after this round, in stage 2
        if t > 0:
            eta = eta * ((self.kappa + 1) / (self._offset + t + 1))
        last = super().step(problem, {"models": state["last"]}, draw, eta)["models"]
        models = last if t <= 0 else state["models"] + self._share(t) * (last - state["models"])
        return {"models": models, "last": last}

    def _share(self, t: int) -> float:
        """The weight of the latest model: p_t over the sum up to t, sum_n (n - 1 + 2/(n + 2))."""
        a, n = self._offset, self._offset + t
        return n * (n + 1) / (n + 2) / ((t + 1) * (a - 1 + t / 2) + 2 * float(digamma(n + 3) - digamma(a + 2)))

    def phase(self, iteration: int) -> int:
        return max(iteration - self.first, 0)
