"""Claims on All-for-all with the loss contracting by a square: the families of Theorems 3 to 5 at the longer steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from suffice.bounds import find

from ...claim import Claim
from ...conditions import beyond
from ...evidence import Evidence, Measured, measured_by
from ...family import Family, Values
from ...instances.rows import rows
from .all_for_all import AGREED, ANY, KEY, SAME, N, agreed, network
from .all_for_all_rounds import EQUAL, FREE, Known, equal, planned, sharp_any, sharp_equal, sharp_threshold, threshold
from .estimated import PAIR, PLAN, STEPS, Clusters, between_clusters, plan, sharp_plan
from .samples import BOTH, sharp_theorem_4, theorem_4

STEP = "step size eta <= 2/(beta smax + mu smin)"


def limit(known: Known) -> np.ndarray:
    """2/(L smax + mu smin)."""
    return 2 / (known["beta"] * known["smax"] + known["mu"] * known["smin"])


def long_step(known: Known) -> np.ndarray:
    """2/((M + 1) mu smin), M = max(kappa smax/smin, kappa sigma2 weight2/(mu s smin^2)) with s = eps - peer_excess."""
    m, slack = known["mu"] * known["smin"], known["eps"] - known["peer_excess"]
    worst = np.maximum(
        known["beta"] * known["smax"] / m, known["beta"] * known["sigma2"] * known["weight2"] / (m**2 * slack)
    )
    return 2 / ((worst + 1) * m)


def long_cluster_step(
    *, mu: np.ndarray, beta: np.ndarray, eps: np.ndarray, size: np.ndarray, sigma2: np.ndarray
) -> np.ndarray:
    """The same for right clusters, half of the precision left for the bias."""
    return 2 / ((np.maximum(beta / mu, 2 * beta * sigma2 / (mu**2 * eps * size)) + 1) * mu)


@measured_by("closed-form moments", "All-for-all on quadratics in dimension one: three agents, any Lambda")
def _any(values: Values) -> Measured:
    model, known = network(values)
    eta = values["fraction"] * limit(known)
    return replace(model, eta=eta).average(values["T"]), {**known, "eta": eta, "T": values["T"]}


@measured_by("closed-form moments", "All-for-all on quadratics in dimension one: two groups, equal rows of Lambda")
def _agreed(values: Values) -> Measured:
    known = agreed(values)[1]
    eta = values["fraction"] * limit(known)
    model, _ = agreed(values, eta)
    return model.average(values["T"]), {**known, "eta": eta, "T": values["T"]}


def _sharp() -> Values:
    # All follow agent 0 of three, curvature L, minimisers 0, D and -D: equality at the limit of the step. And one loss
    # of curvature mu: the start at any step.
    follow = {
        "kind": 0.0,
        "weight": np.array([[1.0, 0, 0]] * N),
        "bend": np.ones(N),
        "place": np.array([0.0, 1.0, -1.0]),
    }
    scales = [(k, L, D, x, s, T) for k, L in ((1.0, 1.0), (10.0, 9.0), (1e3, 0.1))
              for D, x, s, T in ((1.0, 2.0, 1.0, 3.0), (0.1, 3.0, 0.0, 2.0), (10.0, 0.0, 1e-4, 4.0),
                                 (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 1e6))]  # fmt: skip
    return rows(
        SAME,
        *({**follow, "kappa": k, "beta": L, "spread": D, "start": x, "sigma2": np.full(N, s), "T": T}
          for k, L, D, x, s, T in scales),
        {"start": 2.0, "kappa": 50.0, "fraction": 0.1, "T": 7.0},
        {"start": 2.0, "kappa": 50.0, "fraction": 0.01, "kind": 2.0, "T": 300.0},
    )  # fmt: skip


def _beyond() -> Evidence:
    """The same agents one per cent beyond the limit, after 300 rounds."""
    values = {name: value[2:3] for name, value in _sharp().items()}
    return _any({**values, "kappa": np.array([1e3]), "fraction": np.array([1.01]), "T": np.array([300.0])})


@between_clusters
def _theorem_5(values: Values) -> Measured:
    eta = values["fraction"] * 2 / (values["beta"] * (1 + 1 / values["kappa"]))
    model = Clusters(values, values["sigma2"], eta, values["failure"])
    given = {name: values[name] for name in ("beta", "failure", "T")}
    return model.average(values["T"]), {**model.arguments(), **given, "eta": eta}


def _sharp_theorem_5() -> Values:
    noise = {"sigma2": 1.0}
    return rows(
        PAIR,
        *({**noise, "beta": L, "failure": p} for L in (0.1, 1.0, 9.0) for p in (1e-9, 1e-3, 0.5)),
        {**noise, "size": 1.0},
        {"start": 2.0, "T": 0.0},
        {"start": 2.0, "fraction": 0.01},
        {"start": 2.0, "kappa": 50.0, "fraction": 0.1, "T": 5.0},
        *({"kind": 1.0, "apart": D, "failure": 0.5, "T": 30.0} for D in (1e-2, 1e2)),
    )


def _outside_theorem_5() -> Evidence:
    """Curvature L, the theorem is told a tenth of it: beyond 2/(1.1 L)."""
    found = _theorem_5(rows({**PAIR, "fraction": 1.85, "start": 2.0, "T": 5.0}, {}))
    return replace(found, arguments={**found.arguments, "mu": found.arguments["mu"] / 10})


def claims() -> tuple[Claim, ...]:
    """Built on demand."""

    def one(key: str, *families: Family, **more: Callable[[], Evidence]) -> Claim:
        outside = {STEP.replace("smax + mu smin", "+ mu") if "5" in key else STEP: make for make in more.values()}
        return Claim(theorem=find(f"{KEY}{key}-sharp"), families=families, outside_conditions=outside)

    free = Family(name="any Lambda", domains=ANY, measure=_any, sharp=_sharp)
    equal_rows = Family(name="equal rows", domains=AGREED, measure=_agreed)
    rounds = Family(name="any Lambda", domains=FREE, measure=planned(long_step), sharp=sharp_any)
    equal_rounds = Family(name="equal rows", domains=EQUAL, measure=lambda v: equal(v, long_step), sharp=sharp_equal)
    return (
        one("theorem-3", free, equal_rows, beyond=_beyond),
        Claim(
            theorem=find(f"{KEY}theorem-3-sharp-rounds"),
            families=(rounds, equal_rounds),
            outside_conditions={"bias peer_excess <= 0.9 eps": beyond(equal_rounds, fill=1.3, rise=1.0)},
        ),
        *(
            one(key, replace(rounds, name="near agents", measure=threshold(clusters, long_step), sharp=sharp_threshold))
            for key, clusters in (("corollary-1", True), ("corollary-1-general", False))
        ),
        one(
            "theorem-4",
            Family(
                name="samples and rounds",
                domains=BOTH,
                measure=lambda values: theorem_4(values, long_cluster_step),
                sharp=sharp_theorem_4,
            ),
        ),
        one(
            "theorem-5",
            Family(name="two clusters", domains=STEPS, measure=_theorem_5, sharp=_sharp_theorem_5),
            beyond=_outside_theorem_5,
        ),
        one(
            "corollary-2",
            Family(
                name="two clusters",
                domains=PLAN,
                measure=between_clusters(lambda values: plan(values, long_cluster_step)),
                sharp=sharp_plan,
            ),
        ),
    )
