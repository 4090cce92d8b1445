"""
CoBo finds its clusters
=======================

Three clusters of three clients, as in Example 2 of Hashemi, He and Jaggi (2024). A weight moves up when two clients'
gradients agree at the midpoint of their models, down when they do not, and is kept in [0, 1].
"""

import matplotlib.pyplot as plt

import suffice as sf
from suffice.simulate import CoBo, generators

problem = generators.cobo_example(3, 3, 10, distance=2.0, sigma2=0.05, seed=0)
rule = CoBo(rho=0.5, weight_step=0.5, sampling="constant")
trace = sf.run(problem, rule, iterations=200, eta=0.1, seeds=32, grid=[1, 20, 50, 200], weights=range(32))

# %%
# Mean weights over 32 seeds; clients of one cluster are neighbours.

fig, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained")
for axis, t, weights in zip(axes, trace.iterations, trace.weights.mean(0), strict=True):
    image = axis.imshow(weights, vmin=0, vmax=1, cmap="viridis")
    axis.set(title=f"iteration {t}", xticks=[], yticks=[])
fig.colorbar(image, ax=axes, shrink=0.8)

# %%
# How many updates suffice near the centres is a theorem (exact gradients, models within r of their optima):

bound = sf.theorem("cobo/selection-time")
print(sf.evaluate(bound, own_curvature=1.0, peer_curvature=1.0, separation=2.0, radius=0.5, weight_step=0.5))
