"""Pages to pass on: whole in themselves, what cannot be made says why, every claim has its section."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import suffice as sf
from suffice.figures.report import save_report
from suffice.planning.constant_prediction import served
from suffice.verification import Outcome, verify

EXAMPLES = Path(__file__).parents[2] / "examples"
VOID = {"meta", "img", "hr", "br"}
KEYS = ["adaptive/property-1", "adaptive/theorem-2-decreasing"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Tags(HTMLParser):
    """Open tags that wait for their ends, and every address that a browser would ask for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    rng = np.random.default_rng(0)
    lines = ["site,day,x,y"]
    for site, slope in (("<Lyon>", 1.0), ("Nice & co", 1.05), ("Brest", -2.0)):
        x = rng.normal(size=40)
        lines += [f"{site},2024-01-02,{a},{slope * a + 0.5 * e}" for a, e in zip(x, rng.normal(size=40))]
    folder = tmp_path_factory.mktemp("report")
    (folder / "clients.csv").write_text("\n".join(lines) + "\n")
    return sf.report(folder / "clients.csv", folder / "report.html", client="site", target="y", drop=["day"])


def test_the_page_is_whole_in_itself(page):
    text = page.read_text()
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    pictures = [address.partition("base64,") for address in tags.addresses]
    assert len(pictures) == 2  # of the fit and of the plan, nothing from elsewhere
    for kind, _, coded in pictures:
        assert kind == "data:image/svg+xml;"
        assert b"</svg>" in base64.b64decode(coded)
    assert "&lt;Lyon&gt;" in text
    assert "--drop day" in text
    assert "lower the loss by" in text or "cannot tell whether" in text
    assert "Two questions, two answers" in text
    assert "Least squares needs no rounds: one message of 30 numbers" in text
    assert "an excess loss of what as many new rows could tell from none" in text
    assert "<Lyon>" not in text
    assert re.search(r"3 sites with 120 rows; 1 columns? predicts? y", text)


def test_constants_are_planned_and_the_missing_models_are_explained(command, tmp_path):
    done = command("report", EXAMPLES / "constants.toml", "--epsilon", 0.5, "--out", tmp_path / "r.html")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "r.html").read_text()
    assert "Not made: setup file" in text
    assert "Who trains with whom" in text


@pytest.mark.parametrize("answers", ["yes no", "low high top"])
def test_the_plan_is_for_the_loss_of_the_models_and_counts_what_was_measured(tmp_path, answers):
    rng = np.random.default_rng(1)
    lines = ["client,day,x,target"]
    for site in "ABC":
        x = rng.normal(size=12)
        labels = np.array(answers.split())[np.digitize(x + 0.5 * rng.normal(size=12), [0.0, 1.0][: answers.count(" ")])]
        lines += [f"{site},2024-01-02,{a},{label}" for a, label in zip(x, labels)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    source, options = tmp_path / "t.csv", {"drop": ["day"]}
    if answers == "yes no":  # in a setup file that names no loss
        source, options = tmp_path / "s.toml", {}
        source.write_text('[data]\npath = "t.csv"\ndrop = ["day"]\n')
    text = sf.report(source, tmp_path / "r.html", epsilon="2%", **options).read_text()
    assert text.count("day: dropped, as asked") == 1
    if answers != "yes no":
        assert "Not made: loss = &#x27;multinomial&#x27;: plans are for" in text
        return
    assert "the penalty (0.1/2) |theta|^2" in text
    found = re.findall(r"\((\d+)-(\d+)\)", text.partition("Measured: ")[2].partition("</table>")[0])
    assert len(found) == 6  # alone and together of three sites, with their intervals
    sooner = sum(int(latest) < int(earliest) for (earliest, _), (_, latest) in zip(found[::2], found[1::2]))
    assert f"In training, {sooner} of 3 sites" in text
    assert "with the help of others (measured)" in text
    assert "Guaranteed: expected iterations" not in text
    assert "let nobody collaborate here and are left out" in text


def test_sites_that_a_constant_serves_are_not_counted(tmp_path):
    rng = np.random.default_rng(2)
    lines = ["client,x,target"]
    for site, slope in (("A", 1.0), ("B", 1.0), ("C", 0.1), ("D", 0.1)):
        lines += [f"{site},{x},{20 + slope * x + 0.5 * e}" for x, e in rng.normal(size=(40, 2))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    plan = sf.plan(sf.read(tmp_path / "t.csv"), 0.06)
    assert [row.exact.iterations > 0 for row in plan] == [True, True, False, False]
    assert str(plan).count("nothing to plan") == 3  # of two clients, and below the table
    assert [row.name for row in served(plan.problem, plan)] == ["C", "D"]
    text = sf.report(tmp_path / "t.csv", tmp_path / "r.html", epsilon=0.06).read_text()
    sooner = sum(plan[site].exact_speedup > 1 for site in "AB")
    assert sooner
    assert f"In training, {sooner} of 4 sites reach" in text
    assert "(exact). At 2 of 4 sites a constant prediction reaches it, so that there is nothing to plan." in text


def test_a_precision_that_is_no_text_is_shown_all_the_same(tmp_path):
    rows = "".join(f"{'ab'[k % 2]},{k * k % 7},{k}\n" for k in range(20))
    (tmp_path / "t.csv").write_text(f"client,x,target\n{rows}")
    text = sf.report(tmp_path / "t.csv", tmp_path / "r.html", epsilon="\ud800").read_text()
    assert "--epsilon \\ud800" in text
    assert "Not made: epsilon" in text


def test_mistakes_are_one_line(refused, tmp_path):
    assert "no such file" in refused("report", tmp_path / "none.csv", "--out", tmp_path / "r.html")
    (tmp_path / "days.csv").write_text("client,day,target\na,2024-01-02,1\nb,2024-01-03,2\n")
    assert "--drop" in refused("report", tmp_path / "days.csv", "--out", tmp_path / "r.html")
    (tmp_path / "days.csv").unlink()
    assert "name a .html file" in refused("report", "sklearn:diabetes", "--out", tmp_path / "r.pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason=f"no browser ({', '.join(BROWSERS)})")
def test_a_browser_shows_it(page):
    browser = next(filter(None, map(shutil.which, BROWSERS)))
    shown = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "Who trains with whom" in shown.stdout


@pytest.fixture(scope="module")
def verdicts():
    return verify(KEYS)


@pytest.fixture(scope="module")
def of_verdicts(verdicts, tmp_path_factory):
    return save_report(verdicts, tmp_path_factory.mktemp("report") / "report.html").read_text(encoding="utf-8")


def test_every_claim_has_its_row_section_and_picture(verdicts, of_verdicts):
    text = of_verdicts
    for verdict in verdicts:
        anchor = f"{verdict.theorem.key}-{verdict.theorem.edition}".replace("/", "-")
        assert f'href="#{anchor}"' in text
        assert f'id="{anchor}"' in text
        assert str(verdict.instances) in text.replace(",", "")
    pictures = text.count("<svg")
    assert pictures == sum(verdict.outcome is not Outcome.VACUOUS for verdict in verdicts) == 3
    assert "1 violated" in text
    assert "1 vacuous" in text


def test_nothing_is_loaded_from_elsewhere(of_verdicts):
    text = of_verdicts
    addresses = set(re.findall(r'(?:src|href)="([^"#][^"]*)"', text))
    assert not addresses
    assert "<script" not in text


def test_kept_points_include_the_worst_instance(verdicts):
    tried = [verdict for verdict in verdicts if verdict.instances]
    assert len(tried) == 3  # all but the vacuous one
    for verdict in tried:
        ratios = [measured / bound for bound, measured in verdict.points if bound > 0]
        assert max(ratios) == pytest.approx(verdict.worst_ratio, rel=1e-12)
        assert len(verdict.points) <= 200


def test_text_from_claims_is_escaped(verdicts, tmp_path):
    odd = replace(verdicts[0], variants=replace(verdicts[0].variants, survivors=("<b> & co",)))
    text = save_report([odd], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<b> & co" not in text
    assert "&lt;b&gt; &amp; co" in text
