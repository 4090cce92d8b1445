"""The Triton kernel beside torch with CUDA graphs and JAX on the same card: `python -m benchmarks --gpu`."""

from __future__ import annotations

import time
from typing import Any

import torch

from suffice.simulate import Randomness

from .peers import jax_scan
from .problems import SAMPLED, Case
from .timing import alternate, row


def table(quick: bool) -> list[dict[str, Any]]:
    """Rows, or one that says why there are none. (20, 10) in float32; units are seed-iterations."""
    if not torch.cuda.is_available():
        return [row("GPU: skipped, torch sees no CUDA device", 0.0)]
    from suffice.simulate.kernels.triton_paths import triton_paths

    n, d, seeds, T = 20, 10, 16384 if quick else 65536, 200
    case = Case("stream", n, d, dtype=torch.float32)
    problem = case.problem.to(torch.float32, "cuda")

    def ours() -> None:
        triton_paths(problem, SAMPLED, seeds=range(seeds), iterations=T, eta=case.eta)
        torch.cuda.synchronize()

    # torch: one step captured as a CUDA graph, its random numbers by torch's own generator
    few = 4096
    state = {"models": problem.start.expand(few, -1, -1).clone()}
    draw = SAMPLED.draw(problem, Randomness(seeds=torch.arange(few, device="cuda")), 1)
    eta = torch.tensor(case.eta, device="cuda")

    def step() -> None:
        for samples in (draw.noise, draw.extra["similarity"]):
            z = torch.randn(few, n, d + 1, device="cuda")
            samples.copy_(torch.cat((torch.einsum("kde,ske->skd", problem.root, z[..., :d]),
                                     problem.label_noise[:, None] * z[..., d:]), -1)[:, :, None])  # fmt: skip
        state["models"].copy_(SAMPLED.step(problem, state, draw, eta)["models"])

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

    calls = [ours, replay]
    peers = {"torch, CUDA graphs": few}
    if scan := jax_scan(case, seeds, T):
        import jax

        if jax.devices()[0].platform == "gpu":
            calls, peers = [*calls, scan], peers | {"JAX": seeds}
    own, *others = alternate(*calls, clock=time.perf_counter)
    found = {peer: 1e6 * took / width / T for (peer, width), took in zip(peers.items(), others)}
    goal = {"value": 0.01}  # 1e8 seed-iterations a second on an H100-class card
    return [row(f"{case.name}, {torch.cuda.get_device_name()}", 1e6 * own / seeds / T, "us", shape=(n, d, seeds),
                peers=found, goals=goal)]  # fmt: skip
