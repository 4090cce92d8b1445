"""The Triton kernel beside torch with CUDA graphs and JAX on the same card: `python -m benchmarks --gpu`."""

from __future__ import annotations

from typing import Any

import torch

from suffice.simulate import Randomness

from .peers import ALGORITHM, jax_scan, stream
from .timing import alternate, row


def table(quick: bool) -> list[dict[str, Any]]:
    """Rows, or one that says why there are none. (20, 10) in float32; units are seed-iterations."""
    if not torch.cuda.is_available():
        return [{"name": "GPU: skipped, torch sees no CUDA device", "value": 0.0}]
    from suffice.simulate.kernels.triton_paths import triton_paths

    n, d, seeds, T = 20, 10, 16384 if quick else 65536, 200
    problem = stream(n, d, dtype=torch.float32).to(torch.float32, "cuda")

    def ours() -> None:
        triton_paths(problem, ALGORITHM, seeds=range(seeds), iterations=T, eta=0.01 / d)
        torch.cuda.synchronize()

    # torch: one step captured as a CUDA graph, its random numbers by torch's own generator
    few = 4096
    state = {"models": problem.start.expand(few, -1, -1).clone()}
    draw = ALGORITHM.draw(problem, Randomness(seeds=torch.arange(few, device="cuda")), 1)
    eta = torch.tensor(0.01 / d, device="cuda")

    def step() -> None:
        for samples in (draw.noise, draw.extra["similarity"]):
            z = torch.randn(few, n, d + 1, device="cuda")
            samples.copy_(torch.cat((torch.einsum("kde,ske->skd", problem.root, z[..., :d]),
                                     problem.label_noise[:, None] * z[..., d:]), -1)[:, :, None])  # fmt: skip
        state["models"].copy_(ALGORITHM.step(problem, state, draw, eta)["models"])

    side = torch.cuda.Stream()
    with torch.cuda.stream(side), torch.no_grad():
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph), torch.no_grad():
        step()

    def replay() -> None:
        for _ in range(T):
            graph.replay()
        torch.cuda.synchronize()

    a, b = alternate(ours, replay)
    name = f"all-for-one float32, {torch.cuda.get_device_name()}"
    rows = [row(name, (n, d, seeds), a / seeds / T, "torch, CUDA graphs", b / few / T)]
    scan = jax_scan(n, d, seeds, T, torch.float32)
    if scan is not None:
        import jax

        if jax.devices()[0].platform == "gpu":
            a, b = alternate(ours, scan)
            rows.append(row(name, (n, d, seeds), a / seeds / T, "JAX", b / seeds / T))
    rows.append({"name": "seed-iterations per second (goal 1e8 on an H100-class card)", "value": seeds * T / a})
    return rows
