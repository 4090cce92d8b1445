"""The quickstart notebook runs from top to bottom, and its results show themselves."""

from __future__ import annotations

import json

import pytest
from blocks import ROOT

NOTEBOOK = ROOT / "examples" / "quickstart.ipynb"


@pytest.mark.usefixtures("brief")
def test_the_quickstart_notebook_runs(monkeypatch, capsys):
    monkeypatch.chdir(NOTEBOOK.parent)
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert all(not cell.get("outputs") for cell in cells), "the notebook is kept without outputs"
    names: dict[str, object] = {}
    for source in sources:
        exec(source, names)
    assert names["erratum"]["measured"] > 36 * names["erratum"]["printed"]
    assert names["verdict"].outcome.value == "violated"
    for shown in ("fit", "plan", "verdict"):  # what a notebook prints below the cell
        assert names[shown]._repr_html_().startswith("<")
