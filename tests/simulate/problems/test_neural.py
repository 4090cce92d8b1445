"""Networks: gradients beside autograd's own, a linear module beside `Logistic`, runs, checkpoints."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from small_networks import COUNTS, IMAGES, LABELS, N, X, cnn, mlp, network
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.utils._python_dispatch import TorchDispatchMode

import suffice as sf
from suffice.simulate import (
    ALGORITHMS,
    Diverged,
    FedAvg,
    FixedWeights,
    LocalSGD,
    Optimised,
    Randomness,
    algorithm,
    seed_blocks,
)
from suffice.simulate.algorithms import fedfomo
from suffice.simulate.problems import flat_module


def models(problem: sf.Neural, seeds: int = 2, seed: int = 0) -> Tensor:
    noise = np.random.default_rng(seed).normal(size=(seeds, N, problem.features))
    return problem.start + 0.3 * torch.from_numpy(noise).to(problem.start)


def drawn(problem: sf.Neural, seeds: int = 2) -> Tensor:
    return problem.draw(Randomness(seeds=torch.arange(seeds), root=3), 1)


def by_autograd(problem: sf.Neural, model: Tensor, rows: Tensor) -> Tensor:
    """The gradient of the mean loss over the rows, by a module of its own and `backward`."""
    module = problem.module_of(model)
    cross_entropy(module(problem.data.X[rows]), problem.data.y[rows]).backward()
    return torch.cat([p.grad.flatten() for p in module.parameters() if p.grad is not None])


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(seed_blocks, "_LARGEST_BLOCK", 4)


@pytest.fixture(params=["side by side", "one by one"])
def way(request, monkeypatch):
    if request.param == "one by one":
        monkeypatch.setattr(flat_module, "_SIDE_BY_SIDE", 0)
        monkeypatch.setattr(flat_module, "_CONVOLUTIONS", 0)


@pytest.mark.share(2)
@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("inputs", [1 << 20, 100])  # 100 numbers: rows in several calls
@pytest.mark.parametrize(("module", "rows"), [(mlp, X), (cnn, IMAGES)], ids=["mlp", "cnn"])
def test_gradients_are_those_of_autograd(module, rows, inputs, monkeypatch):
    monkeypatch.setattr(flat_module, "_INPUTS", inputs)
    problem = network(module, rows)
    theta, draw = models(problem), drawn(problem)
    peers = torch.stack([
        torch.stack([torch.stack([by_autograd(problem, model, draw[s, k]) for k in range(N)]) for model in theta[s]])
        for s in range(2)
    ])  # fmt: skip
    own = peers.diagonal(dim1=1, dim2=2).transpose(1, 2)
    weights = torch.tensor([[[0.2, 0.0, 0.8], [0.0, 1.0, 0.0], [0.5, 0.5, -0.3]]] * 2, dtype=torch.float64)
    gap, norm = problem.sampled_gap(theta, draw)
    every = theta[:, :, None].expand(-1, -1, N, -1)
    # sums of some hundred products of numbers of order one, in another order
    close = {"rtol": 1e-12, "atol": 1e-14}
    np.testing.assert_allclose(problem.stochastic_gradient(theta, None, draw), own, **close)
    mixed = torch.einsum("sik,sikd->sid", weights, peers)
    np.testing.assert_allclose(problem.stochastic_gradient(theta, weights, draw), mixed, **close)
    np.testing.assert_allclose(problem.peer_gradient(every, draw), peers, **close)
    np.testing.assert_allclose(gap, ((peers - own[:, :, None]) ** 2).sum(-1), **close)
    np.testing.assert_allclose(norm, (own**2).sum(-1), **close)
    whole = [torch.arange(n) + sum(COUNTS[:k]) for k, n in enumerate(COUNTS)]
    grad = torch.stack([torch.stack([by_autograd(problem, theta[s, i], whole[i]) for i in range(N)]) for s in range(2)])
    np.testing.assert_allclose(problem.gradient(theta), grad, **close)
    between = ((torch.stack([by_autograd(problem, theta[1, 0], rows) for rows in whole]) - grad[1, 0]) ** 2).sum(-1)
    np.testing.assert_allclose(problem.gradient_gap(theta)[1, 0], between, **close)
    with torch.no_grad():
        outputs = [problem.module_of(theta[1, i])(problem.data.X[rows]) for i, rows in enumerate(whole)]
        losses = [cross_entropy(output, problem.data.y[rows]) for output, rows in zip(outputs, whole)]
    np.testing.assert_allclose(problem.value(theta)[1], losses, rtol=1e-12)


def test_rows_of_weight_zero_are_left_out(monkeypatch):
    seen = []

    def loss(outputs, y):
        seen.append(len(y))
        return cross_entropy(outputs, y, reduction="none")

    monkeypatch.setattr(flat_module, "_SIDE_BY_SIDE", 0)
    problem = network(loss=loss)
    weights = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]], dtype=torch.float64)
    seen.clear()
    problem.stochastic_gradient(models(problem, 1), weights[None], drawn(problem, 1))
    assert seen == [8, 4, 12]  # one backward pass a model, of the batches of its clients


def test_a_loss_of_weight_zero_does_no_harm():
    """The loss of client 2 overflows everywhere; models that give it no weight never see it, though others do."""
    problem = network(nn.Linear(5, 3).double(), [*X[:2], X[2] * 1e300], loss=lambda outputs, y: outputs.exp().sum(1))
    weights = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]], dtype=torch.float64)
    found = problem.stochastic_gradient(models(problem, 1), weights[None], drawn(problem, 1))[0]
    assert torch.isfinite(found).all(-1).tolist() == [True, True, False]


class Largest(TorchDispatchMode):
    """The most numbers in any result of an operation."""

    size = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for each in result if isinstance(result, (tuple, list)) else [result]:
            self.size = max(self.size, each.numel() if isinstance(each, Tensor) else 0)
        return result


def test_every_algorithm_runs_or_refuses_by_name_with_nothing_of_size_n2_d_but_where_it_is_stated(monkeypatch):
    monkeypatch.setattr(fedfomo, "_TOGETHER", 1)
    clients, held, refused = 8, {}, {}
    rows = [np.random.default_rng(client).normal(size=(5, 3)) for client in range(clients)]
    wide = nn.Sequential(nn.Linear(3, 100), nn.Tanh(), nn.Linear(100, 1)).double()
    problem = network(wide, rows, [x[:, 0] for x in rows], validation=0.2, batch=1)
    for name in ALGORITHMS:
        try:
            rule = algorithm(name, problem, eta=0.1)
            state = rule.init(problem, problem.start[None])
            for t in range(1, 6):
                draw = rule.draw(problem, Randomness(seeds=torch.tensor([0])), t)
                with Largest() as largest, torch.no_grad():
                    state = rule.step(problem, state, draw, torch.tensor(0.1))
                held[name] = max(held.get(name, 0), largest.size)
            assert torch.isfinite(state["models"]).all()
            assert (state["models"] != problem.start).any()
        except sf.InputError as error:
            refused[name] = error.field
    weights = {name: "problem" for name in ("all-for-one-fixed", "all-for-all", "all-for-all-two-stage")}
    assert refused == weights | {"flix": "anchors", "scafflix": "anchors"}
    many = {name for name, size in held.items() if size >= clients**2 * problem.features}
    assert many == {"federated-clustering"}  # CoBo has as many midpoints as one client has pairs


def test_a_linear_module_follows_logistic_regression():
    signs = [(labels > 0).astype(int) for labels in LABELS]
    classes = [labels > 0 for labels in LABELS]
    plain = sf.Logistic.of(X, signs, regularisation=0.1, batch=4)

    def logistic(outputs, y):
        return torch.nn.functional.softplus(-(2 * y - 1) * outputs[:, 0])

    def linear():
        module = nn.Linear(5, 1, bias=False).double()
        nn.init.zeros_(module.weight)
        return module

    network_ = network(linear, targets=[c.astype(float) for c in classes], loss=logistic)
    for rule, more in ((sf.Local(), {}), (FedAvg(period=3, participants=2), {}), (FixedWeights.clusters("aab"), {})):
        ours = sf.run(network_, rule, iterations=30, eta=0.2, seeds=2, weight_decay=0.1, models=True, **more)
        theirs = sf.run(plain, rule, iterations=30, eta=0.2, seeds=2, models=True, kernel="reference")
        # thirty contracting steps, each rounded at 1e-16
        np.testing.assert_allclose(ours.models, theirs.models, rtol=1e-13, atol=1e-13)
        assert ours.measure == "loss"
        with pytest.raises(sf.InputError, match=r"it recorded no excess: read trace\.loss"):
            _ = ours.excess


def test_clients_that_take_no_part_keep_their_momentum_and_two_gradients_have_two():
    problem = network()
    rule = Optimised(of=FedAvg(participants=1), momentum=0.5)
    state = rule.init(problem, problem.start[None])
    draw = rule.draw(problem, Randomness(seeds=torch.tensor([0])), 1)
    after = rule.step(problem, state, draw, torch.tensor(0.1))
    assert (after["velocity"].abs().sum(-1) > 0).tolist() == [draw.extra["participants"].tolist()]
    assert algorithm("ditto", problem, eta=0.1).gradients_taken == 2

    class Twice(sf.Local):
        def step(self, problem, state, draw, eta):
            problem.stochastic_gradient(state["models"], None, draw.noise)
            return super().step(problem, state, draw, eta)

    with pytest.raises(sf.InputError, match="say gradients_taken = 2 in Twice"):
        sf.run(problem, Twice(), iterations=1, eta=0.1, seeds=1, momentum=0.5)


def test_traces_tell_losses_and_metrics_and_survive_a_file(tmp_path):
    problem = network(test=0.25, validation=0.2)
    assert [len(part.X) for part in (problem.data, problem.validation, problem.test)] == [17, 5, 5]
    trace = sf.run(problem, sf.Local(), iterations=250, eta=0.5, seeds=2, models=True)
    assert len(trace.iterations) == 101
    assert (trace.mean()[-1] < trace.mean()[0]).all()
    rows, y = problem.test.X, problem.test.y
    owned = torch.arange(len(y)).split(problem.test.counts.tolist())
    hits = [problem.module_of(trace.models[0, i])(rows[own]).argmax(1) == y[own] for i, own in enumerate(owned)]
    accuracy = [hit.double().mean().item() for hit in hits]
    np.testing.assert_allclose(trace.metrics["test accuracy"][0, -1], accuracy, rtol=1e-15)
    trace.save(tmp_path / "trace.npz")
    again = sf.Trace.load(tmp_path / "trace.npz")
    assert again.measure == "loss"
    np.testing.assert_array_equal(again.loss, trace.loss)
    np.testing.assert_array_equal(again.metrics["test loss"], trace.metrics["test loss"])


def test_what_is_refused_for_want_of_constants_says_so():
    problem = network()
    with pytest.raises(
        sf.InputError, match=r"sigma2 = None: a Neural does not know it: give yours, or AllForOne\(sigma2=1\)"
    ):
        sf.run(problem, sf.AllForOne(criterion=sf.Continuous()), iterations=1, eta=0.1, seeds=1)
    with pytest.raises(sf.InputError, match="anchors = None: a Neural does not know the clients' optima"):
        sf.run(problem, algorithm("flix", problem, eta=0.1), iterations=1, eta=0.1, seeds=1)
    whole = sf.run(problem, algorithm("flix", problem, eta=0.1, alpha=1.0), iterations=2, eta=0.1, seeds=1, models=True)
    server = sf.run(problem, LocalSGD(), iterations=2, eta=0.1, seeds=1, models=True)
    np.testing.assert_allclose(whole.models, server.models, rtol=1e-12)
    sf.run(problem, algorithm("scaffnew", problem, eta=0.1), iterations=2, eta=0.1, seeds=1)
    for name in ("fedfomo", "validation-based", "ifca"):
        with pytest.raises(
            sf.InputError, match=r"judges models on rows held out: give a share, Neural.of\(validation=0.2\)"
        ):
            sf.run(problem, algorithm(name, problem, eta=0.1), iterations=5, eta=0.1, seeds=1)


def test_judgement_is_by_rows_held_out():
    """Validation rows alone decide: with the labels there permuted among peers, FedFomo leans on the other client."""
    rows, labels = [X[2], X[2], X[2]], [LABELS[2]] * 3
    turned = [(LABELS[2] + k) % 3 for k in range(3)]
    problem = network(rows=rows, targets=turned, validation=(rows, [turned[1], labels[0], turned[2]]), batch=12)
    trace = sf.run(
        problem, algorithm("fedfomo", problem, eta=0.5, period=30), iterations=30, eta=0.5, seeds=1, models=True
    )
    judged = problem.held_out(torch.from_numpy(trace.models))
    trained = problem.value(torch.from_numpy(trace.models))
    assert (judged[0, :2] < trained[0, :2]).all()  # each of the first two took the other's model


def test_blocks_count_the_rows_that_are_drawn_not_vectors_of_parameters():
    module = nn.Sequential(nn.Flatten(), nn.Linear(36, 16_400), nn.ReLU(), nn.Linear(16_400, 3))
    problem = sf.Neural.of(module, [np.zeros((2, 1, 6, 6))] * 20, [np.array([0, 1])] * 20, batch=40)
    assert problem.features * 20 * 40 > 5e8
    trace = sf.run(problem, sf.Local(), iterations=1, eta=0.1, seeds=1, grid=[0])
    assert trace.values.shape == (1, 1, 20)
    with pytest.raises(sf.InputError, match=r"gradients of all pairs of clients = '3.15 GB': a problem may"):
        sf.run(problem, algorithm("federated-clustering", problem, eta=0.1), iterations=1, eta=0.1, seeds=1)


def test_a_loss_that_is_no_number_stops_the_run_with_the_last_models():
    problem = network(mlp, targets=[labels.astype(float)[:, None].repeat(3, 1) for labels in LABELS], loss=mse_loss)
    with pytest.raises(Diverged, match=r"loss of client \d = nan: at iteration \d+ of local; give smaller") as caught:
        sf.run(problem, sf.Local(), iterations=3000, eta=1e4, seeds=1, grid=[0])
    assert np.isfinite(caught.value.models).all()
    assert caught.value.models.shape == (len(caught.value.seeds), N, problem.features)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_although_the_models_are_stops_the_run(value):
    """From where the first output of a row of client 1 is below 0."""

    def loss(outputs, y):
        lost = (outputs[..., 0] < 0).detach() & (y[..., 0] > 50)
        return torch.where(lost, value, (outputs - y.clamp(max=1)).square().sum(-1))

    rows, targets = [abs(x) for x in X], [np.full((n, 3), -1.0) for n in COUNTS]
    targets[1][2] = 60
    start = nn.Linear(5, 3).double()
    nn.init.constant_(start.bias, 3.0)
    nn.init.zeros_(start.weight)
    problem = network(start, rows, targets, loss=loss)
    with pytest.raises(Diverged, match=rf"loss of client 1 = {value}: at iteration \d+ of \S+; .*finite") as caught:
        sf.run(problem, FixedWeights.clusters("aba"), iterations=300, eta=0.05, seeds=1)
    assert np.isfinite(caught.value.models).all()
    lost = network(start, rows, targets, loss=lambda outputs, y: torch.where(y[:, 0] > 50, value, outputs[:, 0]))
    with pytest.raises(Diverged, match="at iteration 0 "):
        sf.run(lost, sf.Local(), iterations=3, eta=0.05, seeds=1)
