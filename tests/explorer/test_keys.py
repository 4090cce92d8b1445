"""The page under the keys of a keyboard: search, fields, sliders, Tab through everything, Enter, Escape."""

from __future__ import annotations

import itertools
import re

import pytest
from chromium import CONTROL, SHIFT, needs_chromium
from whole_pages import whole_content

pytestmark = needs_chromium
BOUND = "document.querySelector('.value').dataset.bound"
FOCUSED = "document.activeElement"
REACHABLE = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(one =>
  one.checkVisibility() && !one.closest("details:not([open]) > :not(summary)"))"""


@pytest.fixture
def open_at(chromium, address):
    def opened(hash_="", width=1200):
        chromium.size(width)
        chromium.open(address + hash_)
        return chromium

    yield opened
    assert chromium.errors == []


def field(name):
    return f"document.querySelector(\"input[type=text][aria-label='{name}']\")"


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("Theorem 2 constant", "adaptive/theorem-2-constant"),
        ("cobo-algorithm-1-output", "cobo-algorithm-1-output"),
        ("what is wrong with Theorem 2?", "adaptive-theorem-2-expectation"),
    ],
)
def test_a_question_is_typed_and_enter_opens_what_is_called_so(open_at, text, opened):
    tab = open_at()
    tab.press("Tab", times=2)
    assert tab.run(f"{FOCUSED}.id") == "search"
    tab.type(text)
    assert tab.run("search.value") == text
    tab.press("Enter")
    assert tab.run(f"{FOCUSED}.id") == "main"
    shown = tab.run(
        "[...document.querySelectorAll('.place code, .numbers')].map(o => o.dataset.erratum ?? o.textContent)"
    )
    assert opened in shown


def test_escape_empties_the_search_and_the_list_is_whole_again(open_at):
    tab = open_at()
    rows = """[tree.querySelectorAll('summary'), tree.querySelectorAll('div > button')].map(all =>
        [...all].filter(one => one.checkVisibility()).length)"""
    whole = tab.run(rows)
    assert whole[0] > 5
    assert whole[1] == 0
    tab.run("search.focus()")
    tab.type("zzz")
    assert tab.run(rows) == [0, 0]
    tab.press("Escape")
    assert (tab.run("search.value"), tab.run(rows)) == ("", whole)


@pytest.mark.share(2)
@pytest.mark.parametrize("typed", ["-3", "1e999", "two", "0,5", "", "  ", "0x"])
def test_a_wrong_number_is_refused_and_escape_brings_back_the_one_before(open_at, typed):
    tab = open_at("#key=adaptive/theorem-2-constant")
    before, text = tab.run(BOUND), tab.run(f"{field('T')}.value")
    tab.run(f"{field('T')}.focus()")
    tab.press("a", modifiers=CONTROL)
    tab.press("Backspace")
    tab.type("7" if typed == "" else typed)
    if typed == "":
        tab.press("Backspace")
    refused = f"{field('T')}.closest('.slider').querySelector('.refused')"
    assert tab.run(f"{field('T')}.getAttribute('aria-invalid')") == "true"
    assert tab.run(f"{refused}.checkVisibility() && {refused}.textContent")
    tab.press("Escape")
    assert (tab.run(f"{field('T')}.value"), tab.run(BOUND)) == (text, before)
    assert not tab.run(f"{refused}.checkVisibility()")


def test_arrows_move_a_slider_and_the_hand_stays_on_it(open_at):
    tab = open_at("#key=adaptive/theorem-2-constant&at.T=40")
    tab.run("document.querySelector(\"input[type=range][aria-label^='T ']\").focus()")
    for key, value in (("ArrowRight", "41"), ("ArrowUp", "42"), ("ArrowLeft", "41"), ("ArrowDown", "40")):
        tab.press(key)
        assert tab.run(f"{field('T')}.value") == value
    tab.press("End")
    assert float(tab.run(f"{field('T')}.value")) > 40
    assert tab.run(f"{FOCUSED}.type") == "range"


@pytest.mark.share(2)
@pytest.mark.parametrize(
    ("width", "hash_", "modifiers"),
    [
        (1200, "", 0),
        (400, "", SHIFT),
        (1200, "#key=adaptive/theorem-2-constant", SHIFT),
        (400, "#erratum=adaptive-lemma-1-index", 0),
    ],
)
def test_tab_reaches_every_control_and_is_trapped_by_none(open_at, width, hash_, modifiers):
    tab = open_at(hash_, width)
    tab.run(f"void (window.asked = {REACHABLE}, window.met = new Set(), document.activeElement.blur())")
    asked = tab.run("asked.length")
    assert asked > 10
    before = ""
    for _ in range(2 * asked + 20):
        tab.press("Tab", modifiers=modifiers)
        tab.run(f"void met.add({FOCUSED})")
        if tab.run("asked.every(one => met.has(one))"):
            break
        here = tab.run(f"(window.seen = window.last === {FOCUSED}, window.last = {FOCUSED}, window.seen)")
        before = tab.run(f"{FOCUSED}.outerHTML.slice(0, 200)")
        assert not here or before.startswith("<body"), before
    assert tab.run("asked.filter(one => !met.has(one)).map(one => one.outerHTML.slice(0, 100))") == [], before


def test_the_contents_open_and_close_in_a_narrow_window(open_at):
    tab = open_at("#key=adaptive/theorem-2-constant", 400)
    assert not tab.run("tree.checkVisibility()")
    tab.run("menu.focus()")
    tab.press("Enter")
    assert tab.run("tree.checkVisibility()")
    assert tab.run("menu.getAttribute('aria-expanded')") == "true"
    tab.press("Escape")
    assert not tab.run("tree.checkVisibility()")
    assert tab.run("menu.getAttribute('aria-expanded')") == "false"
    tab.run("search.focus()")
    tab.type("l")
    assert (tab.run("tree.checkVisibility()"), tab.run("menu.getAttribute('aria-expanded')")) == (True, "true")


@pytest.mark.share(2)
@pytest.mark.parametrize("words", ["learning rate", "scaffold", "non-iid", "theorem ii", "who should learn with whom"])
def test_other_words_for_it_find_it_and_the_answers_are_counted(open_at, words):
    tab = open_at()
    tab.run("search.focus()")
    tab.type(words)
    count = int(tab.run("tree.querySelector('.notice').textContent").split()[0])
    assert count == tab.run("[...tree.querySelectorAll('button')].filter(one => one.checkVisibility()).length")
    assert 3 < count < 200
    first = tab.run("[...tree.querySelectorAll('button')].find(one => one.checkVisibility()).textContent")
    assert {"scaffold": "scafflix", "theorem ii": "Theorem 2, Table 1 false adaptive"}.get(words, "") in first


def test_errata_of_one_title_are_told_apart(open_at):
    tab = open_at()
    rows = tab.run("""[...tree.querySelectorAll('.paper:last-of-type .result')].map(paper =>
        [...paper.querySelectorAll('button > span:first-child')].map(one => one.textContent))""")
    assert sum(map(len, rows)) > 120
    assert all(len(set(paper)) == len(paper) for paper in rows)


def middle(tab, selector):
    """Where the middle of an element is in the window."""
    tab.run(f"document.querySelector({selector!r}).scrollIntoView({{ block: 'center' }})")
    box = f"document.querySelector({selector!r}).getBoundingClientRect()"
    return tab.run(f"[{box}.x + {box}.width / 2, {box}.y + {box}.height / 2]")


def across(tab, t):
    """Where an iteration is in the plot, from the ticks of its axis."""
    tab.run("document.querySelector('.picture svg').scrollIntoView({ block: 'center' })")
    at = dict(
        tab.run(
            "[...document.querySelectorAll('.tick[text-anchor=middle]')].map(one => [one.textContent,"
            " one.getBoundingClientRect().x + one.getBoundingClientRect().width / 2])"
        )
    )
    low, high = at["0"], at["8"]
    box = tab.run("document.querySelector('.picture svg').getBoundingClientRect().toJSON()")
    return [low + (high - low) * t / 8, box["y"] + box["height"] / 2]


@pytest.mark.parametrize("width", [1200, 400])
def test_the_page_opens_on_theorem_2_and_a_drag_to_2_breaks_it(open_at, width):
    tab = open_at("", width)
    assert tab.run("document.querySelectorAll('polyline.path:not(.gone)').length") == 30
    assert "Drag" in tab.run("document.querySelector('.tour').textContent")
    truth = "document.querySelector('.truth').textContent"
    assert tab.run(f"{field('T')}.value") == "1"
    assert "The bound holds" in tab.run(truth)
    tab.drag(across(tab, 1), across(tab, 1.4), across(tab, 2.2))
    assert tab.run(f"{field('T')}.value") == "2"
    assert "The printed bound is broken: the truth is 36 times it." in tab.run(truth)
    tab.drag(across(tab, 2), across(tab, 30))  # out of the plot, where the last value stays
    assert tab.run(f"{field('T')}.value") == "8"
    assert tab.run("document.querySelector('.here').getAttribute('x1') > 0")


def test_a_drag_of_what_is_no_whole_number_stops_at_exact_values(open_at):
    tab = open_at("#erratum=cobo-example-2-constant")
    x, y = middle(tab, ".picture svg")
    dots = tab.run(
        "[...document.querySelectorAll('circle.curve.exact')].map(one => one.getBoundingClientRect().x + 3.5)"
    )
    tab.drag([x, y], [min(dots) - 2, y])
    assert "Exactly" in tab.run("document.querySelector('.truth').textContent")
    before = tab.run(BOUND)
    tab.drag([min(dots) + 40, y], [min(dots) + 55, y])
    assert tab.run(BOUND) != before


@pytest.mark.parametrize("width", [1200, 400])
def test_the_plot_stays_in_view_beside_or_above_the_last_slider(open_at, width):
    tab = open_at("", width)
    tab.run(f"{field('q')}.closest('.slider').scrollIntoView({{ block: 'end' }})")
    box = tab.run("document.querySelector('.picture svg').getBoundingClientRect().toJSON()")
    slider = tab.run(f"{field('q')}.getBoundingClientRect().toJSON()")
    assert 0 <= box["top"] < box["bottom"] <= 900
    assert slider["left"] > box["right"] if width > 800 else slider["top"] > box["bottom"]
    assert tab.run("document.documentElement.scrollWidth <= innerWidth")


def test_an_axis_is_linear_or_logarithmic_by_a_key(open_at):
    tab = open_at()
    ticks = "[...document.querySelectorAll('.tick[text-anchor=end]')].map(one => one.textContent)"
    assert tab.run(ticks) == ["0.001", "0.01", "0.1", "1"]
    tab.run("[...document.querySelectorAll('.controls button')].at(-1).focus()")
    tab.press("Enter")
    assert tab.run("document.activeElement.textContent") == "vertical: linear"
    assert tab.run(ticks) == ["0", "0.05", "0.1", "0.15", "0.2"]
    tab.press("Tab", modifiers=SHIFT)
    tab.press("Enter")
    assert tab.run("document.activeElement.textContent") == "horizontal: log"
    assert "0" not in tab.run("[...document.querySelectorAll('.tick[text-anchor=middle]')].map(one => one.textContent)")


def test_a_symbol_and_its_slider_light_each_other(open_at):
    tab = open_at()
    lit = "[...document.querySelectorAll('.slider.lit code')].map(one => one.textContent)"
    tab.run("[...document.querySelectorAll('.formula mi')].find(one => one.textContent === 'β').id = 'asked'")
    tab.point(*middle(tab, "#asked"))
    assert tab.run(lit) == ["beta"]
    tab.point(2, 2)
    assert tab.run(lit) == []
    tab.run(f"{field('s2')}.focus()")
    assert tab.run(lit) == ["s2"]
    assert tab.run("document.querySelector('.formula .lit').textContent") == "σsuf2"


@pytest.mark.share(2)
@pytest.mark.parametrize("place", range(5))
def test_every_stop_of_the_tour_breaks_its_bound_where_its_sentence_says(open_at, place):
    tab = open_at()
    tab.run(f"document.querySelectorAll('.tour button')[{place}].focus()")
    tab.press("Enter")
    stop = whole_content()["tour"][place]
    erratum = next(row for row in whole_content()["errata"] if row["id"] == stop["erratum"])
    said = tab.run("document.querySelector('.tour').textContent")
    assert said.startswith(f"{erratum['location']}: {erratum['said']}. Drag")
    for name, value in (erratum["at"] | stop["start"]).items():
        assert float(tab.run(f"{field(name)}.value")) == pytest.approx(value, rel=1e-8)
    tab.run(f"{field(stop['along'])}.focus()")
    tab.press("a", modifiers=CONTROL)
    (asked,) = re.findall(r"(?:from 1 to|type) (1e-9|1e-8|2|0.5)\b", stop["words"]) or ["10"]
    assert float(asked) == pytest.approx(
        erratum["at"][stop["along"]]
    )  # what the sentence says is what breaks the bound
    tab.type(asked)
    assert float(tab.run(BOUND)) == pytest.approx(erratum["printed"], rel=1e-9)
    assert "The printed bound is broken" in tab.run("document.querySelector('.truth').textContent")


def test_the_other_edition_keeps_the_values_that_both_take(open_at):
    tab = open_at()
    names = ["eta", "mu", "beta", "e0", "s2", "T", "q"]
    before = [tab.run(f"{field(name)}.value") for name in names]
    tab.run("[...document.querySelectorAll('.tabs button')].find(one => one.textContent === 'corrected').focus()")
    tab.press("Enter")
    assert [tab.run(f"{field(name)}.value") for name in names] == before


def test_a_bound_of_parameters_that_nobody_set_is_not_drawn(open_at):
    """The corrected statement takes beta_max, which the printed one does not have."""
    tab = open_at("#key=cobo/lemma-4&edition=printed")
    records = {row["edition"]: row for row in whole_content()["records"] if row["key"] == "cobo/lemma-4"}
    names = {edition: {one["name"] for one in row["parameters"]} for edition, row in records.items()}
    assert names["corrected"] - names["printed"]
    assert "corrected" not in tab.run("document.querySelector('.picture svg').getAttribute('aria-label')")


@pytest.mark.parametrize("along", ["T", "mu"])
def test_the_plot_is_readable_where_nothing_meets_the_conditions_and_its_buttons_say_its_scale(open_at, along):
    tab = open_at(f"#key=adaptive/theorem-2-constant&at.eta=100&along={along}")
    ticks = tab.run("[...document.querySelectorAll('.tick[text-anchor=end]')].map(one => Number(one.textContent))")
    assert ticks
    assert max(map(abs, ticks)) < 1e12
    said = tab.run("[...document.querySelectorAll('.controls button')].at(-1).textContent")
    steps = {round(one - two, 9) for one, two in itertools.pairwise(ticks)}
    assert said == ("vertical: linear" if len(steps) == 1 else "vertical: log")
