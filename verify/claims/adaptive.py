"""Claims on the adaptive paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bounds import find

from .. import exact
from ..aligned import Aligned
from ..claim import Claim, Effort
from ..evidence import Evidence
from ..quadratic_pairs import Pairs
from ..sampled import SampledResult, sampled


def _sampled(key: str) -> Callable[[Effort, int, float], SampledResult]:
    def test(effort: Effort, root: int, alpha: float) -> SampledResult:
        return sampled(
            find(key),
            networks=effort.networks,
            seeds=effort.seeds,
            iterations=effort.iterations,
            root=root,
            alpha=alpha,
        )

    return test


def _pairs(
    arguments: Callable[[Pairs], dict[str, np.ndarray]],
    measure: Callable[[Pairs], np.ndarray],
    *,
    per_instance: int = 40,
    rounding: float = 0.0,
) -> Callable[[Effort, int], list[Evidence]]:
    return lambda effort, root: exact.pairs(
        arguments, measure, per_instance * effort.instances, root, rounding=rounding
    )


def _step_ratios(kind: str) -> Callable[[Effort, int], list[Evidence]]:
    return lambda effort, root: [exact.step_ratios(kind, 40 * effort.instances, root)]


def _theorem_2(effort: Effort, root: int) -> list[Evidence]:
    return [
        exact.aligned(Aligned.excess, hitting=False),
        exact.one_step(effort.instances, root),
        exact.moments(2 * effort.instances, root),
        exact.two_steps("e2_running", printed=False),
        exact.lines(lambda law: law["e2_running"], T=2, count=5 * effort.instances, root=root),
        # outside the hypotheses: counted, and violated, as soon as the conditions are too wide
        exact.aligned_beyond_step_limit(Aligned.excess),
    ]


Law = dict[str, float]


def _hitting(
    measure: Callable[[Aligned], np.ndarray], line: Callable[[Law], float], *, T: int, below: bool
) -> Callable[[Effort, int], list[Evidence]]:
    return lambda effort, root: [
        exact.aligned(measure, hitting=True),
        exact.lines(line, T=T, count=5 * effort.instances, root=root),
        exact.aligned_beyond_step_limit(measure),
        *([exact.aligned_below_precision(measure)] if below else []),
    ]


# What `Line.two_steps` says of a path that starts at or above the precision.


def _running(law: Law) -> float:
    """P(tau > 1)."""
    return 1 - law["stop_probability"]


def _stopped(law: Law) -> float:
    """E[e_min(2, tau)]."""
    return law["e1_stopped"] + law["e2_running"]


def _two_first_times(law: Law) -> float:
    """P(tau > 0) + P(tau > 1) <= E[tau]."""
    return 1 + _running(law)


_STEP = {"step size eta <= q/beta": lambda: exact.aligned_beyond_step_limit(Aligned.excess)}


def claims() -> tuple[Claim, ...]:
    """Built on demand."""
    return (
        Claim(theorem=find("adaptive/property-1", "printed"), exact=_pairs(Pairs.property_1, Pairs.gap)),
        Claim(theorem=find("adaptive/property-1"), exact=_pairs(Pairs.property_1, Pairs.gap)),
        Claim(
            theorem=find("worst-case/quadratic-certificate"),
            exact=_pairs(Pairs.certificate, Pairs.largest_ratio, per_instance=8),
            equality=1e-10,
        ),
        Claim(
            theorem=find("adaptive/lemma-2", "printed"),
            exact=_pairs(Pairs.lemma_2, Pairs.similarity, rounding=1e-10),
        ),
        Claim(theorem=find("adaptive/lemma-2"), exact=_pairs(Pairs.lemma_2, Pairs.similarity, rounding=1e-10)),
        *(
            Claim(theorem=find(f"adaptive/remark-3-{kind}"), exact=_step_ratios(kind))
            for kind in ("binary", "continuous")
        ),
        Claim(
            theorem=find("adaptive/theorem-2-constant", "printed"),
            exact=lambda effort, root: [exact.two_steps("e2", printed=True)],
        ),
        Claim(
            theorem=find("adaptive/theorem-2-constant"),
            exact=_theorem_2,
            sampled=_sampled("adaptive/theorem-2-constant"),
            beyond=_STEP,
        ),
        Claim(theorem=find("adaptive/theorem-2-horizon"), exact=lambda effort, root: [exact.scheduled("horizon")]),
        *(
            Claim(
                theorem=find("adaptive/theorem-2-decreasing", edition),
                exact=lambda effort, root: [exact.scheduled("decreasing")],
            )
            for edition in ("printed", "corrected")
        ),
        *(
            Claim(
                theorem=find(key), exact=_hitting(measure, line, T=T, below="corollary" in key), sampled=_sampled(key)
            )
            for key, measure, line, T in (
                ("adaptive/theorem-2-constant-running", Aligned.running, _running, 1),
                ("adaptive/theorem-2-constant-stopped", Aligned.stopped, _stopped, 2),
                ("adaptive/corollary-1-probability", Aligned.running, _running, 1),
                ("adaptive/corollary-1-expected-time", Aligned.hitting, _two_first_times, 1),
            )
        ),
    )
