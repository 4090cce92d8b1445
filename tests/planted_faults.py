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


class Fault(NamedTuple):
    name: str
    file: str
    before: str
    after: str
    tests: str


_JUMPS, _JUDGE = "tests/verification/test_check_guards_jumps.py", "suffice/verification/"
_LATE, _PROVING = "tests/verification/test_check_guards_late.py", "tests/verification/proof/test"
_PROOF, _BOUNDS, _SIMULATE = f"{_JUDGE}proof/", "suffice/bounds/", "suffice/simulate/"
FAULTS = (
    Fault(
        "allowance of floats x 4000",
        f"{_JUDGE}suspects.py",
        "return 4 * max(found",
        "return 16000 * max(found",
        f"{_JUMPS} -k no_more_is_left",
    ),
    Fault(
        "allowance of wide floats x 4000",
        f"{_JUDGE}problem_measure.py",
        "_WIDE = 4.0",
        "_WIDE = 16000.0",
        "tests/verification/test_check_guards_rounding.py -k no_more_is_allowed",
    ),
    Fault(
        "margin of the confirmation off",
        f"{_JUDGE}counterexample.py",
        'if found["margin"] <=',
        'if False and found["margin"] <=',
        f"{_JUMPS} -k more_digits",
    ),
    Fault(
        "mutant T - 1 gone", f"{_JUDGE}mutants.py", "for by in (1, -1):", "for by in (1,):", f"{_JUMPS} -k both_shifts"
    ),
    Fault(
        "jumps count as rounding",
        f"{_JUDGE}suspects.py",
        "for k in range(1, 6)]",
        "for k in range(5)]",
        f"{_JUMPS} -k 'limits or thousand'",
    ),
    Fault(
        "dropped instances are not counted",
        f"{_JUDGE}suspects.py",
        "found is None\n",
        "False\n",
        f"{_JUMPS} -k 'counted or concluded'",
    ),
    # --- proofs ---
    Fault(
        "refuter ends at T = 40", f"{_PROOF}refute.py", "LONGEST = 400", "LONGEST = 40", f"{_PROVING}_refute.py -k late"
    ),
    Fault(
        "formula and function are not compared late",
        f"{_PROOF}agreement.py",
        "(0, 1, 2, 5, 40, 1001)",
        "(0, 1, 2, 5)",
        f"{_PROVING}_agreement.py -k another",
    ),
    Fault(
        "slack 5 %",
        f"{_PROOF}prove.py",
        "Fraction(1, 1000)",
        "Fraction(1, 20)",
        f"{_PROVING}_prove.py -k up_to_a_factor_is_not",
    ),
    Fault(
        "sign of |q| is not checked",
        f"{_PROOF}prove.py",
        "if symbolic.absolute:",
        "if False:",
        f"{_PROVING}_agreement.py -k 'true_rate and absolute'",
    ),
    # --- the rest of the judge ---
    Fault(
        "what was dropped is forgotten",
        f"{_JUDGE}measurement_cache.py",
        "dropped=each(lambda piece: piece.dropped),",
        "",
        "tests/verification/test_measurement_cache.py -k comes_again",
    ),
    Fault("late is not tried", f"{_JUDGE}spectrum_scan.py", "range(10)", "range(3)", f"{_LATE} -k 'reach and not inf'"),
    Fault(
        "averages end at T = 200",
        f"{_JUDGE}problem_measure.py",
        "_LATE = 1010",
        "_LATE = 40",
        f"{_LATE} -k '210 and 105'",
    ),
    # --- bounds ---
    Fault(
        "a share that underflows is 0",
        f"{_BOUNDS}elementary.py",
        "np.maximum(stable, _SMALLEST)",
        "stable",
        "tests/bounds/test_elementary.py",
    ),
    Fault(
        "rounded to the wrong side",
        f"{_BOUNDS}elementary.py",
        "* (1 - _NUDGE)",
        "* (1 + _NUDGE)",
        "tests/bounds/test_elementary.py",
    ),
    Fault(
        "agents at the threshold are left out",
        f"{_BOUNDS}threshold_weights.py",
        "inside = np.asarray(b) <= np",
        "inside = np.asarray(b) < np",
        "tests/bounds/test_threshold_weights.py",
    ),
    Fault(
        "the optimal level is of one agent fewer",
        f"{_BOUNDS}threshold_weights.py",
        "(s1 - (m + 1) * cap)",
        "(s1 - m * cap)",
        "tests/bounds/test_threshold_weights.py",
    ),
    Fault(
        "the best threshold forgets similarities",
        f"{_BOUNDS}sufficient_cluster.py",
        "np.cumsum(mass * ranked",
        "np.cumsum(mass + 0 * ranked",
        "tests/bounds/test_sufficient_cluster.py",
    ),
    Fault(
        "clusters are entered at mu eps",
        f"{_BOUNDS}sufficient_cluster.py",
        "/ (2 * np.asarray(mu",
        "/ (1 * np.asarray(mu",
        "tests/bounds/test_sufficient_cluster.py",
    ),
    Fault(
        "answers lie a rounding outside",
        f"{_BOUNDS}invert.py",
        "(np.asarray(lhs) <= np.asarray(rhs))",
        "(np.asarray(lhs) <= np.asarray(rhs) * (1 + 1e-9))",
        "tests/bounds/test_invert.py -k 'limit or sharp'",
    ),
    # --- simulate ---
    Fault(
        "averaged an iteration late",
        f"{_SIMULATE}algorithms/local_sgd.py",
        "        if draw.iteration % self.period:",
        "        if (draw.iteration - 1) % self.period:",
        "tests/simulate/algorithms/test_special_cases.py",
    ),
    Fault(
        "controls forget the period",
        f"{_SIMULATE}algorithms/scaffold.py",
        "(self.period * eta[..., None])",
        "eta[..., None]",
        "tests/simulate/algorithms/test_plain_algorithms.py -k scaffold",
    ),
    Fault(
        "the server control sums",
        f"{_SIMULATE}algorithms/scaffold.py",
        "change.mean(1",
        "change.sum(1",
        "tests/simulate/algorithms/test_plain_algorithms.py -k scaffold",
    ),
    Fault(
        "entries off the diagonal count once",
        f"{_SIMULATE}moment_powers.py",
        "(c != d) * products",
        "0 * products",
        "tests/simulate/test_moment_powers.py",
    ),
    Fault(
        "parts have a constant each",
        f"{_SIMULATE}expected_values.py",
        "[:, 1:, -1, -1] = 0",
        "[:, 1:, -1, -1] *= 1",
        "tests/simulate/test_moment_powers.py -k together",
    ),
    Fault(
        "sequences are equally likely",
        f"{_SIMULATE}outcome_sequences.py",
        "np.outer(odds, chances)",
        "np.outer(odds, 0 * chances + 1 / len(chances))",
        "tests/simulate/test_outcome_sequences.py",
    ),
    # --- planning and fitting ---
    Fault(
        "nobody breaks even",
        "suffice/planning/break_even.py",
        "alone - together >= 1",
        "alone - together >= 0",
        "tests/planning/test_results.py -k break_even",
    ),
    Fault(
        "folds count as samples",
        "suffice/fitting/gain.py",
        "RESAMPLED = 1 + FOLDS / (FOLDS - 1)",
        "RESAMPLED = 1.0",
        "tests/fitting/test_gain.py",
    ),
    Fault(
        "gains of all sites are judged as one",
        "suffice/fitting/gain.py",
        "0.025 / max(sites, 1)",
        "0.025",
        "tests/fitting/test_gain.py -k by_chance",
    ),
    Fault(
        "own rows have no share",
        "suffice/fitting/posterior.py",
        "shares[np.diag_indices(sites)] +=",
        "shares[np.diag_indices(sites)] -=",
        "tests/fitting/test_posterior.py -k shares",
    ),
    # --- figures, tables, the command line ---
    Fault(
        "several panels on one pair of axes",
        "suffice/figures/figure.py",
        "if (rows, columns) != (1, 1):",
        "if False:",
        "tests/figures/test_figure.py -k one_panel",
    ),
    Fault(
        "an argument given twice counts once",
        "suffice/cli/arguments.py",
        "if name in pairs:",
        "if False:",
        "tests/cli/test_bad_arguments.py -k pairs",
    ),
    Fault(
        "numbers of Python are numbers",
        "suffice/support/parse.py",
        'not text.isascii() or "_" in text',
        "False",
        "tests/cli/test_bad_arguments.py -k pairs",
    ),
)


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
        command = f"{sys.executable} -m pytest -q -x -n0 -p no:cacheprovider {fault.tests}"
        run = subprocess.run(
            command, shell=True, cwd=folder, env={**os.environ, "PYTHONPATH": folder}, capture_output=True, text=True
        )
        if run.returncode not in (0, 1):  # no test ran
            raise ValueError(f"{fault.name}: {run.stdout[-300:]}{run.stderr[-300:]}")
        return run.returncode == 0


if __name__ == "__main__":
    chosen = [fault for fault in FAULTS if all(word in fault.name for word in sys.argv[1:])]
    left = 0
    for fault in chosen:
        alive = survives(fault)
        left += alive
        print(f"{'SURVIVES' if alive else 'caught'}: {fault.name}", flush=True)
    sys.exit(bool(left))
