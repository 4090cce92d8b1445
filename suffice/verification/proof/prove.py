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

import mpmath
import sympy

from suffice.bounds import Theorem
from suffice.simulate import Algorithm, Local
from suffice.support.errors import InputError

from ..assumptions import steps_once
from ..counterexample import described
from ..families import ProblemFamily, quadratics
from ..measurement_cache import once
from ..problem_measure import constants as own_constants
from ..problem_measure import tested_once, typical
from ..proof_request import Box
from ..quantity import form_of
from ..recheck import refusal
from ..schedule import Scheduled
from ..verdict import Outcome, Verdict
from .agreement import check_agreement, check_place, scalars_at
from .algorithm_recursion import Recursion, read, read_changing
from .box_search import Budget, Negative, Undecided
from .claims import claims_of, of_violation, proved
from .domain import Domain, domain_of
from .expression import NotOfThisKind, as_list, rational
from .mixture import mixture_of, splits, staying
from .normalised_bound import Symbolic, normalised, symbols
from .refute import Part, Violation, refuted

SLACK = Fraction(1, 1000)
"""The share of a bound that a proof may concede where a tight bound touches and no factor can be split off."""
_CLIENTS = (1, 2, 3, 4)
_CHANGING = 40
_NONETHELESS = "an instance violates the bound: it lies beyond, or what was read is not the bound"
_WORDS = {"start": "a start without noise", "noise": "noise from the minimiser", "bias": "the bias alone",
          "stay": "a start at the mixture's minimiser"}  # fmt: skip


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
        found = _proof(theorem, algorithm, family, box, budget)
    except NotOfThisKind as reason:
        found = Proof(outcome="not of this kind", says=str(reason))
    except InputError:
        raise
    except (ArithmeticError, AttributeError, NotImplementedError, TypeError, ValueError) as error:
        # SymPy's, of functions that nobody foresaw: the verdict on instances does not depend on it
        why = f"the formulas could not be worked with ({type(error).__name__}: {error!s:.80})"
        found = Proof(outcome="undecided", says=why)
    return replace(found, seconds=time.process_time() - budget.began)


def _proof(theorem: Theorem, algorithm: Algorithm, family: ProblemFamily | None, box: Box, budget: Budget) -> Proof:
    if theorem.mode != "expectation":
        raise NotOfThisKind("a bound that is met with some probability is no second moment")
    if not algorithm.linear or isinstance(algorithm, Scheduled) or form_of(theorem).growing:
        raise NotOfThisKind(f"one step of {algorithm.name} is not affine in the state, or noise or steps change")
    alike = None if family is None else _alike(family)
    mixture = None
    if family is not None and not alike:
        mixture = mixture_of(family, algorithm, theorem, lambda count: _recursion(algorithm, (count,)))
        alike = mixture.clients
    clients = (alike,) if alike else _workable(algorithm)
    numbers = {
        name: Fraction(rational(value, name)) for name, value in own_constants(theorem, algorithm, family).items()
    }
    if len(clients) == 1:
        numbers["N"] = Fraction(clients[0])
    if mixture is not None:
        numbers["lambda2"] = mixture.weight2
    symbolic = normalised(theorem, theorem.quantity.name.lower(), numbers)
    recursion = _recursion(algorithm, clients) if mixture is None else mixture.recursion
    parts = _parts(recursion, symbolic)
    domain = domain_of(symbolic, box)
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
    found = refuted(tried, symbolic, domain.step, domain.sides, upper)
    if found is not None:
        if not check_place(theorem, symbolic, found.part.name, found.at, found.T, numbers):
            raise NotOfThisKind("the conditions are not those read from them")
        at = ", ".join(f"{name} = {value}" for name, value in _named(found.at, recursion, symbolic).items())
        relation = ">" if upper == "upper" else "<"
        says = (
            f"at beta = 1, {at}, {_WORDS[found.part.name]}, T = {found.T}: "
            f"{float(found.value):.6g} {relation} {float(found.bound):.6g}"
        )
        if family is not None and not (mixture is not None and mixture.has(found.at)):
            return Proof(outcome="undecided", says=f"false beyond the family, {says}")
        certificates = [of_violation(found, symbolic, upper, f"the bound fails {says}")]
        numbers.setdefault("N", 1 / found.at["w"])
        example = _counterexample(theorem, found, numbers)
        return Proof(outcome="violated", says=says, certificates=certificates, counterexample=example)
    if len(clients) == 1 and clients[0] > 1:
        domain = replace(domain, says=f"{domain.says}, N = {clients[0]}{', one Hessian' if differ else ''}")
    if differ:
        return _split(parts, symbolic, domain, budget)
    return _searched(parts, symbolic, domain, upper, budget)


def _check_sign(symbolic: Symbolic, domain: Domain, budget: Budget) -> None:
    """|q| is q only where q >= 0 on the whole domain."""
    q = sympy.sympify(symbolic.q).subs(symbols()["s"], domain.step)
    sides = {**dict.fromkeys(map(str, q.free_symbols), (Fraction(0), Fraction(1))), **domain.sides}
    box = {name: [str(low), str(high)] for name, (low, high) in sorted(sides.items())}
    try:
        proved({"kind": "box", "says": "q >= 0", "box": box, "left": "0", "right": as_list(q)}, budget)
    except (Negative, Undecided) as error:
        raise NotOfThisKind(f"|{symbolic.q}|^T stands in the bound, and its sign changes") from error


def _split(parts: Sequence[Part], symbolic: Symbolic, domain: Domain, budget: Budget) -> Proof:
    """Prove the bound where clients differ by the first way to add start and bias that works, or say what is left."""
    first: Proof | None = None
    try:
        for sufficient, facts in splits(parts, symbolic, domain, budget):
            found = _searched(sufficient, symbolic, domain, "upper", budget)
            if found.certificates:
                found = replace(found, certificates=[*facts, *found.certificates])
            if found.outcome == "proved":
                return found
            first = found if first is None or (found.slack and not first.slack) else first
    except (Negative, Undecided) as error:
        return Proof(outcome="undecided", says=f"start and bias add up only where eta beta <= 1 ({error})")
    assert first is not None
    return first


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
    about = f"the bound{_up_to(slack)} for {_WORDS[part.name]}, all T >= {earliest}"
    options = part, symbolic, domain, direction, about, earliest, slack
    if len(part.rho) > 1 and symbols()["w"] in part.bound.free_symbols:
        with suppress(Negative):
            return [proved(claim, budget) for claim in claims_of(*options, shared=True)]
    return [proved(claim, budget) for claim in claims_of(*options)]


def _counterexample(theorem: Theorem, found: Violation, numbers: Mapping[str, Fraction]) -> dict[str, Any]:
    """The violation as `check` states one; beside the curvature that the start or the noise is along, mu and beta are
    curvatures too."""
    at = found.at
    scalars = scalars_at(found.part.name, at, found.T, numbers)
    known = {name: float(value) for name, value in scalars.items()}
    with mpmath.workdps(60):
        sides = [mpmath.mpf(each.numerator) / each.denominator for each in (found.value, found.bound)]
    return described(theorem, {"curvature": float(at["h"])}, known, *sides, int(numbers["N"]), digits=50)


def _named(values: Mapping[str, Fraction], recursion: Recursion, symbolic: Symbolic) -> dict[str, Any]:
    named = {"eta": values["s"], "mu": values["k"], "curvature": values["h"]}
    shared = any(symbols()["w"] in each.free_symbols for each in (*recursion.moments, *recursion.noises))
    if symbolic.takes_d:
        named["d"] = 1 / values["v"]
    return named | ({"N": 1 / values["w"]} if (shared or values["w"] != 1) else {})


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
    """The numbers of clients that it is for: those read, or one."""
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


def _parts(recursion: Recursion, symbolic: Symbolic) -> list[Part]:
    """The start's and the noise's inequality, in t = s h with eta = s."""
    x, t = symbols(), sympy.Symbol("t")
    rho = [each.subs(t, x["s"] * x["h"]) for each in recursion.moments]
    add = [each.subs(t, x["s"] * x["h"]) * x["s"] ** 2 * symbolic.of_one for each in recursion.noises]
    none = [sympy.Integer(0)] * len(rho)
    return [
        Part(name="start", start=symbolic.of_one, rho=rho, add=none, bound=symbolic.start),
        Part(name="noise", start=none[0], rho=rho, add=add, bound=symbolic.noise),
    ]
