"""Errata of the adaptive paper's tables, of Definition S1 and of what the text says of them."""

from __future__ import annotations

import numpy as np

from suffice.bounds import evaluate, find

from ..erratum import Finding
from .paper import false, typo

DEVIATIONS = {"Local, MNIST": (-4.10, -1.53), "FedAvg, MNIST": (-1.61, -1.40), "APFL, IXI": (-0.53, -0.54)}
"""Entries of Table S2 (train, test): the same as the means of Table 2, as all 64 of them."""
CIFAR = {"All-for-one-bin": (63.9, 64.2), "Local": (58.5, 59.0), "FedAvg": (28.9, 30.8)}
"""Test accuracies on CIFAR-10: in the text of Section 5, and in Table 2."""


@typo(
    location="Section 5, observations, and Table 2",
    claim="on CIFAR-10 All-for-one-bin, Local and FedAvg reach 63.9, 58.5 and 28.9 %",
    truth="Table 2 has 64.2, 59.0 and 30.8.",
)
def table_2_text() -> Finding:
    name = max(CIFAR, key=lambda rule: abs(CIFAR[rule][0] - CIFAR[rule][1]))
    text, table = CIFAR[name]
    return Finding(inputs={"rule": name, "quantity": "test accuracy on CIFAR-10 in %"}, printed=text, measured=table)


@false(
    location="Table S2, lower half",
    claim="the standard deviations of the logarithmic losses are between -4.10 and 0.36",
    truth="The half repeats the means of Table 2, entry by entry; a standard deviation of logarithms is not negative.",
)
def table_s2_loss() -> Finding:
    least = min(entry for pair in DEVIATIONS.values() for entry in pair)
    # the least that the deviation of any three numbers, one per seed, can be
    possible = float(np.std([least] * 3))
    return Finding(inputs={"seeds": 3, "quantity": "least standard deviation"}, printed=least, measured=possible)


@typo(
    location="Definition S1",
    claim="labels are split into {0, ..., floor(K/2)} and {floor(K/2) + 1, ..., K}, K classes in all",
    truth="These are K + 1 labels, and the halves are unequal; {0, ..., floor(K/2) - 1} and the K - floor(K/2) others "
    "are meant.",
)
def definition_s1_labels() -> Finding:
    classes = 10
    first, second = range(classes // 2 + 1), range(classes // 2 + 1, classes + 1)
    inputs = {"K": classes, "quantity": "labels in the two clusters"}
    return Finding(inputs=inputs, printed=float(len(first) + len(second)), measured=float(classes))


@typo(
    location="Equation (1) and the line below it",
    claim="Z is a mean of m gradients; b_alpha gradients are drawn for it, another letter and 512 in Table S1",
    truth="m is not defined and b_alpha is meant; a mean of fewer gradients than are drawn leaves more of the noise in "
    "Z.",
    key="adaptive/equation-1-norm",
    direction="equality",
)
def equation_1_samples() -> Finding:
    record = find("adaptive/equation-1-norm")
    one, all_of_them = (evaluate(record, gradient=0.1, sigma2=1.0, m=m) for m in (1, 512))
    inputs = {"|grad R_i|": 0.1, "sigma_i^2": 1, "b_alpha": 512, "quantity": "E[Z_i], m = 1 against m = b_alpha"}
    return Finding(inputs=inputs, printed=float(one), measured=float(all_of_them))
