"""Claims on fixed weights on data: a client and one peer with growing noise in closed form, and rows of data."""

from __future__ import annotations

from itertools import product

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances import quadratic_pairs
from ...instances.quadratic_pairs import Pairs
from ...instances.recursions import repeated
from ...instances.rows import rows
from ...widened_conditions import beyond
from . import row_networks

# --- a peer's noise ---------------------------------------------------------------------------------------------------


@measured_by("exact", "two quadratics, the peer's noise at its largest", rounding=1e-10)
def _noise(values: Values) -> Measured:
    """floor + M |grad R_k|^2 at the model where grad R_i is given."""
    batch = Pairs(values)
    known = batch.lemma_2()
    measured = values["floor"] + values["M"] * (batch.peer_gradient() ** 2).sum(-1)
    size = np.linalg.norm(batch.g, axis=-1)
    given = {"sigma2": values["floor"], "noise_factor": values["M"], "b": known["b"], "c": known["c"]}
    return measured, given | {"gradient": size}


def _pairs() -> Family:
    """Sharp: little floor, or little else, a gradient that outweighs the gap, and equal Hessians, c = 0."""
    given = quadratic_pairs.family()

    def sharp() -> Values:
        assert given.sharp is not None
        base = given.sharp()
        count = len(base["size"])
        base = base | {"M": np.ones(count)}
        # grad R_k - grad R_i is opposed to the given gradient where the Hessians are equal: turn it round
        turned = base | {"gradient": -base["gradient"]}
        parts = [each | {"floor": np.full(count, floor)} for each in (base, turned) for floor in (1e-9, 1.0, 1e9)]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    more = {"floor": Domain(low=1e-3, high=10, log=True), "M": Domain(low=0.01, high=10, log=True)}
    return Family(name=given.name, domains={**given.domains, **more}, measure=_noise, sharp=sharp)


# --- a run: R_i = curvature theta^2/2, grad R_k = (1 + side sqrt(c)) grad R_i + b, weight w on the peer ---------------

_RUN = {
    "beta": Domain(low=0.25, high=4, log=True),
    "kappa": Domain(low=1, high=3),
    "low": Domain(low=1, high=2),
    "w": Domain(low=0, high=1),
    "c": Domain(low=1e-4, high=0.5, log=True, zero=0.2),
    "b": Domain(low=0.01, high=3, log=True, zero=0.2),
    "side": Domain(low=0, high=1, integer=True),
    "tilt": Domain(low=0.1, high=10, log=True),
    "floor": Domain(low=0.001, high=10, log=True, shape=(2,), zero=0.1),
    "M": Domain(low=0.001, high=2, log=True, shape=(2,), zero=0.2),
    "ratio": Domain(low=0.1, high=1),
    "slack": Domain(low=1, high=2),
    "theta0": Domain(low=0.1, high=10, log=True),
    "T": Domain(low=1, high=40, integer=True),
}


@measured_by("closed-form law", "a client and one peer on a line, fixed weights, noise that grows with both gradients")
def _run(values: Values) -> Measured:
    """Moments of theta. (b + sqrt(c) g)^2 <= (1 + 1/t) b^2 + (1 + t) c g^2, t = tilt."""
    h, w, b = values["beta"] / values["kappa"], values["w"], values["b"]
    root, tilt = np.sqrt(values["c"]), values["tilt"]
    slope = (1 + np.where(values["side"] > 0, 1, -1) * root) * h
    both = (b > 0) & (root > 0)
    b2, c = np.where(both, (1 + 1 / tilt), 1) * b**2, np.where(both, 1 + tilt, 1) * root**2
    eta = values["ratio"] / values["beta"]
    pull, push = eta * ((1 - w) * h + w * slope), eta * w * b
    own, M = (1 - w) ** 2, values["M"]
    peer = eta**2 * w**2 * M[:, 1]
    step = np.zeros((len(h), 3, 3))  # on (E theta, E theta^2, 1)
    step[:, 0, 0], step[:, 0, 2], step[:, 2, 2] = 1 - pull, -push, 1
    step[:, 1, 0] = peer * 2 * slope * b - 2 * (1 - pull) * push
    step[:, 1, 1] = (1 - pull) ** 2 + peer * slope**2 + eta**2 * own * M[:, 0] * h**2
    step[:, 1, 2] = push**2 + peer * b**2 + eta**2 * (own * values["floor"][:, 0] + w**2 * values["floor"][:, 1])
    start = np.stack((values["theta0"], values["theta0"] ** 2, np.ones_like(h)), -1)
    measured = h * repeated(step, start, values["T"])[:, 1] / 2
    s = np.where(c > 0, np.sqrt(c), np.where(b2 > 0, 1.0, 0.0))
    over = np.where(s > 0, 1 / np.where(s > 0, s, 1), 0)
    V = own * values["floor"][:, 0] + w**2 * (values["floor"][:, 1] + M[:, 1] * b2 * (1 + over))
    Q = own * M[:, 0] + w**2 * M[:, 1] * (1 + s + c + c * over)
    return measured, {
        "eta": eta, "mu": h / values["low"], "beta": values["beta"], "e0": h * values["theta0"] ** 2 / 2,
        "bias2": w * b2, "c": w * c, "V": V, "Q": Q, "T": values["T"],
        "split": eta * values["beta"] * Q * values["slack"],
    }  # fmt: skip


def _sharp_run() -> Values:
    """eta = 1/beta and mu = beta: alone, a peer with all the weight that differs by a factor, or by a gap."""
    plain = {
        "beta": 1.0, "kappa": 1.0, "low": 1.0, "w": 1.0, "c": 0.0, "b": 0.0, "side": 0.0, "tilt": 1.0,
        "floor": [1e-12, 1e-12], "M": [0.0, 0.0], "ratio": 1.0, "slack": 1.0, "theta0": 1.0, "T": 1.0,
    }  # fmt: skip
    given: list[dict[str, object]] = []
    for beta, T in product((1.0, 3.0), (1.0, 2.0, 20.0)):
        for M, floor in ((0.5, 1e-12), (0.9, 1.0), (0.0, 1.0)):
            given.append({"beta": beta, "T": T, "w": 0.0, "M": [M, 0.0], "floor": [floor, 1.0]})
            given.append({"beta": beta, "T": T, "w": 1.0, "M": [0.0, M], "floor": [1.0, floor]})
        for c, side, M in product((0.04, 0.5), (0.0, 1.0), (0.0, 0.1)):
            given.append({"beta": beta, "T": T, "c": c, "side": side, "M": [0.0, M]})
        given.append({"beta": beta, "T": T, "b": 1.0, "theta0": 1e-6})
        given.append({"beta": beta, "T": T, "b": 1.0, "theta0": 1e3})
        given.append({"beta": beta, "T": 60.0, "b": 1.0, "ratio": 0.5})  # the peer's minimum is reached at any step
    for c in (0.02, 0.3):  # one small step, without noise: beyond 1/beta the peer of side 1 overshoots
        given.append({"kappa": 1.0, "c": c, "side": 1.0, "T": 1.0})
    return rows(plain, *given)


def claims() -> tuple[Claim, ...]:
    run = Family(name="a client and one peer", domains=_RUN, measure=_run, sharp=_sharp_run)
    return (
        Claim.on(
            "adaptive/peer-noise",
            _pairs(),
            exact=lambda effort, root: [row_networks.peer_noise(effort.instances, root)],
        ),
        Claim.on(
            "adaptive/theorem-1-fixed-weights",
            run,
            exact=lambda effort, root: [row_networks.fixed_weights(effort.instances, root)],
            outside_conditions={
                "step size eta <= 1/beta": beyond(run, ratio=1.05),
                "multiplicative noise eta beta Q <= split": beyond(run, slack=1 / 1.05),
            },
            unrefuted_conditions={
                "descent c + split <= 0.99": "the proof needs c + split < 1 only; at 1 the bound does not contract, "
                "and it is not negative before"
            },
        ),
    )
