"""What every figure keeps: it is computed, drawn from its files alone, and refuses what it does not take."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import Collection
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from suffice.bounds import InputError
from suffice.figures import Figure, figure, makers, redraw
from suffice.figures.maker import ALONE, COMPETITORS
from suffice.figures.style import style

SMALL: dict[str, dict[str, Any]] = {
    "adaptive-1": {"clients": 5, "features": 3, "spreads": (0.02, 3.0), "seeds": 2},
    "adaptive-2a": {
        "clients": 4,
        "features": 3,
        "spread": 0.2,
        "iterations": 3,
        "step": 0.1,
        "seeds": 2,
        "ditto_pull": 0.5,
    },
    "adaptive-2b": {"clients": 4, "iterations": 3, "seeds": (5, 3), "apfl_mixture": 0.25},
    "adaptive-2b-regimes": {"clients": 6, "features": 3, "spread": 0.2, "iterations": 2, "seeds": 2},
    "adaptive-3-heart": {"seeds": 2, "epochs": 1, "step": 0.1, "cobo_rho": 0.01},
    "adaptive-3-networks": {},
    "cobo-2": {},
    "scafflix-2": {},
    "scafflix-3": {},
    "scafflix-1": {"clients": 4, "mu": 0.2, "alphas": (0.5,), "seeds": 1, "rounds": 1, "datasets": ("mushrooms",)},
    "cobo-1": {"distance": 1.0},
    "cobo-3": {},
    "cobo-5": {
        "clients": 6,
        "clusters": 3,
        "features": 3,
        "distance": 1.0,
        "seeds": 1,
        "iterations": 21,
        "noises": (0.0,),
    },
    "sample-optimal-speedup": {"agents": (10,), "precision": 0.01},
    "sample-optimal-rounds": {"agents": 10, "spread": 0.5, "precisions": (0.001, 0.1)},
    "theorem-2-truth": {"iterations": 2, "panels": 4},
    "sharpness": {"instances": 1},
}
FACTS = {"clients", "features", "iterations", "epochs", "mu", "alphas", "distance", "precision"}
NEED_DATA = ("adaptive-3-heart", "scafflix-1")


def test_every_figure_is_tried():
    assert list(SMALL) == list(makers())
    assert all(name == entry.name for name, entry in makers().items())


def drawn(canvas: Any) -> list[tuple[str, str, str]]:
    """What a canvas shows: lines and texts, fills and markers with their points and colours.

    Rendering each picture a second time to compare bytes costs seconds; that equal canvases give equal files is tested
    beside adaptive-2a.
    """
    shown: list[tuple[str, str, str]] = []
    for artist in canvas.findobj():
        if isinstance(artist, Text):
            shown.append(("text", artist.get_text(), str((artist.get_position(), artist.get_color()))))
        elif isinstance(artist, Line2D):
            shown.append(("line", artist.get_xydata().tobytes().hex(), str((artist.get_color(), artist.get_marker()))))
        elif isinstance(artist, Collection):
            points = [path.vertices.tobytes().hex() for path in artist.get_paths()] + [np.asarray(artist.get_offsets())]
            shown.append(("fill", str(points), str((artist.get_facecolor(), artist.get_edgecolor()))))
        elif isinstance(artist, (Patch, AxesImage)):
            shape = artist.get_path().vertices if isinstance(artist, Patch) else artist.get_array()
            shown.append((type(artist).__name__, str(shape), str(artist.get_alpha())))
    return shown


@pytest.mark.share(3)
@pytest.mark.parametrize("name", SMALL)
def test_it_is_computed_drawn_and_read_again(name, tmp_path, monkeypatch):
    if name in NEED_DATA and not Path(os.environ.get("SUFFICE_DATA", "absent")).is_dir():
        pytest.skip("needs data")
    seen: list[tuple[int, int]] = []
    made = figure(name, progress=lambda done, total: seen.append((done, total)), **SMALL[name])
    assert (made.name, made.edition) == (name, "stated")
    assert made.title
    assert made.data
    # what was given is what the files say, and what the picture is of
    taken = SMALL[name]
    assert made.setup["changed"] == {key: list(v) if isinstance(v, tuple) else v for key, v in taken.items()}
    for key in FACTS & set(taken):
        said = made.setup[key]
        assert (len(said) if key == "clients" and isinstance(said, list) else said) == made.setup["changed"][key]
    assert made.seconds >= 0
    assert seen[-1][0] == seen[-1][1]
    built, build = [], Figure.canvas

    def remember(of: Figure) -> Any:
        canvas = build(of)
        built.append((canvas, drawn(canvas)))  # before it is rendered, which moves titles
        return canvas

    monkeypatch.setattr(Figure, "canvas", remember)
    assert made.picture("png").startswith(b"\x89PNG")
    # the PDF is as dear and says no more
    monkeypatch.setattr(Figure, "_pictures", lambda _, *kinds: [b""] * len(kinds))
    made.save(tmp_path)
    again = redraw(name, tmp_path)
    assert list(again.data) == list(made.data)
    for curve, columns in made.data.items():
        assert set(columns) == set(made.units)
        for column, values in columns.items():
            np.testing.assert_array_equal(again.data[curve][column], values)
    with style():
        again.canvas()
    (first, shown), (_, shown_again) = built
    assert shown_again == shown
    # the first words are a sentence in bold, which says what the picture shows
    assert len(first.get_suptitle().split()) >= 5
    # at its printed width nothing is set below 7 points
    sizes = {text.get_text(): text.get_fontsize() for text in first.findobj(Text) if text.get_text().strip()}
    assert min(sizes.values()) >= 7, min(sizes, key=lambda words: sizes[words])


@pytest.mark.parametrize("name", ["adaptive-1", "adaptive-2a", "adaptive-2b-regimes"])
def test_every_option_changes_the_published_edition_or_is_refused(name):
    few: dict[str, Any] = {"seeds": 2} | ({} if name == "adaptive-1" else {"iterations": 2})
    before = figure(name, edition="published", **few).data
    for option, entry in makers()[name].options.items():
        other = 3 if option == "seeds" else (0.3,) if entry.several else 0.3 if "float" in entry.kind else 4
        options: dict[str, Any] = few | {option: other}
        try:
            after = figure(name, edition="published", **options).data
        except InputError:
            assert option in COMPETITORS
            continue
        columns = [
            (before[key][what], after.get(key, {}).get(what, np.empty(0))) for key in before for what in before[key]
        ]
        assert not all(np.array_equal(*pair) for pair in columns), option


@pytest.mark.parametrize("name", SMALL)
def test_it_says_what_it_takes_and_what_differs_and_refuses_what_it_does_not_know(name, command):
    maker = makers()[name]
    assert 20 < len(maker.about) < 100
    assert re.fullmatch(r".{20,330}\.", maker.differs)
    assert (maker.differs == ALONE) == (name in ("theorem-2-truth", "sharpness"))
    listed = " ".join(command("figure", name, "--option", "help").stdout.split()) if maker.options else ""
    for option, entry in maker.options.items():
        assert len(entry.about) > 10, option
        assert f"{option} {entry.words}" in listed
        assert entry.default is None or "(default " in entry.words, option
        assert "MISSING" not in entry.words, option
    with pytest.raises(InputError, match=f"^colour = .*{name} takes"):
        figure(name, colour="red")
    with pytest.raises(InputError, match=r"^edition = 'third': use stated or published"):
        figure(name, edition="third")
    if maker.unpublished:
        with pytest.raises(InputError, match=f"^edition = 'published': {maker.unpublished}; use stated"):
            figure(name, edition="published")
