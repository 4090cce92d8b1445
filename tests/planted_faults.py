"""Faults planted one by one in a copy of the library, and what the nearest tests say: `python tests/planted_faults.py`.

A fault that survives is a guard that nothing tests. Arguments are parts of names of the faults to plant.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FAULTS = r"""
allowance of floats x 4000
  suffice/verification/rounding_violations.py: return 4 * max(found => return 16000 * max(found
  tests/verification/test_check_guards_jumps.py -k no_more_is_left
allowance of wide floats x 4000
  suffice/verification/problem_measure.py: _WIDE = 4.0 => _WIDE = 16000.0
  tests/verification/test_check_guards_rounding.py -k no_more_is_allowed
margin of the confirmation off
  suffice/verification/counterexample.py: if found["margin"] <= => if False and found["margin"] <=
  tests/verification/test_check_guards_jumps.py -k more_digits
steps end at half of what is allowed
  suffice/verification/generated_instances.py: share = np.clip(share, 0, 1) => share = np.clip(share, 0, 0.5)
  tests/verification/test_check.py -k steps_are_tried
steps end at 1/beta
  suffice/verification/generated_instances.py: _GRID = LARGEST_STEP * => _GRID = LARGEST_STEP / 4 *
  tests/verification/test_check.py -k steps_are_tried
coins are not held
  suffice/verification/assumptions.py: held.append(same) => held.append(False)
  tests/verification/test_assumptions.py -k cycles
no wrong variant is made
  suffice/verification/claim.py: (theorem, worst_ratio=worst_ratio) => (theorem, worst_ratio=worst_ratio)[:0]
  tests/verification/test_check.py -k right_bound
hardly a pair of clients and features is swept
  suffice/verification/dimension_sweep.py: for pair in PAIRS if => for pair in PAIRS[:9] if
  tests/verification/test_check_shapes.py -k one_pair
mutant T - 1 gone
  suffice/verification/mutants.py: for by in (1, -1)] => for by in (1,)]
  tests/verification/test_check_guards_jumps.py -k both_shifts
jumps count as rounding
  suffice/verification/rounding_violations.py: for k in range(1, 6)] => for k in range(5)]
  tests/verification/test_check_guards_jumps.py -k 'limits or thousand'
dropped instances are not counted
  suffice/verification/rounding_violations.py: found is None => False
  tests/verification/test_check_guards_jumps.py -k 'counted or concluded'
refuter ends at T = 40
  suffice/verification/proof/refute.py: LONGEST = 400 => LONGEST = 40
  tests/verification/proof/test_refute.py -k late
formula and function are not compared late
  suffice/verification/proof/refute.py: (0, 1, 2, 5, 40, 1001) => (0, 1, 2, 5)
  tests/verification/proof/test_normalised_bound.py -k another
slack 5 %
  suffice/verification/proof/prove.py: Fraction(1, 1000) => Fraction(1, 20)
  tests/verification/proof/test_prove.py -k up_to_a_factor_is_not
sign of |q| is not checked
  suffice/verification/proof/prove.py: if symbolic.absolute: => if False:
  tests/verification/proof/test_normalised_bound.py -k 'true_rate and absolute'
late is not tried
  suffice/verification/generated_instances.py: range(10) => range(3)
  tests/verification/test_check_guards_late.py -k 'reach and not inf'
averages end at T = 200
  suffice/verification/problem_measure.py: _LATE = 1010 => _LATE = 40
  tests/verification/test_check_guards_late.py -k '210 and 105'
a share that underflows is 0
  suffice/bounds/elementary.py: np.maximum(stable, _SMALLEST) => stable
  tests/bounds/test_elementary.py
rounded to the wrong side
  suffice/bounds/elementary.py: * (1 - _NUDGE) => * (1 + _NUDGE)
  tests/bounds/test_elementary.py
agents at the threshold are left out
  suffice/bounds/threshold_weights.py: inside = np.asarray(b) <= np => inside = np.asarray(b) < np
  tests/bounds/test_threshold_weights.py
small singular values are zeros
  suffice/bounds/spectral_gap.py: RANK_TOLERANCE = 2.0**-44 => RANK_TOLERANCE = 2.0**-20
  tests/bounds/test_threshold_weights.py
the best threshold forgets similarities
  suffice/bounds/sufficient_cluster.py: np.cumsum(mass * ranked => np.cumsum(mass + 0 * ranked
  tests/bounds/test_sufficient_cluster.py
clusters are entered at mu eps
  suffice/bounds/sufficient_cluster.py: / (2 * np.asarray(mu => / (1 * np.asarray(mu
  tests/bounds/test_sufficient_cluster.py
answers lie a rounding outside
  suffice/bounds/invert.py: (np.asarray(lhs) <= np.asarray(rhs)) => (np.asarray(lhs) <= np.asarray(rhs) * (1 + 1e-9))
  tests/bounds/test_invert.py -k 'limit or sharp'
averaged an iteration late
  suffice/simulate/algorithms/local_sgd.py: if draw.iteration % self.period: => if (draw.iteration - 1) % self.period:
  tests/simulate/algorithms/test_special_cases.py
controls forget the period
  suffice/simulate/algorithms/scaffold.py: (self.period * eta[..., None]) => eta[..., None]
  tests/simulate/algorithms/test_plain_algorithms.py -k scaffold
the server control sums
  suffice/simulate/algorithms/scaffold.py: change.mean(1 => change.sum(1
  tests/simulate/algorithms/test_plain_algorithms.py -k scaffold
entries off the diagonal count once
  suffice/simulate/moment_powers.py: (c != d) * products => 0 * products
  tests/simulate/test_moment_powers.py
sequences are equally likely
  suffice/simulate/outcome_sequences.py: np.outer(odds, chances) => np.outer(odds, 0 * chances + 1 / len(chances))
  tests/simulate/test_outcome_sequences.py
nobody breaks even
  suffice/planning/plan.py: alone - together >= 1 => alone - together >= 0
  tests/planning/test_results.py -k break_even
folds count as samples
  suffice/fitting/gain.py: RESAMPLED = 1 + FOLDS / (FOLDS - 1) => RESAMPLED = 1.0
  tests/fitting/test_gain.py
gains of all sites are judged as one
  suffice/fitting/gain.py: 0.025 / max(sites, 1) => 0.025
  tests/fitting/test_gain.py -k by_chance
own rows have no share
  suffice/fitting/random_coefficients.py: shares[np.diag_indices(sites)] += => shares[np.diag_indices(sites)] -=
  tests/fitting/test_posterior.py -k shares
an argument given twice counts once
  suffice/cli/arguments.py: if name in pairs: => if False:
  tests/cli/test_bad_arguments.py -k pairs
numbers of Python are numbers
  suffice/support/parse.py: not text.isascii() or "_" in text => False
  tests/cli/test_bad_arguments.py -k pairs
"""
"""Of each its name; a file of the library, its text and what becomes of it; the tests that are to fail."""


class Fault(NamedTuple):
    name: str
    file: str
    before: str
    after: str
    tests: str


def listed() -> list[Fault]:
    lines = [line.strip() for line in FAULTS.strip().splitlines()]
    found = []
    for name, change, tests in zip(lines[::3], lines[1::3], lines[2::3]):
        file, _, change = change.partition(": ")
        before, _, after = change.partition(" =>")
        found.append(Fault(name, file, before, after.strip(), tests))
    return found


def survives(fault: Fault) -> bool:
    """Whether the nearest tests pass with the fault; `ValueError` where its text is not in the file."""
    with tempfile.TemporaryDirectory() as folder:
        for part in ("suffice", "tests"):
            shutil.copytree(ROOT / part, Path(folder) / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        path = Path(folder) / fault.file
        text = path.read_text()
        if fault.before not in text:
            raise ValueError(f"{fault.name}: {fault.file} has no {fault.before!r}")
        path.write_text(text.replace(fault.before, fault.after))
        command = f"{sys.executable} -m pytest -q -x -n0 -p no:cacheprovider -m 'not slow' {fault.tests}"
        run = subprocess.run(
            command, shell=True, cwd=folder, env={**os.environ, "PYTHONPATH": folder}, capture_output=True, text=True
        )
        if run.returncode not in (0, 1):  # no test ran
            raise ValueError(f"{fault.name}: {run.stdout[-300:]}{run.stderr[-300:]}")
        return run.returncode == 0


if __name__ == "__main__":
    chosen = [fault for fault in listed() if all(word in fault.name for word in sys.argv[1:])]
    left = 0
    for fault in chosen:
        alive = survives(fault)
        left += alive
        print(f"{'SURVIVES' if alive else 'caught'}: {fault.name}", flush=True)
    sys.exit(bool(left))
