"""One object of each quantity, whichever process it comes from, and one meaning of each name."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from suffice.bounds import PARAMETERS, InputError, Quantity, Unit, add_parameter, add_quantity


def test_a_quantity_is_one_object_and_an_attribute():
    for quantity in Quantity:
        assert copy.deepcopy(quantity) is quantity  # by __reduce__, as between processes
        assert getattr(Quantity, quantity.name) is quantity
        assert add_quantity(replace(quantity)) is quantity
    assert len(set(Quantity)) == len(Quantity) > 50
    with pytest.raises(AttributeError, match="no quantity is called 'EXCESSIVE'"):
        _ = Quantity.EXCESSIVE


def test_a_name_has_one_meaning():
    with pytest.raises(InputError, match=r"^quantity = 'EXCESS': it is the name of E\[e_T\]; choose another$"):
        add_quantity(replace(Quantity.EXCESS, unit=Unit(2, 0)))
    with pytest.raises(InputError, match=r"^parameter = 'eta': the keyword means step size; choose another$"):
        add_parameter(replace(PARAMETERS["eta"], meaning="a Greek letter"))
    assert add_parameter(replace(PARAMETERS["eta"])) is PARAMETERS["eta"]
