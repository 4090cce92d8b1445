"""`check(..., prove=True)`: what is proved, what is violated in fractions, and what is left open."""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from shorter_steps import Steps

import suffice as sf
from suffice.simulate import Local, StreamingLeastSquares
from suffice.simulate.algorithms.local_sgd import LocalSGD
from suffice.simulate.algorithms.momentum import Momentum
from suffice.verification import Domain, recheck
from suffice.verification.check import record
from suffice.verification.families import FamilyInstance, ProblemFamily
from suffice.verification.proof.prove import prove


def limit(*, eta, beta):
    return {"eta <= 1/beta": (eta, 1 / beta)}


def theorem_2(*, eta, mu, beta, e0, sigma2, T):
    left = (1 - eta * mu) ** T
    return left * e0 + eta * beta * sigma2 / (2 * mu) * (1 - left)


def rounds(*, eta, mu, beta, e0, sigma2, N, T, period):
    drift = eta**2 * beta * (period - 1) * sigma2 / 2
    return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu * N) + drift


def proof(bound, conditions=limit, algorithm=None, direction="upper", box=None, family=None, quantity="EXCESS"):
    algorithm = algorithm or Local()
    theorem = replace(record(bound, conditions, algorithm=algorithm), direction=direction)
    theorem = replace(theorem, quantity=getattr(sf.Quantity, quantity))
    return prove(theorem, algorithm, family, box=box or {}, seconds=30)


def decreasing(*, eta, mu, beta, e0, sigma2, T):
    return 4 / (T + 4) * (e0 + 4 * eta * beta * sigma2 / mu)


def steep(*, eta, mu, beta):
    return {"eta <= 1/beta": (eta, 1 / beta), "eta mu >= 1/2": (0.5, eta * mu)}


def heavy_ball(*, eta, beta, e0, sigma2, T):
    return 4 * 0.753**T * e0 + 40 * eta**2 * beta * sigma2


def half(*, eta, beta):
    return {"eta <= 0.5/beta": (eta, 0.5 / beta)}


def momentum(*, eta, mu, beta, e0, sigma2, T):
    return 8 * (1 - eta * mu / 2) ** T * e0 + 40 * eta * beta * sigma2 / mu


SHORTER = Steps(size=lambda t: 4 / (t + 3))
BOX = {"eta beta": (Fraction(2, 5), Fraction(1)), "mu/beta": (Fraction(1, 2), Fraction(1))}
TRUE = {
    "theorem 2": (theorem_2, limit, None, "upper", None),
    "lower": (lambda *, eta, beta, e0, T: (1 - eta * beta) ** (2 * T) * e0, limit, None, "lower", None),
    "decreasing": (decreasing, steep, SHORTER, "upper", None),
    "heavy ball": (heavy_ball, limit, Momentum(weight=0.3), "upper", BOX),
    "heavy ball, short steps": (momentum, half, Momentum(weight=0.3), "upper", None),
    "Nesterov, short steps": (momentum, half, Momentum.nesterov(weight=0.3), "upper", None),
    "local SGD, K = 2": (rounds, limit, LocalSGD(period=2), "upper", None),
    "local SGD, K = 4": (rounds, limit, LocalSGD(period=4), "upper", None),
}


LONG = ("decreasing", "Nesterov, short steps", "heavy ball, short steps", "local SGD, K = 4")


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in TRUE]
)
def test_a_true_bound_is_proved_and_the_file_alone_says_so(name, tmp_path):
    found = proof(*TRUE[name])
    assert found.outcome == "proved", found
    assert found.slack == 0
    assert found.seconds < 20
    path = tmp_path / "proof.json"
    found.save(path)
    alone = tmp_path / "recheck.py"
    alone.write_text(Path(recheck.__file__).read_text("utf-8"), "utf-8")
    done = subprocess.run([sys.executable, "-I", alone, path], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.count("proved: ") == len(found.certificates) >= 2
    # a certificate of something else is none
    other = json.loads(path.read_text("utf-8"))
    other[0]["claim"]["bound"] = ["*", "99/100", other[0]["claim"]["bound"]]
    other[0]["sha256"] = recheck.digest(other[0]["claim"])
    assert recheck.refusal(other[0])


def streams(values):
    d, h = int(values["d"]), values["h"]
    problem = StreamingLeastSquares.of(
        h / 2 * np.eye(d), np.zeros((1, d)), label_noise=values["noise"], start=values["far"] * np.eye(d)[:1]
    )
    return FamilyInstance(problem=problem, eta=values["step"] / (h * (d + 2)), iterations=int(values["T"]))


@pytest.mark.slow
@pytest.mark.share(2)
@pytest.mark.parametrize(("limit", "outcome"), [(0.75, "proved"), (0.7575, "violated")])
def test_noise_of_least_squares_grows_with_the_dimension(limit, outcome):
    """E[e+] = (1 - 2 t + (d + 2) t^2) e + t eta sigma2/2, t = eta h: at t = 3/(4 (d + 2)) the factor is 1 - 1.25 t."""

    def bound(*, eta, mu, beta, e0, sigma2, T):
        left = (1 - 1.25 * eta * mu) ** T
        return left * e0 + eta * beta * sigma2 / (2.5 * mu) * (1 - left)

    def conditions(*, eta, beta, d):
        return {"step": (eta, limit / (beta * (d + 2)))}

    family = ProblemFamily(
        name="streams",
        build=streams,
        domains={
            "d": Domain(low=1, high=50, integer=True), "h": Domain(low=0.1, high=10), "far": Domain(low=0.1, high=3),
            "noise": Domain(low=0, high=2), "step": Domain(low=0.01, high=1), "T": Domain(low=1, high=9, integer=True),
        },
    )  # fmt: skip
    found = proof(bound, conditions, family=family)
    assert found.outcome == outcome, found
    assert not any(recheck.refusal(json.loads(json.dumps(one))) for one in found.certificates)
    assert ("eta beta up to 3/(4*(d + 2))" in found.says) == (outcome == "proved")


@pytest.mark.usefixtures("brief")
def test_what_is_proved_is_valid_and_what_nobody_asked_has_no_proof():
    verdict = sf.check(theorem_2, conditions=limit, prove=True)
    assert verdict.valid
    assert verdict.proof.outcome == "proved"
    assert "proof: proved: on quadratics, for all T >= 0" in str(verdict)
    assert sf.check(theorem_2, conditions=limit, family=sf.families.quadratics(longest=3)).proof is None


@pytest.mark.usefixtures("brief")
def test_a_lower_bound_that_knows_the_ends_alone_is_violated_with_an_exact_T():
    """(1 - eta beta)^2T e0 holds up to eta = 1/beta; beyond, a direction of curvature 1/eta is at 0 after one step."""

    def lower(*, eta, beta, e0, T):
        return (1 - eta * beta) ** (2 * T) * e0

    def wide(*, eta, beta):
        return {"eta <= 1.2/beta": (eta, 1.2 / beta)}

    verdict = sf.check(lower, conditions=wide, direction="lower", prove=True)
    assert verdict.outcome.value == "violated"
    found = verdict.proof.counterexample
    assert found["measured"] < found["bound"]
    # by hand, in one direction of curvature h
    (eta, e0, T), h = (found["arguments"][name] for name in ("eta", "e0", "T")), found["values"]["curvature"]
    np.testing.assert_allclose(float(found["measured"]), (1 - eta * h) ** (2 * T) * e0, rtol=1e-9)
    assert not recheck.refusal(json.loads(json.dumps(verdict.proof.certificates[0])))


def test_a_bound_of_averages_that_forgets_the_models_noise_is_violated_between_averages():
    def flat(*, eta, mu, beta, e0, sigma2, N, T):
        return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu * N)

    found = proof(flat, algorithm=LocalSGD(period=2))
    assert found.outcome == "violated"
    assert "T = 1:" in found.says


@pytest.mark.slow
def test_an_algorithm_for_four_clients_is_proved_for_four():
    """A bound that falls with 1/N is not refuted at a number of clients that the algorithm is not for."""

    def shared(*, eta, mu, beta, e0, sigma2, N, T):
        return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu * N)

    four = sf.algorithms.FixedWeights(alpha=np.full((4, 4), 0.25))
    found = proof(shared, algorithm=four)
    assert (found.outcome, found.says.endswith(", N = 4")) == ("proved", True), found
    alone = sf.algorithms.FixedWeights(alpha=np.eye(4))
    assert proof(shared, algorithm=alone).outcome == "violated"


@pytest.mark.share(2)
@pytest.mark.parametrize(("quantity", "factor"), [("LAST_DISTANCE", "mu"), ("LAST_GRADIENT", "beta")])
def test_distances_and_gradients_have_units_of_their_own(quantity, factor):
    def bound(*, eta, mu, beta, distance2, sigma2, T):
        level = (1 - eta * mu) ** (2 * T) * distance2 + eta * sigma2 / mu
        return level if factor == "mu" else level * beta**2

    assert proof(bound, quantity=quantity).outcome == "proved"


def test_conditions_that_are_no_rational_limit_still_hold_at_a_violation():
    def root(*, eta, mu, beta):
        return {"eta <= (beta mu)^-1/2": (eta, 1 / (beta * mu) ** 0.5)}

    found = proof(theorem_2, root)
    assert found.outcome == "violated"
    assert proof(theorem_2, lambda *, eta, beta: {"none": (eta, -1 / beta)}).says == "the conditions allow no step"


@pytest.mark.parametrize(
    ("bound", "words"),
    [
        (lambda *, eta, mu, e0, T: np.exp(-eta * mu * T) * e0, "no power of a rational"),
        (lambda *, eta, mu, e0, T: (1 - eta * mu) ** T * e0**0.5, "not linear in e0"),
        (lambda *, eta, mu, e0, T: 1.4142135623730951 * e0, "no fraction that could be meant"),
        (lambda *, eta, mu, beta, e0, T: ((1 - eta * mu) ** T + (1 - eta * beta) ** T) * e0, "exponent of 2 numbers"),
        (lambda *, eta, mu, e0, sigma2, T: (1 - eta * mu) ** T * e0 + eta**2 * sigma2, "changes with the units"),
    ],
)
def test_what_no_polynomial_says_is_not_of_this_kind(bound, words):
    found = proof(bound)
    assert found.outcome == "not of this kind"
    assert words in found.says
    assert "\n" not in str(found)


def test_a_pole_in_the_box_is_named():
    def pole(*, eta, mu, beta, e0, sigma2, T):
        return (1 - eta * mu) ** T * e0 + 2 * eta * beta * sigma2 / (mu * (1 - eta * beta))

    found = proof(pole)
    assert (found.outcome, "has a pole there" in found.says) == ("undecided", True)
    assert proof(pole, box={"eta beta": (Fraction(0), Fraction(1, 2))}).outcome == "proved"


@pytest.mark.parametrize(
    ("box", "words"),
    [
        ({"eta beta": (1, 0)}, "empty"),
        ({"eta beta": (0, float("inf"))}, "unbounded"),
        ({"mu/beta": (0, 1)}, "pole"),
        ({"mu/beta": (0.1, 2)}, "leaves"),
        ({"eta beta": (0, 2**0.5)}, "irrational"),
        ({"eta": (0, 1)}, "sides are"),
        ({"eta beta": 3}, "no interval"),
    ],
)
def test_a_box_that_is_none_is_refused(box, words):
    with pytest.raises(sf.InputError, match=words):
        sf.check(theorem_2, conditions=limit, prove=True, box=box)
    with pytest.raises(sf.InputError, match="prove=True"):
        sf.check(theorem_2, conditions=limit, box=box)


# E|x - x*|^2 of one curvature ends at eta sigma2/(mu (2 - eta mu)), 5e-4 eta mu of itself above the usual floor.
def short(*, eta, mu, distance2, sigma2, T):
    return (1 - eta * mu) ** T * distance2 + eta * sigma2 / (2 * mu)


@pytest.mark.usefixtures("brief")
def test_what_is_proved_up_to_a_factor_is_not_proved(tmp_path):
    verdict = sf.check(
        short, conditions=lambda *, eta, beta: {"step": (eta, 1e-3 / beta)}, quantity="last_distance", prove=True
    )
    found = verdict.proof
    assert found is not None
    assert found.outcome != "proved", str(verdict)
    assert (found.outcome == "proved up to a factor 1.001") == (found.slack > 0)
    assert found.slack > 0, str(verdict)  # else the test has lost its object
    assert str(found).startswith("proved up to a factor 1.001: ")
    found.save(tmp_path / "file.json")
    for one in json.loads((tmp_path / "file.json").read_text()):
        assert "the bound up to a factor 1.001" in one["claim"]["says"]
        assert not recheck.refusal(one)


@pytest.mark.parametrize("outcome", ["proved", "proved up to a factor 1.001", "undecided"])
def test_what_a_proof_makes_of_a_verdict(outcome, monkeypatch):
    from suffice.verification.proof import prove as module

    monkeypatch.setattr(module, "prove", lambda *_, **__: module.Proof(outcome=outcome, says="somewhere"))
    theorem = record(short)
    open_one = sf.Verdict.inconclusive(theorem, "nothing")
    given = {"theorem": theorem, "algorithm": Local(), "family": None, "box": {}, "seconds": 1}
    assert module.with_proof(open_one, **given).valid == (outcome == "proved")
    violated = replace(open_one, outcome=type(open_one.outcome).VIOLATED, reason="")
    both = module.with_proof(violated, **given)
    assert both.outcome is violated.outcome
    assert both.proof.outcome != "proved"
    assert (both.proof.outcome == "proved in part") == (outcome == "proved")
