"""Arguments of `fit` and `summarise` that the fuzzer found to end in a traceback, and a gap that ended in one."""

from __future__ import annotations

import numpy as np
import pytest

import suffice as sf

TABLE = {"client": ["L"] * 10, "target": list(range(10)), "b": ["1", "4"] * 5}


CALLS = {
    "drop = 1.5: give the names of columns in a list": lambda: sf.fit(TABLE, drop=1.5),
    "b = 'nested values': give one number or text per row": lambda: sf.fit(TABLE | {"b": [[1], [1, 2]] * 5}),
    "columns of one length": lambda: sf.fit(TABLE).predict(TABLE | {"target": 1}, site="L"),
    "site = .*: give the site's name": lambda: sf.fit(TABLE).predict(TABLE, site=10**5000),
    "reveal = .*: give True or False": lambda: sf.summarise(TABLE, site="L", reveal=np.array([])),
}


@pytest.mark.parametrize("message", CALLS)
def test_what_is_no_name_or_column_is_refused(message):
    with pytest.raises(sf.InputError, match=message):
        CALLS[message]()


def test_a_column_that_predictions_do_not_read_may_be_anything():
    assert len(sf.fit(TABLE).predict(TABLE | {"target": list("abcdefghij")}, site="L")) == 10


@pytest.mark.parametrize("loss", ["least-squares", "multinomial"])
def test_a_number_that_is_the_same_wherever_it_is_known_has_the_coefficient_0(loss):
    """Its mean stands in the gaps, and rounding may leave it a variance of -1e-36, whose root is no number."""
    fitted = sf.fit(TABLE | {"target": [0, 1, 2] * 3 + [0], "b": ["", "4.7e-3"] * 5}, loss=loss)
    for model in fitted:
        slopes = [model.coefficients] if loss == "least-squares" else model.coefficients.values()
        assert all(one["b"] == 0 and np.isfinite(list(one.values())).all() for one in slopes)
