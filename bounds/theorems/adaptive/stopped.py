"""What a row of Theorem 2 says of the stopped process, derived once for every row.

A row is a bound B_T(s2) of E[e_T 1{tau >= T}] that comes from B_t = (1 - eta_t mu) B_{t-1} + eta_t^2 beta s2 / 2.
 (ii)  On {tau > T}, e_T >= eps, and {tau > T} is contained in {tau >= T}: P(tau > T) <= B_T / eps by Markov.
 (iii) e_min(T, tau) = e_tau 1{tau < T} + e_T 1{tau >= T} and e_tau < eps: E[e_min(T, tau)] <= eps + B_T.
 (iv)  Without stopping, V_t <= s2 where e_{t-1} >= eps and V_t <= V_max everywhere, so with p >= P(e_{t-1} < eps)
       E[V_t] <= s2 + (V_max - s2)_+ p: E[e_T] <= B_T with this variance for s2.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...elementary import maximum
from ...notation import Quantity
from ...theorem import Reduction, Theorem
from .hypotheses import ALWAYS, STANDING
from .paper import source

Function = Callable[..., Any]


def over_precision(row: Function) -> Function:
    """(ii): B_T / eps."""

    def bound(*, eps: Any, **values: Any) -> Any:
        return row(**values) / eps

    return _keywords(bound, row, "eps")


def above_precision(row: Function) -> Function:
    """(iii): eps + B_T."""

    def bound(*, eps: Any, **values: Any) -> Any:
        return eps + row(**values)

    return _keywords(bound, row, "eps")


def with_local_variance(function: Function) -> Function:
    """(iv): a row, or its conditions, at s2 + (V_max - s2)_+ p."""
    if "s2" not in inspect.signature(function).parameters:
        return function

    def bound(*, s2: Any, V_max: Any, below: Any, **values: Any) -> Any:
        return function(s2=s2 + maximum(0, V_max - s2) * below, **values)

    return _keywords(bound, function, "V_max", "below")


def _keywords(bound: Function, row: Function, *added: str) -> Function:
    """Give `bound` the keywords of `row` and the added ones, for `inspect.signature`."""
    names = dict.fromkeys((*inspect.signature(row).parameters, *added))
    keywords = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=Any) for name in names]
    bound.__dict__["__signature__"] = inspect.Signature(keywords)
    return bound


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row of Table 1: its key, title, place in the paper, step sizes in words, bound and conditions."""

    key: str
    title: str
    locator: str
    steps: str
    bound: Function
    conditions: Function
    monotone: Mapping[str, int]
    tight: str = ""
    running_tight: str = ""
    stopped_tight: str = ""
    unconditional_tight: str = ""

    def theorems(self) -> tuple[Theorem, ...]:
        """The row itself, (i), and its readings (ii), (iii), (iv)."""
        return self._running_excess(), self._still_running(), self._stopped_excess(), self._unconditional()

    def _running_excess(self) -> Theorem:
        return Theorem(
            key=self.key,
            edition="corrected",
            title=f"{self.title}, while running",
            source=source(self.locator),
            statement=f"With tau = min{{t: e_t < eps}}, weights of Definition 1 and {self.steps}: E[e_T 1{{tau >= T}}] "
            "is at most the bound B_T.",
            quantity=Quantity.EXCESS_WHILE_RUNNING,
            direction="upper",
            mode="expectation",
            hypotheses=STANDING,
            bound=self.bound,
            conditions=self.conditions,
            tight=self.tight,
            monotone=self.monotone,
        )

    def _still_running(self) -> Theorem:
        return Theorem(
            key=f"{self.key}-running",
            edition="corrected",
            title=f"{self.title}, probability of still running",
            source=source(self.locator),
            statement=f"With tau = min{{t: e_t < eps}}, weights of Definition 1 and {self.steps}: P(tau > T) is at "
            "most B_T / eps, B_T the bound of E[e_T 1{tau >= T}].",
            quantity=Quantity.STILL_RUNNING,
            direction="upper",
            mode="probability",
            hypotheses=STANDING,
            bound=over_precision(self.bound),
            conditions=self.conditions,
            tight=self.running_tight,
            monotone={**self.monotone, "eps": -1},
        )

    def _stopped_excess(self) -> Theorem:
        return Theorem(
            key=f"{self.key}-stopped",
            edition="corrected",
            title=f"{self.title}, stopped at the precision",
            source=source(self.locator),
            statement=f"With tau = min{{t: e_t < eps}}, weights of Definition 1 and {self.steps}: E[e_min(T, tau)] is "
            "at most eps + B_T, B_T the bound of E[e_T 1{tau >= T}].",
            quantity=Quantity.STOPPED_EXCESS,
            direction="upper",
            mode="expectation",
            hypotheses=STANDING,
            bound=above_precision(self.bound),
            conditions=self.conditions,
            tight=self.stopped_tight,
            monotone={**self.monotone, "eps": 1},
        )

    def _unconditional(self) -> Theorem:
        grows = {"V_max": 1, "below": 1} if "s2" in self.monotone else {}
        return Theorem(
            key=f"{self.key}-unconditional",
            edition="corrected",
            title=f"{self.title}, not stopped",
            source=source(self.locator),
            statement=f"With weights of Definition 1 and {self.steps}, all with s2 + (V_max - s2)_+ p in the place of "
            "s2: E[e_T] is at most the bound, whether or not the precision has been reached.",
            quantity=Quantity.EXCESS,
            direction="upper",
            mode="expectation",
            hypotheses=ALWAYS,
            bound=with_local_variance(self.bound),
            conditions=with_local_variance(self.conditions),
            tight=self.unconditional_tight,
            monotone={**self.monotone, **grows},
            reduces_to=(
                Reduction(
                    key=self.key,
                    when="no step starts below eps: p = 0",
                    at=lambda *, s2, **others: {**others, "s2": s2, "V_max": 2 * s2, "below": 0.0},
                ),
            ),
        )
