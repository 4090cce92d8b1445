"""`sf.testing`: an assertion and strategies for the tests of other people, used as they would."""

from __future__ import annotations

import sys
import time
from random import Random

import numpy as np
import pytest
import torch
from blocks import ROOT, blocks
from hypothesis import Phase, find, given, settings
from one_line import one_line

import suffice as sf
from suffice.support.errors import InputError
from suffice.verification import Domain, testing
from suffice.verification.families import FamilyInstance, ProblemFamily

LINE = sf.families.quadratics(features=1, longest=3)


def limit(*, eta, beta):
    return {"step size eta <= 1/beta": (eta, 1 / beta)}


def right(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** (2 * T) * e0 + eta * beta * sigma2 / (2 * mu)


def half(*, eta, mu, beta, e0, sigma2, T):
    return (1 - eta * mu) ** T * e0 + eta * beta * sigma2 / (4 * mu)


def test_a_false_bound_fails_with_the_counterexample_in_the_text_and_a_true_one_gives_its_verdict():
    with pytest.raises(AssertionError) as failed:
        sf.testing.assert_bound(half, conditions=limit, family=LINE)
    text = one_line(failed.value)
    assert text.startswith("half: violated on ")
    assert "eta = 1, mu = 1, beta = 1, e0 = 0.5, sigma2 = 1, T = 1: measured 0.5 > bound 0.25" in text
    assert text.endswith("root 0; nothing was sampled, so that no true bound fails by chance")
    verdict = sf.testing.assert_bound(right, conditions=limit, family=LINE)
    assert verdict.valid
    assert verdict.instances > 100


@pytest.mark.usefixtures("brief")
def test_the_probability_of_a_false_alarm_is_in_the_text_where_paths_are_sampled():
    def silent(*, eta, mu, e0, sigma2, T):
        return (1 - eta * mu) ** (2 * T) * e0 + 1e-9 * eta * sigma2  # wrong only where there is noise

    with pytest.raises(AssertionError) as failed:
        sf.testing.assert_bound(silent, conditions=limit, family=LINE, delta=0.5, root=3)
    assert "root 3; paths were sampled: a true bound fails with probability at most 1e-06" in one_line(failed.value)


def test_what_is_not_concluded_fails_with_its_reason():
    never = sf.families.quadratics(features=1, longest=3)
    with pytest.raises(AssertionError, match="vacuous: no instance meets the hypotheses"):
        sf.testing.assert_bound(right, conditions=lambda *, T: {"a": (T, 1), "b": (2, T)}, family=never)
    with pytest.raises(InputError, match=r"^timeout = 0"):
        sf.testing.assert_bound(right, timeout=0)


@pytest.mark.usefixtures("brief")
def test_a_check_that_takes_too_long_is_neither_passed_nor_failed():
    built = []

    def slow(values):
        built.append(time.sleep(0.002))
        problem = sf.Quadratics.of([[[0.5]]], [[0.0]], sigma2=values["sigma2"], start=[1.0])
        return FamilyInstance(problem=problem, eta=0.5, iterations=1)

    family = ProblemFamily(name="slow", domains={"sigma2": Domain(low=0, high=1)}, build=slow)
    words = r"^right is undecided after 0\.02 s, in family 1 of 1: give a longer `timeout`"
    for bound in (right, half):
        with pytest.raises(TimeoutError, match=words.replace("right", bound.__name__)):
            sf.testing.assert_bound(bound, conditions=limit, family=family, timeout=0.02)
    assert len(built) > 10
    told = []
    with pytest.raises(TimeoutError, match=r"^right is undecided after 0\.1 s, in family [1-9] of [2-9]"):
        sf.testing.assert_bound(right, conditions=limit, timeout=0.1, progress=lambda *so_far: told.append(so_far))
    assert told[0][0] == 0


def test_a_limit_ends_with_its_call():
    with pytest.raises(TimeoutError):
        sf.testing.assert_bound(right, conditions=limit, family=LINE, timeout=1e-9)
    assert sf.check(right, conditions=limit, family=LINE).valid
    assert sf.testing.assert_bound(right, conditions=limit, family=LINE, timeout=1e9).valid


@settings(max_examples=60, deadline=None)
@given(sf.testing.instances(conditions=limit))
def test_every_instance_meets_the_conditions_and_knows_its_scalars(instance):
    arguments, problem = instance.arguments, instance.problem
    assert 0 < arguments["mu"] <= arguments["beta"] <= 4
    assert 0 < instance.eta * arguments["beta"] <= 1 + 1e-12
    assert 1 <= instance.iterations <= 1000
    assert 1 <= problem.clients <= testing.LARGEST
    spectrum = torch.linalg.eigvalsh(2 * problem.A)
    np.testing.assert_allclose(float(spectrum.max()), arguments["beta"], rtol=1e-12)  # each entry rounds once or twice
    np.testing.assert_allclose(float(spectrum.min()), arguments["mu"], rtol=0, atol=1e-14 * arguments["beta"])
    excess = float(problem.excess(problem.start[None])[0, 0])
    np.testing.assert_allclose(excess, arguments["e0"], rtol=1e-12, atol=1e-12)


@pytest.mark.slow
def test_without_a_condition_steps_pass_2_over_beta_and_with_one_they_reach_it():
    too_long = find(sf.testing.instances(), lambda found: found.eta * found.arguments["beta"] > 2)
    assert too_long.problem.clients == 1
    ends = lambda found: found.eta * found.arguments["beta"] > 1 - 1e-9  # noqa: E731
    at_end = find(sf.testing.instances(conditions=limit), ends, settings=settings(phases=[Phase.generate]))
    np.testing.assert_allclose(at_end.eta * at_end.arguments["beta"], 1, rtol=1e-12)


FAILS = {
    "a client other than the first is far": (2, 1, lambda p: p.clients > 1 and (p.optimum[1:] > 0.7).any()),
    "the second is far, in noise": (2, 1, lambda p: p.clients > 1 and (p.optimum[1] > 1).any() and p.sigma2[0] > 0.5),
    "two clients differ": (2, 1, lambda p: (p.optimum.max(0).values - p.optimum.min(0).values > 0.5).any()),
    "one is steep": (1, 1, lambda p: torch.linalg.eigvalsh(p.A).max() > 1),
    "two features are steep": (1, 2, lambda p: (p.A.diagonal(dim1=1, dim2=2) > 1).sum(1).max() >= 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", FAILS)
def test_what_is_found_shrinks_to_the_fewest_clients_and_features_that_fail(what):
    """In one of two searches: one of six of those for two steep features ends with a third, too."""
    clients, features, fails = FAILS[what]
    options, sizes = settings(max_examples=400, deadline=None, database=None), []
    for seed in range(2):
        found = find(sf.testing.problems(), lambda p: bool(fails(p)), settings=options, random=Random(seed))
        assert fails(found)
        sizes.append((found.clients, found.features))
    assert min(sizes) == (clients, features)
    assert max(sizes) <= (clients, features + 1)


@pytest.mark.slow
def test_a_family_of_one_s_own_is_drawn_within_its_conditions_and_its_own_scalars():
    def build(values):
        problem = sf.Quadratics.of([[[values["h"] / 2]]], [[3.0]], sigma2=0.5, start=[values["start"]])
        arguments = {"far": abs(values["start"])}
        return FamilyInstance(problem=problem, eta=values["step"], iterations=int(values["T"]), arguments=arguments)

    domains = {
        "h": Domain(low=0.5, high=2, log=True), "start": Domain(low=-9, high=9), "step": Domain(low=0, high=1),
        "T": Domain(low=1, high=5, integer=True),
    }  # fmt: skip
    family = ProblemFamily(name="parabolas", build=build, domains=domains, parameters={"far": None})

    @settings(max_examples=5, deadline=None, derandomize=True)
    @given(
        sf.testing.instances(family, conditions=lambda *, far, eta, beta: {"far": (2, far), "step": (eta * beta, 1)})
    )
    def each(found):
        assert found.arguments["far"] >= 2
        assert found.eta * found.arguments["beta"] <= 1 + 1e-12
        assert found.iterations in range(1, 6)

    each()
    with pytest.raises(InputError, match=r"^parameter = 'pull': the family parabolas gives "):
        find(sf.testing.instances(family, conditions=lambda *, pull: {"pull": (pull, 1)}), lambda found: True)


def test_without_hypothesis_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(InputError, match=r"^hypothesis = 'missing': strategies need it: pip install hypothesis"):
        sf.testing.problems()
    assert sf.testing.assert_bound(lambda *, e0, sigma2: 1e12 + e0 + sigma2 * 1e12, conditions=limit, family=LINE).valid


def test_the_files_of_the_page_run_in_an_empty_project_and_fail_for_a_false_bound(tmp_path, monkeypatch, capsys):
    first, second = blocks(ROOT / "docs" / "howto" / "ci.md", "python")
    for source in (first, second):
        (tmp_path / source.splitlines()[0].removeprefix("# ")).write_text(source)
    wrong = first.replace("/ (2 * mu)", "/ (4 * mu)").replace("test_nothing", "test_wrong")
    assert wrong != first
    late = first.replace("timeout=300", "timeout=0.01").replace("test_nothing", "test_late")
    (tmp_path / "test_wrong.py").write_text(wrong)
    (tmp_path / "test_late.py").write_text(late)
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:faulthandler", "--import-mode=importlib"]
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # a file of settings ends the search for ours
    monkeypatch.chdir(tmp_path)
    code, out = pytest.main([*options, "--capture=no"]), capsys.readouterr().out
    assert code == 1, out
    assert "2 failed, 2 passed" in out, out
    said = " ".join(out.replace("\nE ", "\n").split())
    assert "AssertionError: bound: violated on " in said
    assert "e0 = 0.5, sigma2 = 1, T = 1: measured 0.5 > bound 0.25" in said
    assert "TimeoutError: bound is undecided after 0.01 s" in said
