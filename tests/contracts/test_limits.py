"""No record says "not a number" anywhere in its domain, limits at 0 included, and its digits are digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from papers import SLOW, VACUOUS

from suffice.bounds import THEOREMS, ConditionError, InputError, digits, evaluate, find
from suffice.verification.evidence import met

SATISFIABLE = [t for t in THEOREMS if t.bound is not None and (t.key, t.edition) not in VACUOUS]
every = pytest.mark.parametrize("theorem", SATISFIABLE, ids=lambda t: f"{t.key}-{t.edition}")
DRAWN, AT_ONCE = 100_000, 2000


def drawn(theorem, count, seed):
    """Up to `count` points of the domain that meet the conditions, one array per name: the typical range and two powers
    of e around it, a quarter of the entries at a closed lower end (most are 0), some at the upper one, and a tenth of
    the rows with one entry down to 1e-30."""
    kept = {parameter.name: np.zeros(0) for parameter in theorem.parameters}
    for part in range(DRAWN // AT_ONCE):
        values = domain_points(theorem, np.random.default_rng((seed, part)))
        good = met(theorem, values, (AT_ONCE,))
        kept = {name: np.append(found, values[name][good])[:count] for name, found in kept.items()}
        if all(len(found) == count for found in kept.values()):
            break
    assert all(len(found) >= min(count, 100) for found in kept.values()), "the conditions are hardly ever met"
    return kept


def domain_points(theorem, rng):
    values, tiny = {}, rng.integers(10 * len(theorem.parameters), size=AT_ONCE)
    for at, parameter in enumerate(theorem.parameters):
        low, high = np.log(parameter.typical)
        x = np.exp(rng.uniform(low - 2, high + 2, AT_ONCE))
        x = np.where(tiny == at, 10 ** rng.uniform(-30, 0, AT_ONCE), x)
        x = np.clip(np.floor(x) if parameter.integer else x, parameter.lower, parameter.upper)
        end = rng.uniform(size=AT_ONCE)
        x = np.where((end < 0.25) & (not parameter.open_lower), parameter.lower, x)
        x = np.where((end > 0.95) & (parameter.upper < np.inf), parameter.upper, x)
        if parameter.open_lower:
            x = np.where(x == parameter.lower, parameter.lower + 1e-9, x)
        values[parameter.name] = x
    return values


def assert_numbers(theorem, values):
    got = evaluate(theorem, enforce=False, **values)
    got = np.broadcast_to(got, len(next(iter(values.values()))))
    bad = np.flatnonzero(np.isnan(got))
    assert not len(bad), {name: float(value[bad[0]]) for name, value in values.items()}
    return got


def assert_digits(theorem, values, bounds, count):
    """50 digits are the first of 100, and what the float bounds; without a number only where the float is infinite."""
    for row, got in enumerate(bounds[:count]):
        point = {name: float(value[row]) for name, value in values.items()}
        try:
            fifty, hundred = digits(theorem, **point), digits(theorem, 100, **point)
        except InputError:
            assert np.isinf(got), point
            continue
        with mpmath.workdps(120):
            assert fifty == hundred or abs(fifty - hundred) <= mpmath.mpf(10) ** -45 * abs(hundred), point
            if abs(hundred) > 1e-290 and theorem.direction == "upper":
                assert got >= hundred, point


@pytest.mark.share(4)
@every
def test_no_number_is_missing(theorem):
    values = drawn(theorem, 200, seed=21)
    assert_digits(theorem, values, assert_numbers(theorem, values), 3 if theorem.key in SLOW else 40)


@pytest.mark.slow
@every
def test_no_number_is_missing_at_ten_thousand_points(theorem):
    values = drawn(theorem, 10_000, seed=22)
    assert_digits(theorem, values, assert_numbers(theorem, values), 10 if theorem.key in SLOW else 200)


def test_the_readable_form_that_cancels_has_its_digits():
    given = {"contraction": 0.1, "reach": 0.5, "eta_min": 1, "noise": 1, "Psi0": 1e-9, "T": 5}
    for p in (1e-20, 1e-38, 1e-60):
        with mpmath.workdps(60):
            exact = mpmath.mpf(1e-9) / 4 + 5 / mpmath.mpf(4)  # (1 - zeta)^T is 1 to 39 digits and more, zeta = p^2
            assert abs(digits("scafflix/theorem-1-excess", p=p, **given) - exact) < max(1e-50, 10 * p**2)
    big = 10**20 + 1  # a whole number that is no float
    assert digits("adaptive/theorem-2-horizon-running", mu=1, beta=1, q=1, e0=big, s2=0, T=1, eps=1) == 0
    with mpmath.workdps(60):
        assert digits("adaptive/theorem-2-constant", eta=1e-9, mu=1, beta=1, q=1, e0=big, s2=0, T=0) == big


@pytest.mark.parametrize("row", ["", "-running", "-stopped", "-unconditional"])
def test_without_noise_the_horizon_row_contracts_at_the_limit(row):
    given = {"mu": 0.5, "beta": 1.0, "q": 0.5, "e0": 3.0, "s2": 0.0, "T": 4}
    given |= {"eps": 2.0} if row in ("-running", "-stopped") else {}
    given |= {"V_max": 0.0, "below": 1.0} if row == "-unconditional" else {}
    left = 3 * 0.75**4
    expected = {"": left, "-running": left / 2, "-stopped": left + 2, "-unconditional": left}[row]
    np.testing.assert_allclose(evaluate(f"adaptive/theorem-2-horizon{row}", **given), expected, rtol=1e-11)
    near = evaluate(f"adaptive/theorem-2-horizon{row}", **(given | {"s2": 1e-30}))
    np.testing.assert_allclose(near, expected, rtol=1e-11)  # the limit is approached, not jumped to
    with pytest.raises(ConditionError, match="T >= 1"):
        evaluate(f"adaptive/theorem-2-horizon{row}", **(given | {"T": 0}))


def test_nothing_to_divide_is_no_reason_to_say_nothing():
    still = {"mu": 0.5, "beta": 1.0, "q": 0.5, "T": 4}
    assert 0 <= evaluate("adaptive/theorem-2-decreasing-best", e0=0, s2=0, **still) < 1e-300
    assert digits("adaptive/theorem-2-decreasing-best", e0=0, s2=0, **still) == 0
    assert digits("worst-case/quadratic-certificate", b=0, c=0.25, gradient=0) == 0.25
    assert evaluate("worst-case/quadratic-certificate", b=1e-200, c=0, gradient=1e-200) >= 1  # no square underflows
    assert np.isinf(evaluate("worst-case/quadratic-certificate", b=1, c=0, gradient=0))
    assert digits("worst-case/quadratic-norms", distortion=0.5, shift=0, gradient=0) == 0.25
    assert digits("adaptive/equation-1-identical", gradient=0, sigma2=0, peer_sigma2=0, m=3) == 0
    tuned = {"mu": 0.5, "beta": 1.0, "lambda2": 0.5, "bias": 1.0, "T": 3}
    np.testing.assert_allclose(evaluate("sample-optimal/theorem-2-tuned", e0=0, sigma2=0, **tuned), 1.0, rtol=1e-11)
    assert find("adaptive/theorem-2-horizon").condition_names()[0] == "iterations 1 <= T"
