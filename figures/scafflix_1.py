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

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, hstack

from suffice.bounds import InputError

from .figure import SEPARATOR, Content, Figure
from .maker import Progress, maker
from .style import BLUE, COLUMN_WIDTH, GREEN, ORANGE, PURPLE, SMALL, VERMILION

CLIENTS = 8
MU = 0.1
ALPHAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
ROUNDS = {"mushrooms": 45, "a6a": 35, "w6a": 25, "w8a": 25}
"""Communication rounds of the longer of the paper's two rows of panels."""
SEEDS = 20
REFERENCE = 300
"""Steps of gradient descent to the published edition's f*."""
FLOOR = 1e-14
"""Gaps f - f* below are rounding errors, and not drawn."""
BAND = (0.05, 0.95)
COLUMNS = ("gap", "gradient2")
COLOURS = dict(zip(ALPHAS, (BLUE, VERMILION, ORANGE, GREEN, PURPLE)))


@maker(
    "scafflix-1",
    "Figure 1 of scafflix: gap and gradient norm against communication rounds (needs data)",
    unpublished="",
)
def scafflix_rounds(
    edition: str,
    *,
    data: str | Path | None = None,
    datasets: tuple[str, ...] | None = None,
    seeds: int = SEEDS,
    rounds: int | None = None,
    progress: Progress,
) -> Content:
    """The figure in one edition. Medians over `seeds` runs, which differ in their communication rounds' coins.

    data      folder of the LIBSVM files, or one above it; by default SUFFICE_DATA. `InputError` without it.
    datasets  names of files; by default mushrooms, a6a and w6a (if there) or w8a
    """
    from threadpoolctl import threadpool_limits

    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise InputError("seeds", seeds, "give how many, at least 1")
    if rounds is not None and rounds < 1:
        raise InputError("rounds", rounds, "give at least 1")
    folder = _folder(data)
    chosen = datasets or ("mushrooms", "a6a", "w6a" if (folder / "w6a").is_file() else "w8a")
    curves: dict[str, dict[str, np.ndarray]] = {}
    constants: dict[str, Any] = {}
    with threadpool_limits(1):  # small matrices: threads would wait for each other
        for done, name in enumerate(chosen):
            problem = Regression.read(folder, name, edition)
            last = rounds or ROUNDS.get(name, 30)
            steps, p = problem.steps(edition)
            value = _reference(problem, edition)
            for method, runs in (
                ("GD", _descent(problem, last, edition)),
                ("Scafflix", _scafflix(problem, steps, p, last, seeds, edition)),
            ):
                runs[..., 0] -= value  # (rounds + 1, alphas, seeds, 2)
                for a, alpha in enumerate(ALPHAS):
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
                "p": p,
                "mean_L": float(problem.smoothness(edition).mean()),
            }
            progress(done + 1, len(chosen))
    of_seeds = f"median of {seeds} runs" if seeds > 1 else "one run"
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
            "clients": CLIENTS,
            "mu": MU,
            "alphas": list(ALPHAS),
            "start": "ones",
            "seeds": [0, seeds - 1],
            "labels": "y != -1" if edition == "published" else "the larger label is +1",
            "smoothness": "released code" if edition == "published" else "equation (12)",
        },
        keys=("dataset", "method", "alpha"),
    )


@dataclass(frozen=True, kw_only=True)
class Regression:
    """Clients' rows X[i] (n_i, d), intercept first, and labels y[i] (n_i,) of +-1."""

    X: tuple[csr_matrix, ...]
    y: tuple[np.ndarray, ...]

    @classmethod
    def read(cls, folder: Path, name: str, edition: str) -> Regression:
        """The LIBSVM file `name` (or NAME_pm1, with labels +-1) of `folder`; `InputError` if it is none."""
        from sklearn.datasets import load_svmlight_file

        path = folder / f"{name}_pm1" if (folder / f"{name}_pm1").is_file() else folder / name
        try:
            rows, labels = load_svmlight_file(str(path))[:2]
        except OSError as error:
            raise InputError("data", str(path), (error.strerror or "unreadable").lower()) from None
        except ValueError:
            raise InputError("data", str(path), "no LIBSVM file: lines read label index:value ...") from None
        if rows.shape[0] < CLIENTS or len(np.unique(labels)) != 2:
            raise InputError("data", str(path), f"give at least {CLIENTS} rows with two different labels")
        if labels.min() == 0:  # some copies write 0 for -1
            labels = np.where(labels == 0, -1.0, labels)
        positive = labels != -1 if edition == "published" else labels == labels.max()
        X = csr_matrix(hstack([np.ones((rows.shape[0], 1)), rows]))
        parts = np.array_split(np.arange(rows.shape[0]), CLIENTS)
        return cls(X=tuple(X[part] for part in parts), y=tuple(np.where(positive[part], 1.0, -1.0) for part in parts))

    @property
    def features(self) -> int:
        shape = self.X[0].shape
        assert shape is not None
        return shape[1]

    @property
    def sizes(self) -> list[int]:
        return [len(y) for y in self.y]

    @cached_property
    def _transposed(self) -> tuple[csr_matrix, ...]:
        return tuple(csr_matrix(X.T) for X in self.X)

    def smoothness(self, edition: str) -> np.ndarray:
        """L_i (8,) of the edition."""
        if edition == "stated":
            return np.array([X.multiply(X).sum() / (4 * n) + MU for X, n in zip(self.X, self.sizes)])
        return np.array(
            [(np.linalg.eigvalsh(csr_matrix(X.T @ X).toarray())[-1] + MU) / (4 * n) for X, n in zip(self.X, self.sizes)]
        )

    def steps(self, edition: str) -> tuple[np.ndarray, float]:
        """Scafflix's s_i for each alpha, (8, alphas), and p."""
        L = self.smoothness(edition)
        worst = L.mean() if edition == "published" else L.max()
        gamma = np.full_like(L, 1 / L.mean()) if edition == "published" else 1 / L
        return gamma[:, None] / np.array(ALPHAS) ** 2, float(1 / np.sqrt(worst / MU))

    def gradient(self, i: int, x: np.ndarray) -> np.ndarray:
        """grad f_i at the columns of x (d, m)."""
        from scipy.special import expit

        y = self.y[i][:, None]
        return self._transposed[i] @ (-y * expit(-y * (self.X[i] @ x))) / len(y) + MU * x

    def value(self, i: int, x: np.ndarray) -> np.ndarray:
        """f_i at the columns of x, (m,)."""
        return np.logaddexp(0, -self.y[i][:, None] * (self.X[i] @ x)).mean(0) + MU / 2 * (x**2).sum(0)

    def hessian(self, i: int, x: np.ndarray) -> np.ndarray:
        """The Hessian of f_i at x (d,)."""
        from scipy.special import expit

        margin = self.X[i] @ x
        weight = expit(margin) * expit(-margin) / len(margin)
        weighted = csr_matrix(self.X[i].multiply(weight[:, None]))
        return csr_matrix(self._transposed[i] @ weighted).toarray() + MU * np.eye(self.features)

    @cached_property
    def anchors(self) -> np.ndarray:
        """x_i* (8, d), by Newton's method to a gradient below 1e-12."""
        return np.stack([self._minimum((i,), 1.0, np.zeros((1, self.features))) for i in range(CLIENTS)])

    def minimum(self, alpha: float, anchors: np.ndarray) -> np.ndarray:
        """x* of FLIX (d,)."""
        return self._minimum(tuple(range(CLIENTS)), alpha, anchors)

    def _minimum(self, clients: tuple[int, ...], alpha: float, anchors: np.ndarray) -> np.ndarray:
        x = anchors.mean(0)
        for _ in range(50):
            points = [alpha * x + (1 - alpha) * anchor for anchor in anchors]
            gradient = sum(self.gradient(i, at[:, None])[:, 0] for i, at in zip(clients, points))
            if np.linalg.norm(gradient) < 1e-12 * len(clients):
                break
            hessian = sum(self.hessian(i, at) for i, at in zip(clients, points))
            x = x - np.linalg.solve(alpha * hessian, gradient)
        return x


def _folder(data: str | Path | None) -> Path:
    given = data or os.environ.get("SUFFICE_DATA") or None
    if given is None:
        raise InputError("data", "missing", "name the folder of LIBSVM's mushrooms, a6a and w8a, or set SUFFICE_DATA")
    for folder in (Path(given), Path(given) / "libsvm"):
        if (folder / "mushrooms").is_file():
            return folder
    raise InputError("data", str(given), "no file mushrooms in it; get mushrooms, a6a and w8a from the LIBSVM page")


def _measured(problem: Regression, alpha: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """f (m,) and grad f (d, m) of FLIX at the columns of x (d, m), each with its alpha (m,)."""
    points = [alpha * x + (1 - alpha) * anchor[:, None] for anchor in problem.anchors]
    values = [problem.value(i, at) for i, at in enumerate(points)]
    return np.mean(values, axis=0), alpha * np.mean([problem.gradient(i, at) for i, at in enumerate(points)], axis=0)


def _descent(problem: Regression, last: int, edition: str) -> np.ndarray:
    """f and |grad f|^2 of gradient descent on FLIX, (rounds + 1, alphas, 1, 2)."""
    alpha = np.array(ALPHAS)
    x, step = np.ones((problem.features, len(alpha))), 1 / (alpha**2 * problem.smoothness(edition).mean())
    found = []
    for _ in range(last + 1):
        value, gradient = _measured(problem, alpha, x)
        found.append(np.stack([value, (gradient**2).sum(0)], axis=-1))
        x = x - step * gradient
    return np.array(found)[:, :, None]


def _reference(problem: Regression, edition: str) -> np.ndarray:
    """f* (alphas, 1): the least value, in the published edition that of `REFERENCE` steps of gradient descent."""
    if edition == "published":
        return _descent(problem, REFERENCE, edition)[-1, :, :, 0]
    x = np.stack([problem.minimum(alpha, problem.anchors) for alpha in ALPHAS], axis=1)
    return _measured(problem, np.array(ALPHAS), x)[0][:, None]


def _scafflix(problem: Regression, steps: np.ndarray, p: float, last: int, seeds: int, edition: str) -> np.ndarray:
    """f and |grad f|^2 (or what the code takes for it) in communication rounds, (rounds + 1, alphas, seeds, 2).

    Every alpha tosses coins of its own. A column is a pair of alpha and seed, and is dropped after its last round.
    """
    import torch

    from suffice.simulate import Randomness, Stream

    def columns(of_alphas: np.ndarray) -> np.ndarray:
        return np.repeat(of_alphas, seeds, axis=-1)

    alpha, step = columns(np.array(ALPHAS)), columns(steps)[:, None]  # (m,), (N, 1, m)
    randomness = Randomness(seeds=torch.arange(seeds))
    x = np.ones((CLIENTS, problem.features, len(alpha)))
    h = np.zeros_like(x)
    found = np.full((last + 1, len(alpha), 2), np.nan)
    value, gradient = _measured(problem, alpha, x[0])
    found[0] = np.stack([value, (gradient**2).sum(0)], axis=-1)
    done, left, t = np.zeros(len(alpha), dtype=int), np.arange(len(alpha)), 0
    while len(left):
        t += 1
        points = (alpha * x[i] + (1 - alpha) * problem.anchors[i][:, None] for i in range(CLIENTS))
        local = alpha * np.stack([problem.gradient(i, at) for i, at in enumerate(points)])
        moved = x - step * (local - h)
        tossed = randomness.uniform(iteration=t, stream=Stream.COIN, clients=len(ALPHAS), features=1)[..., 0]
        coin = tossed.T.flatten().numpy()[left] < p
        x = moved
        if not coin.any():
            continue
        mean = (moved / step).sum(0) / (1 / step).sum(0)
        h = np.where(coin, h + p / step * (mean - moved), h)
        x = np.where(coin, mean, moved)
        value, gradient = _measured(problem, alpha[coin], mean[:, coin])
        if edition == "published":
            gradient = local.mean(0)[:, coin]
        met = left[coin]
        done[met] += 1
        found[done[met], met] = np.stack([value, (gradient**2).sum(0)], axis=-1)
        if (kept := done[left] < last).sum() < len(left):
            left, alpha, step, x, h = left[kept], alpha[kept], step[..., kept], x[..., kept], h[..., kept]
    return found.reshape(last + 1, len(ALPHAS), seeds, 2)


def draw(figure: Figure, canvas: Any) -> None:
    """Paint from the figure's data: gaps above, squared gradient norms below, a column per dataset."""
    names = list(figure.setup["datasets"])
    canvas.set_size_inches(2 * COLUMN_WIDTH, 3.9)
    panels = canvas.subplots(2, len(names), squeeze=False, sharex="col")
    for column, name in enumerate(names):
        for row, what in enumerate(COLUMNS):
            axes = panels[row, column]
            for alpha in ALPHAS:
                for method, line in (("GD", "--"), ("Scafflix", "-")):
                    curve = figure.data[SEPARATOR.join((name, method, f"{alpha:g}"))]
                    middle, low, high = (_shown(curve[f"{what}{side}"], what) for side in ("", "_low", "_high"))
                    if method == "Scafflix":
                        axes.fill_between(curve["round"], low, high, color=COLOURS[alpha], alpha=0.15, linewidth=0)
                    axes.plot(curve["round"], middle, line, color=COLOURS[alpha], linewidth=1.1)
            axes.set_yscale("log")
            axes.set_xlim(0, figure.data[SEPARATOR.join((name, "GD", f"{ALPHAS[0]:g}"))]["round"][-1])
        panels[0, column].set_ylim(bottom=FLOOR)
        panels[1, column].set_xlabel("communication rounds")
        one_class = figure.setup["datasets"][name]["positive_share"] == 1
        axes = panels[0, column]
        axes.set_title(name + (" (labels of one class)" if one_class else ""), loc="left")
    panels[0, 0].set_ylabel(r"gap $f(x^k) - f^\star$ (loss)")
    panels[1, 0].set_ylabel(r"$\|\nabla f(x^k)\|^2$ (loss$^2$/$\theta^2$)")
    lines = panels[0, 0].get_lines()
    handles, labels = lines[1::2], [rf"$\alpha = {alpha:g}$" for alpha in ALPHAS]
    axes = panels[0, 0]
    handles = [*handles, *(axes.plot([], [], line, color="0.3")[0] for line in ("-", "--"))]
    runs = figure.setup["seeds"][1] + 1
    words = (
        f"Scafflix: median of {runs} runs, each with coins of its own; band: 5 to 95 %"
        if runs > 1
        else "Scafflix: one run"
    )
    canvas.suptitle(words, fontsize=SMALL, x=0.01, ha="left")
    canvas.legend(
        handles, [*labels, "Scafflix", "GD"], loc="outside lower center", ncols=7, handlelength=1.6, columnspacing=1.0
    )


def _shown(values: np.ndarray, what: str) -> np.ndarray:
    return np.where(values > (FLOOR if what == "gap" else 0), values, np.nan)
