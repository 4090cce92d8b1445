"""
Heart disease in four hospitals
===============================

Real data with a logistic loss. The four files of the UCI heart disease data are looked for in the folder
``$SUFFICE_DATA/heart_disease``; without them this page says so and shows the embedded breast cancer data instead.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt

import suffice as sf
from suffice.simulate import LocalSGD

folder = Path(os.environ.get("SUFFICE_DATA", "data")) / "heart_disease"
if folder.is_dir():
    problem = sf.read(folder, standardise="client", regularisation=0.1)
else:
    print("heart disease data not found: the breast cancer data of scikit-learn, four parts, take their place")
    problem = sf.read("sklearn:breast_cancer", loss="logistic", split="contiguous:4", regularisation=0.1)
print(problem.names)

# %%
# Everyone alone, everyone together, and clients that weigh their peers by similarity.

plt.figure(layout="constrained")
for name, rule in (
    ("local", sf.Local()),
    ("local SGD, mean of 5 steps", LocalSGD(period=5)),
    ("all-for-one, continuous", sf.AllForOne(criterion=sf.Continuous())),
):
    trace = sf.run(problem, rule, iterations=20, eta=0.1, seeds=512)
    plt.semilogy(trace.iterations, trace.mean().mean(-1), label=name)
    print(f"{name:27s} mean excess of the training loss at the end {trace.mean()[-1].mean():.4f}")
plt.xlabel("iteration (one patient per hospital and iteration)")
plt.ylabel("mean excess loss")
plt.legend()
