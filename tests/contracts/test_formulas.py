"""Every record's bound against the formula of the theory, written anew and run at forty digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from papers import FORMULAS, SLOW

from suffice.bounds import THEOREMS, InputError, digits

EVALUABLE = [theorem for theorem in THEOREMS if theorem.bound is not None]


@pytest.mark.parametrize("theorem", EVALUABLE, ids=str)
def test_record_has_the_value_of_the_formula_in_the_theory(theorem):
    formula = FORMULAS[theorem.key, theorem.edition]
    rng = np.random.default_rng(31)
    positive = 0
    for _ in range(30):
        values = {}
        for parameter in theorem.parameters:
            if parameter.integer:
                values[parameter.name] = int(rng.integers(max(parameter.lower, 1), 200))
            else:
                low = max(np.exp(-2), parameter.lower)
                values[parameter.name] = low * np.exp(rng.uniform(1e-3, 2)).item()
        with mpmath.workdps(60):
            expected = formula({k: mpmath.mpf(v) for k, v in values.items()})
            if isinstance(expected, mpmath.mpc):  # outside the conditions: the logarithm of a negative number
                with pytest.raises(InputError, match="no real number"):
                    digits(theorem, **values)
                continue
            # 60 digits on this side and 65 on the other: 40 leave room for T steps and cancellation
            assert abs(digits(theorem, **values) - expected) <= mpmath.mpf(10) ** -40 * abs(expected)
        positive += expected != 0
        if theorem.key in SLOW and positive == 3:
            break  # each is a quadrature on either side
    assert positive >= 3


def test_every_record_that_can_be_evaluated_has_a_formula_here():
    assert FORMULAS.keys() == {(t.key, t.edition) for t in EVALUABLE}
