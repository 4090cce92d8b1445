"""The page at the ends of its sliders and beyond its conditions: what it says there, and what it draws."""

from __future__ import annotations

import pytest
from chromium import needs_chromium

pytestmark = needs_chromium
WALK = """(() => {
  const wrong = new Set(), seen = { states: 0, beyond: 0, certain: 0 };
  const look = where => {
    const say = what => wrong.add(`${what}: ${where}`);
    seen.states++;
    for (const one of document.querySelectorAll("svg *"))
      for (const { name, value } of one.attributes)
        if (/NaN|Infinity|undefined/.test(value)) say(`${one.tagName} ${name}=${value}`);
    const text = /.{20}(NaN|Infinity|undefined|null).{9}/.exec(main.textContent);
    if (text) say(text[0]);
    for (const one of where.includes("scale") ? [] : document.querySelectorAll("svg text")) {
      const [box, all] = [one.getBoundingClientRect(), one.closest("svg").getBoundingClientRect()];
      if (box.left < all.left - 1 || box.right > all.right + 1 || box.bottom > all.bottom + 1 || box.top < all.top - 1)
        say(`"${one.textContent}" leaves the plot`);
    }
    const [value, fails] = [document.querySelector(".value"), document.querySelector(".conditions .bad")];
    if (Boolean(fails) === Boolean(value.querySelector("b"))) say("a number beyond the conditions, or none within");
    if (Boolean(fails) !== value.textContent.includes("does not apply")) say(value.textContent);
    if (fails && document.querySelector(".truth .broken, .truth .kept, .mark.printed, .mark.corrected, .mark.broken"))
      say("a bound beyond its conditions is compared");
    seen.beyond += Boolean(fails);
    const claims = [value.textContent, ...[...document.querySelectorAll("tr")].map(one => one.textContent)];
    for (const text of claims.filter(one => one.includes("ℙ("))) {
      const number = /[≤] ([-0-9.e]+)/.exec(text)?.[1];
      if (Number(number) > 1) say(`probability ${number}`);
      seen.certain += number === "1";
    }
  };
  tree.style.display = "none"; // its layout would take most of the time
  tree.parentElement.style.display = "block";
  const rows = [...tree.querySelectorAll("button")].filter((_, k) => k % EVERY === 0);
  for (const row of rows) {
    row.click();
    const where = document.title + " " + row.textContent;
    const ranges = [...document.querySelectorAll("input[type=range]")];
    if (!ranges.length) continue;
    const start = ranges.map(one => one.value);
    const put = places => ranges.forEach((one, k) => {
      if (one.value !== places[k]) { one.value = places[k]; one.dispatchEvent(new Event("input")); }
    });
    look(where);
    if (row.closest(".paper").textContent.startsWith("Errata")) continue;
    for (const end of ["0", "1000"]) {
      for (let k = 0; k < ranges.length; k++) {
        put(start.with(k, end));
        look(`${where} ${ranges[k].ariaLabel} ${end}`);
      }
      put(start.map(() => end));
      look(`${where} all ${end}`);
      for (const one of document.querySelectorAll(".slider input[type=text]")) {
        one.focus();
        one.value = end === "0" ? "1e-60" : "1e60";
        one.dispatchEvent(new Event("input"));
        one.blur();
      }
      look(`${where} 1e±60 ${end}`);
    }
  }
  return { wrong: [...wrong], seen };
})()"""


@pytest.fixture(scope="module")
def at_once(chromium):
    """The browser, which draws without waiting for the next frame."""
    chromium.call("Page.enable")
    source = "window.requestAnimationFrame = draw => (draw(), 0)"
    script = chromium.call("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
    yield chromium
    chromium.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    chromium.call("Page.disable")


@pytest.mark.parametrize(("width", "every"), [(400, 40), pytest.param(1200, 1, marks=pytest.mark.slow)])
def test_records_at_the_ends_of_their_sliders_say_and_draw_what_holds(at_once, address, width, every):
    at_once.size(width)
    at_once.open(address)
    found = at_once.run(WALK.replace("EVERY", str(every)))
    assert found["wrong"] == []
    assert found["seen"]["states"] > 3600 / every
    assert found["seen"]["beyond"] > 1000 / every
    assert found["seen"]["certain"] >= (every == 1)
    assert at_once.errors == []


def test_a_true_print_has_a_remark_and_no_fault(at_once, address):
    at_once.open(f"{address}#key=adaptive/remark-3-binary&edition=printed")
    assert at_once.run("[...document.querySelectorAll('dt')].map(o => o.textContent)") == ["Remark", "Hypotheses"]
    assert at_once.run("[...document.querySelectorAll('.fault')].length") == 0
    at_once.open(f"{address}#key=scafflix/theorem-2&edition=printed")
    page = at_once.run("document.querySelector('main').textContent")
    assert "What holds instead" not in page
    assert "none kept" not in page
    assert "min_iγ_iμ_i" in at_once.run("document.querySelector('.controls select').textContent")
