"""An `Oracle` has N losses with gradients and a stochastic oracle, whose minima nobody need know.

Leading axes are (seed, client, feature): `theta[s, i]` is the model of client i on seed s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, Self

import torch
from torch import Tensor

from suffice.support.errors import InputError

from .problem_batches import to_device
from .randomness import Randomness, Stream

Measure = Literal["excess", "loss"]
"""The meaning of `Oracle.value`: R_i - min R_i, or R_i where the minimum is unknown."""


class Oracle(Protocol):
    """The interface that networks have; a `Problem` knows more. Methods with a body are inherited by subclasses.

    start    where the models start, (N, d)
    batch    samples that one stochastic gradient averages
    remarks  of the builder of a problem from data
    """

    names: tuple[str, ...]
    start: Tensor
    measure: Measure
    batch: int
    remarks: tuple[str, ...] = ()

    @property
    def clients(self) -> int:
        return self.start.shape[-2]

    @property
    def features(self) -> int:
        return self.start.shape[-1]

    @property
    def dtype(self) -> torch.dtype:
        return self.start.dtype

    @property
    def device(self) -> torch.device:
        return self.start.device

    def value(self, theta: Tensor) -> Tensor:
        """`measure` of client i at theta_i, (S, N), which traces record and stopping times read."""
        ...

    def held_out(self, theta: Tensor) -> Tensor:
        """The loss by which an algorithm judges other clients' models, up to a constant of each client, (S, N).

        On rows held out for that where the problem is a sample; of a `Problem` the excess. Raises `InputError` where no
        rows are held out.
        """
        ...

    def metrics(self, theta: Tensor) -> Mapping[str, Tensor]:
        """Further values that traces record, (S, N) each, by name: of a network its loss and accuracy on test rows."""
        return {}

    @property
    def selects(self) -> bool:
        """Whether it pays to count the models in use: waiting for the count of a GPU pays for large networks alone."""
        return self.device.type == "cpu"

    @property
    def draw_size(self) -> int:
        """Numbers that one step of one seed takes from its draw."""
        return self.clients * self.features * self.batch

    def gradient(self, theta: Tensor) -> Tensor:
        """grad R_i(theta_i), (S, N, d)."""
        ...

    def gradient_gap(self, theta: Tensor) -> Tensor:
        """|grad R_k(theta_i) - grad R_i(theta_i)|^2 as [s, i, k], (S, N, N)."""
        ...

    def draw(
        self, randomness: Randomness, iteration: int, *, stream: Stream = Stream.NOISE, batch: int | None = None
    ) -> Tensor:
        """The randomness of one stochastic gradient per client, each the mean of `batch` samples: (S, N, m, ...).

        `batch` None takes the problem's own batch size. The samples are the third axis: `draw[:, :, j:j+1]` is
        the draw of the j-th alone.
        """
        return self.drawn(randomness, batch or self.batch, iteration=iteration, stream=stream)

    def drawn(self, randomness: Randomness, batch: int, *, iteration: Any, stream: Stream) -> Tensor:
        """The randomness of `batch` samples per client, (S, N, batch, ...)."""
        ...

    def stochastic_gradient(self, theta: Tensor, weights: Tensor | None, draw: Tensor) -> Tensor:
        """sum_k weights[s, i, k] g_k(theta_i), (S, N, d); weights None means g_i(theta_i) alone.

        The P models theta (S, P, d) need not be personal: weights are then (S, P, N).
        """
        ...

    def peer_gradient(self, theta: Tensor, draw: Tensor) -> Tensor:
        """Client k's stochastic gradient at theta[s, i, k], (S, N, N, d) -> (S, N, N, d)."""
        ...

    def sampled_gap(self, theta: Tensor, draw: Tensor) -> tuple[Tensor, Tensor]:
        """|g_i(theta_i) - g_k(theta_i)|^2 as [s, i, k] (S, N, N) and |g_i(theta_i)|^2 (S, N), g of one draw."""
        ...

    @property
    def row_counts(self) -> tuple[int, ...] | None:
        """Data rows of each client; None: the problem is not made of rows."""
        return None

    def to(self, dtype: torch.dtype, device: Any = "cpu") -> Self:
        return to_device(self, dtype, device)


def short(self: Oracle) -> str:
    """A `repr` without arrays: clients, features, and rows where there are any."""
    counts = self.row_counts
    rows = f"{sum(counts):,} rows, " if counts is not None else ""
    return f"{type(self).__name__}({self.clients} clients, {rows}{self.features} features)"


def check_problem(problem: object) -> None:
    """Raise `InputError` for what is no problem: None, or a class that was not called."""
    if isinstance(problem, type) or not hasattr(problem, "stochastic_gradient"):
        raise InputError("problem", problem, "give a problem, as read or Quadratics.of make it")
