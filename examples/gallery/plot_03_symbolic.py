r"""
The same bound as a formula and at 50 digits
============================================

One Python function per theorem serves floats, 50-digit numbers and symbols such as :math:`\sigma_i^2`. So the printed
formula, the value and its reference cannot drift apart.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf

bound = sf.theorem("adaptive/theorem-2-constant")
print(sf.latex(bound))

# %%
# In a notebook, and on this page, a theorem shows itself:

sf.theorem("adaptive/theorem-2-constant")

# %%
# How far the outward-rounded float is above the value at 50 digits, in relative terms: always above, and never by
# more than 1e-12 here.

T = np.unique(np.geomspace(1, 10**5, 60).astype(int))
known = {"eta": 1e-3, "mu": 0.5, "beta": 1.0, "q": 0.9, "e0": 5.0, "s2": 0.7}
above = []
for t in T:
    exact = sf.digits(bound, T=int(t), **known)
    above.append(float(sf.evaluate(bound, T=int(t), **known) / exact - 1))
assert 0 < min(above) < max(above) < 1e-12
plt.figure(layout="constrained")
plt.loglog(T, above, ".")
plt.xlabel("iterations T")
plt.ylabel("(float - exact) / exact")
