"""
Exact expectations beside simulated means
=========================================

For an algorithm whose step is affine in its state, on quadratics with additive noise, the first two moments obey a
recursion. ``expected_excess`` gets it by calling the algorithm's own step, so no formula is derived by hand.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf
from suffice.simulate import generators

problem = generators.conditioned(4, 3, 10.0, spread=1.0, sigma2=0.5, start=np.full((4, 3), 2.0), seed=1)
exact = sf.expected_excess(problem, sf.Local(), iterations=60, eta=0.5)
trace = sf.run(problem, sf.Local(), iterations=60, eta=0.5, seeds=512)

# %%
# The band is three standard errors of the mean of 512 paths; the line is the exact expectation.

mean, error = trace.mean(), trace.standard_error()
t = trace.iterations
plt.fill_between(t, (mean - 3 * error)[:, 0], (mean + 3 * error)[:, 0], alpha=0.3, label="512 paths")
plt.semilogy(t, exact[:, 0], "k", lw=1, label="exact")
plt.xlabel("iteration")
plt.ylabel("E[e_t] of client 0")
plt.legend()

away = np.abs(mean - exact)[1:] / error[1:]
print(f"largest deviation: {away.max():.2f} standard errors, over {away.size} numbers")
