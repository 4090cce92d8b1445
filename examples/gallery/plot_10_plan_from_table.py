"""
A plan from a table
===================

The diabetes data of scikit-learn, one predictor (body-mass index), split into eight clients by age. ``from_arrays``
(or ``read`` for files) turns data into a least-squares problem whose constants are computed; ``plan`` says who
collaborates with whom, at which step, and how many iterations that takes at most in expectation; ``simulate`` tries
the plan out.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import suffice as sf

features, response = load_diabetes(return_X_y=True, scaled=False)
groups = np.array_split(np.argsort(features[:, 0], kind="stable"), 8)
problem = sf.from_arrays(
    [features[group][:, [2]] for group in groups],
    [response[group] for group in groups],
    standardise="pooled",
    standardise_target=True,
)
plan = sf.plan(problem, epsilon=0.2)
for row in plan:
    print(f"client {row.name}: with {', '.join(row.collaborators) or 'nobody'}, speed-up {row.speedup:.2f}")

# %%
# Predicted times are upper bounds of a mean, and hold until the precision is first reached; measured ones stand beside.

measured = plan.simulate(seeds=128)
at = np.arange(len(plan))
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for shift, name in ((-0.2, "alone"), (0.2, "together")):
    left.bar(at + shift, [getattr(entry, f"predicted_{name}") for entry in measured], 0.4, label=name)
    right.bar(at + shift, [getattr(entry, name) for entry in measured], 0.4, label=name)
left.set(title="predicted, at most", xlabel="client", ylabel="iterations to excess < 0.2")
right.set(title="measured mean, 128 seeds", xlabel="client")
left.legend()
