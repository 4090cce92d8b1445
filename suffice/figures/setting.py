"""The setting of the synthetic regression of Philippenko et al. (2025), and of figures of it with its competitors."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suffice.support.errors import InputError

BETA = 2.0
"""The smoothness 2 lambda_max(H) for H = I."""


def option(about: str, **default: Any) -> Any:
    """A field of a figure's options, with what it is; `default` is its default, if it has one."""
    return field(metadata={"about": about}, **default)


def runs(count: int) -> Any:
    """The seeds 0, 1, ... as a figure's option."""
    return option("number of runs, or a list such as 127,496,1729", default=range(count))


DATA: Any = option("folder of the data files, or one above it; SUFFICE_DATA unless given", default=None)


@dataclass(frozen=True, kw_only=True)
class RegressionSetting:
    """Clients, features and iterations, and what else a regression needs."""

    clients: int = option("how many models are trained", default=20)
    features: int = option("coefficients of a model, without the bias of the published edition")
    spread: float | None = option(
        "standard deviation of optima about their centre, per feature; 0.1 (published) or 0 (stated) unless given",
        default=None,
    )
    iterations: int = option("steps of every model")
    step: float | None = option(
        "in units of 1/beta, beta = 2 (stated) or 1/L_i (published); the paper's unless given", default=None
    )

    def scaled(self, edition: str) -> float:
        """`step`, or the paper's 1/2 (two features), 1/4 (ten; published: 1/8), and beyond falling as 1/d."""
        if self.step is not None:
            return self.step
        most = {"stated": 1 / 4, "published": 1 / 8}[edition]
        return 1 / 2 if self.features <= 2 else most * min(1, 10 / self.features)

    def facts(self, edition: str) -> dict[str, Any]:
        """Entries of a figure's setup beside its options: spread and step size, the step also as a picture names it."""
        of, step = {"stated": r"\beta", "published": "L_i"}[edition], self.scaled(edition)
        whole = round(1 / step)
        words = f"$1/({whole}{of})$" if abs(whole * step - 1) < 1e-12 else f"${step:.3g}/{of}$"
        return {
            "spread": {"stated": 0.0, "published": 0.1}[edition] if self.spread is None else self.spread,
            "step_size": step / BETA if edition == "stated" else f"{step:g} / L_i",
            "step_words": words,
        }


@dataclass(frozen=True, kw_only=True)
class Competitors:
    """The paper does not state its competitors' parameters: Ditto's and CoBo's are those of CoBo's released code.

    No others let them converge like Local, as the paper says they do, but those that make Local of them: see
    docs/figures.md.
    """

    ditto_pull: float = option("how strongly Ditto pulls a client's model to the server's", default=1.0)
    cobo_rho: float = option("how strongly CoBo pulls pairs together", default=0.05)
    wga_mixture: float = option("share of the others' gradients in a step of WGA-BC", default=0.5)
    wga_memory: float = option("share of the new difference in the correction of WGA-BC", default=0.1)
    apfl_mixture: float = option("share of a client's own model in APFL at first", default=0.5)

    def rules(self, **server: Any) -> dict[str, Any]:
        """Ditto, CoBo, WGA-BC and APFL; server: what Ditto and APFL mix with, FedAvg unless given."""
        from suffice.simulate import APFL, WGABC, CoBo, Ditto

        return {
            "Ditto": Ditto(pull=self.ditto_pull, **server),
            "CoBo": CoBo.released(rho=self.cobo_rho),
            "WGA-BC": WGABC(mixture=self.wga_mixture, memory=self.wga_memory),
            "APFL": APFL(mixture=self.apfl_mixture, adaptive=True, **server),
        }


UNSTATED = Competitors()


def data_folder(data: str | Path | None, below: str, file: str, files: str, missing: str) -> Path:
    """The folder with a `file`: `data`, or `below` it; by default that of the variable SUFFICE_DATA. Raises
    `InputError`, which names the `files` that are wanted or says what is `missing`."""
    given = data or os.environ.get("SUFFICE_DATA")
    if not given:
        raise InputError("data", "missing", f"give --data FOLDER or set SUFFICE_DATA: {files}")
    for folder in (Path(given), Path(given) / below):
        if (folder / file).is_file():
            return folder
    raise InputError("data", str(given), missing)
