"""The page of quantities has every name that `sf.check` takes, with what a verdict calls it."""

from __future__ import annotations

import re

from pages import quantities

from suffice.simulate.quadratic_forms import forms
from suffice.verification.quantity import quantity_of


def test_every_quantity_that_a_check_takes_has_a_row_and_no_other():
    rows = dict(re.findall(r"^\| `(\w+)` \| .* \| `(.*)` \| .* \|", quantities.text(), re.MULTILINE))
    assert rows.keys() == forms().keys()
    for name, words in rows.items():
        assert words.replace("\\|", "|") == quantity_of(name).expression
    stopped = {name for name in rows if f"| `{name}` | " in quantities.text() and forms()[name].level}
    for name in stopped:
        (row,) = re.findall(rf"^\| `{name}` .*", quantities.text(), re.MULTILINE)
        assert row.endswith(f"| paths, `{forms()[name].level}` |")
