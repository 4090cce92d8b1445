"""The page's modules by themselves, in Node: numbers, links, what is taken away."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from urllib.parse import parse_qs

import numpy as np
import pytest
from node import needs_node, run
from typer.testing import CliRunner

from suffice.bounds import THEOREMS, evaluate, find
from suffice.cli import load
from suffice.cli.app import app
from suffice.explorer.content import _record, formulas
from suffice.explorer.exact_values import exact_values, middle
from suffice.support.tables import times_text

pytestmark = needs_node

KEY = "adaptive/theorem-2-constant"
AT = {"eta": 0.5, "mu": 0.25, "beta": 1.0, "e0": 1.0, "s2": 0.125, "T": 7.0, "q": 1.0}


def told(key=KEY, edition="corrected"):
    """A record as the page has it, with the index of its formulas."""
    index = next(at for at, one in enumerate(THEOREMS) if (one.key, one.edition) == (key, edition))
    return {**_record(THEOREMS[index], {"at": middle(THEOREMS[index]), "instances": []}, {}), "index": index}


WITH_FORMULA = "const record = { ...given.record, formula: FORMULAS[given.record.index] };"


def test_shown_numbers_are_rounded_away_from_the_truth(tmp_path):
    rng = np.random.default_rng(5)
    values = [*(10 ** rng.uniform(-12, 12, 300)), *(-(10 ** rng.uniform(-5, 5, 50))), 0.1 + 0.2, 1 / 3, 9.999999, 1e-7]
    texts = run(tmp_path, "return given.map((x) => [numbers.shown(x), numbers.shown(x, 'lower')]);", values)
    for value, (above, below) in zip(values, texts):
        assert float(above) >= value - 5e-12 * abs(value)
        assert float(below) <= value + 5e-12 * abs(value)
        up = Context(prec=6, rounding=ROUND_CEILING).create_decimal_from_float(float(value))
        down = Context(prec=6, rounding=ROUND_FLOOR).create_decimal_from_float(float(value))
        assert float(down) <= float(below) <= float(above) <= float(up)
    assert run(tmp_path, "return given.map((x) => numbers.shown(numbers.outward(x, 'upper')));", [0.5, 2, 1e-9, 0]) == [
        "0.5", "2", "1e-9", "0",
    ]  # fmt: skip


def test_a_link_restores_the_state(tmp_path):
    body = (
        WITH_FORMULA
        + """
        const state = { record, values: given.at, along: "eta", erratum: null };
        const address = link.linkOf(state);
        return { link: address, back: link.readLink(address, { records: [record], errata: [] }) };"""
    )
    got = run(tmp_path, body, {"record": told(), "at": {**AT, "s2": 0.1 + 0.2}}, formulas=formulas())
    assert parse_qs(got["link"][1:])["key"] == [KEY]
    assert got["back"]["values"] == {**AT, "s2": 0.1 + 0.2}
    assert (got["back"]["along"], got["back"]["wrong"]) == ("eta", "")


def test_the_other_edition_opens_at_the_same_instance(tmp_path):
    rows = exact_values()["rows"]
    records = [{**told(edition=edition), **rows[f"{KEY} {edition}"]} for edition in ("printed", "corrected")]
    (printed,), (tight, corrected) = (record["instances"] for record in records)
    at = {**printed["at"], "T": 5}
    body = """const [printed, corrected] = given.records;
        const values = curves.sameInstance({ record: printed, values: given.at, along: "T" }, corrected);
        const found = curves.truthAt({ record: corrected, values, along: "T", erratum: null });
        const apart = { ...values, eta: 0.8 };
        return [values, found, curves.truthAt({ record: corrected, values: apart, along: "T" }).far,
          curves.sameInstance({ record: corrected, values: apart, along: "T" }, printed),
          curves.truthAt({ record: corrected, values: given.tight, along: "T" }).value];"""
    values, found, far, none, value = run(tmp_path, body, {"records": records, "at": at, "tight": tight["at"]})
    assert values == {**corrected["at"], "T": 5}
    assert (found["far"], found["value"]) == ([], corrected["curves"]["T"][1][4])
    assert found["words"] == [printed["words"]]
    assert far == ["eta = 0.8 here, 0.9 there"]
    assert none is None
    assert value == tight["value"]


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("link", "says"),
    [
        ("#key=adaptive/theorem-9", "no record has the key adaptive/theorem-9"),
        ("#key=<img src=x onerror=alert(1)>", "no record has the key <img src=x onerror=alert(1)>"),
        ("#erratum=nothing", "no erratum is called nothing"),
        ("#key=__proto__", "no record has the key __proto__"),
        (f"#key={KEY}&at.eta=NaN", "eta = NaN: give a finite number"),
        (f"#key={KEY}&at.eta=", "eta = : give a finite number"),
        (f"#key={KEY}&at.eta=-1", "eta = -1: give a finite number"),
        (f"#key={KEY}&at.eta=1e999", "eta = 1e999: give a finite number"),
        (f"#key={KEY}&at.q=1.5", "q = 1.5: give a finite number"),
        (f"#key={KEY}&at.T=2.5", "T = 2.5: give a whole number"),
        (f"#key={KEY}&at.eta=alert(1)", "eta = alert(1): give a finite number"),
    ],
)
def test_hurtful_links_open_the_list_with_a_line(tmp_path, link, says):
    got = run(tmp_path, "return link.readLink(given.link, { records: [given.record], errata: [] });",
              {"record": told(), "link": link})  # fmt: skip
    assert got["wrong"].startswith(says)
    assert got["record"] is None
    assert got["erratum"] is None


@pytest.mark.parametrize("edition", ["printed", "corrected"])
def test_copies_give_the_number_again(tmp_path, edition):
    at = {**AT, "s2": 0.1 + 0.2}
    body = (
        WITH_FORMULA
        + """return [copies.asPython(record, given.at, true), copies.asCommand(record, given.at, true),
        copies.asLatex(record, given.at), numbers.shown(solve.boundAt(record, given.at))];"""
    )
    record = find(KEY, edition)
    at = {name: at[name] for name in (entry.name for entry in record.parameters)}
    python, command, latex, number = run(tmp_path, body, {"record": told(KEY, edition), "at": at}, formulas=formulas())
    bound = float(evaluate(record, **at))
    assert 0 <= float(number) - bound < 1e-5 * bound
    with redirect_stdout(io.StringIO()) as printed:
        exec(python, {})
    assert float(printed.getvalue()) == bound
    assert python.rstrip().endswith(f"# {number}")
    words = command.split()
    assert words[:3] == ["suffice", "theorem", KEY]
    load("theorem")
    assert json.loads(CliRunner().invoke(app, [*words[1:], "--json"]).stdout)["bound"] == bound
    assert record.latex() in latex
    assert latex.rstrip().endswith(rf"\le {number}")


def test_copies_say_when_conditions_fail(tmp_path):
    body = (
        WITH_FORMULA + "return [copies.asPython(record, given.at, false), copies.asCommand(record, given.at, false)];"
    )
    python, command = run(tmp_path, body, {"record": told(), "at": {**AT, "eta": 3.0}}, formulas=formulas())
    assert "enforce=False" in python
    assert command.startswith("# the command refuses these values")


def test_words_are_found_whole_where_they_end_in_a_number(tmp_path):
    body = "return given.map(([text, word]) => tree.holdsWord(text, word));"
    pairs = [["theorem 20, theorem 2", "theorem 2"], ["theorem 20", "theorem 2"], ["step sizes", "size"], ["a", "b"]]
    assert run(tmp_path, body, pairs) == [True, False, True, False]


def test_a_ratio_that_is_not_1_does_not_read_1(tmp_path):
    body = "return given.map((x) => elements.times(x));"
    texts = run(tmp_path, body, [1, 1 + 1e-12, 1.0001, 0.99996, 1 + 2e-9, 2.5, 1234.5, 3e7])
    assert texts == ["1", "1", "1.0001", "0.99996", "1.000000002", "2.5", "1,200", "3e7"]
    rng = np.random.default_rng(1)
    ratios = [*(10 ** rng.uniform(-3, 30, 300)), *(1 + 10 ** rng.uniform(-8, 0.5, 100)), 90.5 / 10.00000000004, 36.05]
    assert run(tmp_path, body, ratios) == list(map(times_text, ratios))


def test_frames_hold_their_numbers(tmp_path):
    body = "return given.map((x) => plot.frame(x));"
    positive, mixed, flat = run(tmp_path, body, [[1, 1e-20, 100], [-1, 2], [3, 3]])
    assert positive["log"]
    assert positive["range"][0] < 1e-10 < 100 < positive["range"][1]
    assert not mixed["log"]
    assert mixed["range"][0] < -1 < 2 < mixed["range"][1]
    assert flat["range"][0] < 3 < flat["range"][1]


def test_an_axis_is_not_made_for_a_bound_beyond_its_conditions(tmp_path):
    """Where none of its points meets them the least ones are shown, up to a million times the least."""
    body = "return given.map((x) => plot.within(x).map((point) => point[1]));"
    some, none, negative = run(
        tmp_path,
        body,
        [
            [[0, 1, True], [1, 6e294, False], [2, 3]],
            [[k, 10.0**k, False] for k in range(0, 295, 3)],
            [[0, -1, False], [1, 5, False], [2, 6e294, False]],
        ],
    )
    assert some == [1, 3]
    assert none == [1, 1e3, 1e6]
    assert negative == [-1, 5]
