"""scafflix-1: Scafflix and gradient descent on logistic regressions (Yi, Condat and Richtarik 2023, Figure 1).

f(x) = (1/8) sum_i f_i(alpha x + (1 - alpha) x_i*), f_i(x) = (1/n_i) sum_j log(1 + exp(-y_ij a_ij^T x)) + (mu/2) |x|^2
on eight contiguous parts of each dataset, an intercept first; x_i* minimises f_i. Exact gradients. Every client moves
by x_i' = x_i - s_i (alpha grad f_i - h_i); with probability p all average with weights 1/s_i and h_i grows by
(p / s_i) (xbar - x_i'). In the paper's letters s_i = gamma_i / alpha^2, and h_i is alpha times the paper's.

stated     equation (12): L_i = mean |a_ij|^2 / 4 + mu, gamma_i = 1/L_i, p = 1/sqrt(max L_i / mu); exact minima
published  the released code: L_i = lambda_max(A_i^T A_i + mu I) / (4 n_i), one step 1/mean(alpha^2 L_j) for all,
           p = 1/sqrt(mean L_i / mu); labels are y != -1, which makes all of mushrooms (labels 1 and 2) one class;
           f* is the value after 300 steps of gradient descent; |mean_i alpha grad f_i(x_i)|^2 at the local models
           stands for the squared gradient norm

w8a stands for w6a unless there is a file w6a.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.support.errors import InputError

from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .setting import data_folder
from .style import BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SKY, VERMILION, headline, label_ends

if TYPE_CHECKING:
    from .flix_regression import Regression

ROUNDS = {"mushrooms": 45, "a6a": 35, "w6a": 25, "w8a": 25}
"""Communication rounds of the longer of the paper's two rows of panels."""
REFERENCE = 300
"""The published edition's f* is the value after so many steps of gradient descent."""
FLOOR = 1e-14
"""Gaps f - f* below are rounding errors, and not drawn."""
BAND = (0.05, 0.95)
COLUMNS = ("gap", "gradient2")
COLOURS = (BLUE, VERMILION, ORANGE, GREEN, PURPLE, SKY)


@maker(
    "scafflix-1",
    "Figure 1 of scafflix: gap and gradient norm against communication rounds (needs data)",
    unpublished="",
    least={"seeds": 1},
)
def scafflix_rounds(
    edition: str,
    *,
    data: str | Path | None = None,
    datasets: tuple[str, ...] | None = None,
    clients: int = 8,
    mu: float = 0.1,
    alphas: Sequence[float] = (1.0, 1e-1, 1e-2, 1e-3, 1e-4),
    seeds: Sequence[int] = range(200),
    rounds: int | None = None,
    progress: Progress,
) -> Content:
    """The figure in one edition. Medians over `seeds` runs, which differ in their communication rounds' coins.

    data      folder of the LIBSVM files, or one above it; by default SUFFICE_DATA. `InputError` without it.
    datasets  names of files; by default mushrooms, a6a and w6a (if there) or w8a
    """
    from threadpoolctl import threadpool_limits

    from .flix_regression import Regression

    if len(alphas) > len(COLOURS) or len(set(alphas)) < len(alphas) or max(alphas) > 1:
        raise InputError("alphas", list(alphas), f"give at most {len(COLOURS)} different numbers in (0, 1]")
    levels = np.array(alphas)
    missing = "no file mushrooms in it; get mushrooms, a6a and w8a from the LIBSVM page"
    folder = data_folder(data, "libsvm", "mushrooms", "LIBSVM's mushrooms, a6a and w8a", missing)
    chosen = datasets or ("mushrooms", "a6a", "w6a" if (folder / "w6a").is_file() else "w8a")
    curves: dict[str, dict[str, np.ndarray]] = {}
    constants: dict[str, Any] = {}
    with threadpool_limits(1):  # small matrices: threads would wait for each other
        for done, name in enumerate(chosen):
            problem = Regression.read(folder, name, edition, clients=clients, mu=mu)
            last = rounds or ROUNDS.get(name, 30)
            value = _reference(problem, levels, edition)
            for method, runs in (
                ("GD", _descent(problem, levels, last, edition)),
                ("Scafflix", _scafflix(problem, levels, last, seeds, edition)),
            ):
                runs[..., 0] -= value  # (rounds + 1, alphas, seeds, 2)
                for a, alpha in enumerate(alphas):
                    curve = {"round": np.arange(last + 1, dtype=float)}
                    for c, column in enumerate(COLUMNS):
                        curve[column] = np.median(runs[:, a, :, c], axis=1)
                        low, high = np.quantile(runs[:, a, :, c], BAND, axis=1)
                        curve |= {f"{column}_low": low, f"{column}_high": high}
                    curves[SEPARATOR.join((name, method, f"{alpha:g}"))] = curve
            constants[name] = {
                "rows": int(sum(problem.sizes)),
                "features": int(problem.features),
                "positive_share": float(np.mean(np.concatenate(problem.y) > 0)),
                "p": problem.steps(edition)[1],
                "mean_L": float(problem.smoothness(edition).mean()),
            }
            progress(done + 1, len(chosen))
    of_seeds = f"median of {len(seeds)} runs" if len(seeds) > 1 else "one run"
    unit = {"gap": "loss", "gradient2": "loss^2 / theta^2"}
    units = {"round": "communication rounds"}
    for column in COLUMNS:
        units |= {column: f"{unit[column]}, {of_seeds}"}
        units |= {f"{column}_low": f"{unit[column]}, 5 % quantile", f"{column}_high": f"{unit[column]}, 95 % quantile"}
    return Content(
        title="Scafflix and gradient descent on FLIX, logistic regression",
        data=curves,
        units=units,
        setup={
            "datasets": constants,
            "clients": clients,
            "mu": mu,
            "alphas": list(alphas),
            "start": "ones",
            "seeds": [min(seeds), max(seeds)],
            "runs": len(seeds),
            "labels": "y != -1" if edition == "published" else "the larger label is +1",
            "smoothness": "released code" if edition == "published" else "equation (12)",
        },
        keys=("dataset", "method", "alpha"),
    )


def _descent(problem: Regression, alphas: np.ndarray, last: int, edition: str) -> np.ndarray:
    """f and |grad f|^2 of gradient descent on FLIX, (rounds + 1, alphas, 1, 2)."""
    x = np.ones((len(alphas), problem.features))
    step = 1 / (alphas[:, None] ** 2 * problem.smoothness(edition).mean())
    found = []
    for _ in range(last + 1):
        value, slopes = problem.measured(alphas, x)
        gradient = slopes.mean(0)
        found.append(np.stack([value, (gradient**2).sum(1)], axis=-1))
        x = x - step * gradient
    return np.array(found)[:, :, None]


def _reference(problem: Regression, alphas: np.ndarray, edition: str) -> np.ndarray:
    """f* (alphas, 1): the least value, in the published edition that of `REFERENCE` steps of gradient descent."""
    if edition == "published":
        return _descent(problem, alphas, REFERENCE, edition)[-1, :, :, 0]
    x = np.stack([problem.minimum(alpha, problem.anchors) for alpha in alphas])
    return problem.measured(alphas, x)[0][:, None]


def _scafflix(problem: Regression, alphas: np.ndarray, last: int, seeds: Sequence[int], edition: str) -> np.ndarray:
    """f and |grad f|^2 (or what the code takes for it) in communication rounds, (rounds + 1, alphas, seeds, 2).

    Every alpha tosses coins of its own. A row is a pair of alpha and seed, and is dropped after its last round.
    """
    import torch

    from suffice.simulate import Randomness, Stream

    gamma, p = problem.steps(edition)
    alpha = np.repeat(alphas, len(seeds))  # (m,)
    step = gamma[:, None, None] / alpha[:, None] ** 2  # s_i (N, m, 1)
    randomness = Randomness(seeds=torch.as_tensor(seeds))
    x = np.ones((problem.clients, len(alpha), problem.features))
    h = np.zeros_like(x)
    value, local = problem.measured(alpha, x[0])  # alpha grad f_i(x_i), known already where all have met
    found = np.full((last + 1, len(alpha), 2), np.nan)
    found[0] = np.stack([value, (local.mean(0) ** 2).sum(1)], axis=-1)
    done, left, t = np.zeros(len(alpha), dtype=int), np.arange(len(alpha)), 0
    moved = np.empty(0, dtype=int)
    while len(left):
        t += 1
        tossed = randomness.uniform(iteration=t, stream=Stream.COIN, clients=len(alphas), features=1)[..., 0]
        coin = np.flatnonzero(tossed.T.flatten().numpy()[left] < p)
        for i in range(problem.clients):
            local[i, moved] = problem.slopes(i, alpha[moved], x[i, moved])[0]
            change = local[i] - h[i]
            change *= step[i]
            x[i] -= change
        moved = np.arange(len(left))
        if not len(coin):
            continue
        seen, size, before = local[:, coin].mean(0), step[:, coin], x[:, coin]
        mean = (before / size).sum(0) / (1 / size).sum(0)
        h[:, coin] += p / size * (mean - before)
        x[:, coin] = mean
        value, local[:, coin] = problem.measured(alpha[coin], mean)
        met = left[coin]
        done[met] += 1
        gradient = seen if edition == "published" else local[:, coin].mean(0)
        found[done[met], met] = np.stack([value, (gradient**2).sum(1)], axis=-1)
        kept = done[left] < last
        moved = np.flatnonzero(~np.isin(np.flatnonzero(kept), coin))
        if not kept.all():
            left, alpha = left[kept], alpha[kept]
            step, x, h, local = step[:, kept], x[:, kept], h[:, kept], local[:, kept]
    return found.reshape(last + 1, len(alphas), len(seeds), 2)


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: gaps above, squared gradient norms below, a column per dataset."""
    names, alphas = list(figure.setup["datasets"]), figure.setup["alphas"]
    canvas.set_size_inches(2 * COLUMN_WIDTH, 4.2)
    panels = canvas.subplots(2, len(names), squeeze=False, sharex="col")
    for column, name in enumerate(names):
        last = figure.data[SEPARATOR.join((name, "GD", f"{alphas[0]:g}"))]["round"][-1]
        for row, what in enumerate(COLUMNS):
            axes, ends = panels[row, column], []
            for alpha, colour in zip(alphas, COLOURS):
                for method, line in (("GD", "--"), ("Scafflix", "-")):
                    curve = figure.data[SEPARATOR.join((name, method, f"{alpha:g}"))]
                    middle, low, high = (_shown(curve[f"{what}{side}"], what) for side in ("", "_low", "_high"))
                    if method == "Scafflix":
                        axes.fill_between(curve["round"], low, high, color=colour, alpha=0.15, linewidth=0)
                    axes.plot(curve["round"], middle, line, color=colour, linewidth=1.1)
                    if method == "Scafflix" and np.isfinite(middle[-1]):
                        ends.append((middle[-1], f"{alpha:g}", colour))
            axes.set_yscale("log")
            axes.set_xlim(0, last)
            if row == 0:
                axes.set_ylim(bottom=max(FLOOR, axes.get_ylim()[0]))
            if ends:
                label_ends(axes, last, ends, gap=0.1)
        panels[1, column].xaxis.get_major_locator().set_params(integer=True)
        panels[1, column].set_xlabel("communication rounds")
        one_class = figure.setup["datasets"][name]["positive_share"] == 1
        axes = panels[0, column]
        axes.set_title(name + (" (labels of one class)" if one_class else ""), loc="left")
    panels[0, 0].set_ylabel(r"gap $f(x^k) - f^\star$ (loss)")
    panels[1, 0].set_ylabel(r"$\|\nabla f(x^k)\|^2$ (loss$^2$/$\theta^2$)")
    handles = [panels[0, 0].plot([], [], line, color="0.3")[0] for line in ("-", "--")]
    runs = figure.setup["runs"]
    words = "The numbers at the lines are alpha. Scafflix is shown by "
    words += f"the median of {runs} runs, with a band from 5 to 95 %" if runs > 1 else "one run"
    if any((curve["gap_low"] <= FLOOR).any() for curve in figure.data.values()):
        words += f". Lines and bands of gaps end where they fall below {FLOOR:g}"
        words += f", or below f* after {REFERENCE} steps of GD" if figure.edition == "published" else ""
    headline(canvas, _message(figure), words)
    canvas.legend(handles, ["Scafflix", "gradient descent (GD)"], loc="outside lower center", ncols=2)


def _message(figure: Figure) -> str:
    """Whether Scafflix ends below gradient descent everywhere."""
    pairs = {name.replace("| GD |", "| Scafflix |"): name for name in figure.data if "| GD |" in name}
    below = sum(figure.data[ours]["gap"][-1] < figure.data[other]["gap"][-1] for ours, other in pairs.items())
    return f"After the same number of rounds Scafflix has the smaller gap in {below} of {len(pairs)} cases"


def _shown(values: np.ndarray, what: str) -> np.ndarray:
    return np.where(values > (FLOOR if what == "gap" else 0), values, np.nan)
