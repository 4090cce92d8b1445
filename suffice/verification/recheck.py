"""Re-checks certificates in exact fractions: `python -I recheck.py FILE`. It needs nothing but this file and Python.

A file is a JSON list of certificates {"version": 1, "claim": {...}, "sha256": hash of the claim, "proof": {...}}. An
expression is a number "3/4", a name "eta", an inner product "<x, y>", or a list ["+", a, b, ...], ["*", a, b, ...],
["^", a, 2]; no text is evaluated. The kind of a claim says what is claimed:
step: left <= right whenever positive > 0, atoms >= 0 and facts >= 0; right - left is a sum of nonnegative terms.
box: left <= right on a box; each factor of right - left has an even power, or nonnegative Bernstein coefficients on the
    leaves of a tree of halvings.
recursion: x_t <= bound(z_t) for all t >= 0 if x_0 <= start, x_{t+1} <= rho(z_t) x_t + add(z_t) (all >= for "lower"),
    z_0 = first, z_{t+1} = move(z_t); start and induction step hold on a box that has z as a side.
    With "P": E (c . s_t)^2 <= bound(z_t) if s_0 = start, s_{t+1} = A s_t + b xi_t, each xi_t centred, uncorrelated with
    the past, E xi_t^2 <= 1; x_t = E s_t' P s_t, and P - c c', rho P - A' P A are positive semidefinite. A is given by
    its two columns, P by p_00, p_01, p_11.
exceeds: left > right at numbers; with "T", x in `left` is what T steps of x <- rho x + add make of start.
"""

import hashlib
import json
import re
import sys
from fractions import Fraction
from itertools import product
from math import comb, lcm, prod
from pathlib import Path

DIGITS, TERMS, POWER, LEAVES, STEPS = 10**5, 10**5, 200, 10**5, 10**4
NUMBER, NAME = re.compile(r"-?\d+(/\d+)?", re.ASCII), re.compile(r"[A-Za-z_]\w*|<\w+, \w+>", re.ASCII)
sys.set_int_max_str_digits(DIGITS)


def require(condition, reason):
    if not condition:
        raise ValueError(reason)


def small(value):
    require(max(abs(value.numerator), value.denominator).bit_length() <= 3.3 * DIGITS, "a number has too many digits")
    return value


class Polynomial(dict):
    """{((name, power), ...): coefficient}, without zeros."""

    def __add__(self, other):
        return Polynomial({t: c for t in {**self, **other} if (c := self.get(t, 0) + other.get(t, 0))})

    def __mul__(self, other):
        require(len(self) * len(other) <= 100 * TERMS, "an expression has too many terms")
        total = {}
        for (one, c), (two, d) in product(self.items(), other.items()):
            powers = dict(one)
            powers |= {name: n + powers.get(name, 0) for name, n in two}
            term = tuple(sorted(powers.items()))
            total[term] = small(total.get(term, 0) + c * d)
        return Polynomial({term: c for term, c in total.items() if c})

    def __pow__(self, n):
        return self * self ** (n - 1) if n else ONE

    def sign(self):
        """What all positive multiples have in common."""
        return frozenset((term, c / abs(self[max(self)])) for term, c in self.items())

    def bernstein(self, box):
        """The Bernstein coefficients on a box by index, up to one positive factor that makes them integers."""
        require({name for term in self for name, _ in term} <= set(box), "a name is no side of the box")
        degrees = [max((dict(term).get(name, 0) for term in self), default=0) for name in box]
        require(prod(degree + 1 for degree in degrees) <= TERMS, "too many Bernstein coefficients")
        places = product(*(range(degree + 1) for degree in degrees))
        values = {at: self.get(tuple(sorted(p for p in zip(box, at) if p[1])), Fraction(0)) for at in places}
        for axis, (low, high) in enumerate(box.values()):
            # sum_j a_j (low + width u)^j = sum_i m_i u^i, then b_i = sum_j C(i, j)/C(n, j) m_j
            values = along(values, axis, lambda n, i, j, a=low, w=high - low: comb(j, i) * a ** max(j - i, 0) * w**i)
            values = along(values, axis, lambda n, i, j: Fraction(comb(i, j), comb(n, j)))
        common = lcm(*(small(c).denominator for c in values.values()))
        return {at: int(c * common) for at, c in values.items()}

    def check(self, box, tree, least=0):
        """It is >= 0 (least 0) or > 0 (1) on a box; a tree lists halvings in preorder: the letter of a side, or "."."""
        require(len(tree) <= 2 * LEAVES, "a tree has too many leaves")
        waiting = [self.bernstein(box)]
        for letter in tree:
            values, axis = waiting.pop(), ord(letter) - ord("a")
            if letter == ".":
                require(min(values.values()) >= least, "a Bernstein coefficient on a leaf is too small")
            else:  # De Casteljau's rule at 1/2, times 2^n
                require(0 <= axis < len(box), f"{letter!r} is no side of the box")
                waiting.append(along(values, axis, lambda n, i, j: comb(n - i, n - j) << i))
                waiting.append(along(values, axis, lambda n, i, j: comb(i, j) << (n - i)))
        require(not waiting, "a tree ends too early")


ONE = Polynomial({(): Fraction(1)})


def along(values, axis, entry):
    """{index: coefficient} with every line along an axis multiplied by the matrix of entries (n, i, j)."""
    lines, size = {}, range(max(at[axis] for at in values) + 1)
    for at in sorted(values):
        lines.setdefault((at[:axis], at[axis + 1 :]), []).append(values[at])
    rows = [[entry(size[-1], i, j) for j in size] for i in size]
    return {(*a, i, *b): sum(c * x for c, x in zip(rows[i], line)) for (a, b), line in lines.items() for i in size}


def raised(divisors):
    return prod((Polynomial(base) ** n for base, n in divisors.items()), start=ONE)


def quotient(e):
    """Numerator and {divisor: power} of an expression; nothing is cancelled, so that no divisor is forgotten."""
    if not isinstance(e, list):
        c = Fraction(1) if (named := isinstance(e, str) and NAME.fullmatch(e)) else number(e)
        return Polynomial({(((e, 1),) if named else ()): c} if c else {}), {}
    parts = [quotient(part) for part in (e[1:2] if e[0] == "^" else e[1:])]
    every = {base for _, under in parts for base in under}
    if e[0] == "^":
        require(len(e) == 3 and type(e[2]) is int and abs(e[2]) <= POWER, "a power is no small integer")
        ((top, below),) = parts
        if e[2] >= 0:
            return top ** e[2], {base: n * e[2] for base, n in below.items()}
        require(top, "a division by zero")
        return raised({base: n * (1 - e[2]) for base, n in below.items()}), {**below, frozenset(top.items()): -e[2]}
    below = {base: (sum if e[0] == "*" else max)(under.get(base, 0) for _, under in parts) for base in every}
    if e[0] == "*":
        return prod((top for top, _ in parts), start=ONE), below
    require(e[0] == "+", f"{e[0]!r:.20} is no operation")
    tops = [top * raised({base: n - under.get(base, 0) for base, n in below.items()}) for top, under in parts]
    return sum(tops, start=Polynomial()), below


def number(text):
    require(type(text) in (str, int, Fraction) and NUMBER.fullmatch(str(text)), f"{text!r:.40} is no fraction")
    return small(Fraction(text))


def put(e, at):
    return [e[0], *(put(part, at) for part in e[1:])] if isinstance(e, list) else at.get(e, e)


def value(e, at):
    top, below = quotient(put(e, at))
    require({*top, *raised(below)} <= {()}, "a name has no value")
    return small(top.get((), Fraction(0)) / raised(below)[()])


def minus(left, right):
    return ["+", left, ["*", -1, right]]


def check_step(claim, proof):
    positive, atoms, facts = (claim[kind] for kind in ("positive", "atoms", "facts"))
    require(not any(quotient(one)[1] for one in positive), "a positive hypothesis is no polynomial")
    rest = minus(claim["right"], claim["left"])
    for factor, powers, fact in proof["terms"]:
        require(number(factor) >= 0, "a multiplier is negative")
        for kind, _, n in powers:
            require(kind == "positive" or (kind == "atoms" and n > 0), "a multiplier is no product of hypotheses")
        pairs = [] if type(fact) is int else product(fact, fact)  # a fact, or the squared norm of a vector
        norm = [["*", fact[i], fact[j], f"<{min(i, j)}, {max(i, j)}>"] for i, j in pairs]
        term = facts[fact] if type(fact) is int else ["+", 0, *norm]
        rest = minus(rest, ["*", factor, *(["^", claim[kind][at], n] for kind, at, n in powers), term])
    divisors = {Polynomial(base).sign() for one in (rest, *atoms, *facts) for base in quotient(one)[1]}
    require(divisors <= {quotient(one)[0].sign() for one in (1, *positive)}, "a divisor is not declared positive")
    at = {name: number(text) for name, text in proof["point"].items()}
    at |= {f"<{i}, {j}>": at[i] * at[j] for i, j in product(at, at)}  # vectors of dimension 1
    require(all(value(one, at) > 0 for one in positive), "the point does not meet all hypotheses")
    require(all(value(one, at) >= 0 for one in (*atoms, *facts)), "the point does not meet all hypotheses")
    require(not quotient(rest)[0], "right - left is not the sum of the terms")


def check_box(claim, proof):
    box = {name: (number(low), number(high)) for name, (low, high) in claim["box"].items()}
    require(all(low <= high for low, high in box.values()), "an empty box")
    top, below = quotient(minus(claim["right"], claim["left"]))
    positive, whole = {ONE.sign()}, ONE
    for e, tree in proof["divisors"]:
        quotient(e)[0].check(box, tree, least=1)
        positive.add(quotient(e)[0].sign())
    require({Polynomial(base).sign() for base in below} <= positive, "a divisor is not shown to be positive")
    for e, n, tree in proof["factors"]:
        p, under = quotient(e)
        require(not under and type(n) is int and n > 0, "a factor is no polynomial")
        if n % 2 or tree:
            p.check(box, tree)
        whole = whole * p**n
    require(whole == top, "the factors do not multiply to right - left")


def inequalities(claim):
    """What start and induction step of a recursion ask for on its box, in order."""
    z, bound, rho, move, first, start = (claim[name] for name in ("z", "bound", "rho", "move", "first", "start"))
    upper, (low, high) = {"upper": True, "lower": False}[claim["direction"]], claim["box"][z]
    wanted, more = [(low, first), (first, high), (low, move), (move, high), (0, rho)], claim.get("add")
    if "P" in claim:
        p, b, (c, d), (one, two) = (claim[name] for name in ("P", "b", "c", "A"))
        require(upper and all(put(entry, {z: 0}) == entry for entry in p), "P is not constant, or not for upper bounds")
        above = [minus(entry, ["*", *pair]) for entry, pair in zip(p, ((c, c), (c, d), (d, d)), strict=True)]
        pairs = ((one, one), (one, two), (two, two), (start, start), (b, b))
        forms = [["+", *(["*", p[i + j], u[i], v[j]] for i in (0, 1) for j in (0, 1))] for u, v in pairs]
        falls = [minus(["*", rho, entry], form) for entry, form in zip(p, forms)]
        for a, b, d in (above, falls):  # [[a, b], [b, d]] is positive semidefinite
            wanted += [(0, a), (0, d), (["*", b, b], ["*", a, d])]
        start, more = forms[3:]
    steps = [(start, put(bound, {z: first})), (["+", ["*", rho, bound], more], put(bound, {z: move}))]
    return wanted + (steps if upper else [pair[::-1] for pair in steps])


def check_recursion(claim, proof):
    for (left, right), one in zip(inequalities(claim), proof["inequalities"], strict=True):
        check_box({"left": left, "right": right, "box": claim["box"]}, one)


def check_exceeds(claim, proof):
    at = {name: number(text) for name, text in claim["at"].items()}
    if "T" in claim:
        require(0 <= claim["T"] <= STEPS, "T is no small number of steps")
        z, at["x"], at[claim["z"]] = claim["z"], value(claim["start"], at), value(claim["first"], at)
        for _ in range(claim["T"]):
            at["x"], at[z] = value(["+", ["*", claim["rho"], "x"], claim["add"]], at), value(claim["move"], at)
    require(value(claim["left"], at) > value(claim["right"], at), "left does not exceed right")


def digest(claim):
    return hashlib.sha256(json.dumps(claim, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def refusal(certificate):
    """Why a certificate proves nothing; "" if it proves its claim."""
    try:
        require(certificate["version"] == 1, "not a certificate of version 1")
        require(certificate["sha256"] == digest(certificate["claim"]), "the claim is not the one that was hashed")
        checks = {"step": check_step, "box": check_box, "recursion": check_recursion, "exceeds": check_exceeds}
        checks[certificate["claim"]["kind"]](certificate["claim"], certificate["proof"])
    except Exception as error:  # whatever goes wrong, nothing is proved
        return f"{'' if type(error) is ValueError else type(error).__name__ + ': '}{error!s:.100}" or "an error"
    return ""


def main(path):
    try:
        results = [(one["claim"]["says"], refusal(one)) for one in json.loads(Path(path).read_text("utf-8"))]
    except Exception as error:
        results = [(path, f"no certificates ({error!s:.100})")]
    for says, reason in results:
        print(f"refused: {says}: {reason}" if reason else f"proved: {says}")
    return int(not results or any(reason for _, reason in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else "usage: python -I recheck.py FILE")
