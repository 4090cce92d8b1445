"""Errors of users: the same line wherever they are raised."""

from __future__ import annotations

import copy

import pytest

from suffice.support.errors import ConditionError, InputError, SufficeError


@pytest.mark.parametrize(
    "error",
    [
        SufficeError("one line"),
        InputError("eta", -1.0, "give a positive number"),
        ConditionError("cobo/lemma-3", "step eta <= 1", 2.0, 1.0, "use eta <= 1"),
    ],
)
def test_an_error_of_another_process_is_the_same(error):
    again = copy.copy(error)  # as a process sends it
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
