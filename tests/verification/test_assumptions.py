"""What exact moments assume of an algorithm is found wanting where it fails, and cycles are found where they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from one_line import one_line

from suffice.bounds import InputError
from suffice.simulate import Algorithm, FedAvg, Local, LocalSGD, Quadratics, Scaffnew, run
from suffice.simulate.algorithms.algorithm import Draw
from suffice.simulate.moment_powers import Block, Cycle, MomentPowers
from suffice.simulate.randomness import Stream
from suffice.verification import Outcome, check
from suffice.verification.assumptions import assumptions

pytestmark = pytest.mark.usefixtures("brief")


class Own(Algorithm):
    """What people write: no phase, no outcomes unless a case adds them."""

    name = "own"
    linear = True

    def init(self, problem, models):
        return {"models": models}

    def moved(self, problem, theta, draw, eta):
        return theta - eta[..., None] * problem.stochastic_gradient(theta, None, draw.noise)

    def step(self, problem, state, draw, eta):
        return {"models": self.moved(problem, state["models"], draw, eta)}


class Coin(Own):
    """Everybody steps or nobody does; `drawn` says from which iteration the coin comes."""

    odds = 0.5

    def drawn(self, t):
        return t

    def draw(self, problem, randomness, iteration):
        u = randomness.uniform(iteration=self.drawn(iteration), stream=Stream.COIN, clients=1, features=1)[:, 0, 0]
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration), extra={"coin": u < 0.5})

    def outcomes(self, problem, iteration):
        return [(self.odds, {"coin": torch.tensor([True])}), (1 - self.odds, {"coin": torch.tensor([False])})]

    def step(self, problem, state, draw, eta):
        moved = self.moved(problem, state["models"], draw, eta)
        return {"models": torch.where(draw.extra["coin"][:, None, None], moved, state["models"])}


class Remembered(Coin):
    def draw(self, problem, randomness, iteration):
        one, two = (super(Remembered, self).draw(problem, randomness, t) for t in (iteration, iteration - 1))
        return Draw(iteration=iteration, noise=one.noise, extra={"coin": one.extra["coin"] | two.extra["coin"]})

    odds = 0.75


class TwoSamples(Own):
    def draw(self, problem, randomness, iteration):
        noise = [problem.draw(randomness, 2 * iteration + half) for half in range(2)]
        return Draw(iteration=iteration, noise=torch.cat(noise, dim=2))

    def step(self, problem, state, draw, eta):
        theta = state["models"]
        for half in range(2):
            part = Draw(iteration=draw.iteration, noise=draw.noise[:, :, half : half + 1])
            theta = self.moved(problem, theta, part, eta)
        return {"models": theta}


def own(name: str, kind: type[Own] = Own, **methods: Any) -> Any:
    """One with other methods, or another number, under a name of its own."""
    return type(name, (kind,), methods)()


def after(change: Callable[..., Any]) -> Callable[..., Any]:
    """A step that gives these models, from the own ones, noise (S, N, d), t and the step size."""

    def step(self, problem, state, draw, eta):
        gradient = problem.stochastic_gradient(state["models"], None, draw.noise)
        return {"models": change(state["models"], eta[..., None], gradient, draw)}

    return step


def second(self, problem, randomness, iteration):
    one, two = (problem.draw(randomness, 2 * iteration + half) for half in range(2))
    return Draw(iteration=iteration, noise=one, extra={"second": two})


def louder(self, problem, randomness, iteration):
    return Draw(iteration=iteration, noise=2 * problem.draw(randomness, iteration))


STEPS = {
    "Decreasing": after(lambda x, eta, g, draw: x - eta * g / draw.iteration),
    "WarmUp": after(lambda x, eta, g, draw: x - eta * g / (1 + (draw.iteration <= 500))),  # it changes once
    "Means": after(
        lambda x, eta, g, draw: (x - eta * g) if draw.iteration % 4 else (x - eta * g).mean(1, True) + 0 * x
    ),
    "Clipped": after(lambda x, eta, g, draw: x - eta * g.clamp(-0.5, 0.5)),
    "NoiseOnly": after(lambda x, eta, g, draw: x * 0.9 + draw.noise[:, :, 0] * draw.noise[:, :, 0].abs()),
    "Folded": after(lambda x, eta, g, draw: (x - eta * g).abs()),
    "NoiseOfOne": after(lambda x, eta, g, draw: x * 0.9 + (draw.noise[:, :, 0] ** 2) * torch.eye(3)[1, :, None]),
    "NotANumberAtRest": after(lambda x, eta, g, draw: x * 0.9 + draw.noise[:, :, 0] ** 2 / draw.noise[:, :, 0]),
    "InPlace": after(lambda x, eta, g, draw: x.sub_(eta * g)),
    "OwnRandomness": after(lambda x, eta, g, draw: x - eta * g + 0.01 * torch.randn_like(x)),
    "NotANumber": after(lambda x, eta, g, draw: x * float("nan")),
    "Imaginary": after(lambda x, eta, g, draw: x * 1j),
    "Broken": lambda self, problem, state, draw, eta: {"models": state["velocity"]},
}
"""By the name of what is wrong with them, or changes."""
OTHERS = {name: own(name, step=step) for name, step in STEPS.items()} | {
    "WrongOdds": own("WrongOdds", Coin, odds=0.75),
    "HeldForThree": own("HeldForThree", Coin, drawn=lambda self, t: t - (t - 1) % 3),
    "SecondSample": own("SecondSample", draw=second),
    "OtherNoise": own("OtherNoise", draw=louder),
    "NoStart": own("NoStart", init=lambda self, problem, models: {"models": models[..., 5]}),
    "NoDraw": own("NoDraw", draw=lambda self, problem, randomness, iteration: problem.draw(randomness, iteration)),
}


class Counting(Own):
    calls = 0

    def step(self, problem, state, draw, eta):
        self.calls += 1
        return {"models": self.moved(problem, state["models"], draw, eta * (self.calls % 3 > 0))}


def network() -> Quadratics:
    H = np.stack([np.diag([0.2, 0.9]), np.diag([0.5, 0.4]), np.diag([0.3, 1.0])])
    return Quadratics.of(H, [[0, 1.0], [2, 0.3], [-1, 0]], sigma2=[1.0, 2.0, 3.0], start=[1.0, 1.0])


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("algorithm", "blocks"),
    [
        (Local(), [(1,)]),
        (LocalSGD(period=3), [(1,), (1,), (3,)]),
        (FedAvg(period=7), [*[(1,)] * 6, (7,)]),
        (FedAvg(participants=2), [(1,)]),
        (Scaffnew(p=0.3), [(1,)]),
        (Scaffnew(p=1.0), [(1,)]),  # what is certain is not held
        (OTHERS["Means"], [(1,), (1,), (1,), (4,)]),
        (OTHERS["HeldForThree"], [(1, 1, 1)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_cycles_are_found_whatever_an_algorithm_declares(algorithm, blocks):
    found = assumptions(network(), algorithm, 0.1)
    assert found.reason == ""
    assert found.periodic
    assert found.cycle == Cycle(blocks=tuple(Block(iterations=block) for block in blocks))


@pytest.mark.parametrize("name", ["Decreasing", "WarmUp"])
def test_a_step_that_never_repeats_is_probed_at_each_iteration(name):
    algorithm = OTHERS[name]
    found = assumptions(network(), algorithm, 0.1)
    assert (found.reason, found.periodic) == ("", False)
    powers = MomentPowers(network(), algorithm, eta=0.1, cycle=found.cycle)
    trace = run(network(), algorithm, iterations=9, eta=0.1, seeds=4096)
    for client in range(3):
        gap = abs(trace.mean()[9, client] - powers.excess(9, client)[0])
        assert gap < 6 * trace.standard_error()[9, client]


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("algorithm", "named"),
    [
        (Remembered(), r"outcomes at t = 2 and t = 1 depend on each other"),
        (OTHERS["WrongOdds"], r"outcome \d of `outcomes` in 0\.\d+ of its paths where 0\.\d+ is listed"),
        (TwoSamples(), r"noise of shape \(3, 2, 2\) instead of \(3, 1, 2\)"),
        (OTHERS["SecondSample"], r"differ in 'second'"),
        (OTHERS["Clipped"], r"not affine in the state"),
        (OTHERS["Folded"], r"not affine in the state"),
        (OTHERS["NoiseOnly"], r"not affine in the noise"),
        (OTHERS["NoiseOfOne"], r"not affine in the noise"),
        (OTHERS["NotANumberAtRest"], r"not affine in the noise"),
        (OTHERS["OtherNoise"], r"standard errors away"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_exact_moments_cannot_see_makes_a_verdict_inconclusive(algorithm, named):
    found = assumptions(network(), algorithm, 0.1)
    assert re.search(named, found.reason)
    verdict = check(lambda *, e0, sigma2: e0 + sigma2, algorithm=algorithm)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert not verdict.valid
    assert re.search(named, one_line(verdict))
    assert "\n" not in verdict.reason


@pytest.mark.parametrize(
    ("algorithm", "named"),
    [
        (OTHERS["InPlace"], "its `step` changes its arguments"),
        (OTHERS["OwnRandomness"], "two calls of its `step` with the same arguments differ"),
        (Counting(), "two calls of its `step` with the same arguments differ"),
        (OTHERS["NotANumber"], "its state 'models' is not a tensor of finite real numbers"),
        (OTHERS["Imaginary"], "its state 'models' is not a tensor of finite real numbers"),
        (OTHERS["NoStart"], r"its `init` fails \(IndexError: index 5"),
        (OTHERS["NoDraw"], "its `draw` returns Tensor: return a Draw"),
        (OTHERS["Broken"], r"its `step` fails at t = 1 \(KeyError: 'velocity'\)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_faults_of_an_algorithm_are_told_in_one_line(algorithm, named):
    with pytest.raises(InputError, match=f"^algorithm = 'own': {named}"):
        assumptions(network(), algorithm, 0.1)
