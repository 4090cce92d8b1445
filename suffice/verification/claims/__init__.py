"""Every claim that `suffice verify` checks. `claims()` of a module builds its own when asked; papers bring theirs."""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache, partial
from multiprocessing import active_children, get_context
from typing import cast

from suffice.bounds import THEOREMS, Theorem, find
from suffice.bounds.papers import parts
from suffice.bounds.theorems import is_paper, spelled
from suffice.simulate.randomness import check_root
from suffice.simulate.threads import one_thread
from suffice.support.errors import InputError

from ..claim import EFFORTS, Claim
from ..measurement_cache import caching
from ..sharpness import sharpness
from ..superseded_records import superseded
from ..verdict import Verdict


@cache
def all_claims() -> tuple[Claim, ...]:
    """All claims, in the order of the library."""
    order = {(theorem.key, theorem.edition): at for at, theorem in enumerate(THEOREMS)}
    claims = (*parts("claims", "claims"), *(superseded(record) for record in THEOREMS if record.superseded_by))
    return tuple(sorted(claims, key=lambda claim: order[claim.theorem.key, claim.theorem.edition]))


def verify(
    keys: Sequence[str] = (),
    *,
    edition: str = "all",
    effort: str = "quick",
    root: int = 0,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
) -> list[Verdict]:
    """Check theorems and return their verdicts, in the order of the library.

    keys     keys, papers' names (cobo) or patterns (cobo/theorem-1*), in which * matches anything; all if empty
    edition  "printed", "corrected" or "all"
    effort   "quick", or "full" as for the saved verdicts
    root     root from which all random numbers are derived
    jobs     processes that share the claims; the verdicts are the same for any number
    progress  is called with the work done and the whole of it

    Records without a claim are left out (`unchecked` lists them), and so are superseded ones unless their own key is
    given. Raises `InputError`.
    """
    if edition not in ("printed", "corrected", "all"):
        raise InputError("edition", edition, "use printed, corrected or all")
    check_root(root)
    if isinstance(keys, str):
        keys = (keys,)
    if effort not in EFFORTS:
        raise InputError("effort", effort, f"use {' or '.join(EFFORTS)}")
    claims = [claim for claim in all_claims() if edition in ("all", claim.theorem.edition)]
    if keys:
        for key in keys:
            if not any(_named(claim.theorem, (key,)) for claim in claims):
                if not set(_pattern(key)) & set(_WILD):
                    record = find(key)  # an unknown key is refused with the nearest one
                    raise InputError("theorem", key, _silence(record.key, edition))
                raise InputError("theorem", key, "no claim checks this edition of it yet")
        claims = [claim for claim in claims if _named(claim.theorem, keys)]
    claims = [claim for claim in claims if claim.theorem.superseded_by is None or _itself(claim.theorem, keys)]
    if not isinstance(jobs, int) or jobs < 1:
        raise InputError("jobs", jobs, "give a whole number of processes, at least 1")
    asked: list[Question] = [(claim.theorem.key, claim.theorem.edition, effort, root) for claim in claims]
    verdicts: list[Verdict | None] = [None] * len(asked)
    for done, (at, verdict) in enumerate(_run(asked, min(jobs, len(asked)))):
        verdicts[at] = verdict
        if progress is not None:
            progress(done + 1, len(asked))
    return [verdict for verdict in verdicts if verdict is not None]


def unchecked(keys: Sequence[str] = (), *, edition: str = "all") -> list[Theorem]:
    """The records that `verify` of the same keys leaves out: they give an order only, or no claim checks them yet."""
    checked = {(claim.theorem.key, claim.theorem.edition) for claim in all_claims()}
    asked = [entry for entry in THEOREMS if edition in ("all", entry.edition) and (not keys or _named(entry, keys))]
    return [entry for entry in asked if (entry.key, entry.edition) not in checked]


_WILD = "*?["
"""Characters that make a key a pattern."""


def _pattern(key: str) -> str:
    """A paper's name stands for all its keys, a key is found however it is spelled, a pattern is one itself."""
    text = key if set(key) & set(_WILD) else spelled(key)
    return f"{text}/*" if is_paper(text) else text


def _named(theorem: Theorem, keys: Sequence[str]) -> bool:
    return any(fnmatchcase(theorem.key, _pattern(key)) for key in ((keys,) if isinstance(keys, str) else keys))


def _itself(theorem: Theorem, keys: Sequence[str]) -> bool:
    """Whether one of the keys is the theorem's own key, rather than a pattern or a paper's name that covers it."""
    return any(spelled(key) == theorem.key for key in keys)


def _silence(key: str, edition: str) -> str:
    """Why no claim checks an edition of a known key."""
    orders = [entry.order_only for entry in THEOREMS if entry.key == key and edition in ("all", entry.edition)]
    return f"it gives an order only. {orders[0]}" if orders and orders[0] else "no claim checks this edition of it yet"


Question = tuple[str, str, str, int]
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def _run(asked: list[Question], jobs: int) -> Iterator[tuple[int, Verdict]]:
    """Yield (position, verdict) as they come. Claims that measure the same instances stay together."""
    grouped: dict[str, list[tuple[int, Question]]] = {}
    for at, question in enumerate(asked):
        claim = claim_of(*question[:2])
        grouped.setdefault(claim.extends or claim.theorem.key, []).append((at, question))
    groups = list(grouped.values())
    if jobs <= 1:
        for group in groups:
            yield from _answers(group)
        return
    importlib.import_module("sympy")  # proof steps and mutants take it: copies of this process then have it too
    known = set(active_children())
    with warnings.catch_warnings():
        # Python 3.12 warns of threads of a BLAS, which sleep and are started anew in a copy
        warnings.simplefilter("ignore", DeprecationWarning)
        others, stop = _others(jobs - 1)
        tasks = [others.submit(_answered, group) for group in groups]
    try:  # this process works too, from the end of the list
        for task, group in reversed(list(zip(tasks, groups))):
            for at, verdict in _answers(group) if task.cancel() else task.result():
                yield at, replace(verdict, theorem=claim_of(*asked[at][:2]).theorem)
    except BaseException:  # also Ctrl-C: nobody waits for what is under way
        stop()
        for child in {*active_children()} - known:
            child.kill()
            child.join()
        raise


def _others(count: int) -> tuple[Executor, Callable[[], None]]:
    """Processes that take tasks, and what makes them take no more: copies of this one where no thread could be caught
    with a lock, as others take seconds to import what is loaded here."""
    from joblib.externals.loky import get_reusable_executor
    from threadpoolctl import threadpool_limits

    if sys.platform == "linux" and threading.active_count() == 1:
        copies = ProcessPoolExecutor(count, get_context("fork"), initializer=partial(threadpool_limits, 1))
        return copies, partial(copies.shutdown, wait=False, cancel_futures=True)
    others = get_reusable_executor(max_workers=count, env=dict.fromkeys(_THREADS, "1"))
    return others, partial(others.shutdown, kill_workers=True)


def _answers(group: list[tuple[int, Question]]) -> Iterator[tuple[int, Verdict]]:
    with caching():
        for at, question in group:
            yield at, _answer(*question)


def _answered(group: list[tuple[int, Question]]) -> list[tuple[int, Verdict]]:
    """The verdicts without their records, which hold functions that pickle refuses."""
    return [(at, replace(verdict, theorem=cast(Theorem, None))) for at, verdict in _answers(group)]


@cache
def _catalogue() -> dict[tuple[str, str], Claim]:
    return {(claim.theorem.key, claim.theorem.edition): claim for claim in all_claims()}


def claim_of(key: str, edition: str = "corrected") -> Claim:
    """The claim on one edition of a theorem; `InputError` when there is none."""
    record = find(key, edition)
    if (record.key, edition) not in _catalogue():
        raise InputError("theorem", key, _silence(record.key, edition))
    return _catalogue()[record.key, edition]


def _answer(key: str, edition: str, effort: str, root: int) -> Verdict:
    claim = claim_of(key, edition)
    with one_thread():  # small matrices: more threads only wait for each other
        verdict = claim.verify(effort=effort, root=root)
        wanted = effort == "full" and claim.theorem.guarantee and not claim.theorem.superseded_by
        return replace(verdict, sharpness=sharpness(claim, verdict.sharpness, root=root)) if wanted else verdict
