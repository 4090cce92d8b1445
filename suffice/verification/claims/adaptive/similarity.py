"""Claims on the adaptive paper: similarity of two clients, the weights of Definition 1, variances, Equation (1)."""

from __future__ import annotations

import numpy as np

from ...claim import Claim
from ...evidence import Measured, measured_by
from ...family import Domain, Family, Values
from ...instances import estimates, peers, quadratic_pairs
from ...instances.peers import Peers
from ...instances.quadratic_pairs import Pairs


def cosines() -> Family:
    """R_i = w (1 - cos theta), no PL, and a peer with another weight and minimiser; c is drawn, b the least for it.

    w sin(u) and w' sin(u + s) differ by p sin(u) + q cos(u): b^2 = sup_u of the square less c w^2 sin(u)^2 is the
    larger eigenvalue of a quadratic form in (sin u, cos u). Sharp: its eigenvector.
    """

    def form(values: Values) -> np.ndarray:
        p = values["peer"] * np.cos(values["shift"]) - values["own"]
        q = values["peer"] * np.sin(values["shift"])
        return np.stack(
            (np.stack((p**2 - values["c"] * values["own"] ** 2, p * q), -1), np.stack((p * q, q**2), -1)), -2
        )

    @measured_by("exact", "pair of cosines", rounding=1e-12)
    def measure(values: Values) -> Measured:
        own = values["own"] * np.sin(values["u"])
        peer = values["peer"] * np.sin(values["u"] + values["shift"])
        b2 = np.maximum(np.linalg.eigvalsh(form(values))[:, -1], 0)
        return np.maximum(1 - (peer - own) ** 2 / own**2, 0), {"b": np.sqrt(b2), "c": values["c"], "G": own**2}

    def sharp() -> Values:
        rows = [
            (own, ratio * own, shift, c)
            for own in (0.3, 1.0, 5.0)
            for ratio in (0.7, 1.0, 1.3)
            for shift in (0.01, 0.2, 0.4)
            for c in (0.0, 0.03, 0.3)
        ]
        own, peer, shift, c = np.array(rows).T
        values = {"own": own, "peer": peer, "shift": shift, "c": c}
        top = np.linalg.eigh(form(values))[1][..., -1]
        return values | {"u": np.arctan2(top[:, 0], top[:, 1])}

    return Family(
        name="pairs of cosines",
        domains={
            "own": Domain(low=0.1, high=10, log=True),
            "peer": Domain(low=0.1, high=10, log=True),
            "shift": Domain(low=-1, high=1),
            "c": Domain(low=0, high=1),
            "u": Domain(low=0.01, high=3.13),
        },
        measure=measure,
        sharp=sharp,
    )


def _similarity() -> tuple[Claim, ...]:
    gap = quadratic_pairs.measured(Pairs.property_1, Pairs.gap)
    ratio = quadratic_pairs.measured(Pairs.lemma_2, Pairs.similarity, rounding=1e-10)
    return (
        *(Claim.on("adaptive/property-1", gap, edition=edition) for edition in ("printed", "corrected")),
        *(Claim.on("adaptive/lemma-2", ratio, edition=edition) for edition in ("printed", "corrected")),
        Claim.on("adaptive/lemma-2-gradient", cosines()),
    )


def _weights() -> tuple[Claim, ...]:
    one = "adaptive/definition-1-weights"
    return (
        *(Claim.on(one, peers.weights(), edition=edition) for edition in ("printed", "corrected")),
        *(Claim.on(f"adaptive/remark-3-{kind}", peers.step_ratios(kind)) for kind in ("binary", "continuous", "sharp")),
    )


def _variances() -> tuple[Claim, ...]:
    families = {
        "definition-1-effective-local": peers.local(Peers.effective),
        "definition-1-variance-local": peers.local(Peers.noise),
        "largest-variance-binary": peers.local(Peers.noise, "binary", power=0),
        "largest-variance-continuous": peers.local(Peers.noise, "continuous", peak=1, power=1),
        "continuous-dominates": peers.continuous_against_binary(),
        "definition-2-binary": peers.sufficient_binary(),
        "best-threshold-gap": peers.threshold_gap(),
    }
    return tuple(Claim.on(f"adaptive/{key}", family) for key, family in families.items())


def claims() -> tuple[Claim, ...]:
    return (
        *_similarity(),
        *_weights(),
        *_variances(),
        *(
            Claim.on(f"adaptive/equation-1-{quantity}", estimates.estimates(quantity), equality=1e-9)
            for quantity in ("gap", "norm", "identical")
        ),
    )
