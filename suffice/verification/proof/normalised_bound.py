"""Somebody's bound and conditions in normalised variables, where a claim for all T is an inequality on a box.

Units make beta = 1: then eta = s is eta beta, mu = k is mu/beta, and along one eigen-direction of curvature h in [k, 1]
the bound is a e0 + c sigma2 with coefficients in s, k and z. e0, distance2 and sigma2 are sums over the directions. So
a bound that is linear in them holds in all dimensions, for all spectra, starts and noises, if it holds in one direction
with a start and no noise, and with noise from the minimiser. z stands for q^T, q the one number that T is an exponent
of, or for 1/(T + 1) where T is no exponent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import sympy

from suffice.bounds import Theorem
from suffice.bounds.symbolic import expression, on_symbols
from suffice.support.errors import InputError

START = {"e0": lambda h: h / 2, "distance2": lambda h: 1}
"""The scalars of a start of x^2 = 1 along curvature h."""
QUANTITY = {"excess": lambda h: h / 2, "last_distance": lambda h: 1, "last_gradient": lambda h: h**2}
"""A quantity along curvature h over x^2."""
BIAS = {"b": 2, "bias": 2, "bias2": 1}
"""The power of a scalar of differing clients that is a squared gradient; to a proof all three are one bias b."""
_LINEAR = ("e0", "distance2", "sigma2")
_DOUBLED = {"excess": (1, 1), "last_distance": (1, 2), "last_gradient": (2, 1)}
"""The factor (top, below) by which a quantity grows where the unit of theta makes curvatures twice as large."""


class NotOfThisKind(Exception):
    """A claim cannot be written as polynomial inequalities; the message says why in one line."""


@dataclass(frozen=True, kw_only=True)
class Symbolic:
    """The bound of a start of x^2 = 1 (`start`), of sigma_a^2 = 1 (`noise`) and of a squared bias of 1 (`bias`) along
    one eigen-direction.

    They are rational in s, k, h, w = 1/N, v = 1/d and z, and bound `of_one` x^2. `conditions` are pairs (left, right)
    by name, in the same variables and T, e0, distance2, sigma2. `absolute` says that |q| stands in the bound, so that
    all of this is about places where q >= 0.
    """

    start: Any
    noise: Any
    bias: Any
    of_one: Any
    z: Any
    q: Any
    conditions: Mapping[str, tuple[Any, Any]]
    absolute: bool = False

    @property
    def takes_d(self) -> bool:
        """True where the dimension counts beside the curvatures."""
        sides = (side for pair in self.conditions.values() for side in pair)
        every = (self.start, self.noise, self.bias, self.q, *sides)
        return any(symbols()["v"] in sympy.sympify(each).free_symbols for each in every if each is not None)

    def move(self, steps: int) -> Any:
        """z after so many steps."""
        return self.z / (1 + steps * self.z) if self.q is None else self.q**steps * self.z

    def after(self, T: int) -> Any:
        """z at T."""
        return sympy.Rational(1, 1 + T) if self.q is None else self.q**T


@cache
def symbols() -> Mapping[str, Any]:
    return {name: sympy.Symbol(name) for name in ("s", "k", "h", "w", "v", "z", "T", *_LINEAR, "bias")}


def normalised(theorem: Theorem, quantity: str, constants: Mapping[str, Fraction]) -> Symbolic:
    """The theorem's bound, or `NotOfThisKind`. `constants` are numbers of the algorithm and the family."""
    if quantity not in QUANTITY:
        raise NotOfThisKind(f"{quantity} is no second moment of one client after T steps")
    x, assumed = symbols(), {}
    for entry in theorem.parameters:
        assumed[sympy.Symbol(entry.name, positive=True)] = _meaning(entry.name, x, constants)
    what, function = "the bound", theorem.bound
    assert function is not None
    value, q, absolute = _in_one_power(_put(_read(lambda: exact(expression(function), what), what), assumed), x)
    conditions = {name: (_put(a, assumed), _put(b, assumed)) for name, (a, b) in _conditions(theorem).items()}
    linear = {name: sympy.cancel(sympy.diff(value, x[name])) for name in _LINEAR}
    linear["bias"] = sympy.cancel(sympy.diff(value, x["bias"], 2) / 2)
    terms = (x[name] ** (1 + (name == "bias")) * part for name, part in linear.items())
    rest = sympy.cancel(sympy.together(value - sympy.Add(*terms)))
    known = {x[name] for name in ("s", "k", "w", "v", "z")}
    if rest != 0 or any(part.free_symbols - known for part in linear.values()):
        raise NotOfThisKind("the bound is not linear in e0, distance2, sigma2 and a squared bias")
    if any(x["bias"] in each.free_symbols for pair in conditions.values() for each in pair):
        raise NotOfThisKind("a condition limits the bias")
    for part in (*linear.values(), *([] if q is None else [q])):
        if not part.is_rational_function(*known):
            raise NotOfThisKind(f"{part} is no rational function of s = eta beta and k = mu/beta")
    _check_units(theorem, constants, sympy.Rational(*_DOUBLED[quantity]))
    return Symbolic(
        start=sympy.cancel(sum(linear[name] * START[name](x["h"]) for name in START)),
        noise=linear["sigma2"],
        bias=linear["bias"],
        of_one=sympy.sympify(QUANTITY[quantity](x["h"])),
        z=x["z"],
        q=q,
        conditions=conditions,
        absolute=absolute,
    )


def _meaning(name: str, x: Mapping[str, Any], constants: Mapping[str, Fraction]) -> Any:
    if name in constants:
        return sympy.Rational(constants[name])
    known = {"eta": x["s"], "mu": x["k"], "beta": sympy.Integer(1), "N": 1 / x["w"], "d": 1 / x["v"]}
    known |= {each: x[each] for each in ("T", *_LINEAR)}
    known |= {each: x["bias"] if power == 2 else x["bias"] ** 2 for each, power in BIAS.items()}
    if name not in known:
        raise NotOfThisKind(f"{name} is none of eta, mu, beta, e0, distance2, sigma2, b, bias, bias2, N, d, T")
    return known[name]


def _read(make: Callable[[], Any], what: str) -> Any:
    try:
        return make()
    except NotOfThisKind:
        raise
    except Exception as error:  # whatever a function raises that symbols are given
        said = str(error).rpartition("no formula can be read from it: ")[2]
        why = said if isinstance(error, InputError) else type(error).__name__
        raise NotOfThisKind(f"no formula can be read from {what} ({why})") from error


def _conditions(theorem: Theorem) -> dict[str, tuple[Any, Any]]:
    if theorem.conditions is None:
        return {}
    pairs = _read(lambda: on_symbols(theorem.conditions), "the conditions")
    said = {name: f"condition {name}" for name in pairs}
    return _read(lambda: {n: (exact(a, said[n]), exact(b, said[n])) for n, (a, b) in pairs.items()}, "the conditions")


def _put(value: Any, given: Mapping[Any, Any]) -> Any:
    return value.subs(given, simultaneous=True)


def _in_one_power(value: Any, x: Mapping[str, Any]) -> tuple[Any, Any, bool]:
    """The value with z for q^T, q, and whether |q| is meant; q None where T is no exponent, with T = 1/z - 1."""
    T, z, absolute, known = x["T"], x["z"], False, None
    powers = [each for each in value.atoms(sympy.Pow) if each.exp.has(T)]
    if any(each.has(T) for each in value.atoms(sympy.Function)) or value.atoms(sympy.exp) & set(powers):
        raise NotOfThisKind("T stands in a function that is no power of a rational one")
    for power in powers:
        q, times = _root(power.base)
        slope = sympy.diff(power.exp, T)
        offset = sympy.expand(power.exp - slope * T)
        # (q^2)^(T/2) is |q|^T, but (q^2)^T is q^(2 T)
        whole = slope.is_Integer and offset.is_Integer
        absolute |= isinstance(power.base, sympy.Abs) or (times > 1 and not whole)
        slope, offset = times * slope, times * offset
        if slope.is_negative:  # 2^-T, as SymPy writes (1/2)^T
            q, offset, slope = 1 / q, -offset, -slope
        if not (slope.is_Integer and offset.is_Integer and slope > 0):
            raise NotOfThisKind(f"the exponent {power.exp} is no whole multiple of T")
        known = q if known is None else known
        if sympy.expand(known - q) != 0:
            raise NotOfThisKind(f"T is an exponent of 2 numbers at least: {known}, {q}")
        value = value.xreplace({power: z**slope * known**offset})
    if known is None:
        return value.subs(T, 1 / z - 1), None, False
    if value.has(T):
        raise NotOfThisKind("T stands in an exponent and outside")
    return value, known, absolute


def _root(base: Any) -> tuple[Any, int]:
    """(q, n): where q >= 0 the base is q^n, and everywhere if it is no absolute value; q is no power itself."""
    if base.is_number:
        return base, 1
    inside = base.args[0] if isinstance(base, sympy.Abs) else base
    number, factors = sympy.factor_list(sympy.expand(inside))
    split = len(factors) == 1 and factors[0][1] > 1 and number == 1
    q, times = factors[0] if split else (sympy.expand(inside), 1)
    if times % 2 == 0 or inside is not base:  # either sign gives the base: the one that is positive at short steps
        at = dict.fromkeys(q.free_symbols, sympy.Rational(1, 2)) | {symbols()["s"]: sympy.Rational(1, 100)}
        q = -q if q.subs(at).is_negative else q
    return q, int(times)


def _check_units(theorem: Theorem, constants: Mapping[str, Fraction], factor: Any) -> None:
    """Other units of theta change nothing: eta over 2, mu, beta and sigma2 times 2, the quantity times `factor`."""
    assert theorem.bound is not None
    value = exact(expression(theorem.bound), "the bound")
    own = {name: sympy.Symbol(name, positive=True) for name in theorem.bound_keywords}
    value = value.subs({own[name]: sympy.Rational(c) for name, c in constants.items() if name in own})
    rng = [sympy.Rational(n, 7) for n in (3, 5, 6, 9, 11, 4, 8, 2, 10, 12, 13)]
    at = dict(zip(own, rng)) | {"mu": sympy.Rational(1, 5), "beta": sympy.Rational(3, 7), "T": sympy.Integer(3)}
    powers: dict[str, Any] = {"eta": -1, "mu": 1, "beta": 1, "sigma2": 1, "distance2": -1}
    powers |= {name: sympy.Rational(1, power) for name, power in BIAS.items()}
    scale = {name: sympy.Integer(2) ** power for name, power in powers.items()}
    one, two = (value.subs({own[n]: at[n] * (scale.get(n, 1) if scaled else 1) for n in own}) for scaled in (0, 1))
    if sympy.simplify(factor * one - two) != 0:
        raise NotOfThisKind("the bound changes with the units of eta, mu, beta and sigma2")


def rational(number: Any, what: str) -> Any:
    """A float as the fraction that was meant by it: a decimal of at most 12 digits, or one of a small denominator."""
    short = Fraction(f"{float(number):.12g}")
    if float(short) == float(number):
        return sympy.Rational(short)
    near = Fraction(float(number)).limit_denominator(1000)
    if abs(float(near) - float(number)) <= 4e-16 * abs(float(number)):
        return sympy.Rational(near)
    raise NotOfThisKind(f"the number {float(number)!r} in {what} is no fraction that could be meant by it")


def exact(expression: Any, what: str) -> Any:
    """The expression evaluated, its floats as fractions."""
    given = sympy.sympify(expression)
    return given.xreplace({number: rational(number, what) for number in given.atoms(sympy.Float)}).doit()
