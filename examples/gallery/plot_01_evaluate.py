"""
Evaluate a bound
================

A theorem is a record. Its bound is one function of named scalars; ``evaluate`` checks the hypotheses and rounds the
result outward, so that the float that comes back is never below the true value.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf

bound = sf.theorem("adaptive/theorem-2-constant")
print(bound.statement)
print(bound.quantity.expression, "<=", sf.evaluate(bound, eta=0.5, mu=0.5, beta=1.0, q=0.9, e0=5.0, s2=0.7, T=20))

# %%
# Arguments broadcast. A smaller step ends lower and gets there later.

T = np.arange(0, 200)
for eta in (0.8, 0.2, 0.05):
    value = sf.evaluate(bound, eta=eta, mu=0.5, beta=1.0, q=0.9, e0=5.0, s2=0.7, T=T)
    plt.semilogy(T, value, label=f"eta = {eta}")
plt.xlabel("iterations T")
plt.ylabel("bound of E[e_T 1{tau >= T}]")
plt.legend()

# %%
# Outside its hypotheses a bound is refused, with the failing condition, both sides and a remedy.

try:
    sf.evaluate(bound, eta=0.95, mu=0.5, beta=1.0, q=0.9, e0=5.0, s2=0.7, T=20)
except sf.ConditionError as error:
    print(error)
