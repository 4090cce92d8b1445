"""Thirty modules and fifteen losses: each trains as a loop of torch does, or is refused by one line."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_networks import IMAGES, LABELS, N, X, mlp, network
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrizations

import suffice as sf
from suffice.simulate import Randomness, seed_blocks

RNG = np.random.default_rng(62)
COUNTS = [len(x) for x in X]
SERIES = [RNG.normal(size=(n, 4, 2)) for n in COUNTS]
WORDS = [RNG.integers(0, 6, (n, 4)) for n in COUNTS]
WORDS[0][:3] = RNG.integers(1, 6, (3, 4))  # no padding in the first rows


class Of(nn.Module):
    """Parts by name, and a function of them and the rows."""

    def __init__(self, forward, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.does = forward

    def forward(self, x):
        return self.does(self, x)


def weight(*shape):
    return nn.Parameter(0.5 * torch.randn(shape))


def recurrent(**how):
    return Of(lambda m, x: m.last(m.memory(x)[0][:, -1]), memory=nn.LSTM(2, 3, **how), last=nn.Linear(3, 3))


def words(table):
    return nn.Sequential(table, nn.Flatten(), nn.Linear(8, 3))


def behind_zeros(layer):
    head = nn.Linear(3, 3)
    nn.init.zeros_(head.weight)
    return nn.Sequential(nn.Linear(5, 3), layer, head)


def act(function):
    return Of(lambda m, x: m.b(function(m.a(x))), a=nn.Linear(5, 4), b=nn.Linear(4, 3))


def two_names():
    table, last = nn.Linear(5, 5), nn.Linear(5, 3)
    last.weight = nn.Parameter(torch.randn(3, 5))
    return Of(lambda m, x: m.last(torch.tanh(m.first(m.again(x)))), first=table, again=table, last=last)


def frozen():
    module = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3))
    module[0].weight.requires_grad_(False)
    return module


def counting(m, x):
    m.calls += 1
    return m.a(x) * (1 if m.calls % 50 else 2)


def counter():
    module = Of(counting, a=nn.Linear(5, 3))
    module.calls = 0
    return module


def hooked():
    module = nn.Linear(5, 3)
    module.register_forward_hook(lambda _, rows, outputs: outputs * 2)
    return module


def energy(m, x):
    x = x.detach().requires_grad_()
    with torch.enable_grad():
        return m.b(torch.autograd.grad(m.a(x).square().sum(), x, create_graph=True)[0])


def clipped(m, x):
    with torch.no_grad():
        m.a.weight.clamp_(-0.1, 0.1)
    return m.a(x)


def branches(m, x):
    h = m.a(x)
    return torch.stack([row if row.sum() > 0 else -row for row in h])


def on_rows_in_place(m, x):
    x -= 1
    return m.a(x)


RUNS = {
    "mlp": (lambda: nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3)), X),
    "max pool": (
        lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)), IMAGES),
    "embedding with padding": (lambda: words(nn.Embedding(6, 2, padding_idx=0)), WORDS),
    "a gradient inside": (lambda: Of(energy, a=nn.Linear(5, 4), b=nn.Linear(5, 3)), X),
    "sparse embedding": (lambda: words(nn.Embedding(6, 2, sparse=True)), WORDS),
    "bag with padding": (lambda: nn.Sequential(nn.EmbeddingBag(6, 3, padding_idx=0), nn.Linear(3, 3)), WORDS),
    "lstm": (lambda: recurrent(batch_first=True), SERIES),
    "encoder": (lambda: nn.Sequential(nn.TransformerEncoderLayer(2, 1, 4, dropout=0.0, batch_first=True), nn.Flatten(),
                                      nn.Linear(8, 3)), SERIES),
    "weight norm": (lambda: parametrizations.weight_norm(nn.Linear(5, 3)), X),
    "one submodule under two names": (two_names, X),
    "rows in place": (lambda: Of(on_rows_in_place, a=nn.Linear(5, 3)), X),
    "frozen parameters": (frozen, X),
    "hook": (hooked, X),
    "idle parameters": (lambda: Of(lambda m, x: m.a(x), a=nn.Linear(5, 3), idle=weight(2)), X),
    "branches by rows": (lambda: Of(branches, a=nn.Linear(5, 3)), X),
}  # fmt: skip
"""Runs as the plain loop does."""

REFUSED = {
    "lstm of series first": (lambda: recurrent(), SERIES, "batch_first=True"),
    "dropout": (lambda: nn.Sequential(nn.Linear(5, 3), nn.Dropout(0.1)), X, "draws random numbers"),
    "batch norm": (lambda: nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3)), X, "changes 1.running_mean.*GroupNorm"),
    "norm of a batch behind zeros": (
        lambda: behind_zeros(Of(lambda _, h: (h - h.mean(0)) / h.var(0, unbiased=False).add(1).sqrt())), X,
        "influence one another"),
    "draws of NumPy behind zeros": (
        lambda: behind_zeros(Of(lambda _, h: h + np.random.normal())), X, "draws random numbers"),  # noqa: NPY002
    "table of bounded norm": (lambda: words(nn.Embedding(6, 2, max_norm=1.0)), WORDS, "max_norm"),
    "gradients by frequency": (
        lambda: words(nn.Embedding(6, 2, scale_grad_by_freq=True)), WORDS, "influence one another"),
    "clipped parameters": (lambda: Of(clipped, a=nn.Linear(5, 3)), X, "changes its parameters"),
    "a counter": (counter, X, "changes its"),
    "one row": (
        lambda: nn.Sequential(nn.Linear(5, 3), Of(lambda _, h: F.batch_norm(h, None, None, training=True))), X,
        "fails on a row alone .*GroupNorm"),
    "old weight norm": (lambda: nn.utils.weight_norm(nn.Linear(5, 3)), X, "parametrizations.weight_norm"),
    "lazy": (lambda: nn.Sequential(nn.LazyLinear(3)), X, "call it once on a row"),
    "script": (lambda: torch.jit.trace(nn.Linear(5, 3), torch.zeros(2, 5)), X, "give the module itself"),
    "dictionary": (lambda: Of(lambda m, x: {"out": m.a(x)}, a=nn.Linear(5, 3)), X, "return one tensor"),
    "complex": (
        lambda: Of(lambda m, x: (x.to(m.w) @ m.w).abs(), w=nn.Parameter(torch.ones(5, 3, dtype=torch.complex64))), X,
        "one floating-point type"),
    "not a number": (lambda: act(lambda h: h.abs().neg().sqrt()), X, "outputs.*nan"),
}  # fmt: skip
"""One line says what to write instead."""


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(seed_blocks, "_LARGEST_BLOCK", 4)


def by_hand(problem, criterion, steps=3, eta=0.1):
    """Every client's parameters after steps of torch's SGD with momentum."""
    found = []
    for i in range(N):
        own = problem.module_of(problem.start[i])
        optimiser = torch.optim.SGD(own.parameters(), lr=eta, momentum=0.9)
        for t in range(1, steps + 1):
            rows = problem.draw(Randomness(seeds=torch.tensor([0])), t)[0, i]
            optimiser.zero_grad()
            criterion(own(problem.data.X[rows]), problem.data.y[rows]).backward()
            optimiser.step()
        found.append(torch.cat([p.detach().flatten() for p in own.parameters() if p.requires_grad]))
    return torch.stack(found)


@pytest.mark.share(6)
@pytest.mark.parametrize("name", RUNS)
def test_a_module_trains_as_a_plain_loop_does(name):
    build, rows = RUNS[name]
    problem = network(lambda: build().double(), rows, test=(rows, LABELS))
    before = problem.data.X.clone()
    trace = sf.run(problem, sf.Local(), iterations=3, eta=0.1, seeds=1, momentum=0.9, models=True)
    expected = by_hand(problem, nn.CrossEntropyLoss())
    np.testing.assert_allclose(trace.models[0], expected, rtol=1e-9, atol=1e-11)
    for i, own in enumerate(torch.arange(sum(COUNTS)).split(COUNTS)):
        outputs = problem.module_of(trace.models[0, i])(before[own].clone())
        loss = F.cross_entropy(outputs, problem.data.y[own]).item()
        np.testing.assert_allclose(trace.loss[0, -1, i], loss, rtol=1e-9)
        hits = (outputs.argmax(1) == problem.data.y[own]).double().mean().item()
        np.testing.assert_allclose(trace.metrics["test accuracy"][0, -1, i], hits, rtol=1e-12)
    assert torch.equal(problem.data.X, before)


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore:`torch.jit")
@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")
def test_a_module_that_does_not_is_refused_by_one_line(name):
    build, rows, message = REFUSED[name]
    targets = [labels[: len(x)] for labels, x in zip(LABELS, rows)]
    with pytest.raises(sf.InputError, match=message) as caught:
        network(build, rows, targets)
    assert "\n" not in str(caught.value)


@pytest.mark.share(6)
@pytest.mark.parametrize("name", RUNS)
def test_a_module_of_single_precision_is_admitted_too(name):
    build, rows = RUNS[name]
    assert network(build, rows).clients == len(rows)


NUMBERS = [RNG.normal(size=(n, 3)) for n in COUNTS]
COLUMN = [own[:, :1] for own in NUMBERS]
TOKENS = [RNG.integers(0, 3, (n, 2)) for n in COUNTS]
GAPS = [np.where(np.arange(len(own)) % 4 == 1, -100, own) for own in LABELS]
CLASSES = torch.tensor([1.0, 2.0, 5.0], dtype=torch.float64)
LOSSES = {
    "squared": (nn.MSELoss(), NUMBERS),
    "cross-entropy": (nn.CrossEntropyLoss(), LABELS),
    "smoothed labels": (nn.CrossEntropyLoss(label_smoothing=0.1), LABELS),
    "function": (F.smooth_l1_loss, NUMBERS),
    "none": (nn.MSELoss(reduction="none"), NUMBERS),
    "one's own": (lambda outputs, y: ((outputs - y) ** 4).sum(1), NUMBERS),
}
LOSSES_REFUSED = {
    "sum": (nn.MSELoss(reduction="sum"), NUMBERS, 3, r'MSELoss of \d+ rows = .*give reduction="none"'),
    "weights of classes": (nn.CrossEntropyLoss(weight=CLASSES), LABELS, 3, 'weights of classes.*reduction="none"'),
    "ignored rows": (nn.CrossEntropyLoss(), GAPS, 3, 'ignored rows.*reduction="none"'),
    "ignored rows of a word": ("cross-entropy", GAPS, 3, "label of client 0 = -100: the module has 3 outputs"),
    "one column": (nn.HuberLoss(), [own[:, 0] for own in COLUMN], 1, r"outputs and targets one shape.*squeeze\(-1\)"),
    "over rows": (lambda outputs, y: (outputs - outputs.mean(0) - y).abs().sum(1), NUMBERS, 3, "influence one another"),
    "a number": (lambda outputs, y: (outputs - y).abs().sum(), NUMBERS, 3, "give one loss per row"),
}


@pytest.mark.share(3)
@pytest.mark.parametrize("name", LOSSES)
def test_a_loss_is_trained_on_as_in_a_plain_loop(name):
    loss, targets = LOSSES[name]
    problem = network(mlp, X, targets, loss=loss)
    trace = sf.run(problem, sf.Local(), iterations=3, eta=0.1, seeds=1, momentum=0.9, models=True)
    expected = by_hand(problem, lambda outputs, y: loss(outputs, y).mean())
    np.testing.assert_allclose(trace.models[0], expected, rtol=1e-9, atol=1e-11)


def test_outputs_may_be_one_number_for_each_row():
    def build():
        return Of(lambda m, x: m.a(x)[:, 0].tanh(), a=nn.Linear(5, 1)).double()

    problem = network(build, X, [own[:, 0] for own in NUMBERS])
    trace = sf.run(problem, sf.Local(), iterations=3, eta=0.1, seeds=1, momentum=0.9, models=True)
    np.testing.assert_allclose(trace.models[0], by_hand(problem, nn.MSELoss()), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", LOSSES_REFUSED)
def test_a_loss_that_is_no_mean_of_rows_is_refused_by_one_line(name):
    loss, targets, outputs, message = LOSSES_REFUSED[name]
    with pytest.raises(sf.InputError, match=message) as caught:
        network(lambda: nn.Linear(5, outputs).double(), X, targets, loss=loss)
    assert "\n" not in str(caught.value)


def test_tokens_have_losses_of_their_own_and_what_may_be_meant_otherwise_is_said():
    problem = network(lambda: nn.Sequential(nn.Linear(5, 6), nn.Unflatten(1, (3, 2))).double(), X, TOKENS)
    trace = sf.run(problem, sf.Local(), iterations=2, eta=0.1, seeds=1, momentum=0.9, models=True)
    np.testing.assert_allclose(trace.models[0], by_hand(problem, nn.CrossEntropyLoss(), 2), rtol=1e-9, atol=1e-11)
    assert problem.remarks == ()
    square = network(lambda: nn.Sequential(nn.Linear(5, 4), nn.Unflatten(1, (2, 2))), X, [own % 2 for own in TOKENS])
    assert square.remarks == ("outputs of a row have shape (2, 2): the classes are the first axis, as torch has them",)
    with pytest.raises(sf.InputError, match=r"outputs \(rows, classes, 2\).*transpose"):
        network(lambda: nn.Sequential(nn.Linear(5, 6), nn.Unflatten(1, (2, 3))), X, TOKENS)


def test_rows_far_from_one_are_remarked_on():
    images = [np.random.default_rng(0).integers(0, 256, (n, 1, 6, 6)) for n in COUNTS]
    module = nn.Sequential(nn.Flatten(), nn.Linear(36, 3))
    assert network(module, images).remarks == (
        "rows have values up to 255: networks learn from numbers near 1, such as X / 255",
    )
    assert network(module, [own / 255 for own in images]).remarks == ()
    assert network(lambda: words(nn.Embedding(600, 2)), [own + 500 for own in WORDS]).remarks == ()


def test_values_that_only_rows_for_tests_have_are_tried_too():
    beyond = [np.where(np.arange(4) == 2, 6, own) for own in WORDS]
    with pytest.raises(sf.InputError, match="IndexError: index out of range"):
        network(lambda: words(nn.Embedding(6, 2)), WORDS, test=(beyond, LABELS))
