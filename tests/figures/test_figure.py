"""Options of figures and of the command that draws them: each is taken or refused in words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from matplotlib.text import Text

from suffice.bounds import InputError
from suffice.figures import figure, makers

WHOLE = "give a whole number, at least 1"


@pytest.mark.parametrize(
    ("name", "option", "value", "said"),
    [
        ("adaptive-2b-regimes", "iterations", 0, WHOLE),
        ("adaptive-3-heart", "epochs", -1, WHOLE),
        ("scafflix-1", "rounds", 0, WHOLE),
        ("sharpness", "instances", -1, WHOLE),
        ("cobo-5", "iterations", 0, ""),
        ("cobo-5", "clients", 7, ""),
        ("cobo-5", "noises", (1.0, 1.0), ""),
        ("scafflix-1", "data", "absent", "no file mushrooms"),
        ("adaptive-3-heart", "data", "absent", r"no processed\.cleveland\.data"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(name, option, value, said, tmp_path):
    options: dict[str, Any] = {option: tmp_path if option == "data" else value}
    with pytest.raises(InputError, match=f"^{option} = .*: .*{said}"):
        figure(name, **options)


def test_the_command_sets_the_options_that_a_figure_takes_and_refuses_others(refused, command, tmp_path):
    tmp_path /= "new"
    out = ("--out", tmp_path)
    for words, said in (
        ("cobo-1 --seeds 3", "seeds = 3: cobo-1 takes distance"),
        ("adaptive-2a --data x", "data = 'x': adaptive-2a takes clients"),
        ("adaptive-2a --seeds 1", "seeds = 1: give how many (at least 2)"),
        ("adaptive-2a --seeds few", "seeds = 'few': give a number"),
        ("adaptive-2a --seeds 5,5", "different whole numbers"),
        ("adaptive-2a --seeds 1.5,2", "different whole numbers"),
        ("adaptive-2a --seeds 1.5", "seeds = 1.5: give how many"),
        ("sharpness --option instances=few", "instances = 'few': give a number"),
        ("sharpness --option instances=1.5", "instances = 1.5: give a whole number"),
        ("adaptive-1 --option features=3,4", "features = '3,4': give a number"),
        ("adaptive-1 --option client=12", "client = '12': did you mean clients? adaptive-1 takes clients"),
        ("adaptive-2 --seeds 2", "did you mean adaptive-2a, adaptive-2b or adaptive-2b-regimes?"),
        ("all --option clients=3", "name the one figure"),
        ("adaptive-2a --seeds 2 --option seeds=3", "given twice"),
        ("cobo-5 --option noises=-1,0", "noises = -1.0: give numbers of at least 0"),
        ("theorem-2-truth --option panels=0", "panels = 0"),
    ):
        assert said in refused("figure", *words.split(), *out), words
    assert not tmp_path.exists()
    done = command("figure", "adaptive-1", "--option", "seeds=20", *out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith(makers()["adaptive-1"].differs)
    assert json.loads((tmp_path / "adaptive-1.json").read_text())["setup"]["runs"] == 20


def test_crosses_are_named_where_they_are_drawn():
    few: dict[str, Any] = {"edition": "published", "seeds": 2}
    for crosses, options in ((4, {}), (0, {"iterations": 3, "spread": 0.5})):
        canvas = figure("adaptive-2a", **few, **options).canvas()
        axes, words = canvas.axes[0], " ".join(text.get_text() for text in canvas.findobj(Text)).lower()
        assert sum(line.get_marker() == "x" for line in axes.get_lines()) == crosses
        assert ("crosses" in words) == bool(crosses)
        assert ("spread 0.5" in words) == (not crosses)
