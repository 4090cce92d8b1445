"""Every algorithm can be asked for by name; a wrong name or option is answered with the right ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from suffice.bounds import InputError
from suffice.simulate import ALGORITHMS, FedAvg, LeastSquares, Local, LocalSGD, Quadratics, algorithm, run, seed_blocks
from suffice.simulate.catalogue import options_of


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of seeds run whole, and of clients this few one holds hundreds."""
    monkeypatch.setattr(seed_blocks, "_LARGEST_BLOCK", 16)


def problem() -> Quadratics:
    xi = np.repeat(np.array([[1.0, 0.0], [0.0, 2.0]]), 3, axis=0)
    return Quadratics.of(np.stack([np.eye(2) / 2] * 6), xi, sigma2=0.5, start=[3.0, -2.0])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_algorithm_runs_with_its_defaults_and_makes_progress(name):
    trace = run(problem(), algorithm(name, problem(), eta=0.3), iterations=40, eta=0.3, seeds=8, grid=[0, 40])
    assert np.isfinite(trace.excess).all()
    assert trace.mean()[1].mean() < 0.5 * trace.mean()[0].mean()
    assert trace.oracle_calls[1] >= 6 * 40


@pytest.mark.parametrize(("name", "option"), [(name, option) for name in ALGORITHMS for option in options_of(name)])
def test_each_option_is_taken_at_its_default(name, option):
    needed = {"samples": {"similarity": "sampled"}, "horizon": {"sampling": "mixed", "horizon": 50}}
    options = {option: options_of(name)[option]} | needed.get(option, {})
    assert type(algorithm(name, problem(), eta=0.3, **options)) is type(algorithm(name, problem(), eta=0.3))


def test_options_reach_the_algorithm():
    chosen = algorithm("local-sgd", problem(), eta=0.1, period=5.0)
    assert isinstance(chosen, LocalSGD)
    assert chosen.period == 5
    assert isinstance(algorithm("local", problem(), eta=0.1), Local)
    rows = LeastSquares.of([np.ones((2, 1)), np.ones((5, 1))], [np.ones(2), np.ones(5)])
    assert getattr(algorithm("fedavg", rows, eta=0.1, sizes="rows"), "sizes").tolist() == [2, 5]  # noqa: B009
    weights = algorithm("all-for-one-fixed", problem(), eta=0.1, epsilon=0.1)
    expected = torch.block_diag(*torch.full((2, 3, 3), 1 / 3, dtype=torch.float64))
    torch.testing.assert_close(getattr(weights, "alpha"), expected, rtol=1e-14, atol=0)  # noqa: B009


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("locale", {}, r"^algorithm = 'locale': did you mean local\? There are local, all-for-one"),
        ("local", {"period": 2}, r"^period = 2: local takes no options"),
        ("fedavg", {"perod": 2}, r"^perod = 2: fedavg takes period, participants, fine_tune_after"),
        ("fedavg", {"sizes": "rows"}, r"^sizes = 'rows': use equal or, where clients have rows, rows"),
        ("fedavg", {"period": 2.5}, r"^period = 2\.5: give a whole number"),
        ("fedavg", {"period": np.inf}, r"^period = inf: give a whole number"),
        ("ifca", {"clusters": 0}, r"^clusters = 0: give a whole number, at least 1"),
        ("fedavg", {"period": "often"}, r"^period = 'often': give a number"),
        ("all-for-one", {"criterion": 3.0}, r"^criterion = 3\.0: give a word"),
        ("cobo", {"sampling": "mixed"}, r"^horizon = None: mixed sampling needs the number of iterations"),
        ("cobo", {"horizon": 100}, r"^horizon = 100: only sampling = mixed has it; drop it"),
        ("all-for-one", {"samples": 4}, r"^samples = 4: only similarity = sampled or debiased has it"),
        ("all-for-one", {"criterion": "sharp", "threshold": 0.5}, r"^threshold = 0\.5: only criterion = binary has it"),
    ],
)
def test_wrong_names_and_options_are_refused_by_name(name, options, message):
    with pytest.raises(InputError, match=message):
        algorithm(name, problem(), eta=0.1, **options)


@pytest.mark.parametrize("some", [(1, 10), [2, 3]])
def test_an_interval_of_periods_is_told_where_it_goes(some):
    with pytest.raises(InputError, match=r"at least 1 \(an interval is given to sf\.check\(period=\(1, 10\)\)\)$"):
        FedAvg(period=some)
    with pytest.raises(InputError, match=r"at least 1$"):
        FedAvg(period=0)


@pytest.mark.parametrize("name", ["all-for-one-fixed", "all-for-all"])
def test_equal_hessians_are_recognised_whatever_their_inverse_is_rounded_to(name):
    A = np.array([[2.0, 0.3], [0.3, 0.7]])
    rounded = A @ np.linalg.inv(A) - np.eye(2)
    assert rounded.any()
    stack = Quadratics.of(np.stack([A] * 3), np.zeros((3, 2)), sigma2=0.5, start=[3.0, -2.0])
    chosen = algorithm(name, stack, eta=0.1)
    weights = getattr(chosen, "Lambda" if name == "all-for-all" else "alpha")
    torch.testing.assert_close(weights, torch.full((3, 3), 1 / 3, dtype=torch.float64), rtol=1e-14, atol=0)
