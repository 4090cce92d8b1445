"""What exact moments assume of an algorithm is found wanting where it fails, and cycles are found where they are."""

from __future__ import annotations

import re

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


class Decreasing(Own):
    def step(self, problem, state, draw, eta):
        return {"models": self.moved(problem, state["models"], draw, eta / draw.iteration)}


class WarmUp(Own):
    """A step that changes once, after 500 iterations."""

    def step(self, problem, state, draw, eta):
        return {"models": self.moved(problem, state["models"], draw, eta if draw.iteration > 500 else eta / 2)}


class Scaffold(Own):
    """Four local steps with control variates, then an average: it depends on t, and does not say so."""

    def init(self, problem, models):
        return {"models": models, "control": torch.zeros_like(models)}

    def step(self, problem, state, draw, eta):
        theta, control = state["models"], state["control"]
        theta = self.moved(problem, theta, draw, eta) + eta[..., None] * control
        if draw.iteration % 4:
            return {"models": theta, "control": control}
        mean = theta.mean(1, keepdim=True).expand_as(theta)
        return {"models": mean, "control": control + (mean - theta) / (4 * eta[..., None])}


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


class HeldForThree(Coin):
    def drawn(self, t):
        return t - (t - 1) % 3


class Remembered(Coin):
    def draw(self, problem, randomness, iteration):
        one, two = (super(Remembered, self).draw(problem, randomness, t) for t in (iteration, iteration - 1))
        return Draw(iteration=iteration, noise=one.noise, extra={"coin": one.extra["coin"] | two.extra["coin"]})

    odds = 0.75


class WrongOdds(Coin):
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


class SecondSample(Own):
    def draw(self, problem, randomness, iteration):
        noise = [problem.draw(randomness, 2 * iteration + half) for half in range(2)]
        return Draw(iteration=iteration, noise=noise[0], extra={"second": noise[1]})


class Clipped(Own):
    def step(self, problem, state, draw, eta):
        theta = state["models"]
        gradient = problem.stochastic_gradient(theta, None, draw.noise)
        return {"models": theta - eta[..., None] * gradient.clamp(-0.5, 0.5)}


class NoiseOnly(Own):
    """Affine in the state, not in the noise."""

    def step(self, problem, state, draw, eta):
        noise = draw.noise[:, :, 0]
        return {"models": state["models"] * 0.9 + noise * noise.abs()}


class OtherNoise(Own):
    """Noise of twice the size that the problem knows."""

    def draw(self, problem, randomness, iteration):
        return Draw(iteration=iteration, noise=2 * problem.draw(randomness, iteration))


class InPlace(Own):
    def step(self, problem, state, draw, eta):
        theta = state["models"]
        theta -= eta[..., None] * problem.stochastic_gradient(theta, None, draw.noise)
        return {"models": theta}


class OwnRandomness(Own):
    def step(self, problem, state, draw, eta):
        theta = self.moved(problem, state["models"], draw, eta)
        return {"models": theta + 0.01 * torch.randn_like(theta)}


class Counting(Own):
    calls = 0

    def step(self, problem, state, draw, eta):
        self.calls += 1
        return {"models": self.moved(problem, state["models"], draw, eta * (self.calls % 3 > 0))}


class NotANumber(Own):
    def step(self, problem, state, draw, eta):
        return {"models": state["models"] * float("nan")}


class Imaginary(Own):
    def step(self, problem, state, draw, eta):
        return {"models": state["models"] * 1j}


class NoStart(Own):
    def init(self, problem, models):
        return {"models": models[..., 5]}


class NoDraw(Own):
    def draw(self, problem, randomness, iteration):
        return problem.draw(randomness, iteration)


class Broken(Own):
    def step(self, problem, state, draw, eta):
        return {"models": state["velocity"]}


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
        (Scaffold(), [(1,), (1,), (1,), (4,)]),
        (HeldForThree(), [(1, 1, 1)]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_cycles_are_found_whatever_an_algorithm_declares(algorithm, blocks):
    found = assumptions(network(), algorithm, 0.1)
    assert found.reason == ""
    assert found.periodic
    assert found.cycle == Cycle(blocks=tuple(Block(iterations=block) for block in blocks))


@pytest.mark.parametrize("algorithm", [Decreasing(), WarmUp()], ids=lambda value: type(value).__name__)
def test_a_step_that_never_repeats_is_probed_at_each_iteration(algorithm):
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
        (WrongOdds(), r"outcome \d of `outcomes` in 0\.\d+ of its paths where 0\.\d+ is listed"),
        (TwoSamples(), r"noise of shape \(3, 2, 2\) instead of \(3, 1, 2\)"),
        (SecondSample(), r"differ in 'second'"),
        (Clipped(), r"not affine in the state"),
        (NoiseOnly(), r"not affine in the noise"),
        (OtherNoise(), r"standard errors away"),
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
        (InPlace(), "its `step` changes its arguments"),
        (OwnRandomness(), "two calls of its `step` with the same arguments differ"),
        (Counting(), "two calls of its `step` with the same arguments differ"),
        (NotANumber(), "its state 'models' is not a tensor of finite real numbers"),
        (Imaginary(), "its state 'models' is not a tensor of finite real numbers"),
        (NoStart(), r"its `init` fails \(IndexError: index 5"),
        (NoDraw(), "its `draw` returns Tensor: return a Draw"),
        (Broken(), r"its `step` fails at t = 1 \(KeyError: 'velocity'\)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_faults_of_an_algorithm_are_told_in_one_line(algorithm, named):
    with pytest.raises(InputError, match=f"^algorithm = 'own': {named}"):
        assumptions(network(), algorithm, 0.1)
