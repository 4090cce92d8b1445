"""The interface of an algorithm, and its costs: gradients and communication, as `vectors_sent`.

The state of an algorithm is a dictionary of tensors whose leading axis is the seed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial
from typing import Any, ClassVar

from torch import Tensor

from suffice.support.errors import InputError

from ..oracle import Oracle
from ..randomness import Randomness

State = dict[str, Tensor]
Count = float | Tensor
"""A cost: one number for all seeds, or one per seed (S,)."""


@dataclass(frozen=True, kw_only=True)
class Draw:
    """All the randomness of iteration t = 1, 2, ...: the problem's draw for the step, and what else the rule draws.

    `extra` holds coins, masks and further samples by name, leading axis the seed.
    """

    iteration: int
    noise: Tensor
    extra: Mapping[str, Tensor] = field(default_factory=dict)


def check_algorithm(algorithm: object) -> None:
    """Raise `InputError` for what is no algorithm: a name, an uncalled class, or one without `name` or `linear`."""
    if not isinstance(algorithm, Algorithm):
        example = "an algorithm, such as Local()"
        if isinstance(algorithm, type) and issubclass(algorithm, Algorithm):
            example = f"an instance: {algorithm.__name__}()"
        raise InputError("algorithm", algorithm, f"give {example}")
    for wanted, example in (("name", '"mine"'), ("linear", "True where the step is affine in the state, else False")):
        if not hasattr(algorithm, wanted):
            raise InputError(
                "algorithm", type(algorithm).__name__, f"its class has no {wanted}: say {wanted} = {example}"
            )


def checked(check: Callable[..., Any], default: Any = MISSING, **within: Any) -> Any:
    """A field of an algorithm for whose value `check(name, value, **within)` may raise `InputError`; a None that is its
    default is not checked."""
    return field(default=default, metadata={"check": partial(check, **within)})


class Algorithm(ABC):
    """`state["models"]` (S, N, d) are the personal models whose excess is traced; they come first in the state.

    `linear`: the step is affine in the state for every draw, when the problem's gradients are. `gradients_taken`: how
    often a step calls `stochastic_gradient`, each of which has a momentum of its own (`Optimised`). `estimates`:
    weights come from samples, so that `outcomes` cannot be listed.
    """

    name: str
    linear: bool
    gradients_taken: ClassVar[int] = 1
    estimates: ClassVar[Any] = False

    def __post_init__(self) -> None:
        for each in fields(self) if is_dataclass(self) else ():
            value = getattr(self, each.name, None)
            if "check" in each.metadata and not (value is None and each.default is None):
                each.metadata["check"](each.name, value)

    def init(self, problem: Oracle, models: Tensor) -> State:
        """The state before the first step, from models (S, N, d)."""
        return {"models": models}

    def draw(self, problem: Oracle, randomness: Randomness, iteration: int) -> Draw:
        """The randomness that `step` needs: that of one stochastic gradient per client, unless overridden."""
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration))

    @abstractmethod
    def step(self, problem: Oracle, state: State, draw: Draw, eta: Tensor) -> State:
        """One iteration with step sizes eta (N,) or a scalar tensor. A pure function of its arguments."""

    def oracle_calls(self, problem: Oracle, draw: Draw) -> Count:
        """Stochastic gradients (of one batch) computed in this iteration, all clients together; one each by default."""
        return problem.clients

    def vectors_sent(self, problem: Oracle, draw: Draw) -> Count:
        """d-vectors communicated in this iteration, both directions, all clients together; none by default."""
        return 0

    def collaboration(self, problem: Oracle, state: State, draw: Draw) -> Tensor | None:
        """The weights [s, i, k] (S, N, N) with which client i uses client k in the step from `state`, if any."""
        return None

    def outcomes(self, problem: Oracle, iteration: int) -> Sequence[tuple[float, Mapping[str, Tensor]]]:
        """Every value of `extra` with its probability (tensors of leading axis 1), for exact moments."""
        if self.estimates:
            remedy = "weights estimated from samples have no finite list of outcomes: simulate"
            raise InputError("algorithm", self.name, remedy)
        return [(1.0, {})]

    def round_of(self, iteration: int) -> int:
        """The iteration that drew `extra` for this one: itself, or the first of a round that keeps what was drawn."""
        return iteration

    def phase(self, iteration: int) -> int:
        """Iterations of one phase take the same step (period of averaging rounds, for instance)."""
        return 0


class Wrapper(Algorithm):
    """An algorithm that changes how another one steps, and leaves what it draws and costs as it is."""

    of: Algorithm
    init = property(lambda self: self.of.init)
    draw = property(lambda self: self.of.draw)
    oracle_calls = property(lambda self: self.of.oracle_calls)
    vectors_sent = property(lambda self: self.of.vectors_sent)
    collaboration = property(lambda self: self.of.collaboration)
    outcomes = property(lambda self: self.of.outcomes)
    round_of = property(lambda self: self.of.round_of)
    phase = property(lambda self: self.of.phase)
