"""
A plan from a table
===================

The diabetes data of scikit-learn, one predictor (body-mass index), split into eight clients by age. ``from_arrays``
(or ``read`` for files) turns data into a least-squares problem; ``plan`` says from its second moments who collaborates
with whom, at which step, and the first iteration at which the expected excess is at most the precision, exactly for
rows drawn from these; ``simulate`` tries the plan out.
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
    print(f"client {row.name}: with {', '.join(row.collaborators) or 'nobody'}, speed-up {row.exact_speedup:.2f}")

# %%
# Left the exact times. Right the mean excess at the end of each plan: exact, and measured with four standard errors.

measured = plan.simulate(seeds=4096)
at = np.arange(len(plan))
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for shift, name in ((-0.2, "alone"), (0.2, "together")):
    left.bar(at + shift, [getattr(entry, name).iterations for entry in measured], 0.4, label=name)
right.plot(at, [entry.together.exact for entry in measured], "k_", markersize=18, label="exact")
means, errors = ([getattr(entry.together, f"excess{end}") for entry in measured] for end in ("", "_se"))
right.errorbar(at, means, 4 * np.array(errors), fmt="o", label="measured, 4096 seeds")
right.axhline(0.2, color="k", ls="--", lw=0.8)
left.set(title="exact", xlabel="client", ylabel="iterations to mean excess <= 0.2")
right.set(title="together, at the last iteration", xlabel="client", ylabel="mean excess")
left.legend()
right.legend()
