"""Files from which killed runs go on: whose they are, what damaged ones say, and kills at any moment."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch
from small_networks import LABELS, X, network
from torch import nn

import suffice as sf
from suffice.simulate import FedAvg, algorithm, checkpoint, seed_blocks


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch, tmp_path):
    monkeypatch.setattr(seed_blocks, "_LARGEST_BLOCK", 4)
    monkeypatch.chdir(tmp_path)


class Zero(nn.Module):
    """Starts at zero, where every activation of these agrees."""

    def __init__(self, act):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(5, 4), nn.Linear(4, 3), act
        for part in self.parameters():
            nn.init.zeros_(part)

    def forward(self, x):
        return self.b(self.act(self.a(x)))


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        return gradient / 2


def schedule(t):
    return 0.3


def bumped(t):
    return 0.2 if t == 3 else 0.3  # as `schedule` at 1, 6 and 10


VALID = ([x + 1 for x in X], LABELS)
TOKENS = [np.random.default_rng(1).integers(0, 4, (len(x), 3)) for x in X]


def table():
    return nn.Sequential(nn.Embedding(5, 2), nn.Flatten(), nn.Linear(6, 3))


PAIRS = {
    "batch": ({}, {"batch": 5}),
    "test rows": ({"test": (X, LABELS)}, {"test": VALID}),
    "test targets": ({"test": (X, LABELS)}, {"test": (X, [(y + 1) % 3 for y in LABELS])}),
    "rows that judge": ({"validation": (X, LABELS)}, {"validation": VALID}),
    "training targets": ({}, {"targets": [y[::-1] for y in LABELS]}),
    "whole numbers in training rows": (
        {"module": table, "rows": TOKENS}, {"module": table, "rows": [x[:, ::-1] for x in TOKENS]}),
    "names": ({}, {"names": ("a", "b", "c")}),
    "activation": ({"module": Zero(torch.tanh)}, {"module": Zero(torch.sin)}),
    "activation as a part": ({"module": Zero(nn.Tanh())}, {"module": Zero(nn.Hardtanh())}),
    "way back": ({"module": Zero(lambda h: h * 1)}, {"module": Zero(Halved.apply)}),
    "loss": ({"loss": nn.CrossEntropyLoss()}, {"loss": nn.CrossEntropyLoss(label_smoothing=0.1)}),
    "start": ({"seed": 1}, {"seed": 2}),
    "schedule": ({"eta": schedule}, {"eta": bumped}),
    "momentum": ({"momentum": 0.5}, {"momentum": 0.6}),
    "sizes": ({"rule": FedAvg(period=2)}, {"rule": FedAvg(period=2, sizes=torch.tensor([1.0, 2.0, 3.0]))}),
}  # fmt: skip
RUN = {"iterations": 10, "eta": 0.3, "seeds": 1, "models": True, "checkpoint_every": 2}


def stop(done, _):
    if done >= 4:
        raise KeyboardInterrupt


def killed(path, given=None):
    """The file of a run that was stopped after four iterations."""
    with pytest.raises(KeyboardInterrupt):
        run(given or {}, checkpoint=path, progress=stop)
    assert path.exists()


SETTINGS = ("eta", "momentum", "rule")


def run(given, **more):
    """Of the network and in the setting that are given."""
    how = RUN | {name: value for name, value in given.items() if name in SETTINGS} | more
    problem = network(**{name: value for name, value in given.items() if name not in SETTINGS})
    return sf.run(problem, how.pop("rule", sf.Local()), **how)


@pytest.mark.share(5)
@pytest.mark.parametrize("name", PAIRS)
def test_a_file_of_another_problem_or_setting_is_refused(name, tmp_path):
    ours, other = PAIRS[name]
    path = tmp_path / "run.npz"
    killed(path, ours)
    with pytest.raises(sf.InputError, match="it belongs to another run"):
        run(other, checkpoint=path)
    assert np.array_equal(run(ours, checkpoint=path).models, run(ours).models)


@pytest.mark.parametrize("version", ["torch", "suffice"])
def test_a_file_of_another_version_is_refused(version, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    killed(path)
    monkeypatch.setattr(*{"torch": (torch, "__version__"), "suffice": (checkpoint, "VERSION")}[version], "0.0")
    with pytest.raises(sf.InputError, match="it belongs to another run"):
        sf.run(network(), sf.Local(), checkpoint=path, **RUN)


def test_code_of_ones_own_is_part_of_the_run():
    """The same names and the same values at every model that is tried."""
    one, other = {}, {}
    exec("def act(h):\n    return h * (1 if h.shape[0] < 10**6 else 2)", one)
    exec("def act(h):\n    return h * (1 if h.shape[0] < 10**6 else 3)", other)
    same = [checkpoint.fingerprint([network(Zero(kind["act"]))], sf.Local()) for kind in (one, one, other)]
    assert same[0] == same[1] != same[2]


@pytest.mark.parametrize("damage", ["cut", "other arrays", "folder"])
def test_a_damaged_file_is_one_line(damage):
    path = Path("run.npz")
    killed(path)
    whole = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage == "other arrays":
        np.savez(path, a=np.ones(3))
    else:
        path.write_bytes(whole[:-1])
    with pytest.raises(sf.InputError, match=r"checkpoint = .*run.npz.*(remove it|regular file)") as caught:
        sf.run(network(), sf.Local(), checkpoint=path, **RUN)
    assert "\n" not in str(caught.value)


def test_a_byte_that_flipped_is_never_followed():
    path = Path("run.npz")
    killed(path)
    whole = path.read_bytes()
    expected = sf.run(network(), sf.Local(), **RUN).models
    for at in range(0, len(whole), max(1, len(whole) // 30)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        try:
            found = sf.run(network(), sf.Local(), checkpoint=path, **RUN).models
        except sf.InputError:
            continue
        assert np.array_equal(found, expected)


def test_a_missing_folder_and_a_full_disk_name_the_file(tmp_path, monkeypatch):
    calls = []
    with pytest.raises(sf.InputError, match=r"checkpoint = .*nowhere/run.npz.*: no such folder"):
        sf.run(network(), sf.Local(), checkpoint="nowhere/run.npz", progress=lambda *done: calls.append(done), **RUN)
    assert not calls

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(sf.InputError, match=r"checkpoint = .*run.npz': no space left on device; make room") as caught:
        sf.run(network(), sf.Local(), checkpoint="run.npz", **RUN)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.share(4)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("moment", ["opened", "synced", "renamed", "between"])
@pytest.mark.parametrize(("times", "rule"), [(1, "scaffold"), (7, "cobo")])
def test_a_run_that_is_killed_at_any_moment_goes_on_bitwise(moment, times, rule, tmp_path):
    """In its first block of seeds and in the second."""
    path, problem, how = tmp_path / "run.npz", network(), RUN | {"seeds": 6, "momentum": 0.9, "epsilon": 1.0}
    rule = algorithm(rule, problem, eta=0.3)
    expected = sf.run(problem, rule, **how)
    child = os.fork()
    if child == 0:
        name, before = {"opened": ("fsync", True), "synced": ("replace", True), "renamed": ("replace", False)}.get(
            moment, ("", True)
        )
        original, seen = getattr(os, name, None), []

        def kill(*arguments):
            if not before:
                original(*arguments)
            seen.append(arguments)
            if len(seen) == times:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(*arguments) if before else None

        if name:
            setattr(os, name, kill)
        progress = (
            (lambda done, _: done == 2 * times + 1 and os.kill(os.getpid(), signal.SIGKILL)) if not name else None
        )
        sf.run(problem, rule, checkpoint=path, progress=progress, **how)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    found = sf.run(problem, rule, checkpoint=path, **how)
    for name in ("values", "models", "stopping_times", "oracle_calls", "vectors_sent"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))
