"""Steps that are functions of t and scalars: exact expected values along them, and what is no step."""

from __future__ import annotations

import math

import pytest

from suffice.bounds import InputError
from suffice.simulate import Local
from suffice.verification import Outcome, check, families

SHORT = families.quadratics(features=1, longest=12)


class Bold(Local):
    """Local, followed on paths."""

    linear = False


def truth(steps, share):
    """E|theta_T - theta*|^2 on a quadratic of curvature mu, by its recursion."""

    def bound(*, mu, sigma2, distance2, T, a, b):
        level = distance2
        for t in range(int(T)):
            step = steps(t, a, mu, b, T)
            level = (1 - step * mu) ** 2 * level + step**2 * sigma2
        return share * level

    return bound


STEPS = {
    "falling": (lambda *, t, a: a / (t + 2), lambda t, a, mu, b, T: a / (t + 2)),
    "switching": (
        lambda *, t, mu, b: 1 / b if t < 3 else 2 / (mu * (t + 4)),
        lambda t, a, mu, b, T: 1 / b if t < 3 else 2 / (mu * (t + 4)),
    ),
    "of T": (lambda *, T, b: 1 / (b * math.sqrt(T)), lambda t, a, mu, b, T: 1 / (b * math.sqrt(T))),
}  # fmt: skip


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("kind", STEPS)
def test_bounds_that_are_attained_are_told_from_those_a_little_below(kind):
    step, own = STEPS[kind]
    names = {"a": (lambda: 0.0) if kind == "switching" else "eta", "b": "beta"}
    asked = {"quantity": "last_distance", "family": SHORT, "names": names}
    if kind == "of T":  # it is the bound's eta
        asked["conditions"] = lambda *, a, b: {"step": (a, 1 / b), "and no less": (0.2 / b, a)}
    assert check(truth(own, 1.0), step=step, **asked).worst_ratio == pytest.approx(1, rel=1e-9)
    assert check(truth(own, 0.999), step=step, **asked).outcome is Outcome.VIOLATED


@pytest.mark.usefixtures("brief")
def test_paths_take_the_same_steps():
    quiet = {"conditions": lambda *, sigma2, a, b: {"quiet": (sigma2, 0), "step": (a, 1 / b)}, "algorithm": Bold()}
    asked = {"quantity": "last_distance", "family": SHORT, "names": {"a": "eta", "b": "beta"}, **quiet}
    step, own = STEPS["falling"]
    assert check(truth(own, 1.001), step=step, **asked).valid
    assert check(truth(own, 0.999), step=step, **asked).outcome is Outcome.VIOLATED


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (3, "^step = 3: give a function of t and scalars"),
        (lambda *, t, foo: foo, "^parameter = 'foo': `step` takes it, and the family gives mu, "),
        (lambda *, t: t.foo, "^step = '<lambda>': it fails "),
        (lambda *, t, beta: 1 / beta - t, r"^step = -.*: so it is at t = \d+ and T = \d+"),
        (lambda *, t, mu: 1 / (mu * (t + 1)), "^eta = 'eta': the steps are `step`, which takes no eta"),
    ],
)
def test_what_is_no_step_is_refused(step, message):
    bound = (lambda *, eta, e0: e0) if "takes no eta" in message else (lambda *, e0: e0)
    with pytest.raises(InputError, match=message):
        check(bound, step=step, family=SHORT)


def test_letters_may_be_constants():
    quiet = {"conditions": lambda *, eta, beta, sigma2: {"step": (eta, 1 / beta), "quiet": (sigma2, 0)}}
    for one, stands in ((lambda: 1.0, True), (lambda: 0.1, False)):
        found = check(lambda *, e0, c: c * e0, names={"c": one}, family=SHORT, **quiet)
        assert found.valid == stands
