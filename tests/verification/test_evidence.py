"""Measured against bound, whatever their signs."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from suffice.bounds import InputError, find
from suffice.verification import Evidence


def ratio(
    measured: float, bound: float, direction: Literal["upper", "lower"] = "upper", rounding: float = 0.0
) -> float:
    theorem = replace(find("adaptive/theorem-1"), bound=lambda *, e0: e0, direction=direction)
    evidence = Evidence(
        engine="given", measured=np.array([measured]), arguments={"e0": np.array([bound])}, rounding=rounding
    )
    return float(evidence.ratio(theorem)[0])


@pytest.mark.parametrize(
    ("measured", "bound", "expected"),
    [
        (1.0, 2.0, 0.5),
        (3.0, 2.0, 1.5),
        (-1.0, 2.0, -0.5),
        (-2.0, -1.0, 0.5),  # below a negative bound: holds
        (-1.0, -1.0, 1.0),
        (-1.0, -2.0, 2.0),  # above it: violated
        (-1.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
        (1.0, 0.0, np.inf),
        (1.0, -1.0, np.inf),
        (0.0, -1.0, np.inf),
        (1.0, np.nan, np.inf),
        (1.0, np.inf, 0.0),
    ],
)
def test_a_ratio_above_one_is_a_violation_for_numbers_of_any_sign(measured, bound, expected):
    assert ratio(measured, bound) == expected
    if np.isfinite(bound):  # a lower bound is the same inequality, sides exchanged
        assert ratio(bound, measured, "lower") == expected
        assert (expected > 1) is (measured > bound)


def test_rounding_is_granted_to_the_measured_side_alone():
    assert ratio(1e-12, 0.0, rounding=1e-10) == 0
    assert ratio(1.0 + 1e-12, 1.0, rounding=1e-10) < 1
    assert ratio(1.0 + 1e-9, 1.0, rounding=1e-10) > 1
    assert ratio(-1.0 + 1e-12, -1.0, rounding=1e-10) < 1
    assert ratio(-1.0 + 1e-9, -1.0, rounding=1e-10) > 1


def test_what_measures_no_number_is_refused_in_one_line():
    with pytest.raises(InputError, match=r"^measured = nan: given measured no number for .* at e0 = 2; mend it$"):
        Evidence(engine="given", measured=np.array([np.nan]), arguments={"e0": np.array([2.0])}).counted(
            replace(find("adaptive/theorem-1"), bound=lambda *, e0: e0, conditions=lambda *, e0: {})
        )
