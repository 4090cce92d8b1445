"""Nested scouts say who should learn with whom, from rows alone: measured, never guaranteed.

1. Every client trains scouts alone, each without one fold of its rows; all stop at one iteration, where the mean of
   their losses on these folds is least.
2. Everybody evaluates everybody's scouts once. L_ik is the mean loss of client i's rows under the scouts of k, each row
   under the one of its fold's number, d_ik = ((L_ik - L_ii) + (L_ki - L_kk)) / 2.
3. Client i sorts its peers by L_ik, itself first. For m = 1, ..., N the scouts of the first m predict i's rows in the
   mean, weighted by their rows; the logarithmic scores s_m weigh the sets, everybody with half of the prior weight pi:
   alpha_i = sum_m softmax(log pi + s)_m shares of m.

Scouts of clients of one law with as many rows are exchangeable, so that E d_ik = 0 whatever noise and over-fitting.
Otherwise, to second order, with scouts of mean theta*_k and covariance C_k, and R_i - min R_i = |theta - theta*_i|^2 in
the metric H_i (the mean square of a Gaussian vector is the square of its mean and its trace):

    E(L_ik - L_ii) = |theta*_k - theta*_i|^2_{H_i} + tr H_i (C_k - C_i),
    E d_ik = |theta*_k - theta*_i|^2_{(H_i + H_k)/2} + tr (H_i - H_k) (C_k - C_i) / 2.

grad R_k is 0 at theta*_k, so that Assumption 3 of Philippenko et al. (2025) says |grad R_i(theta*_k)|^2 <= b_ik^2
there, and R_i(theta*_k) - min R_i <= b_ik^2 / (2 mu) under PL: d measures b in units of loss, where c plays no part.
L_ik itself sorts peers by how much client i learns from their gradients: noise in the rows of k shows in C_k.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np
import torch
from torch import Tensor, nn

from suffice.support.errors import InputError
from suffice.support.numbers import as_whole, plain

from .algorithms import Local, Optimised
from .algorithms.scouts import Scouts
from .oracle import Oracle, check_problem
from .problems import Neural
from .problems.flat_module import FlatModule
from .problems.network_input import squared
from .problems.rows import Rows
from .randomness import Stream, single
from .runner import iterate
from .step_size_argument import step_sizes
from .threads import one_thread

FOLDS, FEW, FOLDS_OF_FEW = 2, 40, 4
"""Two folds; four where clients have fewer than 40 rows in the mean: halves of so few teach scouts too little. With
more rows four cost twice as much and found no better collaborators."""
LONGEST = 1000
"""Scouts train for at most so many iterations."""
_FIRST, _LATER = 10, 1.12
"""Held-out losses are computed after 10 iterations, and whenever the number of iterations has grown by this factor."""
_FALL, _SOONEST = 0.05, 40
"""Scouts stop when two looks in a row each found the mean held-out loss lower by less than this share of its whole
fall, not before so many iterations nor before it has fallen by this share of the start: networks begin with a plateau,
and scouts that stop there tell nobody apart."""
_PATIENCE = 4
"""Scouts also stop at this many times the iteration at which their mean held-out loss was least."""
_LEAST = 1e-3
"""Nested sets of less weight are left out: each of their members would cost a gradient in every iteration."""

Progress = Callable[[int, int], None]
Predictions = tuple[Tensor, Tensor | None]
"""Predictions of every row by each client's scout of the row's fold: losses (N, rows), and outputs (N, rows, ...), or
None where means of probabilities are asked for rather than means of outputs."""


@dataclass(frozen=True, kw_only=True)
class Collaborators:
    """The result of nested scouts; `weights` [i, k] (N, N): the weight with which client i uses the gradients of k.

    distance    d_ik (N, N), symmetric [loss]; about 0 between clients of one law, and estimated, so also below 0
    set_size    how many clients learn together with i, itself included, in the mean over its nested sets, (N,)
    iterations  after which the scouts stopped; looked_at, held_out: where their mean held-out loss was computed
    gradients, vectors_sent  what the scouts cost: stochastic gradients computed, models sent
    """

    names: tuple[str, ...]
    weights: np.ndarray
    distance: np.ndarray
    set_size: np.ndarray
    iterations: int
    looked_at: np.ndarray
    held_out: np.ndarray
    gradients: int
    vectors_sent: int
    remarks: tuple[str, ...]

    def algorithm(self, *, together: int = 0) -> Scouts:
        """All-for-one with these weights, after `together` iterations of everybody."""
        weights = torch.from_numpy(self.weights)
        return Scouts(alpha=weights, together=together, scouting=(self.gradients, self.vectors_sent))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, as JSON has them; weights and distances by the order of `clients`."""
        return plain({"clients" if name == "names" else name: value for name, value in vars(self).items()})

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Collaborators:
        """Build from what `to_dict` returned."""
        parts = {**found, "names": found["clients"]}
        return msgspec.convert(parts, cls, dec_hook=lambda kind, value: np.array(value))


def collaborators(
    problem: Oracle,
    *,
    eta: Any,
    iterations: int = LONGEST,
    folds: int | None = None,
    momentum: float = 0.0,
    weight_decay: float = 0.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Collaborators:
    """Find by nested scouts which clients should train a network together.

    eta         step size of the scouts' training, one number or one per client; so are momentum and weight_decay theirs
    iterations  scouts stop when their held-out loss stops falling, at the latest after so many
    folds       each is left out by one scout of every client; of a client with fewer rows, as many as it has rows;
                unless given two, and four where clients have fewer than 40 rows in the mean
    seed        of the folds and of the scouts' batches

    `.weights` is the answer, and `.algorithm()` trains with it. Measured, never guaranteed.
    Scouts are trained on the processor, wherever the problem is.
    Raises `InputError`.
    """
    network = _network(problem)
    folds = None if folds is None else as_whole("folds", folds, least=2)
    as_whole("iterations", iterations)
    as_whole("seed", seed, least=0)
    folds = folds or (FOLDS if network.data.counts.double().mean() >= FEW else FOLDS_OF_FEW)
    counts = network.data.counts.clamp_max(folds)
    remarks = [*network.remarks, *_few_rows(network.names, counts.tolist(), folds)]
    fold = _folds(network.data, counts, seed)
    alone = Optimised(of=Local(), momentum=momentum, weight_decay=weight_decay)
    # a scout without rows stays where it started
    steps = torch.where(counts > 1, step_sizes(eta, network)(1).expand(len(counts)), 0).repeat_interleave(counts)
    scouts, left_out = _scouts(network, fold, counts)
    with one_thread():
        path = iterate(scouts, alone, seeds=torch.tensor([seed % 2**32]), iterations=iterations, eta=lambda t: steps)
        looks, best, models, stopped = _trained(network, path, left_out, iterations, progress)
        if not stopped and 0 < best == len(looks) - 1:
            remarks.append(f"the scouts still improved after {iterations} iterations: allow more")
        sent = int(counts.sum()) * (network.clients - 1) if best > 0 else 0
        begun, seen = (of_rows(network, each.split(counts.tolist()), fold) for each in (scouts.start, models))
        distance = distances(network.data, seen[0])
        weights = nested_weights(network, seen)
        if _score(network, seen, weights) <= _score(network, begun, weights):
            remarks.append("the scouts never improved on rows left out: every client has its weight on itself")
            best, weights = 0, torch.eye(network.clients, dtype=torch.float64)
    looked_at, held_out = zip(*looks)
    return Collaborators(
        names=network.names,
        weights=weights.double().numpy(),
        distance=distance.double().numpy(),
        set_size=(weights > 0).sum(1).double().numpy(),
        iterations=looked_at[best],
        looked_at=np.array(looked_at),
        held_out=np.array(held_out),
        gradients=looked_at[-1] * int(counts.sum()),
        vectors_sent=sent,
        remarks=tuple(remarks),
    )


def _network(problem: Oracle) -> Neural:
    check_problem(problem)
    if not isinstance(problem, Neural):
        remedy = "scouts train networks: give sf.Neural.of(module, X, y), where a linear model is nn.Linear"
        raise InputError("problem", type(problem).__name__, remedy)
    return problem.to(problem.dtype)


def _trained(
    network: Neural, path: Iterator[Any], left_out: tuple[Tensor, Tensor], iterations: int, progress: Progress | None
) -> tuple[list[tuple[int, float]], int, Tensor, bool]:
    """Iterations and held-out losses of the looks at scouts on their `path`, which look is chosen, the scouts there,
    and whether they stopped before the last iteration."""
    looks: list[tuple[int, float]] = []
    at, best, slow, models, most = _looks(iterations), 0, 0, torch.empty(0), -math.inf
    for t, _, _, state in path:
        if t not in at:
            continue
        latest = state["models"][0]
        looks.append((t, _own(network, latest, left_out)))
        now, first, before = looks[-1][1], looks[0][1], looks[max(len(looks) - 2, 0)][1]
        if t == 0 or now < looks[best][1]:
            best, models = len(looks) - 1, latest
        least, most = looks[best][1], max(most, now)
        left = most - least > _FALL * abs(first)  # the plateau
        slow = slow + 1 if left and before - now < _FALL * (first - least) else 0
        if progress is not None and t > 0:
            progress(t, iterations)
        if t >= _SOONEST and (slow >= 2 or t >= _PATIENCE * looks[best][0] > 0):
            # of few rows each scout is too sure, and a mean of many may still tell
            return (looks, best, models, True) if best else (looks, len(looks) - 1, latest, True)
    return looks, best, models, False


def _few_rows(names: Sequence[str], counts: Sequence[int], folds: int) -> list[str]:
    """A remark on each client with fewer rows than folds."""
    said = {own: f"has {own} rows: {own} folds, not {folds}" for own in range(2, folds)}
    said[1] = "has one row: no scout of its own"
    return [f"client {name} {said[own]}" for name, own in zip(names, counts) if own in said]


def _looks(iterations: int) -> set[int]:
    grown = itertools.accumulate(itertools.repeat(_LATER), lambda at, by: math.ceil(at * by), initial=_FIRST)
    return {0, *itertools.takewhile(lambda at: at < iterations, grown), iterations}


def _folds(data: Rows, counts: Tensor, seed: int) -> Tensor:
    """The fold of each row, (rows,): each client's rows in a random order are dealt to its folds."""
    fold = torch.empty(len(data.X), dtype=torch.int64)
    for client, (here, own) in enumerate(zip(_rows(data), counts.tolist())):
        order = single(seed).permutation(len(here), iteration=client, stream=Stream.SPLIT)[0]
        fold[here[order]] = torch.arange(len(here)) % own
    return fold


def _scouts(network: Neural, fold: Tensor, counts: Tensor) -> tuple[Neural, tuple[Tensor, Tensor]]:
    """A client for each scout, with the rows that train it; one that would have none has all, and takes no steps.

    And the rows that each did not see, (scouts, J), and their shares of their client's, 0 where padded.
    """
    data, owner = network.data, torch.arange(network.clients).repeat_interleave(counts)
    out = [(here, fold[here] == f) for here, own in zip(_rows(data), counts.tolist()) for f in range(own)]
    parts = [here if left_out.all() else here[~left_out] for here, left_out in out]
    index, sizes = torch.cat(parts), torch.tensor([len(part) for part in parts])
    rows = Rows(X=data.X[index], y=data.y[index], counts=sizes)
    names = [f"{name} without fold {f + 1}" for name, own in zip(network.names, counts.tolist()) for f in range(own)]
    scouts = replace(network, data=rows, names=tuple(names), start=network.start[owner], validation=None, test=None)
    left = nn.utils.rnn.pad_sequence([here[left_out] for here, left_out in out], batch_first=True, padding_value=-1)
    return scouts, (torch.where(left >= 0, left, left[:, :1]), (left >= 0) / data.counts[owner][:, None])


def _own(network: Neural, models: Tensor, left_out: tuple[Tensor, Tensor]) -> float:
    """The mean over clients of the loss of their rows, each row under the scout of its client that did not see it."""
    (index, share), data, flat = left_out, network.data, network.flat
    return float((flat.evaluate(flat.row_losses, models, data.X, data.y, index) * share).sum() / network.clients)


def of_rows(network: Neural, scouts: tuple[Tensor, ...], fold: Tensor) -> Predictions:
    """All rows under everybody's scouts: scouts[k] (K_k, d) of client k, `fold` (rows,)."""
    data, flat = network.data, network.flat
    losses, outputs, order = [], [], []
    for f in range(int(fold.max()) + 1):
        rows = (fold == f).nonzero()[:, 0]
        rows_of = torch.stack([own[f % len(own)] for own in scouts]), data.X, data.y, rows.expand(len(scouts), -1)
        order.append(rows)
        losses.append(flat.evaluate(flat.row_losses, *rows_of))
        if data.y.is_floating_point():
            outputs.append(flat.evaluate(lambda model, x, y: flat.outputs(model, x), *rows_of))
    place = torch.cat(order).argsort()
    return torch.cat(losses, 1)[:, place], torch.cat(outputs, 1)[:, place] if outputs else None


def distances(data: Rows, losses: Tensor) -> Tensor:
    """d_ik (N, N) from the losses (N, rows) of all rows under everybody's scouts."""
    L = data.means(losses.double()).T  # [i, k]
    worse = L - L.diagonal()[:, None]
    return (worse + worse.T) / 2


def nested_weights(network: Neural, seen: Predictions) -> Tensor:
    """alpha (N, N): the sets of the first m by L_ik, weighed by how the mean of their scouts predicts.

    Half of the weight before any row is seen is on everybody, so that a client whose rows are too noisy to tell sets
    apart learns with all rather than with the few whose scouts came first by chance.
    """
    data, n = network.data, network.clients
    size, alpha = data.counts.double(), torch.zeros(n, n, dtype=torch.float64)
    before = torch.full((n,), 0.5 / max(1, n - 1), dtype=torch.float64)
    before[-1] = 0.5
    for i, (mine, key) in enumerate(zip(_rows(data), data.means(seen[0].double()).T)):
        key[i] = -torch.inf
        order = key.argsort(stable=True)
        share = torch.ones(n, n, dtype=torch.float64).tril() * size[order]  # [m, its members in their order]
        share /= share.sum(1, keepdim=True)
        scores = _scores(network.flat, seen, data.y[mine], mine, order, share)
        chosen = torch.softmax(before.log() + scores, 0)
        chosen = torch.where(chosen < _LEAST, 0, chosen)
        alpha[i, order] = chosen @ share / chosen.sum()
    return alpha


def _score(network: Neural, seen: Predictions, alpha: Tensor) -> float:
    """The logarithmic score of all rows, each client's under the mean of everybody's scouts by its weights."""
    everybody, y = torch.arange(network.clients), network.data.y
    return sum(
        _scores(network.flat, seen, y[mine], mine, everybody, weights[None]).item()
        for mine, weights in zip(_rows(network.data), alpha)
    )


def _scores(flat: FlatModule, seen: Predictions, y: Tensor, mine: Tensor, order: Tensor, share: Tensor) -> Tensor:
    """The logarithmic score of client i's rows under the mean of the first m scouts, (N,).

    Labels: means of probabilities. Squared errors: means of predictions, and the Gaussian likelihood at the variance
    that fits best. Any other loss of other targets: means of predictions, the loss as a negative log-likelihood.
    """
    losses, outputs = seen
    if outputs is None:
        logarithm = -losses[:, mine][order].double()
        top = logarithm.max(0).values  # exp underflows nowhere near the largest
        mixed = (share @ torch.exp(logarithm - top)).clamp_min(1e-300).log() + top
        return mixed.sum(1)
    mixed = torch.tensordot(share, outputs[:, mine][order].double(), dims=1)
    mean = torch.stack([flat.loss(each.to(y), y).mean() for each in mixed]).double()
    rows = len(y)
    return -rows / 2 * mean.clamp_min(1e-300).log() if flat.loss is squared else -rows * mean


def _rows(data: Rows) -> list[Tensor]:
    """The places of each client's rows."""
    return list(torch.arange(len(data.X)).split(data.counts.tolist()))
