"""Families of problems: what their scalars mean; what is none is refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from numpy.testing import assert_allclose

from suffice.bounds import InputError
from suffice.bounds.elementary import survive
from suffice.simulate import Quadratics
from suffice.simulate.problem import QuadraticProblem
from suffice.verification import Outcome, check
from suffice.verification.families import FamilyInstance, ProblemFamily, curves, quadratics
from suffice.verification.family import Domain, Family

pytestmark = pytest.mark.usefixtures("brief")


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
    with pytest.raises(InputError, match="build = 'NoneType': return a FamilyInstance"):
        check(right, family=ProblemFamily(name="mine", domains=domains, build=lambda values: None))
    with pytest.raises(InputError, match="family = 'mine': it measures nothing"):
        Family(name="mine", domains=domains).evidence({})


def test_scalars_that_are_left_out_are_asked_of_the_problem():
    family = quadratics(clients=3, features=2)
    drawn = Family(name="", domains=family.domains).draw(4, seed=0)
    for row in range(4):
        setting = family.setting({name: value[row] for name, value in drawn.items()})
        asked = replace(setting, arguments={"b": 0.5}).complete().arguments
        assert asked["b"] == 0.5
        for name, value in setting.arguments.items():  # by formulas of the domains
            assert_allclose(asked[name], value, rtol=1e-9, err_msg=name)
        assert replace(setting, arguments={"e0": 0.5}).complete().arguments["e0"] == 0.5  # what is given stands
    curve = curves("ripple").setting({"curvature": [1, 2], "width": 0.5, "sigma2": 1, "far": 2, "step": 1, "T": 3})
    assert_allclose([replace(curve, arguments={}).complete().arguments[name] for name in curve.arguments],
                    list(curve.arguments.values()), rtol=1e-12)  # fmt: skip


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("problem", {"problem": None}),
        ("eta", {"eta": "0.1"}),
        ("iterations", {"iterations": 2.5}),
        ("iterations", {"iterations": -1}),
        ("arguments", {"arguments": None}),
        ("kappa", {"arguments": {"kappa": 1j}}),
        ("kappa", {"arguments": {"kappa": np.ones(2)}}),
        ("build", None),
    ],
)
def test_what_is_wrong_with_an_instance_is_told_in_one_line(field, change):
    good = FamilyInstance(problem=Quadratics.of([[[0.5]]], [[0.0]], sigma2=1.0, start=[1.0]), eta=0.1, iterations=2)
    family = ProblemFamily(
        name="mine",
        domains={"step": Domain(low=0.5, high=1.0)},
        build=lambda values: replace(good, **(change or values["no such domain"])),
    )
    with pytest.raises(InputError, match=f"^{field} = ") as refused:
        check(right, family=family)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("sharp", [3, {}, {"step": 1.0}, {"step": np.ones(2), "h": np.ones(3)}])
def test_sharp_instances_have_every_number(sharp):
    domains = {"step": Domain(low=0.5, high=1.0), "h": Domain(low=0.5, high=1.0)}
    family = ProblemFamily(name="mine", domains=domains, build=lambda values: None)
    with pytest.raises(InputError, match="sharp = 'mine': give an array of one entry per instance for each of step, h"):
        family.settings(sharp)


def test_distance2_is_from_the_start_to_the_minimiser_of_client_0():
    family = quadratics(clients=2, features=3)
    drawn = Family(name="", domains=family.domains).draw(4, seed=0)
    for row in range(4):
        setting = family.setting({name: value[row] for name, value in drawn.items()})
        problem = cast(QuadraticProblem, setting.problem)
        apart = (problem.start[0] + problem.xi[0]).numpy()  # losses are (theta + xi)^T A (theta + xi)
        assert_allclose(setting.arguments["distance2"], apart @ apart, rtol=1e-12)


@pytest.mark.parametrize("longest", [1, 3, 40])
def test_sharp_instances_stay_within_the_familys_domains(longest):
    family = quadratics(longest=longest)
    assert family.sharp is not None
    sharp = family.sharp()
    assert set(sharp) == set(family.domains)
    for name, values in sharp.items():
        assert len(values) >= 1
        domain = family.domains[name]
        inside = (values >= domain.low) & (values <= domain.high)
        assert (inside | ((values == 0) & (domain.zero > 0))).all(), name


def test_noise_along_an_end_of_the_spectrum_is_drawn_unless_the_bound_counts_on_isotropy():
    """E[e_1] of eta <= 1/beta has eta^2/2 sum_a h_a sigma_a^2 of noise: isotropic, at most (d - 1) beta + mu over d."""

    def bound(*, eta, mu, beta, e0, sigma2, d):
        return (1 - eta * mu) ** 2 * e0 + eta**2 * sigma2 / (2 * d) * ((d - 1) * beta + mu)

    def first(*, eta, beta, T):
        return {"step": (eta, 1 / beta), "one": (T, 1)}

    whole = check(bound, conditions=first)
    assert whole.outcome is Outcome.VIOLATED
    assert whole.counterexample["values"]["along"] > 0
    assert check(bound, conditions=first, assumptions={"isotropic"}).valid
    with pytest.raises(InputError, match=r'^assumptions = "\[\'convex\'\]": the one that may be stated is'):
        check(bound, assumptions=["convex"])


@pytest.mark.parametrize("family", [quadratics(features=3), quadratics(clients=3, features=2)])
def test_noise_has_its_total_variance_and_its_direction(family):
    values = Family(name="", domains=family.domains).draw(40, seed=2)
    for at, setting in enumerate(family.settings(values | {"along": np.linspace(-1, 1, 40)})):
        along = np.linspace(-1, 1, 40)[at]
        for A, C, root in zip(setting.problem.A, setting.problem.noise.covariance, setting.problem.noise.factor):
            _, vectors = np.linalg.eigh(A.numpy())
            end = vectors[:, -1 if along > 0 else 0]
            np.testing.assert_allclose(float(C.trace()), setting.arguments["sigma2"], rtol=1e-12, atol=1e-300)
            np.testing.assert_allclose((root @ root.T).numpy(), C.numpy(), rtol=1e-9, atol=1e-12 * float(C.trace()))
            wanted = float(C.trace()) * ((1 - abs(along)) / len(A) + abs(along))
            np.testing.assert_allclose(end @ C.numpy() @ end, wanted, rtol=1e-6)


def test_clients_of_one_hessian_differ_in_their_minimisers():
    values = quadratics(clients=3, features=2, identical="hessian").mean_loss(False).sharp()
    built = quadratics(clients=3, features=2, identical="hessian").mean_loss(False)
    given = [each.arguments for each in built.settings(values | {"eta": values["step"]})]
    assert max(each["hessian_gap"] for each in given) == 0 < min(each["B2"] for each in given) == 1
    assert sum(each["Gamma"] > 0 for each in given) > len(given) / 3
    with pytest.raises(InputError, match=r"^identical = 'Hessian': give True, False or "):
        quadratics(identical="Hessian")
