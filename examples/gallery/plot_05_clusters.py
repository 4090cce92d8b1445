"""
Who is in the sufficient cluster, at which precision
====================================================

Similarity is guaranteed only while the gradient is large, so the set of useful peers shrinks as the precision gets
finer. For quadratics the precision at which a peer drops out is computed exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from suffice.bounds import entry_precisions
from suffice.simulate import generators

problem = generators.continuum(12, 2, length=1.0, curvature=1.0, sigma2=1.0)
constants = problem.constants()

# %%
# Twelve clients whose optima lie on a segment. Row 0 is the client at the left end.

entry = entry_precisions(constants.heterogeneity, mu=constants.mu, threshold=0.5)
print("client 1 enters the cluster of client 0 from precision", entry[0, 1])

epsilon = np.geomspace(entry[entry > 0].min() / 2, entry.max() * 2, 400)
for client in (0, 5):
    size = (entry[client] <= epsilon[:, None]).sum(-1)
    plt.semilogx(epsilon, size, drawstyle="steps-post", label=f"client {client}")
plt.xlabel("precision")
plt.ylabel("clients in the sufficient cluster")
plt.legend()
