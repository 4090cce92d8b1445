"""The page under the keys of a keyboard: search, fields, sliders, Tab through everything, Enter, Escape."""

from __future__ import annotations

import pytest
from chromium import CONTROL, SHIFT, browser, needs_chromium

from suffice.explorer.content import content
from suffice.explorer.page import page

pytestmark = needs_chromium
BOUND = "document.querySelector('.value').dataset.bound"
FOCUSED = "document.activeElement"
REACHABLE = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary")].filter(one =>
  one.checkVisibility() && !one.closest("details:not([open]) > :not(summary)"))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    out = tmp_path_factory.mktemp("keys") / "explore.html"
    out.write_text(page(content()), encoding="utf-8")
    return out.as_uri()


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


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
        ("adaptive/theorem-2-constant", "adaptive/theorem-2-constant"),
        ("Theorem 2 constant", "adaptive/theorem-2-constant"),
        ("cobo-algorithm-1-output", "cobo-algorithm-1-output"),
        ("what is wrong with Lemma 1", "adaptive-lemma-1-index"),
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
    rows = "tree.querySelectorAll('button:not([hidden])').length"
    whole = tab.run(rows)
    tab.run("search.focus()")
    tab.type("zzz")
    assert tab.run(rows) == 0
    tab.press("Escape")
    assert (tab.run("search.value"), tab.run(rows)) == ("", whole)


def test_a_number_is_typed_and_the_bound_follows(open_at):
    tab = open_at("#key=adaptive/theorem-2-constant")
    before = tab.run(BOUND)
    tab.run(f"{field('T')}.focus()")
    tab.press("a", modifiers=CONTROL)
    tab.type("12")
    assert tab.run(f"{field('T')}.value") == "12"
    after = tab.run(BOUND)
    assert after != before
    tab.press("Enter")
    assert tab.run(f"{field('T')}.value") == "12"
    tab.press("Tab")
    assert tab.run(f"{FOCUSED}.getAttribute('aria-label')") == "T on a logarithmic scale"


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


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("hash_", ["", "#key=adaptive/theorem-2-constant", "#erratum=adaptive-lemma-1-index"])
@pytest.mark.parametrize("modifiers", [0, SHIFT])
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
