"""Hypothesis profiles, chosen by HYPOTHESIS_PROFILE, `ci` unless given; one thread per process of tests."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import settings

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # the matrices are small: more threads wait for each other

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50, database=None)
settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("nightly", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def brief(monkeypatch):
    """Few random instances beside the sharp ones, where these decide the verdict of `check` or its words are the
    point, and fewer paths; the tests of what a search finds have the effort of the users."""
    from suffice.verification import sampled_check
    from suffice.verification.claim import EFFORTS

    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], instances=4, restarts=1, ascents=1))
    monkeypatch.setattr(sampled_check, "_CERTIFIED", (2**11, 2**13))
