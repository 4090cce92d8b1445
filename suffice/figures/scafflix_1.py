"""scafflix-1: Scafflix and gradient descent on logistic regressions (Yi, Condat and Richtarik 2023, Figure 1).

f(x) = (1/8) sum_i f_i(alpha x + (1 - alpha) x_i*), f_i(x) = (1/n_i) sum_j log(1 + exp(-y_ij a_ij^T x)) + (mu/2) |x|^2
on eight contiguous parts of each dataset, an intercept first; x_i* minimises f_i. Exact gradients; all alphas toss the
same coins.

stated     equation (12): L_i = mean |a_ij|^2 / 4 + mu, gamma_i = 1/L_i, p = 1/sqrt(max L_i / mu); exact minima
published  the released code: L_i = lambda_max(A_i^T A_i + mu I) / (4 n_i), one step 1/mean(alpha^2 L_j) for all,
           p = 1/sqrt(mean L_i / mu); labels are y != -1, which makes all of mushrooms (labels 1 and 2) one class;
           f* is the value after 300 steps of gradient descent; |mean_i alpha grad f_i(x_i)|^2 at the local models
           stands for the squared gradient norm

w8a stands for w6a unless there is a file w6a.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

from .figure import Figure, joined
from .maker import Progress, maker
from .setting import DATA, data_folder, option, runs
from .style import BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SKY, VERMILION, banded, headline, label_ends

if TYPE_CHECKING:
    from torch import Tensor

    from suffice.simulate import Algorithm

    from .flix_regression import SparseLogistic

ROUNDS = {"mushrooms": 45, "a6a": 35, "w6a": 25, "w8a": 25}
"""Communication rounds of the longer of the paper's two rows of panels."""
REFERENCE = 300
"""The published edition's f* is the value after so many steps of gradient descent."""
FLOOR = 1e-14
"""Gaps f - f* below are rounding errors, and not drawn."""
BAND = (0.05, 0.95)
COLUMNS = {"gap": "loss", "gradient2": "loss^2 / theta^2"}
"""The columns that are drawn, with their units."""
BLOCK = 64
"""So many seeds run together."""
COLOURS = (BLUE, VERMILION, ORANGE, GREEN, PURPLE, SKY)


@maker(
    "scafflix-1",
    "Figure 1 of scafflix: gap and gradient norm against communication rounds (needs data)",
    "w8a stands for w6a, which was not available, unless there is a file w6a. Stated has both classes of mushrooms and "
    "exact minima; published has the released code's labels, which make one class of all of them.",
    unpublished="",
    least={"seeds": 1},
)
def scafflix_rounds(
    edition: str,
    *,
    data: str | Path | None = DATA,
    datasets: tuple[str, ...] | None = option(
        "names of files; mushrooms, a6a and w6a (if there) or w8a unless given", default=None
    ),
    clients: int = option("parts into which a dataset is cut", default=8),
    mu: float = option("weight of |x|^2 / 2 in every loss", default=0.1),
    alphas: Sequence[float] = option(
        "weights of the common model in the personal ones", default=(1.0, 1e-1, 1e-2, 1e-3, 1e-4)
    ),
    rounds: int | None = option("communication rounds; the paper's unless given", default=None),
    seeds: Sequence[int] = runs(200),
    progress: Progress,
) -> Figure:
    """The figure in one edition. Medians over `seeds` runs, which differ in their communication rounds' coins."""
    from .flix_regression import SparseLogistic

    if len(alphas) > len(COLOURS) or len(set(alphas)) < len(alphas) or max(alphas) > 1:
        raise InputError("alphas", list(alphas), f"give at most {len(COLOURS)} different numbers in (0, 1]")
    missing = "no file mushrooms in it; get mushrooms, a6a and w8a from the LIBSVM page"
    folder = data_folder(data, "libsvm", "mushrooms", "LIBSVM's mushrooms, a6a and w8a", missing)
    chosen = datasets or ("mushrooms", "a6a", "w6a" if (folder / "w6a").is_file() else "w8a")
    curves: dict[str, dict[str, np.ndarray]] = {}
    constants: dict[str, Any] = {}
    for done, name in enumerate(chosen, 1):
        problem = SparseLogistic.read(folder, name, edition, clients=clients, mu=mu)
        found = _curves(problem, alphas, rounds or ROUNDS.get(name, 30), seeds, edition)
        curves |= {joined(name, *key): curve for key, curve in found.items()}
        gamma, p = problem.steps(edition)
        constants[name] = {
            "rows": sum(problem.row_counts),
            "features": problem.features,
            "positive_share": float((problem.data.y > 0).double().mean()),
            "p": p,
            "mean_L": float((1 / gamma).mean()),
        }
        progress(done, len(chosen))
    of_seeds = f"median of {len(seeds)} runs" if len(seeds) > 1 else "one run"
    units = {"round": "communication rounds"}
    for column, unit in COLUMNS.items():
        units |= {column: f"{unit}, {of_seeds}"}
        units |= {f"{column}_low": f"{unit}, 5 % quantile", f"{column}_high": f"{unit}, 95 % quantile"}
    return Figure(
        title="Scafflix and gradient descent on FLIX, logistic regression",
        data=curves,
        units=units,
        setup={
            "datasets": constants,
            "start": "ones",
            "labels": "y != -1" if edition == "published" else "the larger label is +1",
            "smoothness": "released code" if edition == "published" else "equation (12)",
        },
        keys=("dataset", "method", "alpha"),
    )


def _curves(
    problem: SparseLogistic, alphas: Sequence[float], last: int, seeds: Sequence[int], edition: str
) -> dict[tuple[str, float], dict[str, np.ndarray]]:
    """Gaps and squared gradient norms of both methods, (rounds + 1,) each, by method and alpha."""
    import torch

    from suffice.simulate import Flix, Scaffnew
    from suffice.simulate.threads import one_thread

    gamma, p = problem.steps(edition)
    blocks, released = _blocks(seeds, p, last), edition == "published"
    curves = {}
    with one_thread():  # small matrices: threads would wait for each other
        for alpha in alphas:
            descent, rule = (kind(alpha=alpha, population=True) for kind in (Flix, partial(Scaffnew, p=p)))
            step = torch.tensor(1 / (alpha**2 * (1 / gamma).mean()))
            fall = _measured(problem, descent, step, alpha, REFERENCE if released else last, [0])
            value = fall[-1, 0, 0] if released else problem.least(alpha)
            parts = [_measured(problem, rule, torch.tensor(gamma), alpha, last, block, released) for block in blocks]
            for method, runs in (("GD", fall[: last + 1]), ("Scafflix", np.concatenate(parts, axis=1))):
                runs[..., 0] -= value  # (rounds + 1, seeds, 2)
                curve = {"round": np.arange(last + 1, dtype=float)}
                for column, values in zip(COLUMNS, np.moveaxis(runs, -1, 0)):
                    low, middle, high = np.quantile(values, (BAND[0], 0.5, BAND[1]), axis=1)
                    curve |= {column: middle, f"{column}_low": low, f"{column}_high": high}
                curves[method, alpha] = curve
    return curves


def _blocks(seeds: Sequence[int], p: float, last: int) -> list[np.ndarray]:
    """Blocks of seeds that need about as many iterations for `last` communications."""
    import torch

    from suffice.simulate import Randomness, Stream

    randomness = Randomness(seeds=torch.as_tensor(seeds))
    met, needed = np.zeros(len(seeds)), np.zeros(len(seeds))
    while (met < last).any():
        needed += met < last
        t = int(needed.max())
        met += randomness.uniform(iteration=t, stream=Stream.COIN, clients=1, features=1)[:, 0, 0].numpy() < p
    ordered = np.array(seeds)[np.argsort(needed, kind="stable")]
    return np.array_split(ordered, range(BLOCK, len(seeds), BLOCK))


def _measured(
    problem: SparseLogistic,
    algorithm: Algorithm,
    eta: Tensor,
    alpha: float,
    last: int,
    seeds: Sequence[int] | np.ndarray,
    released: bool = False,
) -> np.ndarray:
    """f and |grad f|^2 of FLIX in communication rounds, (last + 1, seeds, 2); where `released`, the gradient is the
    mean of those that the clients' last steps took, as in the released code."""
    import torch

    from suffice.simulate import iterate

    found = np.full((last + 1, len(seeds), 2), np.nan)
    done, slope, everyone = np.full(len(seeds), -1), None, torch.ones(len(seeds), dtype=torch.bool)
    endless = 10**9  # iterations: the last communication ends the run
    paths = iterate(problem, algorithm, seeds=torch.as_tensor(seeds), iterations=endless, eta=lambda t: eta)
    for _, _, draw, state in paths:
        values, slopes = problem.measured(state["models"])
        before, slope = slope, alpha * slopes.mean(1)
        shown = slope if before is None or not released else before
        done += (coin := (draw.extra if draw else {}).get("coin", everyone).numpy())
        met = coin & (done <= last)
        found[done[met], met] = torch.stack([values.mean(1), (shown**2).sum(1)], -1).numpy()[met]
        if done.min() >= last:
            break
    return found


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: gaps above, squared gradient norms below, a column per dataset."""
    names, alphas = list(figure.setup["datasets"]), figure.setup["alphas"]
    canvas.set_size_inches(2 * COLUMN_WIDTH, 4.2)
    panels = canvas.subplots(2, len(names), squeeze=False, sharex="col")
    for column, name in zip(panels.T, names):
        last = figure[name, "GD", alphas[0]]["round"][-1]
        for axes, (what, least) in zip(column, {"gap": FLOOR, "gradient2": 0}.items()):
            ends = []
            for alpha, colour in zip(alphas, COLOURS):
                for method, line in (("GD", "--"), ("Scafflix", "-")):
                    curve = figure[name, method, alpha]
                    shown = (curve[f"{what}{side}"] for side in ("_low", "", "_high"))
                    low, middle, high = (np.where(values > least, values, np.nan) for values in shown)
                    banded(axes, curve["round"], low, middle, high, colour, line, linewidth=1.1)
                if np.isfinite(middle[-1]):
                    ends.append((middle[-1], f"{alpha:g}", colour))
            axes.set(yscale="log", xlim=(0, last))
            if least:
                axes.set_ylim(bottom=max(least, axes.get_ylim()[0]))
            if ends:
                label_ends(axes, last, ends, gap=0.1)
        column[1].xaxis.get_major_locator().set_params(integer=True)
        column[1].set_xlabel("communication rounds")
        one_class = figure.setup["datasets"][name]["positive_share"] == 1
        column[0].set_title(name + " (labels of one class)" * one_class, loc="left")
    panels[0, 0].set_ylabel(r"gap $f(x^k) - f^\star$ (loss)")
    panels[1, 0].set_ylabel(r"$\|\nabla f(x^k)\|^2$ (loss$^2$/$\theta^2$)")
    handles = [panels[0, 0].plot([], [], line, color="0.3")[0] for line in ("-", "--")]
    runs = figure.setup["runs"]
    words = "The numbers at the lines are alpha. Scafflix is shown by "
    words += f"the median of {runs} runs, with a band from 5 to 95 %" if runs > 1 else "one run"
    if any((curve["gap_low"] <= FLOOR).any() for curve in figure.data.values()):
        words += f". Lines and bands of gaps end where they fall below {FLOOR:g}"
        words += f", or below f* after {REFERENCE} steps of GD" if figure.edition == "published" else ""
    cases = list(product(names, alphas))
    below = sum(figure[name, "Scafflix", a]["gap"][-1] < figure[name, "GD", a]["gap"][-1] for name, a in cases)
    message = f"After the same number of rounds Scafflix has the smaller gap in {below} of {len(cases)} cases"
    headline(canvas, message, words)
    canvas.legend(handles, ["Scafflix", "gradient descent (GD)"], loc="outside lower center", ncols=2)
