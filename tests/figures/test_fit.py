"""The picture of a fit: groups are neighbours, and it is drawn for one site, many, and gains that are not known."""

from __future__ import annotations

import numpy as np
import pytest
from populations import draw, table

import suffice as sf
from suffice.figures.fit import fit_figure, grouped


def test_members_of_a_group_are_neighbours():
    group = np.arange(12) % 3
    shares = np.where(group[:, None] == group, 0.2, 0.01) + 0.001 * np.random.default_rng(0).random((12, 12))
    changes = np.diff(group[grouped(shares)]) != 0
    assert changes.sum() == 2
    assert sorted(grouped(shares).tolist()) == list(range(12))


def test_large_gains_have_their_power_in_the_label_and_unknown_ones_a_reason():
    from matplotlib.figure import Figure

    sites = draw(1, np.ones((3, 1)), 20)
    fit = sf.fit(table([(X, 1e4 * y) for X, y in (*sites[:2], (sites[2][0][:4], sites[2][1][:4]))]))
    figure, canvas = fit_figure(fit.to_dict()), Figure(layout="constrained")
    figure.draw(figure, canvas)
    canvas.draw_without_rendering()
    _, middle, *_ = canvas.axes
    power = np.floor(np.log10(max(abs(gain) for gain in (*[m.gain or 0 for m in fit], fit.rule["network_gain"]))))
    assert power > 4
    assert f"10^{{{power:.0f}}}" in middle.get_xlabel()
    assert middle.xaxis.get_offset_text().get_text() == ""
    assert [text.get_text() for text in middle.texts] == ["not known"]


@pytest.mark.parametrize(("sites", "rows"), [(1, 30), (2, 4), (5, 30)])
def test_its_numbers_are_those_of_the_fit(sites, rows):
    fit = sf.fit(table(draw(1, np.ones((sites, 1)), rows)))
    figure = fit_figure(fit.to_dict())
    assert len(figure.data) == sites
    for name, curve in figure.data.items():
        np.testing.assert_allclose(curve["influence"].sum(), 1, rtol=1e-9)
        assert np.isnan(curve["gain"]).all() == (fit[name].gain is None)
        known = name in fit.rule["distances"]["compared"] and len(fit.rule["distances"]["compared"]) > 1
        assert np.isfinite(curve["distance"]).all() == known
        assert not known or curve["distance"][list(figure.data).index(name)] == 0


@pytest.mark.parametrize(("sites", "rows"), [(1, 30), (3, 4)])
def test_it_is_drawn_and_written(sites, rows, tmp_path):
    fit = sf.fit(table(draw(1, np.ones((sites, 1)), rows)))
    (written,) = fit.plot(tmp_path / "fit.png").write(tmp_path / "again.png")
    assert written.read_bytes() == (tmp_path / "fit.png").read_bytes()
