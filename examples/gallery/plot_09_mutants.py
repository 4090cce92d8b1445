"""
Why sharp instances: a wrong bound that survives most tests
===========================================================

The noise floor of a constant step is bounded by eta beta s2 / (2 mu). Take a wrong variant that is ten times smaller.
On ill-conditioned problems it is still above the measured loss, and a test there would pass. On an instance with
mu = beta it is refuted at once.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf
from suffice.simulate import generators

conditions = np.array([1, 2, 5, 10, 20, 50, 100, 200.0])
ratios = []
for kappa in conditions:
    problem = generators.conditioned(1, 5, float(kappa), smoothness=1.0, spread=0.0, sigma2=1.0)
    known = problem.constants()
    mu, beta = float(known.mu[0]), float(known.beta[0])
    eta, T = 0.9 / beta, int(40 * kappa)
    measured = sf.expected_excess(problem, sf.Local(), iterations=T, eta=eta)[-1, 0]
    floor = eta * beta * 1.0 / (2 * mu)
    ratios.append(measured / floor)

# %%
# Below the dashed line the variant "bound / 10" holds although it is wrong.

plt.loglog(conditions, ratios, "o-", label="measured / bound")
plt.axhline(0.1, color="k", ls="--", lw=0.8, label="bound / 10")
plt.xlabel("condition number beta / mu")
plt.ylabel("measured / bound at the plateau")
plt.legend()
print({float(k): round(float(r), 3) for k, r in zip(conditions, ratios, strict=True)})

# %%
# The library makes such variants from the formula itself and reports which of them its instances refute.

(verdict,) = sf.verify(["adaptive/theorem-2-horizon"], edition="corrected")
print(verdict)
