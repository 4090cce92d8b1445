"""The runner: reproducible paths, steps that depend on time, hitting times, errors, traces on disk."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from paths import D, N, built, parts

import suffice as sf
from suffice.bounds import Binary, Continuous, InputError
from suffice.simulate import Randomness, Stream, block_size

T = 30
ALPHA = np.random.default_rng(20).uniform(0, 0.4, (N, N)) * (1 - np.eye(N, k=2))
RULES = {
    "local": sf.Local(),
    "binary": sf.AllForOne(criterion=Binary(threshold=0.6)),
    "continuous": sf.AllForOne(criterion=Continuous()),
    "fixed": sf.FixedWeights(alpha=torch.from_numpy(ALPHA)),
}


def test_steps_that_depend_on_time_are_those_of_a_plain_loop():
    (A, xi, sigma2, start), eta = parts(), lambda t: 0.3 / (2 + t)
    trace = sf.run(built(), sf.Local(), iterations=T, eta=eta, seeds=range(70, 73), root=4)
    for row, seed in enumerate((70, 71, 72)):
        theta, randomness = start.copy(), Randomness(seeds=torch.tensor([seed]), root=4)
        for t in range(T + 1):
            if t > 0:
                z = randomness.normal(iteration=t, stream=Stream.NOISE, clients=N, features=D)[0].numpy()
                gradient = 2 * np.einsum("kde,ke->kd", A, theta + xi) + np.sqrt(sigma2 / D)[:, None] * z
                theta = theta - eta(t) * gradient
            expected = np.einsum("kd,kde,ke->k", theta + xi, A, theta + xi)
            # contraction keeps roundings from growing over 30 steps
            np.testing.assert_allclose(trace.excess[row, t], expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_array_equal(trace.seeds, [70, 71, 72])


@pytest.mark.share(2)
@pytest.mark.parametrize("kernel", ["auto", "reference"])
@pytest.mark.parametrize("rule", RULES)
def test_paths_are_bitwise_the_same_in_any_range(rule, kernel):
    problem, size = built(), block_size(N, D, torch.float64)
    setting = {"iterations": 8, "eta": 0.1, "kernel": kernel}
    together = sf.run(problem, RULES[rule], seeds=size + 40, **setting)
    for part in (range(1), range(3, 5), range(size - 2, size + 3), range(size + 39, size + 40), range(10, 0, -3)):
        alone = sf.run(problem, RULES[rule], seeds=part, **setting)
        np.testing.assert_array_equal(alone.excess, together.excess[list(part)])
    sparse = sf.run(problem, RULES[rule], seeds=3, grid=[8, 2], **setting)
    np.testing.assert_array_equal(sparse.excess, together.excess[:3, [2, 8]])
    np.testing.assert_array_equal(sparse.iterations, [2, 8])


def test_block_size_is_64_at_twenty_clients_and_always_a_power_of_two():
    assert block_size(20, 2, torch.float64) == block_size(20, 10, torch.float64) == 64
    kinds = (torch.float32, torch.float64)
    sizes = [block_size(n, d, kind) for n in (1, 3, 50, 2000) for d in (1, 300) for kind in kinds]
    assert all(size >= 1 and size & (size - 1) == 0 for size in sizes)


BAD = {
    "eta": [0.0, np.nan, np.inf, [0.1, 0.1], np.full(N, -1.0), [0.1, [0.1]], ["a"] * N, {"a": 0.1}],
    "epsilon": [[0.1, [0.1]], "a", float("nan"), [0.1, 0.1]],
    "weights": [[0, [1]], ["a"], 0.5, [0.5]],
    "grid": [[0, [1]], "a", [None], [np.nan], [0, 5], [-1, 2], [], [0, 1.5]],
    "iterations": [2.0, "a", True, 0],
    "seeds": [0, 3.0, range(-1, 3), range(2**32 - 1, 2**32 + 1)],
    "root": [2**32],
}
"""Values that each argument may not have."""
OF_TIMES = ("eta", "epsilon", "seeds", "root")
ASKED = {
    sf.run: {"iterations": 4, "eta": 0.1, "seeds": 2},
    sf.hitting_times: {"epsilon": 0.1, "limit": 3, "eta": 0.1, "seeds": 2},
    sf.expected_excess: {"iterations": 4, "eta": 0.1},
}


@pytest.mark.parametrize(("field", "value"), [(field, value) for field, values in BAD.items() for value in values])
def test_bad_requests_are_named(field, value):
    exact = field == "eta" or (field == "iterations" and value != 0)
    for call in (sf.run, *[sf.hitting_times] * (field in OF_TIMES), *[sf.expected_excess] * exact):
        with pytest.raises(InputError) as caught:
            call(built(), sf.Local(), **ASKED[call] | {field: value})
        assert caught.value.field == field


def test_steps_that_turn_bad_later_and_runs_that_are_too_long_are_named():
    for eta in (lambda t: 0.2 - 0.1 * t, lambda t: [0.1, [0.1]]):
        with pytest.raises(InputError, match=r"^eta"):
            sf.run(built(), sf.Local(), iterations=4, eta=eta, seeds=2)
    with pytest.raises(InputError, match=r"^grid"):
        sf.run(built(), sf.Local(), iterations=10**6, eta=0.1, seeds=10**3)
    with pytest.raises(InputError, match=r"^limit"):
        sf.hitting_times(built(), sf.Local(), epsilon=0.1, limit=0, eta=0.1, seeds=2)


def test_trace_survives_the_disk_and_leaves_nothing_else_behind(tmp_path, monkeypatch):
    trace = sf.run(built(), sf.Local(), iterations=4, eta=0.1, seeds=range(5, 9), grid=[0, 3])
    trace.save(tmp_path / "trace.npz")
    loaded = sf.Trace.load(tmp_path / "trace.npz")
    assert loaded.algorithm == "local"
    for name in ("excess", "iterations", "seeds", "oracle_calls", "vectors_sent"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(trace, name))
    np.testing.assert_allclose(loaded.mean(), sum(trace.excess) / 4, rtol=1e-14)

    def full_disk(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.raises(OSError, match="no space"):
        trace.save(tmp_path / "trace.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["trace.npz"]
    np.testing.assert_array_equal(sf.Trace.load(tmp_path / "trace.npz").excess, trace.excess)


def test_trace_refuses_object_arrays(tmp_path):
    np.savez(tmp_path / "bad.npz", excess=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        sf.Trace.load(tmp_path / "bad.npz")


class Unsaid(sf.Local):
    def __getattribute__(self, name):
        if name == "linear":
            raise AttributeError(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize("given", ["local", sf.Local, None, [sf.Local()], Unsaid()])
def test_what_is_no_algorithm_is_named(given):
    for call, request in ASKED.items():
        with pytest.raises(InputError, match=r"^algorithm = .*: (give an (algorithm|instance: Local)|say linear)"):
            call(built(), given, **request)


@pytest.mark.parametrize(
    ("field", "problems"),
    [("seeds", [built()] * 3), ("problem", [built(), sf.Quadratics.of(np.eye(D)[None], np.ones((1, D)), sigma2=1.0)])],
)
def test_problems_of_seeds_are_as_many_and_of_one_shape(field, problems):
    for call in (sf.run, sf.hitting_times):
        with pytest.raises(InputError) as caught:
            call(problems, sf.Local(), **ASKED[call])
        assert caught.value.field == field


@pytest.mark.skipif(not torch.cuda.is_available(), reason="torch sees no CUDA device")
@pytest.mark.parametrize("rule", ["local", "binary", "continuous"])
def test_paths_on_a_gpu_are_those_on_the_cpu(rule):
    here, there = (sf.run(problem, RULES[rule], iterations=T, eta=0.05, seeds=64).excess
                   for problem in (built(), built().to(torch.float64, "cuda")))  # fmt: skip
    np.testing.assert_allclose(there, here, rtol=1e-9)  # 30 steps, each of at most a thousand roundings
