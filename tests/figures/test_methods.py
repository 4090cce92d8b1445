"""The picture of methods compared: its numbers are the comparison's, and nothing that never arrives has a place."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import suffice as sf
from suffice.planning.methods import Comparison, Method
from suffice.planning.number import Number
from suffice.planning.prices import Prices, Spent


def method(name, setting, value, rounds, ends=(None, None)):
    kind = "exact" if ends == (None, None) else "measured"
    spent = (
        None if value is None else Spent(iterations=value, rounds=rounds, down=1.0, up=1.0, gradients=1.0, features=1)
    )
    return Method(name=name, setting=setting, time=Number(value, kind, error=ends), spent=spent)


@pytest.fixture
def compared():
    precisions = {
        "10%": (
            method("FedAvg", "K=4", 40, 10),
            method("SCAFFOLD", "K=4", 60, 15, (48, 72)),
            method("Local", "", 9, 0),
        ),
        "1%": (
            method("SCAFFOLD", "K=1", 80, 80, (76, 84)),
            method("FedAvg", "K=4", None, 0),
            method("Local", "", 9, 0),
        ),
    }
    return Comparison(precisions=precisions, prices=Prices.of(None))


def test_rounds_and_their_ends_are_those_of_the_comparison(compared):
    figure = compared.plot()
    assert set(figure.data) == {f"{key} | {name}" for key in ("10%", "1%") for name in ("FedAvg, K=4", "SCAFFOLD")}
    ends = {name: [float(curve[part][0]) for part in ("rounds", "low", "high")] for name, curve in figure.data.items()}
    np.testing.assert_allclose(ends["10% | SCAFFOLD"], (15, 12, 18), rtol=1e-12)
    np.testing.assert_allclose(ends["10% | FedAvg, K=4"], (10, np.nan, np.nan), rtol=1e-12)
    assert np.isnan(ends["1% | FedAvg, K=4"]).all()
    assert figure.title == "SCAFFOLD (K=1) needs the fewest rounds, 80, at precision 1%"


def test_it_is_written_and_what_never_arrives_is_a_cross(compared, tmp_path):
    figure, canvas = compared.plot(tmp_path / "methods.png"), Figure(layout="constrained")
    assert (tmp_path / "methods.png").stat().st_size > 0
    figure.draw(figure, canvas)
    canvas.draw_without_rendering()
    (axes,) = canvas.axes
    crosses = [line for line in axes.lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert len(crosses) == 1
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["10%", "1%", "never"]


def test_records_of_constants_have_no_rounds_in_common():
    with pytest.raises(sf.InputError, match=r"^plot = 'constants'"):
        Comparison(precisions={}, prices=Prices.of(None)).plot()
