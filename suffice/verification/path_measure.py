"""Measures of `check` where no exact route applies: a quantity on simulated paths, as a bound that chance respects.

An instance that draws nothing is followed exactly. Elsewhere, for independent Y >= 0 and any m, log_evidence(Y, m)
exceeds ln(1/alpha) with probability at most alpha where E[Y] <= m, and falls as m grows: the largest m at which it does
exceed is a lower confidence bound of E[Y], at any time and whatever the distribution of Y. In place of an expectation
the quantile: the k-th smallest of n draws exceeds the (1 - delta)-quantile with probability at most
P(Binomial(n, 1 - delta) <= k - 1), which is exact. Either stands in for the measured number: an upper bound below it is
false but for probability alpha.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import torch

from suffice.bounds import Theorem
from suffice.simulate.moment_powers import Cycle
from suffice.simulate.path_values import NUDGE, path_values
from suffice.simulate.problem_batches import instances
from suffice.support.errors import InputError

from .assumptions import Assumptions
from .confidence_interval import FALSE_ALARMS, mean_bound, quantile_bound
from .evidence import Evidence
from .family import Values
from .problem_measure import Measure
from .quantity import scalars_of

MOST_CERTIFIED = 4096
"""Instances that one check may certify: each may raise a false alarm with probability FALSE_ALARMS/MOST_CERTIFIED."""
_ROUNDING = 16.0
"""How many times as far as the disturbed path (256 units in the last place per iteration) rounding may lead."""


@dataclass(frozen=True, kw_only=True)
class PathMeasure(Measure):
    """The quantity of `client` on `paths` paths of each instance: its mean less one standard error, or with `certify`
    its lower confidence bound (the upper one of a lower bound). `delta`: of the probability that it is exceeded."""

    paths: int
    root: int
    certify: bool = False

    @property
    def samples(self) -> bool:
        return True  # paths cost, and what is only looked at refutes nothing

    def certified(self, paths: int) -> PathMeasure:
        return replace(self, paths=paths, certify=True)

    def _measured(
        self, theorem: Theorem, problems: Any, eta: Any, T: np.ndarray, asked: Evidence
    ) -> tuple[np.ndarray, np.ndarray, bool | np.ndarray]:
        values, arguments = cast(Values, asked.values), asked.arguments
        # fresh paths for every batch, a pure function of its values: what led to a batch has not seen them
        key = zlib.crc32(np.concatenate([np.ravel(value) for value in values.values()]).astype(float).tobytes())
        drawing = key ^ (self.root * 2654435761) ^ (2 * self.paths + self.certify)
        # paths cost, and outside of the conditions they tell nothing
        rows = np.flatnonzero(cast(np.ndarray, asked.hypothesis))
        problems = problems if isinstance(problems, list) else instances(problems, len(T))
        problems, eta, T = [problems[at] for at in rows], eta[rows], T[rows]
        form = self.forms.form
        given = {name: value[rows] for name, value in scalars_of(form.scalars, arguments).items()}
        drawn, exact = path_values(
            problems, self.algorithm, eta=eta, iterations=T, client=self.client, form=form, seeds=self.paths,
            root=drawing % 2**32, scalars=given,
        )  # fmt: skip
        measured, rounding = np.full((2, len(asked.measured)), np.nan)
        certain = np.zeros(len(asked.measured), dtype=bool)
        for at, problem, paths, quiet in zip(rows, problems, drawn, exact):
            if len(paths) == 0 or not np.isfinite(paths).all():
                continue
            certain[at] = quiet
            scalars = {name: float(value[at]) for name, value in arguments.items()}
            floor = self._floor(problem, scalars)
            if quiet:
                _check_quiet(paths, self.algorithm.name)
                # a disturbance may cancel where the path ends at rest
                measured[at], rounding[at] = paths[0], _ROUNDING * max(abs(paths[2] - paths[0]), floor)
            else:
                _check_positive(paths, type(problem).__name__)
                rounding[at] = _ROUNDING * floor
                with np.errstate(over="ignore"):  # a square of what grows beyond all bounds
                    measured[at] = self._of_paths(np.maximum(paths, 0), theorem.direction == "upper")
        return measured, rounding, certain

    def _floor(self, problem: Any, scalars: Mapping[str, float]) -> float:
        """What rounding of the models leaves of the quantity where it is least, for where coins are tossed and no
        disturbed path tells. Elsewhere the last places are a share of the quantity, which `AGREEMENT` covers.

        An excess is least at the clients' own optima, consensus where all models agree. There it is its change when
        the models move that counts, all alike or each its own way.
        """
        optima = problem.optimum[None]
        size = NUDGE * torch.maximum(optima.abs().amax(), problem.start.abs().amax())
        place = torch.arange(optima.shape[1])[:, None] + torch.arange(optima.shape[2])
        agreed = optima.mean(1, keepdim=True).expand_as(optima)
        states = torch.cat([at + move for at in (optima, agreed) for move in (0 * size, size, size * (-1.0) ** place)])
        form = self.forms.form
        rest = self.algorithm.init(problem, states) if callable(form.of) else {}
        given = {name: scalars[name] for name in form.scalars}
        value = form.value(problem, {**rest, "models": states}, self.client, given).reshape(2, 3)
        at_rest = value[value[:, 0].argmin()]
        return float((at_rest - at_rest[0]).abs().max())

    def _of_paths(self, paths: np.ndarray, upper: bool) -> float:
        alpha = FALSE_ALARMS / MOST_CERTIFIED
        if self.delta is not None:
            if self.certify:
                return quantile_bound(paths, self.delta, alpha, upper=upper)
            return float(np.quantile(paths, 1 - self.delta if upper else self.delta))
        if self.certify:
            return mean_bound(paths, alpha) if upper else np.inf  # nothing bounds a mean from above
        error = paths.std() / len(paths) ** 0.5
        return max(float(paths.mean() - error), 0.0) if upper else np.inf


def _check_quiet(paths: np.ndarray, name: str) -> None:
    # vectors and their remainders may take other instructions, which differ in the last place
    if abs(paths[1] - paths[0]) > _ROUNDING * abs(paths[2] - paths[0]) + 1e-12 * abs(paths[0]):
        raise InputError("algorithm", name, "two paths differ on a problem without noise: draw in `draw`, into extra")


def _check_positive(paths: np.ndarray, name: str) -> None:
    if paths.min() < -1e-9 * np.abs(paths).max():
        remedy = (
            f"a quantity that is never negative is {paths.min():.3g} on a path: is `optimum` where the loss is least?"
        )
        raise InputError("problem", name, remedy)


def untested() -> Assumptions:
    """Paths need none of what exact moments assume."""
    return Assumptions(cycle=Cycle(blocks=()), periodic=True)
