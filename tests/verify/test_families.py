"""Families of one's own: what is none is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import InputError
from suffice.bounds.elementary import survive
from suffice.verification import check
from suffice.verification.families import ProblemFamily
from suffice.verification.family import Domain, Family


def right(*, eta, mu, e0, sigma2, T):
    return survive(eta * mu, 2 * T) * e0 + eta * sigma2 / 2


def test_a_family_of_ones_own_that_is_none_is_refused_by_name():
    for field, change in (
        ("high", {"low": 2.0, "high": 1.0}),
        ("low", {"low": 0.0, "high": 1.0, "log": True}),
        ("low", {"low": "a", "high": 1.0}),
        ("high", {"low": 0.0, "high": np.inf}),
        ("shape", {"low": 0.0, "high": 1.0, "shape": (0,)}),
        ("shape", {"low": 0.0, "high": 1.0, "shape": 3}),
    ):
        with pytest.raises(InputError, match=f"^{field} = "):
            Domain(**change)
    domains = {"step": Domain(low=0.5, high=1.0)}
    for field, change in (("domains", {"domains": {"step": (0, 1)}}), ("domains", {"domains": {}}),
                          ("build", {"build": None}), ("sharp", {"sharp": 3})):  # fmt: skip
        with pytest.raises(InputError, match=f"^{field} = "):
            ProblemFamily(**({"name": "mine", "domains": domains, "build": lambda values: None} | change))
    with pytest.raises(InputError, match="build = 'NoneType': return a Setting"):
        check(right, family=ProblemFamily(name="mine", domains=domains, build=lambda values: None))  # pyright: ignore
    with pytest.raises(InputError, match="family = 'mine': it measures nothing"):
        Family(name="mine", domains=domains).evidence({})
