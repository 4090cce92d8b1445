"""Proof steps as exact identities: the right side minus the left is a nonnegative combination of nonnegative things.

A step is certified by
    right - left = sum_j c_j F_j,
each c_j a nonnegative rational times powers of hypotheses (eta, 1 - eta beta A, ...) and each F_j a squared norm or a
hypothesis of the theorem (PL, smoothness). As an identity of rational functions this says nothing where a divisor is 0:
whatever is divided by, in the statement as well, is a hypothesis declared positive. And as anything follows from
hypotheses that contradict each other, there are rational numbers that meet them all. Where an inequality for N clients
or T steps is meant, its sums are single vectors and scalars. This checks the steps written here, not the papers' text.
"""

from __future__ import annotations

from collections.abc import Sequence

from suffice.bounds.papers import LazyTuple, parts

from .proof_step import Identity as Identity
from .proof_step import Step as Step
from .vector import Vector as Vector
from .vector import vectors as vectors

IDENTITIES: Sequence[Identity] = LazyTuple(lambda: parts("identities", "IDENTITIES"))


def identities(key: str | None = None) -> list[Identity]:
    """All steps, or those of one theorem."""
    return [identity for identity in IDENTITIES if key in (None, identity.key)]
