"""What a run keeps on request: weights, cluster sizes, stopping times; nothing of it changes the paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from suffice.bounds import Binary, InputError
from suffice.simulate import (
    AllForOne,
    Local,
    Quadratics,
    Randomness,
    SampledSimilarity,
    block_size,
    hitting_times,
    run,
)

N, D, T = 4, 2, 6
RULE = AllForOne(criterion=Binary(threshold=0.5), similarity=SampledSimilarity(samples=2), normalised=True)


def built() -> Quadratics:
    rng = np.random.default_rng(90)
    return Quadratics.of(np.tile(np.eye(D), (N, 1, 1)), 0.4 * rng.normal(size=(N, D)), sigma2=0.5, start=np.ones(D))


def by_hand(seeds: int, root: int = 0) -> np.ndarray:
    """The weights of iterations 1..T, (S, T, N, N), by following the rule."""
    problem, source = built(), Randomness(seeds=torch.arange(seeds), root=root)
    state, kept = RULE.init(problem, problem.start.expand(seeds, -1, -1)), []
    for t in range(1, T + 1):
        draw = RULE.draw(problem, source, t)
        kept.append(RULE.collaboration(problem, state, draw))
        state = RULE.step(problem, state, draw, torch.tensor(0.1, dtype=torch.float64))
    return torch.stack(kept, dim=1).numpy()


def test_recorded_weights_are_those_of_the_steps():
    seeds = block_size(N, D, torch.float64) + 5  # two blocks
    expected = by_hand(seeds)
    chosen: Any = run(built(), RULE, iterations=T, eta=0.1, seeds=seeds, grid=[0, 2, 6], weights=[seeds - 1, 0])
    np.testing.assert_array_equal(chosen.weight_seeds, [seeds - 1, 0])
    assert np.isnan(chosen.weights[:, 0]).all()
    np.testing.assert_allclose(chosen.weights[:, 1:], expected[[seeds - 1, 0]][:, [1, 5]], rtol=1e-12)


def test_the_models_after_the_last_iteration_are_kept_whatever_the_grid(monkeypatch):
    seeds = block_size(N, D, torch.float64) + 5  # two blocks
    setting: dict[str, Any] = {"iterations": T, "eta": 0.1, "seeds": range(3, seeds)}
    kept = run(built(), RULE, grid=[2], models=True, **setting).models
    assert kept.shape == (seeds - 3, N, D)
    last = run(built(), RULE, **setting).excess[:, -1]
    # the losses of the run are the kernel's, those of the models torch's: a few roundings
    np.testing.assert_allclose(built().excess(torch.from_numpy(kept)).numpy(), last, rtol=1e-14)
    assert run(built(), RULE, **setting).models is None
    monkeypatch.setattr("suffice.simulate.recorder._LARGEST", seeds * N)
    with pytest.raises(InputError, match=r"^models = "):
        run(built(), RULE, grid=[2], models=True, **setting)


def test_stopping_times_do_not_depend_on_the_grid():
    epsilon = np.array([0.3, 1e-9, 100.0, 0.1])
    sparse = run(built(), Local(), iterations=20, eta=0.1, seeds=30, root=2, grid=[20], epsilon=epsilon)
    every = run(built(), Local(), iterations=20, eta=0.1, seeds=30, root=2)
    below = every.excess < epsilon
    first = np.where(below.any(1), below.argmax(1), np.inf)
    np.testing.assert_array_equal(sparse.stopping_times, first)
    alone = hitting_times(built(), Local(), epsilon=epsilon, limit=20, eta=0.1, seeds=30, root=2)
    np.testing.assert_array_equal(sparse.stopping_times, alone)
    assert np.isinf(sparse.stopping_times[:, 1]).all()
    assert (sparse.stopping_times[:, 2] == 0).all()
    assert 0 < sparse.stopping_times[:, 0].min() < sparse.stopping_times[:, 0].max() < np.inf


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("weights", {"weights": "all"}),
        ("weights", {"weights": [0, 7]}),
        ("weights", {"weights": [1, 1]}),
        ("weights", {"weights": []}),
        ("weights", {"algorithm": Local(), "weights": [0]}),
        ("weights", {"seeds": 3000, "iterations": 10**4, "weights": list(range(3000)), "grid": range(10**4)}),
        ("epsilon", {"epsilon": 0.0}),
        ("epsilon", {"epsilon": [0.1]}),
    ],
)
def test_bad_requests_are_named(field, change):
    request = {"algorithm": RULE, "iterations": 2, "seeds": 3} | change
    with pytest.raises(InputError) as caught:
        run(built(), eta=0.1, **request)
    assert caught.value.field == field
