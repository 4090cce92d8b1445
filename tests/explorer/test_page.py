"""The whole page: one file without network, the command that writes it, hurtful names, every erratum pressed."""

from __future__ import annotations

import html
import json
import re
import webbrowser

import pytest
from chromium import browser, needs_chromium
from typer.testing import CliRunner
from whole_pages import whole_page

import suffice.explorer.page
from suffice.bounds import THEOREMS, InputError, find
from suffice.cli import load
from suffice.cli.app import app
from suffice.explorer.content import _record, content
from suffice.explorer.exact_values import erratum, middle
from suffice.explorer.page import page, script
from suffice.verification import errata

WHOLE = "document.documentElement.outerHTML"
HURTFUL = '<img src=x onerror="document.title = 1">$&</script><script>document.title = 2</script>{{css}}'


def small(**changes):
    """A page with every record of one key and one erratum; `changes` are fields of the first record."""
    first = THEOREMS.index(find("adaptive/lemma-1", "printed"))
    records = [_record(one, {"at": middle(one), "instances": []}, {}) for one in THEOREMS[: first + 1]]
    records[0] |= changes
    found = [erratum(*errata("adaptive-lemma-1-index"))]
    found[0] |= {"said": "the bound is exceeded", "worst": 1}
    papers = [{"key": "adaptive", "citation": "A", "title": "B"}]
    return {"papers": papers, "records": records, "errata": found, "tour": [], "paths": {}, "typeset": {}}


def test_the_page_is_one_file_without_network():
    text = page(small(), start="#key=adaptive/lemma-1")
    assert not re.search(r'(src|href)="?(https?:|//)|@import|fetch\(|XMLHttpRequest|\burl\(', text)
    assert text.count("<script") == text.count("</script>") == 2
    assert not re.search(r"^(import|export) ", script(), re.MULTILINE)
    assert json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["start"] == "#key=adaptive/lemma-1"


def test_names_with_markup_stay_in_the_data():
    text = page(small(title=HURTFUL))
    assert text.count("<script") == text.count("</script>") == 2
    assert "<img" not in text
    assert json.loads(re.search(r'id="data">(.*?)</script>', text)[1])["records"][0]["title"] == HURTFUL


def test_the_command_writes_and_opens(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setattr(suffice.explorer.page, "content", small)
    load("explore")
    out = tmp_path / "a b.html"
    done = CliRunner().invoke(app, ["explore", "adaptive theorem 2", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert opened == [out.as_uri()]
    assert '"start":"#key=adaptive%2Ftheorem-2-constant&edition=printed"' in out.read_text(encoding="utf-8")
    CliRunner().invoke(
        app, ["explore", "adaptive-lemma-1-index", "--out", str(out), "--no-open"], catch_exceptions=False
    )
    assert len(opened) == 1
    assert '"start":"#erratum=adaptive-lemma-1-index"' in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [(["adaptive/theorem-99"], "theorem"), (["--out", "page.txt"], "out"), (["--out", "nowhere/page.html"], "out")],
)
def test_mistakes_are_refused_before_anything_is_written(tmp_path, monkeypatch, arguments, field):
    monkeypatch.chdir(tmp_path)
    load("explore")
    done = CliRunner().invoke(app, ["explore", "--no-open", *arguments])
    assert isinstance(done.exception, InputError)
    assert done.exception.field == field
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@needs_chromium
def test_names_with_markup_are_shown_as_text(tmp_path):
    out = tmp_path / "page.html"
    out.write_text(page(small(title=HURTFUL, statement=HURTFUL, fault=HURTFUL)), encoding="utf-8")
    key = small()["records"][0]["key"]
    with browser() as tab:
        tab.open(f"{out.as_uri()}#key={key}")
        text = tab.run(WHOLE)
        assert "<img" not in text
        assert html.escape(HURTFUL, quote=False) in text
        tab.open(f"{out.as_uri()}#key=%3Cimg%20src=x%20onerror=alert(1)%3E")
        text = tab.run(WHOLE)
    assert "<img" not in text
    assert "The link was not followed: no record has the key &lt;img" in text


def test_the_page_is_the_same_when_written_again():
    assert page(content()) == whole_page()
