"""Promises that every record in bounds.THEOREMS makes, whichever theorem it is."""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from inspect import signature
from itertools import product

import mpmath
import numpy as np
import pytest
import sympy
from papers import SLOW, UNIT_FAULTS, VACUOUS

from suffice.bounds import PARAMETERS, THEOREMS, ConditionError, InputError, digits, evaluate, find, latex, page
from suffice.bounds.plain_text import text_of
from suffice.verification.evidence import met, sides

EVALUABLE = [theorem for theorem in THEOREMS if theorem.bound is not None]
CORRECTED = [theorem for theorem in EVALUABLE if theorem.guarantee]
SATISFIABLE = [theorem for theorem in EVALUABLE if (theorem.key, theorem.edition) not in VACUOUS]
SHARE = pytest.mark.share(3)
every_satisfiable = pytest.mark.parametrize("theorem", SATISFIABLE, ids=lambda t: f"{t.key}-{t.edition}")
every = pytest.mark.parametrize("theorem", EVALUABLE, ids=lambda t: f"{t.key}-{t.edition}")

# survive and fall nudge a product by 2^-46 (1.4e-14); T eta mu < 745 times that is 1e-11, over 1 - eta mu.
LOOSENESS = 1e-9
DRAWN, KEPT, AT_ONCE = 200_000, 4000, 20_000


@cache
def pool(key, edition):
    """Points of the typical box, log-uniform, that satisfy the conditions: one array of up to `KEPT` per name."""
    theorem, kept = find(key, edition), []
    for part in range(DRAWN // AT_ONCE):
        rng = np.random.default_rng((11, part))
        values = {}
        for parameter in theorem.parameters:
            low, high = np.log(parameter.typical)
            values[parameter.name] = np.exp(rng.uniform(low, high, AT_ONCE))
            if parameter.integer:
                values[parameter.name] = np.floor(values[parameter.name])
        good = met(theorem, values, (AT_ONCE,))
        if (key, edition) in VACUOUS:
            assert not good.any()
            good[:] = part == DRAWN // AT_ONCE - 1  # its formula is looked at all the same
        kept.append({name: value[good] for name, value in values.items()})
        if sum(map(len, (next(iter(found.values()), ()) for found in kept))) >= KEPT:
            break
    return {name: np.concatenate([found[name] for found in kept])[:KEPT] for name in kept[0]}


def draws(theorem, count, first=0):
    """`count` points of the pool, from the given one on."""
    values = pool(theorem.key, theorem.edition)
    assert all(len(value) >= first + count for value in values.values()), "the conditions are hardly ever met"
    return {name: value[first : first + count] for name, value in values.items()}


def points(values):
    return [dict(zip(values, map(float, row))) for row in zip(*values.values())]


def assert_outward(theorem, got, exact, slack=0.0):
    """`got` on the safe side of `exact`, and no further from it than LOOSENESS and `slack`."""
    with mpmath.workdps(50):
        safe = mpmath.mpf(float(got)) - exact if theorem.direction == "upper" else exact - mpmath.mpf(float(got))
        assert safe >= 0, f"{theorem}: {got!r} is on the wrong side of {mpmath.nstr(exact, 25)}"
        if abs(exact) > 1e-290:  # below, floats lose their relative precision
            assert safe <= LOOSENESS * abs(exact) + slack, f"{theorem}: {got!r} against {mpmath.nstr(exact, 25)}"


@SHARE
@every
def test_float_bound_is_outward_of_fifty_digits_and_close(theorem):
    # a formula that rounds inwards at one point in ten is missed with a chance of 0.9^100 = 3e-5
    values = draws(theorem, 10 if theorem.key in SLOW else 100)
    got = evaluate(theorem, enforce=False, **values)
    # 1 - b^2/(2 mu eps) - c cancels: absolute 1e-14 for the similarity, which is at most 1
    slack = 1e-14 if theorem.direction == "lower" else 0
    exact = [digits(theorem, **point) for point in points(values)]
    finite = [(value, truth) for value, truth in zip(got, exact) if truth < 1e308]
    assert len(finite) > len(exact) / 2
    for value, truth in finite:
        assert_outward(theorem, value, truth, slack)


def middle(parameter):
    """The geometric middle of the typical range."""
    value = math.sqrt(parameter.typical[0] * parameter.typical[1])
    return math.floor(value) if parameter.integer else value


CONTRACTING = [theorem for theorem in EVALUABLE if {"eta", "mu", "T"} <= {p.name for p in theorem.parameters}]


@pytest.mark.share(2)
@pytest.mark.parametrize("theorem", CONTRACTING, ids=lambda t: f"{t.key}-{t.edition}")
def test_bound_is_outward_where_one_step_contracts_completely_and_at_extreme_horizons(theorem):
    for mu, T in product([0.3, 0.1, 1 / 3, 1e-9, 12345.678], [0, 1, 2, 1000, 10**15]):
        whole = 1 / mu
        steps = [math.nextafter(whole, 0), whole, 1e-3 * whole, 1e-12 * whole, 1e-17 * whole]
        if T in (0, 1, 2):  # beyond 1/mu the step is outside the hypotheses by rounding alone
            steps.append(math.nextafter(whole, np.inf))
        eta, s2 = map(np.ravel, np.meshgrid(steps, [0.0, 1e-3 * mu]))
        given = {"eta": eta, "mu": mu, "beta": mu, "q": 1.0, "e0": 3.0, "s2": s2, "T": T, "eps": 1.0}
        values = {p.name: np.broadcast_to(given.get(p.name, middle(p)), eta.shape) for p in theorem.parameters}
        # the nudge of 2^-46 leaves at most (2^-45)^T where 1 - eta mu should be 0
        slack = 3 * mpmath.mpf(2) ** (-45 * min(T, 25)) if T else 0
        got = np.broadcast_to(evaluate(theorem, enforce=False, **values), eta.shape)  # of some at horizon 0 one number
        for point, bound in zip(points(values), got):
            assert_outward(theorem, bound, digits(theorem, **point), slack)


def unit_faults(theorem):
    """What does not scale like its unit: "bound", or the name of a condition."""
    # powers of two scale floats exactly, so 50-digit values must agree to (almost) all digits
    loss, theta = 2.0**3, 2.0**-2
    faults = set()
    for point in points(draws(theorem, 3 if theorem.key in SLOW else 40, 1000)):
        scaled = {name: value * PARAMETERS[name].unit.scale(loss, theta) for name, value in point.items()}
        before, after = digits(theorem, **point), digits(theorem, **scaled)
        with mpmath.workdps(60):
            if abs(after - before * theorem.quantity.unit.scale(loss, theta)) > 1e-40 * abs(after):
                faults.add("bound")
        new = sides(theorem, scaled)
        for name, (lhs, rhs) in sides(theorem, point).items():
            if abs(new[name][0] / lhs - new[name][1] / rhs) > 1e-14 * new[name][0] / lhs:  # a few roundings
                faults.add(name)
    return faults


@SHARE
@every
def test_only_the_printed_records_known_for_it_are_inconsistent_in_units(theorem):
    assert unit_faults(theorem) == UNIT_FAULTS.get((theorem.key, theorem.edition), set())


def test_every_corrected_record_is_consistent_in_units():
    assert {edition for _, edition in UNIT_FAULTS} == {"printed"}


REDUCTIONS = [(theorem, reduction) for theorem in THEOREMS for reduction in theorem.reduces_to]


@pytest.mark.parametrize(("theorem", "reduction"), REDUCTIONS, ids=lambda x: getattr(x, "key", None))
def test_special_case_has_the_value_of_the_theorem_it_reduces_to(theorem, reduction):
    special = find(reduction.key)
    values = draws(special, 200)
    given = {**values, **reduction.at(**values)}
    got = evaluate(theorem, **{parameter.name: given[parameter.name] for parameter in theorem.parameters})
    expected = evaluate(special, **values)
    np.testing.assert_allclose(got, expected, rtol=1e-10)  # outward roundings of 4.5e-13, nudges of 2^-46 per step


@every_satisfiable
def test_monotone_claims_hold_within_the_conditions(theorem):
    assert set(theorem.monotone) <= {p.name for p in theorem.parameters}
    values = draws(theorem, 4000)
    before = evaluate(theorem, enforce=False, **values)
    for name, sign in theorem.monotone.items():
        moved = values | {name: values[name] * np.random.default_rng(3).uniform(1.001, 3, 4000)}
        inside = met(theorem, moved, (4000,))
        assert inside.sum() > 200, name
        change = (sign * (evaluate(theorem, enforce=False, **moved) - before))[inside]
        assert (change >= 0).all(), name
        assert (change > 0).any(), f"{name} has no effect"


@SHARE
@every
def test_latex_shows_symbols_and_no_python_name(theorem):
    text = latex(theorem)
    assert (r"\ge" if theorem.direction == "lower" else r"\le") in text
    raw = "|".join([*(name for name in PARAMETERS if len(name) > 1), "sigma_suf", "sigma", "xi", "Symbol", "Max"])
    assert not re.search(rf"(?<![\\A-Za-z])({raw})(?![A-Za-z])", text), text
    right = text.split(r"\ge" if theorem.direction == "lower" else r"\le", 1)[1]
    for symbol in theorem.expression().doit().free_symbols:  # not of what is multiplied by 0
        assert theorem.symbol(symbol.name) in right, symbol


@SHARE
@every_satisfiable
def test_symbolic_expression_has_the_value_of_the_float_bound(theorem):
    formula, values = theorem.expression(), draws(theorem, 3 if theorem.key in SLOW else 10, 2000)
    names = sorted(symbol.name for symbol in formula.free_symbols)
    # mpmath runs what SymPy prints of it: putting numbers into the tree costs five times as much
    run = sympy.lambdify(sorted(formula.free_symbols, key=str), formula, "mpmath")
    with mpmath.workdps(40):
        exact = [float(run(*(mpmath.mpf(point[name]) for name in names))) for point in points(values)]
    # outward rounding moves 4.5e-13, the nudge T eta mu 2^-46 with T eta mu < 30 at these points, or less
    np.testing.assert_allclose(evaluate(theorem, **values), exact, rtol=1e-12, atol=1e-300)


def test_keys_are_unique_within_an_edition_and_every_key_has_a_corrected_one():
    assert max(Counter((t.key, t.edition) for t in THEOREMS).values()) == 1
    assert {t.key for t in THEOREMS} == {t.key for t in THEOREMS if t.edition == "corrected"}


@SHARE
@every_satisfiable
def test_wrong_names_and_values_are_refused_by_name(theorem):
    point = points(draws(theorem, 1))[0]
    evaluate(theorem, **point)  # the point itself is fine
    with pytest.raises(InputError, match="colour"):
        evaluate(theorem, **point, colour=1.0)
    for name in point:
        with pytest.raises(InputError, match=rf"^{name} = 'missing'"):
            evaluate(theorem, **{k: v for k, v in point.items() if k != name})
        for bad in (math.nan, -1.0, math.inf):
            with pytest.raises(InputError, match=rf"^{name} = "):
                evaluate(theorem, **(point | {name: bad}))
    if "T" in point:
        with pytest.raises(InputError, match=r"^T = 1\.5"):
            evaluate(theorem, **(point | {"T": 1.5}))


def test_step_above_the_limit_is_told_with_both_sides_and_the_remedy():
    with pytest.raises(ConditionError) as caught:
        evaluate(find("adaptive/theorem-2-constant"), eta=0.5, mu=0.125, beta=2.0, q=0.75 - 0.25, e0=1.0, s2=1.0, T=3)
    assert str(caught.value) == (
        "adaptive/theorem-2-constant (Theorem 2, Table 1, row 1) does not apply: "
        "step size eta <= q/beta fails (0.5 > 0.25); use eta <= 0.25"
    )


def step_limit(theorem, values):
    """The least right side of the conditions on eta alone, entry by entry; None when there is none."""
    limits = [rhs for name, (_, rhs) in sides(theorem, values).items() if name.startswith("step size eta <= ")]
    return np.min(np.broadcast_arrays(*limits), axis=0) if limits else None


STEPPING = [t for t in SATISFIABLE if any(name.startswith("step size eta <= ") for name in t.condition_names())]


@pytest.mark.share(2)
@pytest.mark.parametrize("theorem", STEPPING, ids=lambda t: f"{t.key}-{t.edition}")
def test_the_step_limit_itself_is_allowed_and_a_step_above_is_not(theorem):
    values = draws(theorem, 50)
    limit = np.broadcast_to(step_limit(theorem, values), 50)
    at = values | {"eta": limit}
    inside = met(theorem, at, (50,))
    assert inside.any(), "no draw leaves the step size its limit"
    for row in np.flatnonzero(inside):
        point = {name: value[row] for name, value in at.items()}
        assert not np.isnan(evaluate(theorem, **point))
        with pytest.raises(ConditionError, match=re.escape(f"{theorem.key} ({theorem.source.locator}) does not apply")):
            evaluate(theorem, **(point | {"eta": point["eta"] * (1 + 1e-12)}))


def test_many_records_have_a_step_limit():
    assert len(STEPPING) >= 20


def test_formulas_in_plain_text_have_their_value_and_few_parentheses():
    assert "E[e_T] <= (1 - eta*mu)**T*e0 + eta*beta/(2*mu)*s2" in page(find("adaptive/theorem-2-constant", "printed"))
    a, b, c = sympy.symbols("a b c", positive=True)
    with sympy.evaluate(False):
        for formula, shown in (
            (a - (b - c), "a - (b - c)"), (a / (b / c), "a/(b/c)"), (a * (b / c), "a*(b/c)"), (1 / a / b, "1/(a*b)"),
            (-(a**2), "-a**2"), ((-a) ** 2, "(-a)**2"), (a ** (b * c), "a**(b*c)"), ((a**b) ** c, "(a**b)**c"),
            (a + (-3) * b, "a - 3*b"), (a**-2, "a**(-2)"), (sympy.sqrt(a * (b + c)), "sqrt(a*(b + c))"),
            (a + 1.5, "a + 1.5"),
        ):  # fmt: skip
            assert text_of(formula) == shown
    names = {"Max": np.maximum, "Min": np.minimum, "sqrt": np.sqrt, "log": np.log, "exp": np.exp, "Abs": np.abs}
    compared = 0
    for theorem in EVALUABLE:
        whole = theorem.expression()
        if any(hasattr(each, "_imp_") for each in whole.atoms(sympy.Function)):
            continue  # a function of ours, which NumPy does not know by name
        values = {
            name: np.float64(0.1 + 0.37 * at % 0.7) for at, name in enumerate(signature(theorem.bound).parameters)
        }
        with np.errstate(all="ignore"):
            read = eval(text_of(whole), names | values)
            meant = theorem.bound(**values)
        if np.isfinite(meant):
            compared += 1
            assert abs(read - meant) <= 1e-9 * abs(meant), theorem.key
    assert compared > 100


SUPERSEDED = [theorem for theorem in THEOREMS if theorem.superseded_by is not None]


@pytest.mark.parametrize("theorem", SUPERSEDED, ids=lambda t: t.key)
def test_a_sharper_statement_is_about_the_same_and_nowhere_looser(theorem):
    new = find(theorem.superseded_by.key)
    low, high = theorem.superseded_by.ratio
    assert 1 <= low <= high
    assert (new.quantity, new.direction, new.mode) == (theorem.quantity, theorem.direction, theorem.mode)
    values = draws(theorem, 2000)
    old_bound, given = evaluate(theorem, **values), theorem.superseded_by.at(**values)
    # its conditions hold wherever the old ones do
    new_bound = evaluate(new, **{parameter.name: given[parameter.name] for parameter in new.parameters})
    some = new_bound > 1e-300  # no rounds are needed from a start below the precision
    ratio = old_bound[some] / new_bound[some] if theorem.direction == "upper" else new_bound[some] / old_bound[some]
    # both are rounded outward by 4.5e-13 and nudged by 2^-46 per step
    assert ratio.min() >= low * (1 - 1e-9)
    assert ratio.max() <= high * (1 + 1e-9)
    assert ratio.max() > 1.4
    assert theorem.superseded_by.key in page(theorem)
    assert new.superseded_by is None


FUNCTIONS = {"sqrt": np.sqrt, "ln": np.log, "min": np.minimum}
TOKEN = re.compile(r"\d+\.?\d*|\w+|\S")


def read(text, known):
    """The code of the formula that ends `text`; None where it has other names than `known`."""
    words = TOKEN.findall(re.sub("^(step size|bias) ", "", text))
    while words and not (words[0] in known or words[0] in FUNCTIONS or words[0] == "(" or words[0][0].isdigit()):
        words.pop(0)
    code = ""
    for before, word in zip(["", *words], words):
        if word in "=,:" or (word[0].isalpha() and word not in known and word not in FUNCTIONS):
            return None
        product = re.match(r"[\w(]", word) and re.match(r"[\w)]", before) and before not in FUNCTIONS
        code += "*" * bool(product) + ("**" if word == "^" else word)
    return code or None


def test_conditions_compare_what_their_names_say():
    compared, unread = 0, set()
    for theorem in SATISFIABLE:
        values = draws(theorem, 20)
        given = dict(values)
        if "V_max" in values and theorem.key.endswith("-unconditional"):  # what stands for s2 there
            given["s2"] = values["s2"] + np.maximum(values["V_max"] - values["s2"], 0) * values["below"]
        for name, (lhs, rhs) in sides(theorem, values).items():
            codes = [read(side, values) for side in name.split(" <= ")]
            if None in codes:
                unread.add(name)
                continue
            left, right = (eval(code, {"__builtins__": {}}, FUNCTIONS | given) for code in codes)
            np.testing.assert_allclose(left * rhs, lhs * right, rtol=1e-12, err_msg=f"{theorem}: {name}")
            compared += 1
    assert compared > 290
    assert len(unread) < compared / 15, unread
