"""
Several algorithms on one problem
=================================

Two groups of clients with different optima. Algorithms are built by name, run on the same seeds (the noise of client k
in iteration t is the same for all of them), and their cost is counted.
"""

import matplotlib.pyplot as plt
import numpy as np

import suffice as sf
from suffice.simulate import ALGORITHMS, algorithm, generators

print("known by name:", ", ".join(ALGORITHMS))
problem = generators.clustered([4, 4], 5, separation=2.0, spread=0.02, sigma2=2.0, start=np.full((8, 5), 3.0))

# %%

chosen = {
    "local": {},
    "local-sgd": {"period": 5},
    "all-for-one": {"criterion": "continuous"},
    "ditto": {"pull": 0.5},
    "federated-clustering": {},
}
for name, options in chosen.items():
    rule = algorithm(name, problem, eta=0.1, **options)
    trace = sf.run(problem, rule, iterations=120, eta=0.1, seeds=64)
    plt.semilogy(trace.iterations, trace.mean().mean(-1), label=name)
    print(
        f"{name:22s} mean excess {trace.mean()[-1].mean():.4f}   "
        f"gradients {trace.oracle_calls[-1]:7.0f}   vectors {trace.vectors_sent[-1]:7.0f}"
    )
plt.xlabel("iteration")
plt.ylabel("mean excess loss over clients and seeds")
plt.legend()
