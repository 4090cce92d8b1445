"""The command `suffice train`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.support.progress import progress

from .app import Json, app
from .arguments import Parameters, words
from .console import echo, print_json, replaced, run_next
from .data_options import Client, Drop, Split, Target, has_sites, option

BASELINES = "Train alone, and one model of everybody, beside: on the same rows and iterations."


@app.command()
def train(
    setup: Annotated[
        str, typer.Argument(help="A table, a folder of .npz files (X, y), MNIST's folder of images, or sklearn:NAME.")
    ],
    model: Annotated[str, option("Network: mlp, cnn, lenet, or package.module:Factory, which is imported.")] = "mlp",
    algorithm: Annotated[str, option("Algorithm to train by: scouts, local, fedavg, ...")] = "scouts",
    parameters: Parameters = None,
    iterations: Annotated[int, option("Number of iterations.")] = 400,
    eta: Annotated[str, option("Step size.")] = "0.1",
    batch: Annotated[int, option("Rows of each stochastic gradient.")] = 16,
    momentum: Annotated[str, option("Momentum, in [0, 1).")] = "0",
    weight_decay: Annotated[str, option("Weight decay.")] = "0",
    client: Client = None,
    target: Target = None,
    loss: Annotated[str | None, option("Loss of a table's rows: auto, least-squares, logistic or multinomial.")] = None,
    drop: Drop = None,
    split: Split = None,
    test: Annotated[str, option("Share of each client's rows held out for tests.")] = "0.2",
    seed: Annotated[int, option("Seed of everything random.")] = 0,
    max_memory: Annotated[str | None, option("Memory limit in bytes: rows, models (default 2e9).")] = None,
    baselines: Annotated[bool, option(BASELINES)] = True,
    out: Annotated[Path, option("Folder for curves, models, tests and the picture.")] = Path("trained"),
    as_json: Json = False,
) -> None:
    """Train a network for each client; by default scouts find who learns with whom."""
    from suffice.support.parse import parse_number
    from suffice.training.train import train as make
    from suffice.training.train import unfinished

    numbers = {"eta": eta, "momentum": momentum, "weight_decay": weight_decay, "test": test, "max_memory": max_memory}
    given: dict[str, Any] = {"client": client, "target": target, "loss": loss, "drop": drop, "split": split}
    given |= {name: parse_number(name, text) for name, text in numbers.items() if text is not None}
    how: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    how |= {"model": model, "algorithm": algorithm, "options": words(parameters or [])}
    how |= {"iterations": iterations, "batch": batch, "seed": seed, "out": out, "baselines": baselines}
    try:
        with progress("training", after=2) as report:
            found = make(setup, progress=report, **how)
    except KeyboardInterrupt:
        if unfinished(out):
            again = shlex.join(["suffice", *sys.argv[1:]])
            echo(f"suffice: stopped; what is done is kept in {out}, and the same command goes on: {again}", err=True)
        raise
    if as_json:
        print_json(found.to_dict())
        return
    found.table().show()
    echo(f"{out}: training.json, curves.csv, tests.csv, models.npz, training.png"
         f"{'' if found.weights is None else ', weights.csv'}")  # fmt: skip
    _next(found, setup, split, client, out, iterations)


def _next(found: Any, setup: str, split: str | None, client: str | None, out: Path, iterations: int) -> None:
    """Suggest what to run next: more iterations while the loss falls, else predictions of a table's rows."""
    losses = found.trace.metrics["test loss"][0].mean(-1)
    falls = bool(losses[-1] < 0.99 * losses[-1 - len(losses) // 4])  # by a hundredth in the last quarter
    if falls or found.reading is None or not has_sites(setup, split):
        folder = f"{str(out).removesuffix(f'-{iterations}')}-{2 * iterations}"
        why = f"more iterations{', as the loss still falls' * falls}"
        return run_next(why, *replaced(sys.argv[1:], {"--iterations": 2 * iterations, "--out": folder}))
    model = found.setting["model"]
    options = ["--client", client] * bool(client) + ["--network", model] * (":" in model)
    run_next("predictions of these rows, or of new ones", "predict", out / "models.npz", setup, *options)
