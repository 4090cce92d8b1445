"""
Weights from similarities
=========================

Definition 1 turns similarities r_k and variances sigma_k^2 into collaboration weights by a criterion phi. Three come
with the library; any nondecreasing function with phi(0) = 0, phi(1) > 0 and phi(x) <= x can be given.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf
from suffice.bounds import collaboration_weights

criteria = {
    "binary, threshold 0.5": sf.Binary(threshold=0.5),
    "continuous": sf.Continuous(),
    "sharp": sf.Sharp(),
    "own: x^2": sf.Custom(function=lambda x: x**2),
}

# %%
# Left: the criteria. Right: the weights that client 0 gives to ten peers of falling similarity and equal variance.

similarity = np.linspace(1, 0, 10)
x = np.linspace(0, 1, 401)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for name, criterion in criteria.items():
    left.plot(x, criterion.phi(x), label=name)
    weights = collaboration_weights(criterion, similarity=similarity, sigma2=np.ones(10))
    right.plot(similarity, weights, "o-")
    print(f"{name:22s} sum of weight x similarity = {(weights * similarity).sum():.12f}")
left.set(xlabel="similarity x", ylabel="phi(x)")
left.legend()
right.set(xlabel="similarity r_k", ylabel="weight of peer k")

# %%
# The price of collaboration is a shorter step: with w the client's own share of the inverse variances, the step limit
# falls from 1/beta to q/beta.

for name, criterion in criteria.items():
    print(f"{name:22s}", {w: round(float(criterion.step_ratio(w)), 4) for w in (0.5, 0.1, 0.01)})
