"""Every definition scales by its own unit and reduces over the last axis."""

from __future__ import annotations

import numpy as np
import pytest

from suffice.bounds import DEFINITIONS

RNG = np.random.default_rng(8)


AXES = {"": (), "N": (5,), "NN": (5, 5), "d": (3,), "nd": (7, 3)}


def vectors(definition, batch=6):
    values = {}
    for name, unit in definition.vectors.items():
        if definition.shape(name) == "dd":
            root = RNG.normal(size=(batch, 3, 3))
            values[name] = root @ root.swapaxes(1, 2) + 0.1 * np.eye(3)
        else:
            shape = (batch, *AXES[definition.shape(name)])
            values[name] = RNG.uniform(0.05, 1, shape) if unit == (0, 0) else np.exp(RNG.normal(size=shape))
    return values


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.key)
def test_it_scales_by_its_unit_and_axes_in_front_are_a_batch(definition):
    values, loss, theta = vectors(definition), 3.7, 0.41
    together = definition.reduce(**values)
    assert together.shape == (6,)
    scaled = {name: value * definition.vectors[name].scale(loss, theta) for name, value in values.items()}
    np.testing.assert_allclose(definition.reduce(**scaled), definition.unit.scale(loss, theta) * together, rtol=1e-12)
    apart = [definition.reduce(**{name: value[row] for name, value in values.items()}) for row in range(6)]
    np.testing.assert_allclose(together, apart, rtol=1e-14)  # summation order
