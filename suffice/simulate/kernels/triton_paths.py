"""The same runs on a GPU: one program per seed keeps its models on chip, loops over time and draws its own numbers.

Random words are those of `Randomness`: Triton's Philox with key (seed, root) and counter (block, client, iteration,
stream). All-for-one with sampled similarities of one sample and a binary criterion on streams, with exact ones and a
binary or continuous criterion on quadratics with additive noise. Needs Triton, which comes with torch's CUDA builds;
with TRITON_INTERPRET=1 set before the first import it also runs, slowly, on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

from suffice.bounds import Binary, Continuous, InputError
from suffice.bounds.criteria import TOLERANCE

from ..algorithms.all_for_one import AllForOne
from ..algorithms.arguments import per_client
from ..problem import Problem
from ..problems.quadratic import Quadratics
from ..problems.streaming import StreamingLeastSquares
from ..similarity import ExactSimilarity, SampledSimilarity
from .general import general_refusal
from .paths import refusal


@triton.jit
def _normal_pair(a, b):
    u = (a.to(tl.uint32, bitcast=True).to(tl.float64) + 0.5) * 2.3283064365386963e-10
    v = (b.to(tl.uint32, bitcast=True).to(tl.float64) + 0.5) * 2.3283064365386963e-10
    # 1 - u is exact in double; the logarithm and the angle are then taken in single precision
    near = u > 0.5
    log = tl.log(tl.where(near, 0.5, u).to(tl.float32))
    rest = (1 - u).to(tl.float32)
    # log(1 - e) = -2 atanh(e / (2 - e)), as a series for e <= 1/2
    w = rest / (2 - rest)
    q = w * w
    series = -2 * w * (1 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q * (1 / 13)))))))
    radius = tl.sqrt(-2 * tl.where(near, series, log))
    turn = 6.283185307179586 * tl.where(v > 0.5, v - 1, v).to(tl.float32)
    return radius * tl.cos(turn), radius * tl.sin(turn)


@triton.jit
def _sample(key, iteration, stream, clients, d, root, shift, noise, NP: tl.constexpr, DP: tl.constexpr):
    """Features (NP, DP) and responses (NP,) of one sample of every client."""
    k = tl.arange(0, NP)[:, None]
    block = tl.arange(0, DP // 4)[None]
    zero = tl.zeros((NP, DP // 4), dtype=tl.int32)
    a, b, c, e = tl.philox(key, zero + block, zero + k, zero + iteration, zero + stream)
    z0, z1 = _normal_pair(a, b)
    z2, z3 = _normal_pair(c, e)
    z = tl.reshape(tl.join(tl.join(z0, z2), tl.join(z1, z3)), (NP, DP))
    f = tl.arange(0, DP)[None]
    z = tl.where(k < clients, z, 0.0)
    label = tl.sum(tl.where(f == d, z, 0.0), axis=1)
    z = tl.where(f < d, z, 0.0)
    column = tl.arange(0, DP)[None, :, None]
    row = tl.arange(0, DP)[None, None, :]
    at = k[:, :, None] * d * d + column * d + row
    inside = (k[:, :, None] < clients) & (column < d) & (row < d)
    x = tl.sum(tl.load(root + at, mask=inside, other=0.0) * z[:, None, :], axis=2)
    return x, tl.sum(x * shift, axis=1) + noise * label


@triton.jit
def _paths(
    keys, start, final, root, optimum, label_noise, precision, threshold, eta,
    first, iterations, clients, d, start_stride,
    NORMALISED: tl.constexpr, NP: tl.constexpr, DP: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    key = tl.load(keys + program)
    i = tl.arange(0, NP)
    f = tl.arange(0, DP)
    inside = (i[:, None] < clients) & (f[None] < d)
    at = i[:, None] * d + f[None]
    real = i < clients
    origin = tl.load(optimum + f, mask=f < d, other=0.0)
    shift = tl.where(inside, tl.load(optimum + at, mask=inside, other=0.0) - origin[None], 0.0)
    noise = tl.load(label_noise + i, mask=real, other=0.0)
    mass = tl.load(precision + i, mask=real, other=0.0)[None]
    level = tl.load(threshold + i, mask=real, other=1.0)[:, None]
    step = tl.load(eta + i, mask=real, other=0.0)
    theta = tl.load(start + program.to(tl.int64) * start_stride + at, mask=inside, other=0.0)
    theta = tl.where(inside, theta - origin[None], 0.0)
    own = i[:, None] == i[None]
    for t in range(0, iterations):
        xa, ya = _sample(key, first + t + 1, 1, clients, d, root, shift, noise, NP, DP)
        x, y = _sample(key, first + t + 1, 0, clients, d, root, shift, noise, NP, DP)
        e = tl.dot(theta, tl.trans(xa), input_precision="ieee") - ya[None]
        gram = tl.dot(xa, tl.trans(xa), input_precision="ieee")
        mine = tl.sum(tl.where(own, e, 0.0), axis=1)[:, None]
        square = tl.sum(xa * xa, axis=1)
        norm = mine * mine * square[:, None]
        near = tl.minimum(e * (2 * mine * gram - e * square[None]), norm)
        near = tl.where(own, norm, near)
        weight = tl.where(near >= level * norm, mass, 0.0)
        one = tl.where(norm > 0, norm, 1.0)
        total = tl.sum(weight if NORMALISED else weight * tl.where(norm > 0, near / one, 1.0), axis=1)
        slope = weight * (tl.dot(theta, tl.trans(x), input_precision="ieee") - y[None])
        gradient = tl.dot(slope, x, input_precision="ieee")
        scale = tl.where(real, 2 * step / tl.where(real, total, 1.0), 0.0)
        theta = theta - scale[:, None] * gradient
    tl.store(final + program.to(tl.int64) * clients * d + at, theta + origin[None], mask=inside)


@triton.jit
def _gradient(A, optimum, theta, k, d, DP: tl.constexpr):
    """Client k's at all models: 2 (theta - theta*_k) A_k, A_k symmetric."""
    f = tl.arange(0, DP)
    delta = theta - tl.load(optimum + k * d + f, mask=f < d, other=0.0)[None]
    inside = (f[:, None] < d) & (f[None] < d)
    matrix = tl.load(A + k * d * d + f[:, None] * d + f[None], mask=inside, other=0.0)
    return 2 * tl.dot(delta, matrix, input_precision="ieee")


@triton.jit
def _quadratics(
    keys, start, final, A, optimum, factor, precision, threshold, eta,
    first, iterations, clients, d, start_stride,
    CONTINUOUS: tl.constexpr, NORMALISED: tl.constexpr, NP: tl.constexpr, DP: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    key = tl.load(keys + program)
    i = tl.arange(0, NP)
    f = tl.arange(0, DP)
    inside = (i[:, None] < clients) & (f[None] < d)
    at = i[:, None] * d + f[None]
    none = tl.zeros((NP, DP), dtype=tl.float32)
    nothing = tl.zeros((NP,), dtype=tl.float32)
    level = tl.load(threshold + i, mask=i < clients, other=1.0)
    step = tl.load(eta + i, mask=i < clients, other=0.0)
    theta = tl.load(start + program.to(tl.int64) * start_stride + at, mask=inside, other=0.0)
    for t in range(0, iterations):
        noise, _ = _sample(key, first + t + 1, 0, clients, d, factor, none, nothing, NP, DP)
        own = none
        for k in range(0, clients):
            own = tl.where(i[:, None] == k, _gradient(A, optimum, theta, k, d, DP), own)
        norm = tl.sum(own * own, axis=1)
        total = nothing
        move = none
        for k in range(0, clients):
            g = _gradient(A, optimum, theta, k, d, DP)
            gap = tl.sum((g - own) * (g - own), axis=1)
            r = tl.maximum(1 - gap / tl.where(norm > 0, norm, 1.0), 0.0)
            r = tl.where(norm > 0, r, tl.where(gap == 0, 1.0, 0.0))
            r = tl.where(i == k, 1.0, r)
            weight = tl.load(precision + k) * (r if CONTINUOUS else tl.where(r >= level, 1.0, 0.0))
            total += weight if NORMALISED else weight * r
            its = tl.sum(tl.where(i[:, None] == k, noise, 0.0), axis=0)
            move += weight[:, None] * (g + its[None])
        theta = tl.where(inside, theta - (step / tl.where(i < clients, total, 1.0))[:, None] * move, 0.0)
    tl.store(final + program.to(tl.int64) * clients * d + at, theta, mask=inside)


def _refusal(problem: Problem, algorithm: AllForOne) -> str | None:
    if problem.batch != 1 or problem.clients > 128 or problem.features > 63:
        return "batch 1, at most 128 clients and 63 features fit on chip"
    if isinstance(problem, Quadratics):
        if problem.noise.factor.shape[-1] != problem.features:
            return "the noise must have as many factors as features"
        if why := general_refusal(problem, algorithm):
            return why
        if type(getattr(algorithm, "similarity", None)) is not ExactSimilarity:
            return "on quadratics it runs exact similarities only"
        return None if isinstance(algorithm.criterion, Binary | Continuous) else "its criterion is binary or continuous"
    if why := refusal(problem, algorithm):
        return why
    if type(getattr(algorithm, "similarity", None)) is not SampledSimilarity:
        return "it runs sampled similarities only"
    return None if isinstance(algorithm.criterion, Binary) else "on streams it runs binary criteria only"


def triton_paths(
    problem: StreamingLeastSquares | Quadratics,
    algorithm: AllForOne,
    *,
    seeds: Sequence[int] | range,
    iterations: int,
    eta: float,
    root: int = 0,
    start: Tensor | None = None,
    first: int = 0,
    device: str = "cuda",
) -> Tensor:
    """The models (S, N, d) after `iterations` steps, in float32. `InputError` for what the kernel does not run."""
    if why := _refusal(problem.to(torch.float32, "cpu"), algorithm):
        raise InputError("kernel", "triton", why)
    n, d = problem.clients, problem.features
    variances = problem.sigma2 if algorithm.sigma2 is None else algorithm.sigma2

    def there(values: Tensor) -> Tensor:
        return values.to(device, torch.float32).contiguous()

    criterion = algorithm.criterion
    level = criterion.threshold if isinstance(criterion, Binary) else 1.0
    threshold = torch.as_tensor(level, dtype=torch.float64) * (1 - TOLERANCE)
    if isinstance(problem, Quadratics):
        kernel, numbers = _quadratics, (problem.A, problem.optimum, problem.noise.factor)
        choice: dict[str, bool] = {"CONTINUOUS": isinstance(criterion, Continuous)}
    else:
        kernel, numbers, choice = _paths, (problem.root, problem.optimum, problem.label_noise), {}
    keys = np.asarray(seeds, dtype=np.uint64) | np.uint64(root) << np.uint64(32)
    models = torch.empty((len(seeds), n, d), dtype=torch.float32, device=device)
    kernel[(len(seeds),)](
        torch.from_numpy(keys.view(np.int64)).to(device),
        there(problem.start if start is None else start),
        models,
        *map(there, numbers),
        there(1 / per_client("sigma2", variances, problem).double()),
        there(threshold.expand(n, 1)),
        torch.full((n,), eta, dtype=torch.float32, device=device),
        first,
        iterations,
        n,
        d,
        0 if start is None else n * d,
        **choice,
        NORMALISED=algorithm.normalised,
        NP=max(16, triton.next_power_of_2(n)),
        DP=max(16, triton.next_power_of_2(d + 1)),
        num_warps=4,
    )
    return models
