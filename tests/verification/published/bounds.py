"""Bounds of papers as one would type them: in their letters, from general knowledge, with what `sf.check` says.

Each function is a bound; `asked` holds the rest of its call of `sf.check`, `wrong` two wrong variants, and `published`
where it is printed, the worst ratio and the verdict.
"""

from __future__ import annotations

import inspect
import math
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import suffice as sf
from suffice.simulate import Algorithm, Draw, Stream
from suffice.verification.families import quadratics

ONE = quadratics(features=2, longest=100)
SHORT = quadratics(features=2, longest=40)
ALIKE = quadratics(clients=3, features=1, longest=60, identical=True)
SEVERAL = quadratics(clients=3, features=1, longest=60)
ONE_HESSIAN = quadratics(clients=3, features=1, longest=60, identical="hessian")


@dataclass(frozen=True, kw_only=True)
class Bound:
    """One bound with its verdict."""

    topic: str
    paper: str
    place: str
    function: Callable[..., Any]
    call: dict[str, Any]
    outcome: str
    ratio: float
    wrong: dict[str, str]

    @property
    def family(self) -> Any:
        """That of one client, or of three where the algorithm is one of several."""
        alone = isinstance(self.call.get("algorithm", sf.Local()), (sf.Local, sf.algorithms.Momentum, Moving, OneOfTwo))
        return self.call.get("family", ONE if alone else SEVERAL)

    def variants(self) -> list[Callable[..., Any]]:
        """The wrong ones, of the text with one piece replaced."""
        head, _, body = _parts(self.function)[1].partition("\n")
        found = []
        for old, new in self.wrong.items():
            assert body.count(old) == 1, f"{self.function.__name__}: {old!r} stands there {body.count(old)} times"
            names = dict(globals())
            exec(f"{head}\n{body.replace(old, new)}", names)
            found.append(names[self.function.__name__])
        return found

    def text(self) -> str:
        """What one types."""
        asked, bound = _parts(self.function)
        return f"{bound}\n\n{asked.replace('@asked(', f'sf.check({self.function.__name__}, ', 1)}"

    @property
    def title(self) -> str:
        return f"{self.paper}, {self.place}"


def _parts(function: Callable[..., Any]) -> tuple[str, str]:
    """The text of `asked` and that of the function."""
    text = textwrap.dedent(inspect.getsource(function))
    head, _, bound = text.partition("\ndef ")
    return head[head.index("@asked(") :], "def " + bound.rstrip()


def page() -> str:
    """docs/published.md."""
    anchors = ["".join(c for c in b.title.lower().replace(" ", "-") if c.isalnum() or c in "-_") for b in BOUNDS]
    rows = [f"| [{b.paper}](#{at}) | {b.place} | {b.outcome} | {b.ratio:g} |" for b, at in zip(BOUNDS, anchors)]
    kept = (Bound, told, asked, wrong, published, page)
    own = [each for each in globals().values() if getattr(each, "__module__", "") == __name__ and each not in kept]
    own = [inspect.getsource(each) for each in own if "call" not in vars(each) and each.__name__[0] != "_"]
    *codes, last = _formatted([*(bound.text() for bound in BOUNDS), "\n\n\n".join(own)])
    shown, topic = [], ""
    for bound, code in zip(BOUNDS, codes):
        shown += [f"## {bound.topic}"] if bound.topic != topic else []
        shown, topic = [*shown, f"### {bound.title}", f"```py\n{code}\n```"], bound.topic
    text = (Path(__file__).parent / "page.md").read_text(encoding="utf-8")
    given = {"bounds": len(BOUNDS), "papers": len({bound.paper for bound in BOUNDS}), "code": "\n\n".join(shown)}
    table = "\n".join(["| paper | result | verdict | worst ratio |", "|---|---|---|---|", *rows])
    for name, value in {**given, "table": table, "own": f"```py\n{last}\n```"}.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def _formatted(codes: list[str]) -> list[str]:
    """Of lines that fit a page."""
    mark = "\n\n# ---\n"
    asked = [sys.executable, "-m", "ruff", "format", "--line-length=92", "-"]
    done = subprocess.run(asked, input=mark.join(codes), capture_output=True, text=True, check=True)
    return [code.strip() for code in done.stdout.split(mark.strip())]


BOUNDS: list[Bound] = []
"""In the order of the page."""


def told(**more: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Keeps more to be known of a function with it."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        vars(function).update(more)
        return function

    return keep


def asked(**call: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The other arguments of `sf.check`."""
    return told(call=call)


def wrong(variants: dict[str, str]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Pieces of the text with what stands there in a wrong variant."""
    return told(wrong=variants)


def published(topic: str, paper: str, place: str, ratio: float, outcome: str = "valid") -> Any:
    """Where it is printed, and its verdict."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        known = {"topic": topic, "paper": paper, "place": place, "ratio": ratio, "outcome": outcome}
        BOUNDS.append(Bound(function=function, **known, **vars(function)))
        return function

    return keep


# --- what the library does not have


def growing(*, t, T, eta, mu):
    """w_t = (1 - mu eta)^-(t + 1) over their sum."""
    w = (1 - eta * mu) ** (T - t)
    return w / w.sum()


def weak_growth(*, beta, noise_factor, noise_excess):
    """The least rho with E|g - g*|^2 <= 2 rho L (f - f*), g* the same gradient at x*."""
    return 1 + noise_factor + noise_excess / beta


def of_random_iterate(*, t, T, gamma, L):
    """The share of 2 g_t - L g_t^2, g_t = gamma/(t + 1)^(1/2), t < T."""
    g = gamma / (t + 1) ** 0.5
    w = (t < T) * (2 * g - L * g**2)
    return w / w.sum()


def of_smooth(*, t, T, gamma, L):
    """The share of g_t (1 - 2 L g_t), g_t = gamma/(t + 1)^(1/2), t < T."""
    g = gamma / (t + 1) ** 0.5
    w = (t < T) * g * (1 - 2 * L * g)
    return w / w.sum()


def of_abc(*, t, T, gamma, L, A):
    """w_t = (1 + L gamma^2 A)^-(t + 1), t < T, over their sum."""
    w = (t < T) * (1 + L * gamma**2 * A) ** -(t + 1)
    return w / w.sum()


def mean_square(x):
    """(1/N) sum_i |x_i|^2 of x (S, N, d)."""
    return x.square().sum(-1).mean(-1)


def deviation(*, state, best):
    """(1/N) sum_i |x_i - xbar|^2; with `best` e0 is the mean loss's, and Gamma is known."""
    return mean_square(state["models"] - state["models"].mean(1, keepdim=True))


def psi(state, problem, solution, weight):
    """(1/N) sum_i |x_i - x_i*|^2 + weight^2 (1/N) sum_i |h_i - grad f_i(x_i*)|^2."""
    slope = problem.gradient(solution.expand(1, problem.clients, -1))
    return mean_square(state["models"] - solution) + weight**2 * mean_square(state["control"] - slope)


def from_mixture(*, state, problem, best, alpha):
    """(1/N) sum_i |x_i - alpha x* - (1 - alpha) x_i*|^2."""
    return mean_square(state["models"] - alpha * best - (1 - alpha) * problem.optimum)


def psi_of_mixture(*, state, problem, best, eta, p, alpha):
    """Scafflix's Psi over gamma."""
    return psi(state, problem, alpha * best + (1 - alpha) * problem.optimum, eta / p)


@dataclass(frozen=True, kw_only=True)
class Moving(Algorithm):
    """z <- z - eta g(x);  x <- ((t + 1) x + z)/(t + 2), for t = 0, 1, ..."""

    name: str = "iterate-moving-average"
    linear: bool = True

    def init(self, problem, models):
        return {"models": models, "z": models}

    def step(self, problem, state, draw, eta):
        x, t = state["models"], draw.iteration - 1
        z = state["z"] - eta[..., None] * problem.stochastic_gradient(x, None, draw.noise)
        return {"models": x + (z - x) / (t + 2), "z": z}

    def phase(self, iteration):
        return iteration


@dataclass(frozen=True, kw_only=True)
class Gossip(Algorithm):
    """DGD, D-PSGD: x_i <- sum_k W_ik x_k - eta g_i(x_i) on a ring of three, W_ii = 1 - 2 w."""

    w: float = 0.25
    name: str = "gossip"
    linear: bool = True

    def init(self, problem, models):
        return {"models": models}

    @property
    def spectral_gap(self):
        """1 less the norm |1 - 3 w| of W - 11^T/3."""
        return 1 - abs(1 - 3 * self.w)

    def step(self, problem, state, draw, eta):
        x = state["models"]
        mixed = (1 - 3 * self.w) * x + self.w * x.sum(1, keepdim=True)
        return {"models": mixed - eta[..., None] * problem.stochastic_gradient(x, None, draw.noise)}


@dataclass(frozen=True, kw_only=True)
class OneOfTwo(Algorithm):
    """SGD with one of the two entries of a gradient, by a fair coin, times 1 + omega = 2."""

    omega: float = 1.0
    name: str = "one-of-two-entries"
    linear: bool = True

    def init(self, problem, models):
        return {"models": models}

    def draw(self, problem, randomness, iteration):
        u = randomness.uniform(iteration=iteration, stream=Stream.COIN, clients=problem.clients, features=1)
        first = (u < 0.5).to(problem.dtype)
        return Draw(iteration=iteration, noise=problem.draw(randomness, iteration), extra={"first": first})

    def outcomes(self, problem, iteration):
        return [(0.5, {"first": torch.full((1, problem.clients, 1), kept, dtype=problem.dtype)}) for kept in (1.0, 0.0)]

    def step(self, problem, state, draw, eta):
        x, first = state["models"], draw.extra["first"]
        g = problem.stochastic_gradient(x, None, draw.noise)
        return {"models": x - 2 * eta[..., None] * g * torch.cat((first, 1 - first), -1)}


nocedal = {"L": "beta", "M": "sigma2", "M_G": lambda *, noise_factor: 1 + noise_factor, "gap": "e0"}
abc = {"gamma": "eta", "L": "beta", "A": "noise_excess", "B": lambda *, noise_factor: 1 + noise_factor, "C": "sigma2"}

# --- gradient descent


@published("Gradient descent", "Nesterov (2004)", "Theorem 2.1.14", 1.0)
@wrong({"k * h": "k**2 * h", "gap)": "L * D2 / 2)"})
@asked(
    names={"h": "eta", "L": "beta", "gap": "e0", "D2": "distance2", "k": "T"},
    conditions=lambda *, h, L, sigma2: {"0 < h < 2/L": (h, 2 / L), "no noise": (sigma2, 0)},
)
def nesterov_2_1_14(*, h, L, gap, D2, k):
    return 2 * gap * D2 / (2 * D2 + k * h * (2 - L * h) * gap)


@published("Gradient descent", "Nesterov (2004)", "Theorem 2.1.15", 1.0, "holds")
@wrong({"** k": "** (2 * k)", "mu * L / (mu + L)": "L * L / (mu + L)"})
@asked(
    quantity="last_distance",
    names={"h": "eta", "L": "beta", "D2": "distance2", "k": "T"},
    conditions=lambda *, h, mu, L, sigma2: {"h <= 2/(mu + L)": (h, 2 / (mu + L)), "no noise": (sigma2, 0)},
)
def nesterov_2_1_15(*, h, mu, L, D2, k):
    return (1 - 2 * h * mu * L / (mu + L)) ** k * D2


@published("Gradient descent", "Drori, Teboulle (2014)", "Theorem 1", 1.0)
@wrong({"4 * N * h + 2": "8 * N * h + 2", "N * h": "N**2 * h"})
@asked(
    names={"R2": "distance2", "L": "beta", "h": lambda *, eta, beta: eta * beta, "N": "T"},
    conditions=lambda *, h, sigma2: {"h <= 1": (h, 1), "no noise": (sigma2, 0)},
)
def drori_teboulle(*, L, R2, N, h):
    return L * R2 / (4 * N * h + 2)


@published("Gradient descent", "Taylor, Hendrickx, Glineur (2018)", "Theorem 3.3", 1.0)
@wrong({"** (2 * N)": "** (2 * N + 1)", "abs(1 - h * L)": "0"})
@asked(
    names={"h": "eta", "L": "beta", "gap": "e0", "N": "T"},
    conditions=lambda *, h, L, sigma2: {"h <= 2/L": (h, 2 / L), "no noise": (sigma2, 0)},
)
def taylor_values(*, h, mu, L, gap, N):
    return max(abs(1 - h * mu), abs(1 - h * L)) ** (2 * N) * gap


@published("Gradient descent", "Taylor, Hendrickx, Glineur (2018)", "Theorem 3.1", 1.0)
@wrong({"** (2 * N)": "** (2 * N + 1)", "abs(1 - h * L)": "0"})
@asked(
    quantity="last_distance",
    names={"h": "eta", "L": "beta", "D2": "distance2", "N": "T"},
    conditions=lambda *, h, L, sigma2: {"h <= 2/L": (h, 2 / L), "no noise": (sigma2, 0)},
)
def taylor_distance(*, h, mu, L, D2, N):
    return max(abs(1 - h * mu), abs(1 - h * L)) ** (2 * N) * D2


@published("Gradient descent", "Karimi, Nutini, Schmidt (2016)", "Theorem 1", 1.0)
@wrong({"** k": "** (3 * k)", "mu / L": "2 * mu / L"})
@asked(
    names={"L": "beta", "gap": "e0", "k": "T"},
    conditions=lambda *, eta, L, sigma2: {
        "step 1/L": (eta, 1 / L),
        "and no less": (1 / L, eta),
        "no noise": (sigma2, 0),
    },
)
def karimi_1(*, mu, L, gap, k):
    return (1 - mu / L) ** k * gap


@published("Gradient descent", "Garrigos, Gower (2023)", "Theorem 3.4", 0.183)
@wrong({"2 * gamma": "16 * gamma", "* t": "* t**2"})
@asked(
    names={"gamma": "eta", "D2": "distance2", "t": "T"},
    conditions=lambda *, eta, beta, sigma2: {"gamma <= 1/L": (eta, 1 / beta), "no noise": (sigma2, 0)},
)
def garrigos_3_4(*, gamma, D2, t):
    return D2 / (2 * gamma * t)


# --- stochastic gradient descent


@published("SGD", "Gower, Loizou, Qian et al. (2019)", "Theorem 3.1", 1.0)
@wrong({"2 * gamma * sigma2 / mu": "gamma * sigma2 / (2 * mu)", "** k": "** (3 * k)"})
@asked(
    quantity="last_distance",
    names={"gamma": "eta", "L": "beta", "rho": weak_growth, "r0": "distance2", "k": "T"},
    conditions=lambda *, gamma, rho, L: {"gamma <= 1/(2 rho L)": (gamma, 1 / (2 * rho * L))},
)
def gower_3_1(*, gamma, mu, sigma2, r0, k):
    return (1 - gamma * mu) ** k * r0 + 2 * gamma * sigma2 / mu


@published("SGD", "Gower, Loizou, Qian et al. (2019)", "Theorem 3.2, steps that switch", 0.3333)
@wrong({"8 / k": "1 / k", "16 * math.ceil(kappa) ** 2": "math.ceil(kappa)"})
@asked(
    quantity="last_distance",
    names={"r0": "distance2", "k": "T", "kappa": lambda *, beta, mu: beta / mu},
    step=lambda *, t, mu, beta, kappa: (
        1 / (2 * beta) if t <= 4 * math.ceil(kappa) else (2 * t + 1) / ((t + 1) ** 2 * mu)
    ),
    conditions=lambda *, k, kappa: {"k >= 4 K": (4 * math.ceil(kappa), k)},
)
def gower_3_2(*, mu, sigma2, kappa, r0, k):
    return sigma2 / mu**2 * 8 / k + 16 * math.ceil(kappa) ** 2 / (math.e**2 * k**2) * r0


@published("SGD", "Schmidt, Le Roux (2013)", "Theorem 1, strong growth", 1.0, "holds")
@wrong({"** k": "** (3 * k)", "L * B2": "L"})
@asked(
    names={"L": "beta", "B2": lambda *, noise_factor: 1 + noise_factor, "gap": "e0", "k": "T"},
    step=lambda *, L, B2: 1 / (L * B2),
    conditions=lambda *, sigma2: {"no other noise": (sigma2, 0)},
)
def schmidt_le_roux(*, mu, L, B2, gap, k):
    return (1 - mu / (L * B2)) ** k * gap


@published("SGD", "Vaswani, Bach, Schmidt (2019)", "Theorem 3, strong growth", 1.0, "holds")
@wrong({"** k": "** (3 * k)", "rho * L": "L"})
@asked(
    names={"L": "beta", "rho": lambda *, noise_factor: 1 + noise_factor, "gap": "e0", "k": "T"},
    step=lambda *, rho, L: 1 / (rho * L),
    conditions=lambda *, sigma2: {"interpolation": (sigma2, 0)},
)
def vaswani_3(*, mu, L, rho, gap, k):
    return (1 - mu / (rho * L)) ** k * gap


@published("SGD", "Vaswani, Bach, Schmidt (2019)", "Theorem 6, weak growth", 1.0, "holds")
@wrong({"** k": "** (3 * k)", "rho * L": "L"})
@asked(
    quantity="last_distance",
    names={"L": "beta", "rho": weak_growth, "r0": "distance2", "k": "T"},
    step=lambda *, rho, L: 1 / (rho * L),
    conditions=lambda *, sigma2: {"interpolation": (sigma2, 0)},
)
def vaswani_6(*, mu, L, rho, r0, k):
    return (1 - mu / (rho * L)) ** k * r0


@published("SGD", "Vaswani, Bach, Schmidt (2019)", "Theorem 8, not convex", 1.0, "holds")
@wrong({"2 * rho": "rho", "rho * L": "L"})
@asked(
    quantity="average_gradient",
    names={"L": "beta", "rho": lambda *, noise_factor: 1 + noise_factor, "gap": "e0", "k": "T"},
    step=lambda *, rho, L: 1 / (rho * L),
    conditions=lambda *, sigma2: {"interpolation": (sigma2, 0)},
)
def vaswani_8(*, L, rho, gap, k):
    return 2 * rho * L / k * gap


@published("SGD", "Needell, Srebro, Ward (2014)", "Theorem 2.1", 1.0)
@wrong(
    {"gamma * sigma2 / (mu * (1 - gamma * L))": "gamma * sigma2 / (2 * mu)", "mu * (1 - gamma * L)) ** k": "mu) ** k"}
)
@asked(
    quantity="last_distance",
    names={"gamma": "eta", "L": "beta", "r0": "distance2", "k": "T"},
    conditions=lambda *, gamma, L: {"gamma < 1/L": (gamma, 1 / L)},
)
def needell_2_1(*, gamma, mu, L, sigma2, r0, k):
    return (1 - 2 * gamma * mu * (1 - gamma * L)) ** k * r0 + gamma * sigma2 / (mu * (1 - gamma * L))


@published("SGD", "Moulines, Bach (2011)", "Theorem 1, its recursion at a constant step", 1.0)
@wrong({"+ 2 * L**2 * gamma**2": "", "2 * sigma2": "sigma2 / 2"})
@asked(
    quantity="last_distance",
    names={"gamma": "eta", "L": "beta", "delta0": "distance2", "n": "T"},
    conditions=lambda *, gamma, mu, L: {"gamma <= mu/(2 L^2)": (gamma, mu / (2 * L**2))},
)
def moulines_bach(*, gamma, mu, L, sigma2, delta0, n):
    q = 1 - 2 * mu * gamma + 2 * L**2 * gamma**2
    return q**n * delta0 + 2 * sigma2 * gamma**2 * (1 - q**n) / (1 - q)


@published("SGD", "Bottou, Curtis, Nocedal (2018)", "Theorem 4.6", 1.0, "holds")
@wrong({"alpha * L * M / (2 * c)": "alpha * L * M / (4 * c)", "** (k - 1)": "** (1.2 * (k - 1))"})
@asked(
    names=nocedal | {"c": "mu", "alpha": "eta", "k": lambda *, T: T + 1},
    conditions=lambda *, alpha, L, M_G: {"alpha <= 1/(L M_G)": (alpha, 1 / (L * M_G))},
)
def bottou_4_6(*, alpha, L, c, M, gap, k):
    floor = alpha * L * M / (2 * c)
    return floor + (1 - alpha * c) ** (k - 1) * (gap - floor)


@published("SGD", "Bottou, Curtis, Nocedal (2018)", "Theorem 4.7", 0.96, "holds")
@wrong({"(2 * (b * c - 1))": "(4 * (b * c - 1))", "(gamma + 1) * gap": "gap"})
@asked(
    names=nocedal | {"c": "mu", "a1": "eta", "k": lambda *, T: T + 1},
    step=lambda *, t, a1, gamma=4: a1 * (gamma + 1) / (gamma + 1 + t),
    conditions=lambda *, a1, L, M_G, c, gamma=4: {
        "beta > 1/c": (1 / c, a1 * (gamma + 1)),
        "alpha_1 <= 1/(L M_G)": (a1, 1 / (L * M_G)),
    },
)
def bottou_4_7(*, a1, L, c, M, gap, k, gamma=4):
    b = a1 * (gamma + 1)
    nu = max(b**2 * L * M / (2 * (b * c - 1)), (gamma + 1) * gap)
    return nu / (gamma + k)


@published("SGD", "Bottou, Curtis, Nocedal (2018)", "Theorem 4.8", 1.0, "holds")
@wrong({"alpha * L * M": "alpha * L * M / 2", "2 * gap": "gap"})
@asked(
    quantity="average_gradient",
    names=nocedal | {"alpha": "eta", "K": "T"},
    conditions=lambda *, alpha, L, M_G: {"alpha <= 1/(L M_G)": (alpha, 1 / (L * M_G))},
)
def bottou_4_8(*, alpha, L, M, gap, K):
    return alpha * L * M + 2 * gap / (K * alpha)


@published("SGD", "Ghadimi, Lan (2013)", "Theorem 2.1 (a), steps that fall", 1.0)
@wrong({"2 * gap": "gap", "sigma2 * sum": "sigma2 / 4 * sum"})
@asked(
    family=SHORT,
    quantity=sf.quantity(of="gradient", over=of_random_iterate),
    names={"gamma": "eta", "L": "beta", "gap": "e0", "N": "T"},
    step=lambda *, t, gamma: gamma / (t + 1) ** 0.5,
    conditions=lambda *, gamma, L: {"gamma <= 1/L": (gamma, 1 / L)},
)
def ghadimi_lan_falling(*, gamma, L, sigma2, gap, N):
    g = [gamma / math.sqrt(t + 1) for t in range(int(N))]
    return L * (2 * gap / L + sigma2 * sum(x**2 for x in g)) / sum(2 * x - L * x**2 for x in g)


@published("SGD", "Ghadimi, Lan (2013)", "Theorem 2.1 (a)", 1.0, "holds")
@wrong({"N * sigma2 * gamma**2": "sigma2 * gamma**2", "2 * gap / L": "gap / L"})
@asked(
    quantity="average_gradient",
    names={"gamma": "eta", "L": "beta", "gap": "e0", "N": "T"},
    conditions=lambda *, gamma, L: {"gamma < 2/L": (gamma, 2 / L)},
)
def ghadimi_lan_a(*, gamma, L, sigma2, gap, N):
    return L * (2 * gap / L + N * sigma2 * gamma**2) / (N * (2 * gamma - L * gamma**2))


@published("SGD", "Ghadimi, Lan (2013)", "Theorem 2.1 (b)", 0.5)
@wrong({"N * sigma2": "sigma2", "D2 +": "D2 / 4 +"})
@asked(
    quantity="random_iterate_excess",
    names={"gamma": "eta", "L": "beta", "D2": "distance2", "N": "T"},
    conditions=lambda *, gamma, L: {"gamma < 2/L": (gamma, 2 / L)},
)
def ghadimi_lan_b(*, gamma, L, sigma2, D2, N):
    return (D2 + N * sigma2 * gamma**2) / (N * (2 * gamma - L * gamma**2))


@published("SGD", "Ghadimi, Lan (2013)", "Corollary 2.2, the step that is best for this bound", 1.0)
@wrong({"2 * gap / N": "gap / (2 * N)", "/ N)": "/ N**3)"})
@asked(
    quantity="average_gradient",
    names={"L": "beta", "gap": "e0", "N": "T"},
    step=lambda *, L, sigma2, gap, N: min(1 / L, math.sqrt(2 * gap / (L * sigma2 * N))),
    conditions=lambda *, sigma2: {"noise": (1e-12, sigma2)},
)
def ghadimi_lan_2_2(*, L, sigma2, gap, N):
    return L * (2 * gap / N + 2 * math.sqrt(2 * gap / L * sigma2 / N))


@published("SGD", "Khaled, Richtarik (2023)", "Theorem 2", 1.0, "holds")
@wrong({"L * C * gamma": "L * C * gamma / 2", "(1 + L * gamma**2 * A) ** K * ": ""})
@asked(
    quantity=sf.quantity(of="gradient", over=of_abc),
    names=abc | {"gap": "e0", "K": "T"},
    conditions=lambda *, gamma, L, B: {"gamma <= 1/(L B)": (gamma, 1 / (L * B))},
)
def khaled_richtarik_2(*, gamma, L, A, C, gap, K):
    return L * C * gamma + 2 * (1 + L * gamma**2 * A) ** K * gap / (gamma * K)


@published("SGD", "Khaled, Richtarik (2023)", "Theorem 3 (PL)", 1.0)
@wrong({"/ (2 * mu)": "/ (4 * mu)", "gamma * mu)": "1.4 * gamma * mu)"})
@asked(
    names=abc | {"gap": "e0", "K": "T"},
    conditions=lambda *, gamma, L, mu, A, B: {"A": (2 * A * L * gamma, mu), "B": (2 * B * L * gamma, 1)},
)
def khaled_richtarik_3(*, gamma, mu, L, C, gap, K):
    return (1 - gamma * mu) ** K * gap + L * C * gamma / (2 * mu)


# --- averages


@published("Averages", "Garrigos, Gower (2023)", "Theorem 5.3", 0.4)
@wrong({"D2 / (2": "D2 / (8", "gamma * sigma2": "gamma * sigma2 / (8 * t)"})
@asked(
    quantity=sf.quantity(over=("mean iterate", "average")),
    names={"gamma": "eta", "L": "beta", "D2": "distance2", "t": "T"},
    conditions=lambda *, gamma, L: {"gamma < 1/(2 L)": (gamma, 1 / (2 * L))},
)
def garrigos_5_3(*, gamma, L, sigma2, D2, t):
    return (D2 / (2 * gamma * t) + gamma * sigma2) / (1 - 2 * gamma * L)


@published("Averages", "Garrigos, Gower (2023)", "Theorem 5.5, steps that fall", 0.37)
@wrong({"D2 +": "D2 / 8 +", "2 * sigma2": "sigma2 / 16"})
@asked(
    family=SHORT,
    quantity=sf.quantity(over=("mean iterate", of_smooth)),
    names={"gamma": "eta", "L": "beta", "D2": "distance2"},
    step=lambda *, t, gamma: gamma / (t + 1) ** 0.5,
    conditions=lambda *, gamma, L: {"gamma <= 1/(4 L)": (gamma, 1 / (4 * L))},
)
def garrigos_5_5(*, gamma, L, sigma2, D2, T):
    g = [gamma / math.sqrt(t + 1) for t in range(int(T))]
    return (D2 + 2 * sigma2 * sum(x**2 for x in g)) / (2 * sum(x * (1 - 2 * x * L) for x in g))


@published("Averages", "Stich (2019)", "Lemma 2 at a constant step", 0.34)
@wrong({"gamma * sigma2": "gamma * sigma2 / 8", "(T + 1)": "4 * (T + 1)"})
@asked(
    quantity=sf.quantity(over=growing),
    names={"gamma": "eta", "L": "beta", "r0": "distance2"},
    conditions=lambda *, gamma, L: {"gamma <= 1/(2 L)": (gamma, 1 / (2 * L))},
)
def stich_2019(*, gamma, mu, sigma2, r0, T):
    return r0 / gamma * math.exp(-mu * gamma * (T + 1)) + gamma * sigma2


@published("Averages", "Jain, Kakade, Kidambi et al. (2018)", "Theorem 1, noise of the model alone", 0.25)
@wrong({"** s": "** (4 * s)", "4 * sigma2": "sigma2 / 4"})
@asked(
    quantity=sf.quantity(over=("mean iterate", ("suffix", lambda T: T // 2 + 1))),
    names={"gamma": "eta", "gap": "e0", "n": "T", "s": lambda *, T: T // 2},
    conditions=lambda *, eta, beta, T: {"gamma <= 1/L": (eta, 1 / beta), "s < n": (2, T)},
)
def jain_1(*, gamma, mu, sigma2, gap, n, s):
    """sigma_MLE^2 = tr(H^-1 C)/2 is at most sigma^2/(2 mu)."""
    rest = n - s
    return 2 / (gamma * mu * rest) ** 2 * (1 - gamma * mu) ** s * gap + 4 * sigma2 / (2 * mu * rest)


@published("Averages", "Sebbouh, Gower, Defazio (2021)", "Theorem 3.1 (last iterate, moving average)", 0.217)
@wrong({"2 * eta": "eta / 8", "(k + 1)": "(k + 1) ** 2"})
@asked(
    algorithm=Moving(),
    names={"L": "beta", "D2": "distance2", "k": "T"},
    conditions=lambda *, eta, L: {"eta <= 1/(4 L)": (eta, 1 / (4 * L))},
)
def sebbouh_3_1(*, eta, sigma2, D2, k):
    return D2 / (eta * (k + 1)) + 2 * eta * sigma2


# --- momentum


@published("Momentum", "Nesterov (2004)", "Theorem 2.2.3, constant step scheme III", 0.625)
@wrong({"+ m / 2 * D2": "", "math.sqrt(m / L)": "4 * math.sqrt(m / L)"})
@asked(
    algorithm=sf.algorithms.Momentum.nesterov(weight=0.5),  # (1 - k)/(1 + k), k^2 = m/L
    names={"q": "weight", "gap": "e0", "D2": "distance2", "k": "T", "L": lambda *, eta: 1 / eta},
    conditions=lambda *, L, q, beta, mu, sigma2: {
        "smooth": (beta, L),
        "convex": (L * ((1 - q) / (1 + q)) ** 2, mu),
        "no noise": (sigma2, 0),
    },
)
def nesterov_2_2_3(*, L, q, gap, D2, k):
    m = L * ((1 - q) / (1 + q)) ** 2
    return (1 - math.sqrt(m / L)) ** k * (gap + m / 2 * D2)


@published("Momentum", "Ghadimi, Feyzmahdavian et al. (2015)", "Theorem 1, short steps", 0.515)
@wrong({"L * b / (1 - b) + ": "", "(T + 1)": "(T + 1) ** 2"})
@asked(
    algorithm=sf.algorithms.Momentum(weight=0.6),
    quantity="mean_iterate_excess",
    names={"alpha": "eta", "b": "weight", "L": "beta", "D2": "distance2"},
    conditions=lambda *, alpha, b, L, sigma2: {"alpha <= (1-b)/L": (alpha, (1 - b) / L), "no noise": (sigma2, 0)},
)
def ghadimi_heavy_ball(*, alpha, b, L, D2, T):
    return D2 / (2 * (T + 1)) * (L * b / (1 - b) + (1 - b) / alpha)


@published("Momentum", "Liu, Gao, Yin (2020)", "Theorem 1", 0.702)
@wrong({"2 * gap": "gap", "+ 1)": ")"})
@asked(
    algorithm=sf.algorithms.Momentum(weight=0.5),
    quantity="average_gradient",
    names={"alpha": lambda *, eta, weight: eta / (1 - weight), "b": "weight", "L": "beta", "gap": "e0", "k": "T"},
    conditions=lambda *, alpha, b, L: {"step": (alpha, (1 - b) / (L * math.sqrt(4 - b + b**2)))},
)
def liu_gao_yin(*, alpha, b, L, sigma2, gap, k):
    return 2 * gap / (k * alpha) + ((b + 3 * b**2) / (2 * (1 + b)) + 1) * L * alpha * sigma2


@published("Momentum", "Ghadimi, Feyzmahdavian et al. (2015)", "Theorem 1, longer steps", 0.512)
@wrong({"L * b + ": "", "(T + 1)": "(T + 1) ** 2"})
@asked(
    algorithm=sf.algorithms.Momentum(weight=0.6),
    quantity="mean_iterate_excess",
    names={"alpha": "eta", "b": "weight", "L": "beta", "D2": "distance2"},
    conditions=lambda *, alpha, b, L, sigma2: {
        "alpha >= (1-b)/L": ((1 - b) / L, alpha),
        "alpha < 2(1-b)/L": (alpha, 1.99 * (1 - b) / L),
        "no noise": (sigma2, 0),
    },
)
def ghadimi_heavy_ball_long(*, alpha, b, L, D2, T):
    return D2 * (L * b + (1 - b) ** 2 / alpha) / (2 * (T + 1) * (2 * (1 - b) - alpha * L))


# --- batches


@published("Batches", "Khirirat, Feyzmahdavian et al. (2018)", "Theorem 1, one of two entries sent", 1.0, "holds")
@wrong({"(1 + omega)": "(1 + omega) / 4", "** k": "** (3 * k)"})
@asked(
    algorithm=OneOfTwo(),
    quantity="last_distance",
    names={"gamma": "eta", "L": "beta", "r0": "distance2", "k": "T"},
    conditions=lambda *, gamma, L, omega: {"step": (gamma, 1 / ((1 + omega) * L))},
)
def khirirat(*, gamma, mu, omega, sigma2, r0, k):
    return (1 - gamma * mu) ** k * r0 + gamma * (1 + omega) * sigma2 / mu


@published("Batches", "Gower, Loizou, Qian et al. (2019)", "Theorem 3.1, batches of M K", 1.0)
@wrong({"2 * gamma * sigma2": "gamma * sigma2 / 2", "** R": "** (3 * R)"})
@asked(
    algorithm=sf.algorithms.MinibatchSGD(period=3),
    family=ALIKE,
    quantity="global_distance",
    names={"gamma": "eta", "L": "beta", "r0": "distance2", "M": "N"},
    conditions=lambda *, gamma, L: {"gamma <= 1/(2 L)": (gamma, 1 / (2 * L))},
)
def gower_batches(*, gamma, mu, sigma2, M, K, r0, R):
    return (1 - gamma * mu) ** R * r0 + 2 * gamma * sigma2 / (mu * M * K)


@published("Batches", "Gower, Loizou, Qian et al. (2019)", "Proposition 3.10, sampling of clients", 1.0)
@wrong({"(n - 1)": "(n - 1) ** 3", "** k": "** (3 * k)"})
@asked(
    algorithm=sf.algorithms.FedAvg(participants=2),
    quantity="global_distance",
    names={"gamma": "eta", "L": "beta", "r0": "distance2", "k": "T", "n": "N", "tau": "participants"},
    conditions=lambda *, gamma, L: {"gamma <= 1/(2 L)": (gamma, 1 / (2 * L))},
)
def gower_sampling(*, gamma, mu, sigma2, zeta2, n, tau, r0, k):
    variance = (n - tau) / (tau * (n - 1)) * zeta2 + sigma2 / tau
    return (1 - gamma * mu) ** k * r0 + 2 * gamma * variance / mu


# ||x_t^i - x_*^i||^2 <= (1 - gamma mu) ||x_t^{i-1} - x_*^{i-1}||^2 + 2 gamma D_{f_pi(i)}(x_*^{i-1}, x*), where
# x_*^i = x* - gamma sum_{j <= i} grad f_pi(j)(x*) ends at x*; and E D <= (L/2) gamma^2 i (n - i)/(n - 1) sigma*^2,
# which is at most L gamma^2 n sigma*^2 / 4
@published("Finite sums", "Mishchenko, Khaled, Richtarik (2020)", "Theorem 1, random reshuffling", 1.0)
@wrong({"L * n * ": "L * ", "(n * T)": "(2 * n * T + 1)"})
@asked(
    algorithm=sf.algorithms.RandomReshuffling(),
    quantity="global_distance",
    names={"gamma": "eta", "L": "beta", "n": "N", "r0": "distance2"},
    conditions=lambda *, gamma, L, sigma2: {"step": (gamma, 1 / L), "gradients of components": (sigma2, 0)},
)
def mishchenko_reshuffling(*, gamma, mu, L, sigma2_star, n, r0, T):
    return (1 - gamma * mu) ** (n * T) * r0 + gamma**2 * L * n * sigma2_star / (2 * mu)


@published("Finite sums", "Gower, Loizou, Qian et al. (2019)", "Theorem 3.1, one component a step", 1.0)
@wrong({"2 * gamma * sigma2_star": "gamma * sigma2_star / 4", "** k": "** (3 * k)"})
@asked(
    algorithm=sf.algorithms.FedAvg(participants=1),
    quantity="global_distance",
    names={"gamma": "eta", "L": "beta", "r0": "distance2", "k": "T"},
    conditions=lambda *, gamma, L, sigma2: {"step": (gamma, 1 / (2 * L)), "gradients of components": (sigma2, 0)},
)
def gower_finite_sum(*, gamma, mu, L, sigma2_star, r0, k):
    return (1 - gamma * mu) ** k * r0 + 2 * gamma * sigma2_star / mu


# --- local steps, alike clients


@published("Local steps", "Khaled, Mishchenko, Richtarik (2020)", "Theorem 1, identical data", 1.0)
@wrong({"/ (mu * M)": "/ (4 * mu * M**2)", "** T": "** (3 * T)"})
@asked(
    algorithm=sf.algorithms.LocalSGD(period=4),
    family=ALIKE,
    quantity="global_distance",
    names={"gamma": "eta", "L": "beta", "M": "N", "H": "period"},
    conditions=lambda *, gamma, L: {"gamma <= 1/(4 L)": (gamma, 1 / (4 * L))},
)
def khaled_identical(*, gamma, mu, L, sigma2, M, H, distance2, T):
    floor = gamma * sigma2 / (mu * M) + 2 * L * gamma**2 * (H - 1) * sigma2 / mu
    return (1 - gamma * mu) ** T * distance2 + floor


@published("Local steps", "Khaled, Mishchenko, Richtarik (2020)", "Theorem 2, identical data", 0.117)
@wrong({"2 / (gamma * T)": "1 / (16 * gamma * T)", "T) * r0": "T**2) * r0"})
@asked(
    algorithm=sf.algorithms.LocalSGD(period=4),
    family=ALIKE,
    quantity=sf.quantity(at="mean model", over=("mean iterate", "average")),
    names={"gamma": "eta", "L": "beta", "M": "N", "H": "period", "r0": "distance2"},
    conditions=lambda *, gamma, L: {"gamma <= 1/(4 L)": (gamma, 1 / (4 * L))},
)
def khaled_identical_convex(*, gamma, L, sigma2, M, H, r0, T):
    return 2 / (gamma * T) * r0 + 2 * gamma * sigma2 / M + 4 * gamma**2 * L * sigma2 * (H - 1)


@published("Local steps", "Khaled, Mishchenko, Richtarik (2020)", "Lemma 1, deviation of the clients", 0.667)
@wrong({"(H - 1)": "(H - 1) / 4", "gamma**2": "gamma**2 / 2"})
@asked(
    algorithm=sf.algorithms.LocalSGD(period=4),
    family=ALIKE,
    quantity=sf.quantity(of=deviation),
    names={"gamma": "eta", "L": "beta", "H": "period"},
    conditions=lambda *, gamma, L: {"gamma <= 1/(2 L)": (gamma, 1 / (2 * L))},
)
def khaled_deviation(*, gamma, sigma2, H):
    return (H - 1) * gamma**2 * sigma2


@published("Local steps", "Wang, Joshi (2021)", "Theorem 1, full averaging of m workers", 0.571)
@wrong({"2 * gap": "gap", "eta * L * sigma2 / m": "0 * m"})
@asked(
    algorithm=sf.algorithms.LocalSGD(period=4),
    family=ALIKE,
    quantity="average_mean_gradient",
    names={"L": "beta", "m": "N", "tau": "period", "gap": "e0", "K": "T"},
    conditions=lambda *, eta, L, tau: {"step": (eta * L + eta**2 * L**2 * tau * (tau - 1), 1)},
)
def wang_joshi(*, eta, L, sigma2, m, tau, gap, K):
    return 2 * gap / (eta * K) + eta * L * sigma2 / m + eta**2 * L**2 * sigma2 * (tau - 1)


# --- local steps, clients that differ


@published("Local steps", "Khaled, Mishchenko, Richtarik (2020)", "Theorem 5, heterogeneous data", 0.0527)
@wrong({"4 * r0": "r0 / 16", "T) + 20": "T**2) + 20"})
@asked(
    algorithm=sf.algorithms.LocalSGD(period=4),
    quantity=sf.quantity(at="mean model", over=("mean iterate", "average")),
    names={"gamma": "eta", "L": "beta", "M": "N", "H": "period", "r0": "distance2"},
    conditions=lambda *, gamma, L, H: {"gamma <= 1/(8 L (H - 1))": (8 * L * gamma * (H - 1), 1)},
)
def khaled_heterogeneous(*, gamma, L, sigma2, zeta2, M, H, r0, T):
    dif2 = sigma2 + zeta2
    return 4 * r0 / (gamma * T) + 20 * gamma * dif2 / M + 16 * gamma**2 * L * (H - 1) ** 2 * dif2


@published("Local steps", "Khaled, Mishchenko, Richtarik (2019)", "Theorem 1, local gradient descent", 0.11)
@wrong({"2 * r0": "r0 / 16", "12 *": "0 *"})
@asked(
    algorithm=sf.algorithms.LocalSGD(period=4),
    quantity=sf.quantity(at="mean model", over=("mean iterate", "average")),
    names={"gamma": "eta", "L": "beta", "H": "period", "r0": "distance2", "s2": "zeta2"},
    conditions=lambda *, gamma, L, H, sigma2: {"step": (4 * L * gamma * H, 1), "no noise": (sigma2, 0)},
)
def khaled_local_descent(*, gamma, L, s2, H, r0, T):
    return 2 * r0 / (gamma * T) + 12 * gamma**2 * s2 * H**2 * L


@published("Local steps", "Yang, Fang, Liu (2021)", "Theorem 1, all clients take part", 0.428)
@wrong({"gap / (c": "gap / (8 * c", "R) +": "R**2) +"})
@asked(
    algorithm=sf.algorithms.LocalSGD(period=3),
    family=ONE_HESSIAN,
    quantity=sf.quantity(of="gradient", at="mean model", over="rounds"),
    names={"L": "beta", "m": "N", "gap": "e0", "sG2": "zeta2"},
    conditions=lambda *, eta, L, K: {"eta <= 1/(8 L K)": (eta, 1 / (8 * L * K))},
)
def yang_1(*, eta, L, sigma2, sG2, m, gap, K, R):
    c = 1 / 2 - 15 * K**2 * eta**2 * L**2
    noise = L * eta * sigma2 / (2 * m) + 5 * K * eta**2 * L**2 / 2 * (sigma2 + 6 * K * sG2)
    return gap / (c * eta * K * R) + noise / c


@published("Local steps", "Li, Huang, Yang et al. (2020)", "Theorem 1, one local step a round", 0.633)
@wrong({"2 * B / mu": "B / (4 * mu)", "gamma / 2 * r0": "r0 / 2"})
@asked(
    algorithm=sf.algorithms.FedAvg(period=1),
    quantity="global_excess",
    names={"L": "beta", "r0": "distance2", "gamma": lambda *, beta, mu: 8 * beta / mu},
    step=lambda *, t, mu, gamma: 2 / (mu * (gamma + t)),
)
def li_1(*, mu, L, sigma2, N, Gamma, gamma, r0, T):
    B = sigma2 / N + 6 * L * Gamma
    return L / mu / (gamma + T) * (2 * B / mu + mu * gamma / 2 * r0)


# --- control variates


@published("Control variates", "Mishchenko, Malinovsky et al. (2022)", "Theorem 3.6, Scaffnew", 1.0)
@wrong({"min(gamma * mu, p**2)": "min(gamma * mu, p)", "1 - min": "1 - 3 * min"})
@asked(
    algorithm=sf.algorithms.Scaffnew(p=0.5),
    quantity=sf.quantity(of=lambda *, state, problem, best, eta, p: psi(state, problem, best, eta / p)),
    names={"gamma": "eta", "L": "beta", "r0": "distance2", "h0": "zeta2"},
    conditions=lambda *, gamma, L, sigma2: {"gamma <= 1/L": (gamma, 1 / L), "no noise": (sigma2, 0)},
)
def scaffnew_3_6(*, gamma, mu, p, r0, h0, T):
    return (1 - min(gamma * mu, p**2)) ** T * (r0 + (gamma / p) ** 2 * h0)


@published("Control variates", "Mishchenko, Malinovsky et al. (2022)", "Theorem 5.5, SProxSkip", 1.0)
@wrong({"gamma**2 * sigma2 / rate": "gamma**2 * sigma2", "(gamma / p) ** 2 * h0": "0 * h0"})
@asked(
    algorithm=sf.algorithms.Scaffnew(p=0.5),
    quantity=sf.quantity(of=lambda *, state, problem, best, eta, p: psi(state, problem, best, eta / p)),
    names={"gamma": "eta", "A": "beta", "r0": "distance2", "h0": "zeta2"},
    conditions=lambda *, gamma, A: {"gamma <= 1/A": (gamma, 1 / A)},
)
def scaffnew_noise(*, gamma, mu, p, sigma2, r0, h0, T):
    rate = min(gamma * mu, p**2)
    return (1 - rate) ** T * (r0 + (gamma / p) ** 2 * h0) + gamma**2 * sigma2 / rate


@published("Control variates", "Karimireddy, Kale, Mohri et al. (2020)", "Theorem 7, proof, no noise", 1.0)
@wrong({"/ 2)": "* 3)", "+ 9 * eta**2 * zeta2": ""})
@asked(
    algorithm=sf.algorithms.Scaffold(period=3),
    quantity=sf.quantity(of=lambda *, state, problem, best, eta, K: psi(state, problem, best, 3 * K * eta)),
    names={"eta": lambda *, eta, K: K * eta, "L": "beta", "r0": "distance2"},
    conditions=lambda *, eta, mu, L, sigma2: {"step": (eta, min(1 / (81 * L), 1 / (15 * mu))), "no noise": (sigma2, 0)},
)
def scaffold_lyapunov(*, eta, mu, zeta2, r0, R):
    return (1 - mu * eta / 2) ** R * (r0 + 9 * eta**2 * zeta2)


@published("Control variates", "Karimireddy, Kale, Mohri et al. (2020)", "Theorem 7, proof, distance", 1.0)
@wrong({"24 * eta": "eta / 64", "** R": "** (6 * R)"})
@asked(
    algorithm=sf.algorithms.Scaffold(period=3),
    quantity="global_distance",
    names={"eta": lambda *, eta, K: K * eta, "L": "beta", "r0": "distance2"},
    conditions=lambda *, eta, mu, L: {"step": (eta, min(1 / (81 * L), 1 / (15 * mu)))},
)
def scaffold_distance(*, eta, mu, sigma2, zeta2, r0, N, K, R):
    floor = 24 * eta * sigma2 / (mu * K * N) * (1 + N)
    return (1 - mu * eta / 2) ** R * (r0 + 9 * eta**2 * zeta2) + floor


# --- without a server


@published("Without a server", "Yuan, Ling, Yin (2016)", "Lemma 1 and Theorem 1, consensus of DGD", 1.0)
@wrong({"/ spectral_gap**2": "", "2 * L": "L / 64"})
@asked(
    algorithm=Gossip(w=0.25),
    quantity=sf.quantity(of=deviation),
    names={"alpha": "eta", "L": "beta", "h0": lambda *, e0, Gamma: e0 + Gamma},
    conditions=lambda *, alpha, L, sigma2: {"alpha <= (1 + lambda_n)/L": (alpha, 1.25 / L), "no noise": (sigma2, 0)},
)
def yuan_consensus(*, alpha, L, h0, spectral_gap):
    D2 = 2 * L * h0
    return alpha**2 * D2 / spectral_gap**2


@published("Without a server", "Lian, Zhang, Zhang et al. (2017)", "Theorem 1, D-PSGD", 0.451)
@wrong({"gap / (gamma * K)": "gap / (8 * gamma * K)", "* K) +": "* K**2) +"})
@asked(
    algorithm=Gossip(w=0.25),
    family=ONE_HESSIAN,
    quantity="average_mean_gradient",
    names={"gamma": "eta", "L": "beta", "n": "N", "gap": "e0", "K": "T", "s2": "zeta2"},
    conditions=lambda *, gamma, L, n, spectral_gap: {"D2 >= 1/2": (36 * gamma**2 * n * L**2 / spectral_gap**2, 1)},
)
def lian_1(*, gamma, L, sigma2, s2, n, spectral_gap, gap, K):
    D2 = 1 - 18 * gamma**2 * n * L**2 / spectral_gap**2
    D1 = 1 / 2 - 9 * gamma**2 * L**2 * n / (spectral_gap**2 * D2)
    apart = sigma2 / (1 - (1 - spectral_gap) ** 2) + 9 * s2 / spectral_gap**2
    return (gap / (gamma * K) + gamma * L / (2 * n) * sigma2 + gamma**2 * L**2 * n * apart / D2) / D1


# --- personalised


@published("Personalised", "Gasanov, Khaled et al. (2022)", "Theorem 2 with noise, FLIX", 1.0)
@wrong({"alpha**2 * r0": "alpha**4 * r0", "2 * gamma * sigma2": "gamma * sigma2 / 2"})
@asked(
    algorithm=sf.algorithms.Flix(alpha=0.5),
    quantity=sf.quantity(of=from_mixture),
    names={"gamma": "eta", "n": "N", "L": "beta", "r0": "distance2", "k": "T"},
    conditions=lambda *, gamma, L, alpha: {"step": (gamma, 1 / (2 * alpha**2 * L))},
)
def flix(*, gamma, alpha, mu, sigma2, n, r0, k):
    contraction = (1 - gamma * alpha**2 * mu) ** k
    return contraction * alpha**2 * r0 + 2 * gamma * sigma2 * alpha**2 / (n * mu)


@published("Personalised", "Yi, Condat, Richtarik (2023)", "Theorem 1, Scafflix", 1.0)
@wrong({"gamma**2 * sigma2 / rate": "gamma**2 * sigma2", "1 - rate": "1 - 3 * rate"})
@asked(
    algorithm=sf.algorithms.Scaffnew(p=0.5, alpha=0.5),
    quantity=sf.quantity(of=psi_of_mixture),
    names={"gamma": "eta", "A": "beta", "r0": "distance2", "h0": "zeta2"},
    conditions=lambda *, gamma, A: {"gamma <= 1/A": (gamma, 1 / A)},
)
def scafflix_1(*, gamma, mu, p, alpha, sigma2, r0, h0, T):
    rate = min(gamma * mu, p**2)
    return (1 - rate) ** T * alpha**2 * (r0 + (gamma / p) ** 2 * h0) + gamma**2 * sigma2 / rate
