"""Re-checks certificates in exact fractions: `python -I recheck.py FILE`. It needs nothing but this file and Python.

A file is a JSON list of certificates {"version": 1, "claim": {...}, "sha256": hash of the claim, "proof": {...}}. An
expression is a number "3/4", a name "eta", an inner product "<x, y>", or ["+", a, b, ...], ["*", a, b, ...],
["^", a, 2]; no text is evaluated. The kind of a claim says what is claimed:
step: left <= right whenever positive > 0, atoms >= 0 and facts >= 0; right - left is a sum of nonnegative terms.
box: left <= right on a box; each factor of right - left has an even power or passes a tree of halvings (`check`).
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

DIGITS, WORK, POWER, LEAVES, STEPS = 10**5, 10**7, 200, 10**5, 10**4
NUMBER, NAME = re.compile(r"-?\d+(/\d+)?", re.ASCII), re.compile(r"[A-Za-z_]\w*|<\w+, \w+>", re.ASCII)
RECURSION = "box direction z bound rho move first start"
FIELDS = {"step": ["left right positive atoms facts"], "recursion": [f"{RECURSION} add", f"{RECURSION} P A b c"]}
FIELDS |= {"box": ["left right box"], "exceeds": ["left right at", "left right at T z rho add move first start"]}
spent = [0]


def require(condition, reason):
    if not condition:
        raise ValueError(reason)


def small(value, work=0):
    bits = max(abs(value.numerator), value.denominator).bit_length()
    require(bits <= 3.3 * DIGITS, "a number has too many digits")
    spent[0] += work + (bits * bits >> 22)
    require(spent[0] <= WORK, "it takes too much work")
    return value


class Polynomial(dict):  # {((name, power), ...): coefficient}, without zeros
    def __add__(self, other):
        return Polynomial({t: c for t in {**self, **other} if (c := self.get(t, 0) + other.get(t, 0))})

    def __mul__(self, other):
        small(0, work=len(self) * len(other))
        total = {}
        for (one, c), (two, d) in product(self.items(), other.items()):
            term = tuple(sorted({**dict(one), **{name: n + dict(one).get(name, 0) for name, n in two}}.items()))
            total[term] = small(total.get(term, 0) + c * d)
        return Polynomial({term: c for term, c in total.items() if c})

    def __pow__(self, n):
        return self * self ** (n - 1) if n > 1 else self if n else raised({})

    def sign(self):  # what all positive multiples have in common
        return frozenset((term, c / abs(self[max(self)])) for term, c in self.items())

    def bernstein(self, box):
        """The Bernstein coefficients on a box by index, up to one positive factor that makes them integers."""
        require({name for term in self for name, _ in term} <= set(box), "a name is no side of the box")
        sizes = [1 + max((dict(term).get(name, 0) for term in self), default=0) for name in box]
        small(0, work=prod(sizes))
        values = {at: self.get(tuple(sorted(p for p in zip(box, at) if p[1])), 0) for at in product(*map(range, sizes))}
        for axis, (low, high) in enumerate(box.values()):
            # sum_j a_j (low + width u)^j = sum_i m_i u^i, then b_i = sum_j C(i, j)/C(n, j) m_j
            values = along(values, axis, lambda n, i, j, a=low, w=high - low: comb(j, i) * a ** max(j - i, 0) * w**i)
            values = along(values, axis, lambda n, i, j: Fraction(comb(i, j), comb(n, j)))
        common = lcm(*(small(c).denominator for c in values.values()))
        return {at: int(c * common) for at, c in values.items()}

    def check(self, box, tree, least=0):
        """Require p >= 0 (least 0) or p > 0 (1) on a box; a tree lists halvings in preorder: a side's letter or "."."""
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


def along(values, axis, entry):
    """{index: coefficient} with every line along an axis multiplied by the matrix of entries (n, i, j)."""
    lines, size = {}, range(max(at[axis] for at in values) + 1)
    small(0, work=len(values) * len(size))
    for at in sorted(values):
        lines.setdefault((at[:axis], at[axis + 1 :]), []).append(values[at])
    rows = [[entry(size[-1], i, j) for j in size] for i in size]
    return {(*a, i, *b): sum(c * x for c, x in zip(rows[i], line)) for (a, b), line in lines.items() for i in size}


def raised(divisors):  # raised({}) is 1
    return prod((Polynomial(base) ** n for base, n in divisors.items()), start=Polynomial({(): Fraction(1)}))


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
        base = frozenset(top.items())
        return raised({base: -n * e[2] for base, n in below.items()}), {**dict.fromkeys(below, 0), base: -e[2]}
    below = {base: (sum if e[0] == "*" else max)(under.get(base, 0) for _, under in parts) for base in every}
    if e[0] == "*":
        return prod((top for top, _ in parts), start=raised({})), below
    require(e[0] == "+", f"{e[0]!r:.20} is no operation")
    tops = [top * raised({base: n - under.get(base, 0) for base, n in below.items()}) for top, under in parts]
    return sum(tops, start=Polynomial()), below


def number(text):
    require(type(text) is Fraction or NUMBER.fullmatch(str(text)), f"{text!r:.40} is no fraction")
    return small(Fraction(text))


def put(e, at):
    return [e[0], *(put(part, at) for part in e[1:])] if isinstance(e, list) else at.get(e, e)


def value(e, at):
    top, below = quotient(put(e, at))
    require({*top, *raised(below)} <= {()}, "a name has no value")
    return small(top.get((), Fraction(0)) / raised(below)[()])


def check_step(claim, proof):
    positive, atoms, facts = claim["positive"], claim["atoms"], claim["facts"]
    require(not any(quotient(one)[1] for one in positive), "a positive hypothesis is no polynomial")
    rest = ["+", claim["right"], ["*", -1, claim["left"]]]
    for factor, powers, fact in proof["terms"]:
        require(number(factor) >= 0, "a multiplier is negative")
        require(all(k == "positive" or (k == "atoms" and n > 0) for k, _, n in powers), "no product of hypotheses")
        pairs = [] if type(fact) is int else product(fact.items(), repeat=2)  # a fact, or a vector's squared norm
        norm = [["*", c, d, f"<{min(i, j)}, {max(i, j)}>"] for (i, c), (j, d) in pairs]
        term = facts[fact] if type(fact) is int else ["+", 0, *norm]
        rest = ["+", rest, ["*", -1, factor, *(["^", claim[kind][at], n] for kind, at, n in powers), term]]
    (left, below), more = quotient(rest), [quotient(one)[1] for one in (*atoms, *facts)]
    divisors = {Polynomial(base).sign() for under in (below, *more) for base in under}
    require(divisors <= {quotient(one)[0].sign() for one in (1, *positive)}, "a divisor is not declared positive")
    at = {name: number(text) for name, text in proof["point"].items()}
    at |= {f"<{i}, {j}>": at[i] * at[j] for i, j in product(at, at)}  # vectors of dimension 1
    require(all(value(one, at) > 0 for one in positive), "the point does not meet all hypotheses")
    require(all(value(one, at) >= 0 for one in (*atoms, *facts)), "the point does not meet all hypotheses")
    require(not left, "right - left is not the sum of the terms")


def check_box(claim, proof):
    box = {name: (number(low), number(high)) for name, (low, high) in claim["box"].items()}
    require(all(low <= high for low, high in box.values()), "an empty box")
    pairs = inequalities(claim) if "z" in claim else [(claim["left"], claim["right"])]
    for (left, right), one in zip(pairs, proof.get("inequalities", [proof]), strict=True):
        positive, whole = {raised({}).sign()}, raised({})
        for e, tree in one["divisors"]:
            quotient(e)[0].check(box, tree, least=1)
            positive.add(quotient(e)[0].sign())
        top, below = quotient(["+", right, ["*", -1, left]])
        require({Polynomial(base).sign() for base in below} <= positive, "a divisor is not shown to be positive")
        for e, n, tree in one["factors"]:
            p, under = quotient(e)
            require(not under and type(n) is int and n > 0, "a factor is no polynomial")
            if n % 2 or tree:
                p.check(box, tree)
            whole = whole * p**n
        require(whole == top, "the factors do not multiply to right - left")


def inequalities(claim):
    """The pairs with left <= right that the start and the induction step of a recursion need on its box, in order."""
    z, bound, rho, move, first, start = (claim[name] for name in ("z", "bound", "rho", "move", "first", "start"))
    upper, (low, high) = {"upper": True, "lower": False}[claim["direction"]], claim["box"][z]
    wanted, more = [(low, first), (first, high), (low, move), (move, high), (0, rho)], claim.get("add")
    fixed = ["+", first, *(start if "P" in claim else [start]), *claim.get("P", [])]
    require(put(fixed, {z: 0}) == fixed and (upper or "P" not in claim), "z in a constant, or P for a lower bound")
    if "P" in claim:
        p, b, (c, d), (one, two) = (claim[name] for name in ("P", "b", "c", "A"))
        above = [["+", entry, ["*", -1, *pair]] for entry, pair in zip(p, ((c, c), (c, d), (d, d)), strict=True)]
        pairs = ((one, one), (one, two), (two, two), (start, start), (b, b))
        forms = [["+", *(["*", p[i + j], u[i], v[j]] for i in (0, 1) for j in (0, 1))] for u, v in pairs]
        falls = [["+", ["*", rho, entry], ["*", -1, form]] for entry, form in zip(p, forms)]
        for a, b, d in (above, falls):  # [[a, b], [b, d]] is positive semidefinite
            wanted += [(0, a), (0, d), (["*", b, b], ["*", a, d])]
        start, more = forms[3:]
    steps = [(start, put(bound, {z: first})), (["+", ["*", rho, bound], more], put(bound, {z: move}))]
    return wanted + (steps if upper else [pair[::-1] for pair in steps])


def check_exceeds(claim, proof):
    at = {name: number(text) for name, text in claim["at"].items()}
    if "T" in claim:
        require(type(claim["T"]) is int and 0 <= claim["T"] <= STEPS, "T is no small number of steps")
        require(len({z := claim["z"], "x", *at}) == len(at) + 2, "z or x has two meanings")
        at["x"], at[z] = value(claim["start"], at), value(claim["first"], at)
        for _ in range(claim["T"]):
            at["x"], at[z] = value(["+", ["*", claim["rho"], "x"], claim["add"]], at), value(claim["move"], at)
    require(value(claim["left"], at) > value(claim["right"], at), "left does not exceed right")


def digest(claim):
    return hashlib.sha256(json.dumps(claim, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def refusal(certificate):
    """Why a certificate proves nothing; "" if it proves its claim."""
    try:
        claim, proof, spent[0] = certificate["claim"], certificate["proof"], 0
        require(certificate["version"] == 1, "not a certificate of version 1")
        require(certificate["sha256"] == digest(claim), "the claim is not the one that was hashed")
        kind, given, says = claim["kind"], claim.keys() - {"kind", "says"}, claim["says"]
        require(given in [set(names.split()) for names in FIELDS[kind]], "fields are missing, or are too many")
        require(type(says) is str and says.isprintable(), "what it says is not to be printed")
        names = [*claim.get("box", []), *claim.get("at", []), *proof.get("point", []), claim.get("z", "z")]
        require(all(NAME.fullmatch(name) and "<" not in name for name in names), "a name is no name")
        lists = [claim.get(name, []) for name in ("positive", "atoms", "facts", "P", "A", "c")]
        pairs = [*claim.get("box", {}).values(), *([claim["b"], claim["start"], *claim["A"]] if "P" in claim else [])]
        require(all(type(one) is list for one in lists + pairs) and {*map(len, pairs)} <= {2}, "a list is none")
        {"step": check_step, "box": check_box, "recursion": check_box, "exceeds": check_exceeds}[kind](claim, proof)
    except Exception as error:  # whatever goes wrong, nothing is proved
        return f"{'' if type(error) is ValueError else type(error).__name__ + ': '}{error!s:.100}" or "an error"
    return ""


if __name__ == "__main__":
    try:
        sys.set_int_max_str_digits(DIGITS)
        text = Path(sys.argv[1]).read_text("utf-8")
        found = json.loads(text, object_pairs_hook=lambda p: require(len(dict(p)) == len(p), "a key twice") or dict(p))
        results = [(one["claim"]["says"], refusal(one)) for one in found] or [("", "no certificates")]
    except Exception as error:
        results = [(sys.argv[-1], f"no certificates ({error!s:.100})")]
    for says, reason in results:
        print(f"refused: {says!a:.200}: {reason!a}" if reason else f"proved: {says}")
    sys.exit(any(reason for _, reason in results))
