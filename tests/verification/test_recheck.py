"""The checker alone re-checks every certificate, and refuses wrong ones, each for its own reason."""

from __future__ import annotations

import copy
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from suffice.verification import recheck
from suffice.verification.all_certificates import certificates
from suffice.verification.certificate import certificate
from suffice.verification.recheck import refusal

LINES = Path(recheck.__file__).read_text(encoding="utf-8").splitlines()


def step(left=0, right="x", terms=((1, (), 0),), facts=("x",), positive=(), atoms=(), point=None):
    lists = {"positive": [*positive], "atoms": [*atoms], "facts": [*facts]}
    proof = {"terms": [[c, [*powers], fact] for c, powers, fact in terms], "point": {"x": "1"} | (point or {})}
    return certificate("step", "a step", proof, left=left, right=right, **lists)


def box(left=0, right="x", sides=None, tree=".", divisors=(), factors=None):
    proof = {"divisors": [*divisors], "factors": [[right, 1, tree]] if factors is None else factors}
    return certificate("box", "a box", proof, left=left, right=right, box={"x": ["0", "1"]} if sides is None else sides)


TRIVIAL = {"divisors": [], "factors": [["z", 1, "."]]}


def recursion(**changes):
    """x_{t+1} <= x_t/2 + 1/2 from 1 stays at most 1; the claims are 0 <= 1, ..., none of which has z in it."""
    claim = {"z": "z", "box": {"z": ["0", "1"]}, "bound": 1, "rho": "1/2", "add": "1/2", "move": "z", "first": 1}
    claim = claim | {"start": 1, "direction": "upper"} | changes
    one = lambda p: {"divisors": [], "factors": [[p, 1, "."]]}  # noqa: E731
    spare = ["+", 1, ["*", -1, "z"]]
    proofs = [one(1), one(0), one("z"), one(spare), one("1/2"), one(0), one(0)]
    return certificate("recursion", "a recursion", {"inequalities": proofs}, **claim)


def exceeds(left=2, right=1, at=None, **more):
    return certificate("exceeds", "a refutation", {}, left=left, right=right, at=at or {}, **more)


ITERATED = {"T": 3, "z": "z", "rho": 2, "add": 0, "move": "z", "first": 1, "start": 1}


def edited(one, *path, to, hashed=False):
    """A certificate with another entry at a path; `hashed` anew."""
    one = copy.deepcopy(one)
    inside = one
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = to
    if hashed:
        one["sha256"] = recheck.digest(one["claim"])
    return one


def nest(depth):
    e = "x"
    for _ in range(depth):
        e = ["+", e, 0]
    return e


def power(e, n):
    return ["^", e, n]


INVERSE = power("x", -1)
MANY = ["+", *(power(name, 200) for name in "wxyz")]
LEAF = "a Bernstein coefficient on a leaf is too small"
POINT = "the point does not meet all hypotheses"
SUM = "right - left is not the sum of the terms"
LATE = {"positive": ["x"], "terms": (), "facts": ()}
WRONG = {
    "an edited digit of the claim": (edited(step(), "claim", "right", to="2"), "not the one that was hashed"),
    "the hash of another statement": (edited(step(), "sha256", to=box()["sha256"]), "not the one that was hashed"),
    "another version": (edited(step(), "version", to=2), "version 1"),
    "no version": ({"claim": {}, "proof": {}}, "KeyError: 'version'"),
    "another kind": (edited(step(), "claim", "kind", to="lemma", hashed=True), "KeyError: 'lemma'"),
    "no proof": ({**step(), "proof": {}}, "KeyError: 'terms'"),
    "a field that nothing reads": (edited(step(), "claim", "strict", to=True, hashed=True), "fields are missing"),
    "a step without hypotheses": (
        {**(c := step()), "claim": {k: c["claim"][k] for k in ("kind", "says", "left", "right")}}
        | {"sha256": recheck.digest({k: c["claim"][k] for k in ("kind", "says", "left", "right")})},
        "fields are missing",
    ),
    "two lines of what it says": (edited(step(), "claim", "says", to="x\nproved: y", hashed=True), "not to be printed"),
    "an edited digit of a multiplier": (edited(step(), "proof", "terms", 0, 0, to="101/100"), SUM),
    "a negative multiplier": (step(right=["*", -1, "x"], terms=[(-1, (), 0)]), "a multiplier is negative"),
    "a multiplier that is a fact": (step(terms=[(1, [["facts", 0, 1]], 0)]), "no product of hypotheses"),
    "an atom that is divided by": (step(atoms=["x"], terms=[(1, [["atoms", 0, -1]], 0)]), "no product of hypotheses"),
    "a fact that is not there": (step(terms=[(1, (), 7)]), "IndexError"),
    "a divisor that may vanish": (step(INVERSE, INVERSE, terms=()), "a divisor is not declared positive"),
    "a cancelled divisor": (step(["*", "x", INVERSE], 1, terms=()), "a divisor is not declared positive"),
    "the negative of what is positive as divisor": (
        step(power(["*", -1, "x"], -1), 0, **LATE),
        "a divisor is not declared positive",
    ),
    "(x/x)^-1 is x": (step(power(["*", "x", INVERSE], -1), "x", **LATE), SUM),
    "a division by 0": (step(power(["+", "x", ["*", -1, "x"]], -1), 0), "a division by zero"),
    "a positive quotient": (step(0, 0, terms=(), facts=(), positive=[INVERSE]), "no polynomial"),
    "hypotheses that contradict": (step(1, 0, terms=[(1, (), 0)], facts=[-1]), POINT),
    "0 > 0": (step(0, 0, terms=(), facts=(), positive=[["+", "x", -1]]), POINT),
    "a point that gives a number to a numeral": (
        step(1, 0, facts=["-1"], point={"-1": "1"}),
        "a name is no name",
    ),
    "a point that gives a number to |x|^2": (
        step(1, 0, terms=[(1, (), 0), (1, (), {"a": 1})], facts=[["+", -1, ["*", -1, "<a, a>"]]])
        | {"proof": {"terms": [[1, [], 0], [1, [], {"a": 1}]], "point": {"<a, a>": "-1"}}},
        "a name is no name",
    ),
    "a point without a name": (step(facts=["x", "y"]), "a name has no value"),
    "hypotheses that are a text": (edited(step(), "claim", "positive", to="x", hashed=True), "a list is none"),
    "a vector by its places": (step(0, "<0, 0>", terms=[(1, (), [1])], facts=()), "AttributeError"),
    "a float": (step(right=0.5), "0.5 is no fraction"),
    "NaN": (step(right=float("nan")), "nan is no fraction"),
    "a decimal": (step(right="1.5"), "'1.5' is no fraction"),
    "text that looks like code": (step(right="__import__('os').system('ls')"), "is no fraction"),
    "another operation": (step(right=["-", "x", 1]), "'-' is no operation"),
    "a symbolic power": (step(right=power("x", "n")), "a power is no small integer"),
    "a large power": (step(right=power("x", 201)), "a power is no small integer"),
    "a number beyond 10^5 digits": (step(right=power(power(power(10, 100), 100), 100)), "too many digits"),
    "deep nesting": (edited(step(), "claim", "right", to=nest(3000)), "RecursionError"),
    "too much work": (box(right=MANY, sides={name: ["0", "1"] for name in "wxyz"}), "too much work"),
    "a box that is not all nonnegative": (box(right=["+", "x", "-1/100"]), LEAF),
    "an empty box": (box(sides={"x": ["1", "0"]}), "an empty box"),
    "a name outside the box": (box(right=["+", "x", "y"]), "a name is no side of the box"),
    "a pole in the box": (box(right=INVERSE, divisors=[["x", "."]], factors=[]), LEAF),
    "a pole that is left out": (box(right=INVERSE, factors=[]), "a divisor is not shown to be positive"),
    "factors of something else": (box(factors=[["x", 3, "."]]), "the factors do not multiply"),
    "an odd power without a proof": (box(factors=[["x", 1, ""]]), "a tree ends too early"),
    "a tree that goes on": (box(tree=".."), "IndexError"),
    "a side that is no letter": (box(tree="b.."), "'b' is no side of the box"),
    "a million leaves": (box(tree="a" * 10**6 + "." * (10**6 + 1)), "a tree has too many leaves"),
    "an induction step that fails": (recursion(add="51/100"), "the factors do not multiply"),
    "a start above the bound": (recursion(start="101/100"), "the factors do not multiply"),
    "a start that moves with z": (recursion(start="z"), "z in a constant"),
    "a first z outside the box": (recursion(first=2), "the factors do not multiply"),
    "a recursion the other way": (recursion(direction="up"), "KeyError: 'up'"),
    "one inequality left out": (
        {**(r := recursion()), "proof": {"inequalities": r["proof"]["inequalities"][:-1]}},
        "is shorter than argument 1",
    ),
    "a refutation that is none": (exceeds(1, 1), "left does not exceed right"),
    "a refutation that renames 2": (exceeds("2", "3", {"2": "5"}), "a name is no name"),
    "a refutation on a pole": (exceeds(power("x", -1), 0, {"x": "0"}), "a division by zero"),
    "a refutation of a recursion one step late": (exceeds("x", 8, **ITERATED), "left does not exceed right"),
    "too many steps": (exceeds("x", 1, **{**ITERATED, "T": 10**4 + 1}), "T is no small number of steps"),
    "a given x": (exceeds("x", 1, {"x": "9"}, **ITERATED), "z or x has two meanings"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_certificate_is_refused_for_its_reason(name):
    one, reason = WRONG[name]
    assert reason in refusal(one)


def test_there_are_fifty_wrong_certificates_and_the_ones_that_they_were_made_of_are_right():
    assert len(WRONG) >= 50
    right = [step(), box(), recursion(), exceeds(), exceeds("x", 7, **ITERATED)]
    assert [refusal(one) for one in right] == [""] * 5


def alone(folder, text):
    """What the file by itself, in a folder without anything else, says of a file."""
    shutil.copy(recheck.__file__, folder)
    (folder / "given.json").write_text(text, encoding="utf-8")
    command = [sys.executable, "-I", "recheck.py", "given.json"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_file_alone_re_checks_every_certificate(tmp_path):
    every = certificates()
    done = alone(tmp_path, json.dumps(every))
    said = done.stdout.splitlines()
    assert (done.returncode, done.stderr, len(said)) == (0, "", len(every))
    assert all(line.startswith("proved: ") for line in said)
    assert len(every) >= 90
    assert len(LINES) <= 250


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "no certificates"),
        ("{}", "no certificates"),
        (json.dumps([step()])[:-20], "no certificates ("),
        ("[" * 10**5, "no certificates (maximum recursion depth"),
        ('[{"version": 1, "version": 1}]', "no certificates (a key twice)"),
        ("[1" + "0" * 10**5 + "]", "no certificates (Exceeds the limit"),
        ("import os", "no certificates (Expecting value"),
        (json.dumps([step(), {**step(), "version": 0}]), "not a certificate of version 1"),
    ],
)
def test_a_bad_file_gives_one_line(tmp_path, text, reason):
    done = alone(tmp_path, text)
    refused = [line for line in done.stdout.splitlines() if line.startswith("refused: ")]
    assert (done.returncode, done.stderr, len(refused)) == (1, "", 1)
    assert reason in refused[0]
