"""
Solve a bound for one of its parameters
=======================================

``solve`` asks a theorem for the smallest number of iterations, or the largest step, that reaches a target. The answer
is on the safe side: the bound at the answer, outward rounding included, meets the target.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf

bound = sf.theorem("adaptive/theorem-2-constant")
known = {"mu": 0.5, "beta": 1.0, "q": 0.9, "e0": 5.0, "s2": 0.7}
print(sf.solve(bound, "T", target=0.4, eta=0.5, **known))
print(sf.solve(bound, "eta", target=0.4, T=40, **known))

# %%
# The number of iterations for a range of targets, each with the step that needs the fewest on a grid.

targets = np.geomspace(0.01, 1, 15)
needed = []
for target in targets:
    counts = []
    for eta in np.geomspace(1e-3, 0.9, 25):
        try:
            counts.append(sf.solve(bound, "T", target=target, eta=eta, **known).value)
        except sf.InputError:  # with this step no number of iterations is enough
            continue
    needed.append(min(counts))
plt.loglog(targets, needed, "o-")
plt.xlabel("target of the bound")
plt.ylabel("iterations")
