"""
Scafflix: how often to communicate
==================================

The rate of Theorem 1 is 1 - min(min_i gamma_i mu_i, p^2). Communicating more often than p = sqrt(gamma mu) costs
messages and does not speed up the bound; communicating less often slows it down.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf

bound = sf.theorem("scafflix/theorem-1")
print([parameter.name for parameter in bound.parameters])
known = {"contraction": 0.01, "reach": 1.0, "eta_min": 0.1, "noise": 0.0, "Psi0": 1.0}

# %%

probabilities = np.geomspace(0.02, 1, 25)
iterations = np.array([sf.solve(bound, "T", target=1e-3, p=p, **known).value for p in probabilities])
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.loglog(probabilities, iterations)
left.set(xlabel="probability p of a communication", ylabel="iterations to Psi <= 0.001")
right.loglog(probabilities, probabilities * iterations)
right.set(xlabel="p", ylabel="expected communications")
best = probabilities[np.argmin(probabilities * iterations)]
for axis in (left, right):
    axis.axvline(np.sqrt(known["contraction"]), color="k", ls="--", lw=0.8)
print(f"fewest communications on this grid at p = {best:.3f}; sqrt(gamma mu) = {np.sqrt(known['contraction']):.3f}")
