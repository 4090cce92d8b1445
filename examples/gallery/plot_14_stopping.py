"""
Guarantees that stop
====================

All-for-one makes guaranteed progress until its client's excess loss is first below the precision. After that instant
tau nothing is promised. Here the client's own noise is large and its peer is precise: once the model is close to the
optimum the peer no longer counts as similar, the client is alone with its noise, and the loss jumps up again.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf

# R_0 = theta^2/2 and R_1 = (theta - 0.02)^2/2; the peer stands for 99 clients of variance 1.
problem = sf.Quadratics.of([[[0.5]], [[0.5]]], [[0.0], [-0.02]], sigma2=[1.0, 1 / 99], start=[[0.2], [0.2]])
epsilon, eta, rule = 0.004, 0.9, sf.AllForOne(criterion=sf.Binary(threshold=0.9))
row = sf.plan(problem, epsilon=epsilon, criterion=rule.criterion)["0"]
print(f"collaborators {row.collaborators}, step limit {row.step_limit:.3f}")

# %%
# The expectation that the corrected theorem bounds counts a path until tau only. Without that the bound is exceeded.

trace = sf.run(problem, rule, iterations=12, eta=eta, seeds=20_000, epsilon=epsilon)
t, excess, tau = trace.iterations, trace.excess[:, :, 0], trace.stopping_times[:, 0]
running = np.where(tau[:, None] >= t, excess, 0).mean(0)
bound = sf.evaluate(
    sf.theorem("adaptive/theorem-2-constant"),
    eta=eta, mu=1.0, beta=1.0, q=row.step_ratio, e0=0.02, s2=row.sufficient_variance, T=t,
)  # fmt: skip
assert (running <= bound).all()
print("unstopped mean / bound at T = 2:", round(float(excess.mean(0)[2] / bound[2]), 1))
plt.semilogy(t, excess.mean(0), "o-", label="E[e_T], not stopped")
plt.semilogy(t, running, "s-", label="E[e_T 1{tau >= T}]")
plt.semilogy(t, bound, "k", lw=1, label="bound")
plt.axhline(epsilon, color="k", ls="--", lw=0.8, label="precision")
plt.xlabel("iteration T")
plt.ylabel("excess loss of client 0")
plt.legend()
