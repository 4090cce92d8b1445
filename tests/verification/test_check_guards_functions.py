"""A bound is a function of one instance's numbers, and what else it does to the process is undone."""

from __future__ import annotations

import decimal
import os
import random
from contextlib import nullcontext

import mpmath
import numpy as np
import pytest
import torch

from suffice.support.errors import InputError
from suffice.verification import Outcome, check
from suffice.verification.families import quadratics

pytestmark = pytest.mark.usefixtures("brief")

BRIEF = quadratics(longest=10)


def limit(*, eta, beta):
    return {"eta <= 1/beta": (eta, 1 / beta)}


def right(*, e0, eta, beta, sigma2, T):
    return e0 + T * eta**2 * beta * sigma2 / 2


def drawn(*, e0, eta, beta, sigma2, T):
    return right(e0=e0, eta=eta, beta=beta, sigma2=sigma2, T=T) * (1 + random.random())


def drawn_one_by_one(*, e0, eta, beta, sigma2, T):
    return float(right(e0=e0, eta=eta, beta=beta, sigma2=sigma2, T=T)) * (1 + 1e-12 * random.random())


class Counted:
    def __init__(self):
        self.calls = 0

    def __call__(self, *, e0, eta, beta, sigma2, T):
        self.calls += 1
        return right(e0=e0, eta=eta, beta=beta, sigma2=sigma2, T=T) * (2 if self.calls > 40 else 1)


@pytest.mark.parametrize("bound", [drawn, drawn_one_by_one, Counted()], ids=["arrays", "numbers", "later"])
def test_what_returns_something_else_the_second_time_is_refused_with_both_values(bound):
    with pytest.raises(InputError, match=r"it is no function: at .* it returns [\d.e-]+ and then [\d.e-]+"):
        check(bound, conditions=limit, family=BRIEF)


def test_so_are_conditions():
    with pytest.raises(InputError, match=r"conditions.*no function"):
        check(right, conditions=lambda *, eta, beta: {"eta": (eta, (1 + random.random()) / beta)}, family=BRIEF)


@pytest.mark.parametrize("mixed", [np.max, np.sum, np.mean], ids=lambda each: each.__name__)
def test_the_numbers_of_other_instances_are_no_part_of_a_bound(mixed):
    """Of one instance without noise it is at most e0/2 and is refuted; of an array of instances it is a huge number."""
    verdict = check(lambda *, e0, sigma2: mixed([e0 / 2, 1e3 * sigma2]), conditions=limit, family=BRIEF)
    assert verdict.outcome is Outcome.VIOLATED
    assert verdict.counterexample["arguments"]["sigma2"] == 0


def settings():
    shared = np.random.get_state()  # noqa: NPY002
    return (
        np.geterr(), shared[1].tolist(), shared[2], torch.get_rng_state().tolist(), random.getstate(), os.getcwd(),
        decimal.getcontext().prec, mpmath.mp.prec, torch.get_default_dtype(),
    )  # fmt: skip


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_bound_changes_is_put_back(fails, tmp_path):
    def bound(*, e0, eta, beta, sigma2, T):
        np.seterr(all="raise")
        np.random.seed(1)  # noqa: NPY002
        random.seed(1)
        torch.manual_seed(1)
        os.chdir(tmp_path)
        decimal.getcontext().prec = 5
        mpmath.mp.prec = 20
        return "a text" if fails else e0 + T * eta**2 * beta * sigma2 / 2

    before = settings()
    with pytest.raises(InputError, match="return one number") if fails else nullcontext():
        assert check(bound, conditions=limit, family=BRIEF).valid
    assert settings() == before
