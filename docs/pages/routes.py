"""docs/routes.md: by which route each algorithm can be followed, asked of the routes themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from suffice.bounds import InputError
from suffice.simulate import Algorithm, AllForOne, Quadratics, expected_excess
from suffice.simulate.catalogue import ALGORITHMS, algorithm
from suffice.simulate.kernels import general_refusal
from suffice.simulate.path_values import path_values
from suffice.simulate.problems.gradient_noise import Additive
from suffice.simulate.quadratic_forms import forms
from suffice.verification.assumptions import listed

from .markdown import escaped

_INTRODUCTION = """# Algorithms by route

How `sf.check` and the library's own claims can evaluate each algorithm of the catalogue, with its default options on
quadratics of three clients. *Exact*: second moments of a linear step, after any number of iterations. *One step*:
conditional expectations step by step, at visited states or along every sequence of a few outcomes. *Sampled*: paths
with confidence bounds, for any algorithm and any loss. *Compiled*: `run(kernel="c")`, or why not.

| algorithm | exact | one step | sampled | compiled |
|---|---|---|---|---|
"""
_ETA = 0.05


def _quadratics() -> Quadratics:
    A = np.stack([np.diag([0.5, 1.0]), np.diag([0.6, 0.9]), np.diag([0.7, 0.8])])
    return Quadratics.of(A, [[0.0, 0.0], [0.1, 0.0], [0.0, 2.0]], sigma2=1.0, start=[1.0, 1.0])


def _exact(problem: Quadratics, chosen: Algorithm) -> str:
    if not chosen.linear:
        return "no: its step is not affine in the state"
    try:
        expected_excess(problem, chosen, iterations=2, eta=_ETA)
    except InputError as refused:
        return f"no: {refused}"
    return "yes"


def _one_step(problem: Quadratics, chosen: Algorithm) -> str:
    if chosen.linear:
        return "not needed: the exact route contains it"
    if isinstance(chosen, AllForOne):
        return "yes, at given states; `check` samples"
    quiet = replace(problem, noise=Additive.isotropic(0.0, problem.features, problem.clients))
    _, [exact] = path_values([quiet], chosen, eta=np.array([_ETA]), iterations=np.array([20]), client=0,
                             form=forms()["excess"], seeds=4, root=0)  # fmt: skip
    if exact:
        return "yes, without noise of gradients: nothing else is drawn"
    if listed(problem, chosen):
        return "yes, without noise of gradients: along every sequence of outcomes"
    return "no: what it draws has no finite list of outcomes"


def _sampled(problem: Quadratics, chosen: Algorithm) -> str:
    try:
        path_values([problem], chosen, eta=np.array([_ETA]), iterations=np.array([2]), client=0,
                    form=forms()["excess"], seeds=4, root=0)  # fmt: skip
    except InputError as refused:
        return f"no: {refused}"
    return "yes"


def routes() -> dict[str, tuple[str, str, str, str]]:
    """The four cells of every algorithm of the catalogue, none of them empty."""
    problem = _quadratics()
    found: dict[str, tuple[str, str, str, str]] = {}
    for name in ALGORITHMS:
        chosen = algorithm(name, problem, eta=_ETA)
        compiled = general_refusal(problem, chosen)
        cells = _exact(problem, chosen), _one_step(problem, chosen), _sampled(problem, chosen)
        found[name] = (*cells, "yes" if compiled is None else f"no: {compiled}")
    return found


def text() -> str:
    """The whole page."""
    lines = [f"| {name} | {' | '.join(escaped(cell) for cell in cells)} |" for name, cells in routes().items()]
    return _INTRODUCTION + "\n".join(lines) + "\n"
