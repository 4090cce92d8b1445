"""A step of the risk of a mixture of clusterings."""

from __future__ import annotations

from .proof_step import Identity, Step
from .vector import scalars, vectors


def mixture_score() -> Step:
    """Stein's unbiased estimate of a mixture's risk, but for traces and n v, is that of its parts and their distance.

    p and q are the two parts' estimates with weights w and 1 - w; grad w_c = (2 w_c/beta)(P_c x - mix), so that the
    weights add 2 v sum_c <grad w_c, P_c x> to the divergence. An equality.
    """
    w, v, beta = scalars("w v beta")
    x, p, q = vectors("x p q")
    mix = w * p + (1 - w) * q
    moved = w * ((p - mix) @ p) + (1 - w) * ((q - mix) @ q)
    apart = w * ((p - mix) @ (p - mix)) + (1 - w) * ((q - mix) @ (q - mix))
    return Step(
        left=(x - mix) @ (x - mix) + 4 * v / beta * moved,
        right=w * ((x - p) @ (x - p)) + (1 - w) * ((x - q) @ (x - q)) + (4 * v / beta - 1) * apart,
        terms=[],
        positive=[beta],
    )


IDENTITIES = (Identity(key="stein/clusterings-score", says="score of a mixture", step=mixture_score),)
