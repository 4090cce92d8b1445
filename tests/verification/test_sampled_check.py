"""The check by paths: false bounds of what no exact route follows are violated, true ones valid, and it says how."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.bounds.units import THETA
from suffice.simulate import Algorithm, Draw, Quadratics, Stream
from suffice.verification import Domain, Outcome, check
from suffice.verification.families import FamilyInstance, ProblemFamily, curves

pytestmark = pytest.mark.usefixtures("brief")


@dataclass(frozen=True, kw_only=True)
class Clipped(Algorithm):
    """Steps of length eta min(|g|, level)."""

    level: float = 1.0
    name: str = "clipped"
    linear: bool = False

    def init(self, problem, models):
        return {"models": models}

    def step(self, problem, state, draw, eta):
        g = problem.stochastic_gradient(state["models"], None, draw.noise)
        size = g.norm(dim=-1, keepdim=True)
        return {"models": state["models"] - eta[..., None] * g * (self.level / size.clamp_min(self.level))}


def build(values):
    """x^2/2, one step of at most 1 from x0: e1 = (x0 - eta clip(x0 + noise))^2 / 2."""
    x0, eta = float(values["x0"]), float(values["eta"])
    problem = Quadratics.of([[[0.5]]], [[0.0]], sigma2=float(values["sigma2"]), start=[x0])
    scalars = {"eta": eta, "beta": 1.0, "e0": x0**2 / 2, "sigma2": float(values["sigma2"]), "x0": x0, "T": 1.0}
    return FamilyInstance(problem=problem, eta=eta, iterations=1, arguments=scalars)


FAMILY = ProblemFamily(
    name="one parabola",
    domains={"x0": Domain(low=0, high=4), "sigma2": Domain(low=0.5, high=2), "eta": Domain(low=0.1, high=1)},
    build=build,
    parameters={"x0": THETA},
)


def least(*, x0, eta):
    """A step moves by at most eta, so e1 <= (x0 + eta)^2 / 2: true, and attained by no mean."""
    return (x0 + eta) ** 2 / 2


def descends(*, e0):
    """False: at the minimum noise moves."""
    return e0


def test_a_false_bound_of_a_clipped_step_is_violated_and_a_true_one_valid():
    false, true = (check(bound, algorithm=Clipped(), family=FAMILY) for bound in (descends, least))
    assert false.outcome is Outcome.VIOLATED
    assert false.error_probability == 1e-6
    found = false.counterexample
    assert found is not None
    assert found["measured"] > found["bound"]
    # by quadrature: the certified number stays below the true expectation
    x0, eta = found["values"]["x0"], found["values"]["eta"]
    z, weight = np.polynomial.hermite_e.hermegauss(200)
    after = x0 - eta * np.clip(x0 + found["values"]["sigma2"] ** 0.5 * z, -1, 1)
    assert found["measured"] < (weight * after**2).sum() / weight.sum() / 2
    assert true.valid
    assert true.error_probability == 1e-6
    assert "sampled" in true.not_tried
    assert "x0" in true.tried
    loose = check(lambda *, x0, eta: (x0 + 3 * eta) ** 2 / 2, algorithm=Clipped(), family=FAMILY)
    assert loose.outcome is Outcome.VALID  # nothing refutes it, nor wrong variants of it
    assert loose.survivors


def test_what_is_met_with_probability_1_minus_delta_is_not_met_with_more():
    """e1 > (1.5 eta)^2/2 from x0 = 0 never; with eta = 1 and x0 = 0 the step is clipped with probability > 0.15."""
    family = replace(
        FAMILY, domains={**FAMILY.domains, "x0": Domain(low=0, high=1e-6), "sigma2": Domain(low=1, high=1)}
    )

    def often(*, eta, delta):
        return eta**2 * (0.3 + 0 * delta)

    # P(e1 > 0.3 eta^2) = P(|noise| > sqrt(0.6)) = 0.4386
    assert check(often, algorithm=Clipped(level=9.0), family=family, delta=0.5).valid
    assert check(often, algorithm=Clipped(level=9.0), family=family, delta=0.4).outcome is Outcome.VIOLATED


def test_a_loss_with_a_kink_needs_no_algorithm_of_its_own():
    def one_step(*, e0, eta, mu, beta, sigma2, T):
        return (1 - eta * mu) ** T * e0 + T * eta**2 * beta * sigma2 / 4

    verdict = check(one_step, conditions=lambda *, eta, beta: {"step": (eta, 1 / beta)}, family=curves(longest=2))
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)


def no_curvature(*, eta, distance2, sigma2, T):
    """With <x, g> >= e and |g|^2 <= 2 beta e: |x|^2 falls by 2 eta e at least, and eta^2 sigma2 is added."""
    return distance2 / (2 * eta * T) + eta * sigma2 / 2


def of_quadratics(*, eta, distance2, sigma2, T):
    """There <x, g> = 2 e; not on Huber's loss."""
    return distance2 / (4 * eta * T) + eta * sigma2 / 2


def three_quarters(*, eta, beta, e0, sigma2, T):
    """Of 2 e0/(eta T), which is attained near the bottom of a well (Ghadimi, Lan 2013)."""
    return 1.5 * e0 / (eta * T) + eta * beta * sigma2


@pytest.mark.parametrize(
    ("kind", "quantity", "bound", "valid"),
    [
        pytest.param("huber", "random_iterate_excess", no_curvature, True, marks=pytest.mark.slow),
        ("huber", "random_iterate_excess", of_quadratics, False),
        ("well", "average_gradient", three_quarters, False),
    ],
)
def test_losses_without_strong_convexity_are_at_hand(kind, quantity, bound, valid):
    verdict = check(
        bound, conditions=lambda *, eta, beta: {"step": (eta, 1 / beta)}, quantity=quantity,
        family=curves(kind, longest=8),
    )  # fmt: skip
    assert (verdict.valid, verdict.outcome is Outcome.VIOLATED) == (valid, not valid), str(verdict)


@dataclass(frozen=True, kw_only=True)
class Mixing(Clipped):
    """Every seed moves to the mean of all of them: its paths are not independent."""

    def step(self, problem, state, draw, eta):
        return {
            "models": super()
            .step(problem, state, draw, eta)["models"]
            .mean(0, keepdim=True)
            .expand(len(draw.noise), -1, -1)
        }


def test_what_samples_cannot_say_is_not_concluded():
    verdict = check(least, algorithm=Mixing(), family=FAMILY)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "depend on each other" in verdict.reason
    lower = check(lambda *, e0: 9 + e0, direction="lower", algorithm=Clipped(), family=FAMILY)
    assert lower.outcome is not Outcome.VIOLATED
    assert "samples cannot refute a lower bound" in lower.not_tried


@pytest.mark.parametrize(
    ("options", "name"),
    [({"delta": 0.0}, "delta"), ({"delta": "often"}, "delta"), ({"family": curves(), "client": 3}, "client")],
)
def test_bad_arguments_are_refused_in_one_line(options, name):
    with pytest.raises(InputError) as refused:
        check(descends, algorithm=Clipped(), **options)
    assert refused.value.field == name
    assert "\n" not in str(refused.value)


def test_a_declared_parameter_needs_a_name_and_a_family():
    with pytest.raises(InputError, match=r"parameters=\{NAME: None\}"):
        check(least, algorithm=Clipped())
    with pytest.raises(InputError, match="give names with units or None"):
        replace(FAMILY, parameters={"not a name": None})


@dataclass(frozen=True, kw_only=True)
class SignOfOne(Algorithm):
    """One of two entries, drawn with a fair coin, moves by eta against the sign of its slope."""

    name: str = "sign-of-one"
    linear: bool = False

    def init(self, problem, models):
        return {"models": models}

    def draw(self, problem, randomness, iteration):
        u = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=1, features=1)
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration), extra={"first": u < 0.5})

    def outcomes(self, problem, iteration):
        return [(0.5, {"first": torch.full((1, 1, 1), kept)}) for kept in (True, False)]

    def step(self, problem, state, draw, eta):
        kept = torch.cat((draw.extra["first"], ~draw.extra["first"]), -1)
        g = problem.stochastic_gradient(state["models"], None, draw.noise)
        return {"models": state["models"] - eta[..., None] * kept * g.sign()}


def test_where_outcomes_are_few_a_lower_bound_off_by_a_thousandth_is_violated():
    """From (2, 3) with eta T < 2 each entry moves by eta K, K binomial: no sample refutes a lower bound."""
    family = ProblemFamily(
        name="two entries",
        domains={"eta": Domain(low=0.1, high=0.3), "T": Domain(low=1, high=6, integer=True)},
        build=lambda values: FamilyInstance(
            problem=Quadratics.of([np.diag([0.5, 1.0])], np.zeros((1, 2)), sigma2=0.0, start=[2.0, 3.0]),
            eta=float(values["eta"]), iterations=int(values["T"]),
        ),
    )  # fmt: skip

    def false(*, eta, T):
        return (13 - 5 * eta * T + eta**2 * (T + T**2) / 2) * 1.001  # the factor is the fault

    verdict = check(false, direction="lower", algorithm=SignOfOne(), family=family, quantity="last_distance")
    assert verdict.outcome is Outcome.VIOLATED, str(verdict)
    assert verdict.worst_ratio == pytest.approx(1.001, rel=1e-10)
    assert verdict.error_probability == 0
    assert verdict.counterexample is not None
    assert verdict.counterexample["digits"] == 15
    assert "with up to 4,096 sequences of outcomes and no noise all were followed" in verdict.not_tried
