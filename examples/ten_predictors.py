"""All ten predictors of the diabetes data, eight clients by age: who gains, and how much.

The condition number is about 4000, and the noise grows with the distance from the optimum, so that none of the papers'
bounds holds. The exact times need neither: they follow from the second moments of the rows.
"""

import numpy as np
from sklearn.datasets import load_diabetes

import suffice as sf

features, response = load_diabetes(return_X_y=True, scaled=False)
groups = np.array_split(np.argsort(features[:, 0], kind="stable"), 8)
problem = sf.from_arrays(
    [features[group] for group in groups],
    [response[group] for group in groups],
    standardise="pooled",
    standardise_target=True,
)
constants = problem.constants()
print(f"condition number up to {(constants.beta / constants.mu).max():,.0f}")
plan = sf.plan(problem, epsilon="10%")
for row in plan:
    times = f"{row.exact_local.iterations} iterations alone, {row.exact.iterations} together"
    print(f"client {row.name}: {times}, with {', '.join(row.collaborators) or 'nobody'}")
