"""
Methods side by side, above a lower bound
=========================================

For a network of clients every method's own theorem gives a number of rounds, or says which hypothesis fails; a lower
bound says what no method can beat on all networks with these constants.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf
from suffice.simulate import generators

problem = generators.clustered([4, 4], 3, separation=2.0, spread=0.0, sigma2=4.0, start=np.full((8, 3), 3.0))
epsilons = [0.5, 0.2, 0.1, 0.05, 0.02]
plan = sf.plan(problem, epsilon=epsilons)
plans = plan.methods()
for entry in plans:
    if entry.epsilon == 0.1:
        what = f"{max(entry.rounds):12,.0f} rounds" if entry.rounds else f"refused: {entry.failure['condition']}"
        print(f"{entry.method:14s} {what}")

# %%

for method in dict.fromkeys(entry.method for entry in plans):
    rows = [entry for entry in plans if entry.method == method and entry.rounds]
    if rows:
        rounds = [max(entry.rounds) for entry in rows]
        style = "k--" if method == "lower-bound" else "o-"
        plt.loglog([entry.epsilon for entry in rows], np.maximum(rounds, 1), style, label=method)
plt.xticks(epsilons, [str(epsilon) for epsilon in epsilons])
plt.minorticks_off()
plt.xlabel("precision")
plt.ylabel("rounds until every client is served")
plt.legend()
