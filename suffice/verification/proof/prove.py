"""`check(..., prove=True)`: a bound on quadratics with additive noise, proved, refuted in fractions or left open."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy
import torch

from suffice.bounds import Theorem
from suffice.simulate import Algorithm, Local, StreamingLeastSquares
from suffice.simulate.moment_powers import ONE_STEP
from suffice.support.errors import InputError

from ..assumptions import steps_once
from ..families import ProblemFamily, quadratics
from ..measurement_cache import once
from ..problem_measure import constants as own_constants
from ..problem_measure import tested_once, typical
from ..proof_request import Box
from ..quantity import form_of
from ..recheck import refusal
from ..schedule import Scheduled
from ..verdict import Outcome, Verdict
from .algorithm_recursion import Recursion, read, read_changing, streams
from .box_search import Budget, Negative, Undecided, as_box, as_list
from .claims import claims_of, proved
from .domain import Domain, domain_of
from .mixture import check_scalars, drawn, mixture_of, splits, staying
from .normalised_bound import NotOfThisKind, Symbolic, normalised, rational, symbols
from .refute import WORDS, Part, check_agreement, check_place, counterexample_of, of_violation, refuted, said

SLACK = Fraction(1, 1000)
"""The share of a bound that a proof may concede where a tight bound touches and no factor can be split off."""
_CLIENTS = (1, 2, 3, 4)
_CHANGING = 40
_FORMS = ((4, 1), (8, 4))
_NONETHELESS = "an instance violates the bound: it lies beyond, or what was read is not the bound"


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A statement for all dimensions, spectra, starts, covariances of noise and T.

    outcome       "proved", "proved up to a factor 1.001" (of an upper bound), "proved in part" (an instance beyond
                  violates the bound), "violated", "undecided" or "not of this kind"
    says          the box of a proof, the constants and T of a violation, what is left of the box, or what is not linear
    certificates  what `verification/recheck.py` re-checks; `save(path)` writes them
    slack         0, or the share of the bound that the proof concedes: it is then no proof of the bound
    seconds       CPU seconds of the search
    """

    outcome: str
    says: str
    certificates: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    slack: Fraction = Fraction(0)
    seconds: float = 0.0
    counterexample: dict[str, Any] | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.outcome}: {self.says}"

    def save(self, path: Any) -> None:
        """Write the certificates: `python -I recheck.py PATH` re-checks them without this package."""
        if not self.certificates:
            raise InputError("proof", self.outcome, "nothing was proved or refuted: there is no certificate")
        Path(path).write_text(json.dumps(list(self.certificates), indent=1) + "\n", encoding="utf-8")


def with_proof(
    verdict: Verdict,
    theorem: Theorem,
    algorithm: Algorithm,
    family: ProblemFamily | None,
    *,
    box: Box,
    seconds: float,
    client: int = 0,
) -> Verdict:
    """The tested verdict with what `prove` says: what is violated in fractions is violated, what is proved is valid
    unless it is violated elsewhere. What is proved up to a factor changes nothing."""
    if client:
        says = f"what is read is client 0's step, not client {client}'s"
        return replace(verdict, proof=Proof(outcome="not of this kind", says=says))
    proof = prove(theorem, algorithm, family, box=box, seconds=seconds)
    if proof.outcome == "proved" and verdict.outcome is Outcome.INCONCLUSIVE:
        return replace(verdict, proof=proof, outcome=Outcome.VALID, reason="")
    if proof.outcome == "violated" and verdict.outcome is not Outcome.VIOLATED:
        found = proof.counterexample
        return replace(verdict, proof=proof, outcome=Outcome.VIOLATED, reason="", counterexample=found)
    if proof.outcome == "proved" and verdict.outcome is Outcome.VIOLATED:
        proof = replace(proof, outcome="proved in part", says=f"{proof.says}; {_NONETHELESS}")
    return replace(verdict, proof=proof)


def prove(theorem: Theorem, algorithm: Algorithm, family: ProblemFamily | None, *, box: Box, seconds: float) -> Proof:
    """The theorem's bound for `algorithm`, read from the step, on alike clients and additive noise."""
    budget = Budget(seconds)
    try:
        proof = _proof(theorem, algorithm, family, box, budget)
    except NotOfThisKind as reason:
        proof = Proof(outcome="not of this kind", says=str(reason))
    except InputError:
        raise
    except (ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError) as error:
        # SymPy's, of functions that nobody foresaw: the verdict on instances does not depend on it
        why = f"the formulas could not be worked with ({type(error).__name__}: {error!s:.80})"
        proof = Proof(outcome="undecided", says=why)
    return replace(proof, seconds=time.process_time() - budget.began)


def _proof(theorem: Theorem, algorithm: Algorithm, family: ProblemFamily | None, box: Box, budget: Budget) -> Proof:
    if theorem.mode != "expectation":
        raise NotOfThisKind("a bound that is met with some probability is no second moment")
    if not algorithm.linear or isinstance(algorithm, Scheduled) or form_of(theorem).growing:
        raise NotOfThisKind(f"one step of {algorithm.name} is not affine in the state, or noise or steps change")
    streamed = None if family is None else _streamed(family)
    alike = None if family is None or streamed else _alike(family)
    mixture = None
    if family is not None and not streamed and not alike:
        mixture = mixture_of(family, algorithm, theorem, lambda count: _recursion(algorithm, (count,)))
        alike = mixture.clients
    clients = (alike,) if alike else _CLIENTS if streamed else _workable(algorithm)
    numbers = {
        name: Fraction(rational(value, name)) for name, value in own_constants(theorem, algorithm, family).items()
    }
    if streamed or len(clients) == 1:
        numbers["N"] = Fraction(1 if streamed else clients[0])
    if mixture is not None:
        numbers["lambda2"] = mixture.weight2
    symbolic = normalised(theorem, theorem.quantity.name.lower(), numbers)
    if mixture is not None:
        recursion = mixture.recursion
    else:
        recursion = read(algorithm, ONE_STEP, clients, streams) if streamed else _recursion(algorithm, clients)
    parts = _parts(recursion, symbolic, streamed)
    domain = domain_of(symbolic, {**box, "mu/beta": (Fraction(1), Fraction(1))} if streamed else box, streamed)
    upper = str(theorem.direction)
    if mixture is None and symbolic.bias != 0:
        raise NotOfThisKind("a bias of clients that do not differ")
    differ = mixture is not None and (mixture.differ or symbolic.bias != 0)
    if differ and upper == "lower":
        raise NotOfThisKind("a lower bound where clients differ")
    tried = [*parts, staying(parts[0], symbolic)] if differ else parts
    if symbolic.absolute:
        _check_sign(symbolic, domain, budget)
    check_agreement(theorem, symbolic, domain, numbers)
    found = refuted(tried, symbolic, domain, upper)
    if found is not None:
        check_place(theorem, symbolic, found.part.name, found.at, found.T, numbers)
        says = said(found, upper, streamed is not None, streamed is not None or symbolic.takes_d)
        if family is not None and not streamed and not (mixture is not None and mixture.has(found.at)):
            return Proof(outcome="undecided", says=f"false beyond the family, {says}")
        certificates = [of_violation(found, symbolic, upper, f"the bound fails {says}")]
        found_at = counterexample_of(theorem, found, {"N": 1 / found.at["w"], **numbers})
        return Proof(outcome="violated", says=says, certificates=certificates, counterexample=found_at)
    if len(clients) == 1 and clients[0] > 1:
        domain = replace(domain, says=f"{domain.says}, N = {clients[0]}{', one Hessian' if differ else ''}")
    if differ:
        return _split(parts, symbolic, domain, budget)
    return _searched(parts, symbolic, domain, upper, budget)


def _check_sign(symbolic: Symbolic, domain: Domain, budget: Budget) -> None:
    """|q| is q only where q >= 0 on the whole domain."""
    q = sympy.sympify(symbolic.q).subs(symbols()["s"], domain.step)
    sides = {**dict.fromkeys(map(str, q.free_symbols), (Fraction(0), Fraction(1))), **domain.sides}
    try:
        proved({"kind": "box", "says": "q >= 0", "box": as_box(sides), "left": "0", "right": as_list(q)}, budget)
    except (Negative, Undecided) as error:
        raise NotOfThisKind(f"|{symbolic.q}|^T stands in the bound, and its sign changes") from error


def _split(parts: Sequence[Part], symbolic: Symbolic, domain: Domain, budget: Budget) -> Proof:
    """Prove the bound where clients differ by the first way to add start and bias that works, or say what is left."""
    found: list[Proof] = []
    try:
        for sufficient, facts in splits(parts, symbolic, domain, budget):
            one = _searched(sufficient, symbolic, domain, "upper", budget)
            found.append(replace(one, certificates=[*facts, *one.certificates]) if one.certificates else one)
            if one.outcome == "proved":
                return found[-1]
    except (Negative, Undecided) as error:
        return Proof(outcome="undecided", says=f"start and bias add up only where eta beta <= 1 ({error})")
    return max(found, key=lambda one: one.slack)


def _searched(parts: Sequence[Part], symbolic: Symbolic, domain: Domain, direction: str, budget: Budget) -> Proof:
    failed: Exception | None = None
    for slack in (Fraction(0), SLACK):
        signed = slack if direction == "upper" else -slack
        for earliest in (0, 1):
            try:
                certificates = [
                    one
                    for part in parts
                    for one in _of_part(part, symbolic, domain, direction, earliest, signed, budget)
                ]
            except (Negative, Undecided) as error:
                failed = failed if isinstance(failed, Negative) else error
                continue
            for one in certificates:
                reason = refusal(json.loads(json.dumps(one)))
                assert not reason, f"a certificate that the checker refuses: {reason}"
            says = f"on quadratics, for all T >= {earliest}, {domain.says}"
            return Proof(outcome=f"proved{_up_to(signed)}", says=says, certificates=certificates, slack=slack)
        if len(parts[0].rho) > 1 or budget.left() <= 0:
            break
    if isinstance(failed, Negative):
        where = f"one step of the induction fails at {failed}, and no T was found where the bound does"
    else:
        part = getattr(failed, "part", None) or {}
        left = ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in part.items())
        where = f"{failed}, on {left}" if left else str(failed)
    return Proof(outcome="undecided", says=where)


def _up_to(slack: Fraction) -> str:
    return f" up to a factor {float(1 + slack):g}" if slack else ""


def _of_part(
    part: Part, symbolic: Symbolic, domain: Domain, direction: str, earliest: int, slack: Fraction, budget: Budget
) -> list[dict[str, Any]]:
    about = f"the bound{_up_to(slack)} for {WORDS[part.name]}, all T >= {earliest}"
    options = part, symbolic, domain, direction, about, earliest, slack
    if len(part.rho) > 1 and symbols()["w"] in part.bound.free_symbols:
        with suppress(Negative):
            return [proved(claim, budget) for claim in claims_of(*options, shared=True)]
    if part.pair is None:
        return [proved(claim, budget) for claim in claims_of(*options)]
    failed: list[Negative | Undecided] = []
    for form in (None, *_FORMS):
        try:
            return [proved(claim, budget) for claim in claims_of(*options, form=form)]
        except (Negative, Undecided) as error:
            failed.append(error)
    left = getattr(failed[0], "part", None) or domain.sides
    raise Undecided("no quadratic form of both states was found that falls at the bound's rate", left) from failed[0]


def _streamed(family: ProblemFamily) -> tuple[int, int] | None:
    """The least and the largest dimension of a family of streams of least squares, one client, whose features have one
    variance in all directions; None of another family."""
    every = drawn(family, 64)
    problems: list[Any] = [each.problem for each in every]
    if not all(isinstance(each, StreamingLeastSquares) for each in problems):
        return None
    for setting, each in zip(every, problems):
        apart = (each.A - each.A[0, 0, 0] * torch.eye(each.features).double()).abs().max()
        even = bool(apart <= 1e-12 * each.A.abs().max())
        if each.clients > 1 or each.batch > 1 or not even:
            raise NotOfThisKind("streams of several clients, of batches, or of features of several variances")
        check_scalars(setting, setting.arguments)
    sizes = [each.features for each in problems]
    return min(sizes), max(sizes)


def _alike(family: ProblemFamily) -> int | None:
    """The number of alike clients of a family of the library's quadratics; None of another family."""
    if family.movable is None:
        return None
    try:
        problem, _, _ = typical(family, Local())
    except InputError as error:
        raise NotOfThisKind(str(error)) from error
    if not hasattr(problem, "A"):
        raise NotOfThisKind(f"the family {family.name} is not one of `families.quadratics`")
    same = bool((problem.A[0] == problem.A).all()) and bool((problem.optimum == problem.optimum[0]).all())
    return int(problem.clients) if same else None


def _workable(algorithm: Algorithm) -> Sequence[int]:
    """The numbers of clients in `_CLIENTS` that the algorithm is for: all, or one."""
    found = []
    for count in _CLIENTS:
        problem, _, eta = typical(quadratics(clients=count, features=1, identical=True), algorithm)
        with suppress(InputError):
            steps_once(problem, algorithm, eta)
            found.append(count)
    if len(found) not in (1, len(_CLIENTS)):
        raise NotOfThisKind(f"{algorithm.name} is not for 1 to {_CLIENTS[-1]} clients, nor for one of these numbers")
    return found


def _recursion(algorithm: Algorithm, clients: Sequence[int]) -> Recursion:
    return once(algorithm, ("recursion", *clients), lambda: _recursion_of(algorithm, clients))


def _recursion_of(algorithm: Algorithm, clients: Sequence[int]) -> Recursion:
    # of one client an average is no step of its own: the most are tested
    problem, _, eta = typical(quadratics(clients=max(clients), features=1, identical=True), algorithm)
    tested = tested_once(problem, algorithm, eta)
    if tested.reason:
        raise NotOfThisKind(tested.reason)
    if not tested.periodic:
        return read_changing(algorithm, clients, _CHANGING)
    held = [block.iterations[0] for block in tested.cycle.blocks if len(block.iterations) > 1]
    if any(len(algorithm.outcomes(problem, n)) > 1 for n in held):
        raise NotOfThisKind(f"{algorithm.name} keeps what it draws for several steps")
    return read(algorithm, tested.cycle, clients)


def _parts(recursion: Recursion, symbolic: Symbolic, streamed: Any) -> list[Part]:
    """The start's and the noise's inequality, in t = s h with eta = s; of two states about the first."""
    x, t = symbols(), sympy.Symbol("t")
    along = {t: x["s"] * x["h"]} | ({x["w"]: 1 / x["v"]} if streamed else {})  # streams are read at d
    rho, add = ([each.subs(along) for each in entries] for entries in (recursion.moments, recursion.noises))
    add = [each * x["s"] ** 2 * symbolic.of_one for each in add]
    none, pair, unit = [sympy.Integer(0)] * len(rho), None, symbolic.of_one
    if recursion.pair is not None:
        pair, unit = tuple(each.subs(along) for each in recursion.pair), sympy.Integer(1)
    start, noise = (each * unit / symbolic.of_one for each in (symbolic.start, symbolic.noise))
    return [
        Part(name="start", start=unit, rho=rho, add=none, bound=start, pair=pair),
        Part(name="noise", start=none[0], rho=rho, add=add, bound=noise, pair=pair, gain=x["s"] ** 2),
    ]
