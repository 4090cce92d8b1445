"""Modules by name, on images of any size that they take."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import suffice as sf
from suffice.training.architectures import MODELS, module_of


@pytest.mark.parametrize("shape", [(28, 28), (1, 12, 12), (3, 13, 32)])
@pytest.mark.parametrize("name", MODELS)
def test_named_models_give_one_output_a_class(name, shape):
    assert module_of(name, shape, 7)()(torch.zeros(2, *shape)).shape == (2, 7)


def test_a_module_of_ones_own_is_imported_from_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "my_network_of_a_test.py").write_text(
        "from torch import nn\n\n\ndef Net():\n    return nn.Linear(5, 2)\n\n\nbroken = 1 / 1\n"
    )
    (tmp_path / "my_broken_network.py").write_text("1 / 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert isinstance(module_of("my_network_of_a_test:Net", (5,), 2)(), nn.Linear)
    with pytest.raises(sf.InputError, match="AttributeError"):
        module_of("my_network_of_a_test:Nets", (5,), 2)
    with pytest.raises(sf.InputError, match="ZeroDivisionError"):
        module_of("my_broken_network:Net", (5,), 2)
    with pytest.raises(sf.InputError, match="it takes images"):
        module_of("lenet", (64,), 10)()
