"""Hypothesis profiles, chosen by HYPOTHESIS_PROFILE, `ci` unless given; one thread per process of tests."""

from __future__ import annotations

import os

from hypothesis import settings

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # the matrices are small: more threads wait for each other

settings.register_profile("ci", derandomize=True, deadline=None, max_examples=50, database=None)
settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("nightly", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
