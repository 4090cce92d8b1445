"""All ten predictors of the diabetes data, eight clients by age: a plan in which nobody collaborates.

The condition number is about 4000. At precision eps the squared gradient may be as small as 2 mu eps, and
against that every pair of clients differs too much, so each row's cluster is the client alone.
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
for row in sf.plan(problem, epsilon=0.1):
    print(f"client {row.name}: collaborates with {', '.join(row.collaborators) or 'nobody'}")
