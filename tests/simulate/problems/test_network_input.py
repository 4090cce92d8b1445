"""Modules, rows, targets and losses of networks that are refused by name, and those that are remarked on."""

from __future__ import annotations

import numpy as np
import pytest
from small_networks import LABELS, X, network
from torch import nn

import suffice as sf

NETWORK_MISTAKES = {
    "no module": ({"module": 3}, "module = 3: give a torch module"),
    "a class with arguments": ({"module": nn.Linear}, "call it without arguments"),
    "no parameters": ({"module": nn.Flatten()}, "no parameters to train"),
    "wrong width": ({"module": nn.Linear(4, 3)}, r"module Linear = 'rows \(7, 5\)"),
    "labels beyond": ({"targets": [*LABELS[:2], LABELS[2] + 1]}, "label of client 2 = 3: the module has 3 outputs"),
    "labels below": ({"targets": [LABELS[0] - 1, *LABELS[1:]]}, "label of client 0 = -1: "),
    "rows and targets": ({"targets": [LABELS[1], *LABELS[1:]]}, "y of client 0 = 'torch.int64 of shape"),
    "shapes": ({"rows": [X[0][:, :4], *X[1:]]}, "X of client 1 = 'array of shape"),
    "clients": ({"rows": X[:2]}, "clients = 2"),
    "nan": ({"rows": [X[0] * np.nan, *X[1:]]}, "X of client 0 = nan"),
    "text": ({"rows": [[["a"] * 5] * 9, *X[1:]]}, "X of client 0 = "),
    "word": ({"loss": "hinge"}, "loss = 'hinge': use cross-entropy, squared"),
    "loss of other targets": ({"loss": "squared"}, "cross-entropy takes whole numbers"),
    "share": ({"test": 1.5}, "test = 1.5: give a share"),
    "too few": ({"rows": [x[:1] for x in X], "targets": [y[:1] for y in LABELS], "test": 0.5}, "0 = 1: too few"),
    "batch": ({"batch": 0}, "batch = 0"),
    "memory of models": (
        {"module": nn.Linear(5, 3), "max_memory": 3000},
        "memory for models of 3 clients = .*max_memory",
    ),
    "memory of rows": ({"max_memory": 900}, "memory for rows of clients = .*max_memory"),
}


@pytest.mark.parametrize("name", NETWORK_MISTAKES)
def test_mistakes_are_named_in_one_line(name):
    given, message = NETWORK_MISTAKES[name]
    with pytest.raises(sf.InputError, match=message) as caught:
        network(**given)
    assert "\n" not in str(caught.value)


def test_clients_of_one_row_or_class_are_remarked_on_and_train():
    problem = network(rows=[X[0][:1], *X[1:]], targets=[LABELS[0][:1], LABELS[1] * 0 + 2, LABELS[2]])
    assert problem.remarks == ("client 0 has one row for training", "client 1 has rows of one class alone, 2")
    assert np.isfinite(sf.run(problem, sf.Local(), iterations=3, eta=0.1, seeds=1).loss).all()
