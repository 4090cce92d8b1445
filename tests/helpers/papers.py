"""What the contract tests know about single records."""

from __future__ import annotations

VACUOUS = {("adaptive/theorem-2-decreasing", "printed"), ("adaptive/corollary-1", "printed")}
"""No point meets the conditions."""

_MINIBATCH = "minibatch 4 beta eta (size - 2) sigma2/size^2 <= batch"

UNIT_FAULTS = {
    ("adaptive/lemma-2", "printed"): {"bound"},
    ("adaptive/lemma-2-variance", "printed"): {"bound"},
    ("sample-optimal/theorem-2-threshold", "printed"): {"threshold b^2 <= eps/2"},
    ("sample-optimal/section-5-bias", "printed"): {"bound"},
    ("cobo/example-2-dissimilarity", "printed"): {"bound"},
    ("cobo/lemma-3", "printed"): {"bound"},
    ("cobo/lemma-4", "printed"): {_MINIBATCH},
    ("cobo/theorem-1-consensus", "printed"): {_MINIBATCH},
    ("cobo/theorem-1-midpoint-gradient", "printed"): {_MINIBATCH},
    ("cobo/corollary-2", "printed"): {_MINIBATCH},
}
"""What does not scale like its unit: "bound", or the name of a condition."""

SLOW = {"sample-optimal/theorem-1-optimised", "sample-optimal/theorem-1-excess"}
"""Records whose 50 digits take a quadrature each."""
