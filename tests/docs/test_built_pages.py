"""The built pages: code looks like code, and no name of the API is one of a private module."""

from __future__ import annotations

import html
import re
import subprocess
import sys

import pytest
from blocks import ROOT

pytest.importorskip("sphinx")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Visible text of each page, code aside but for signatures; the gallery's examples are not run."""
    out = tmp_path_factory.mktemp("pages")
    build = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-D", "plot_gallery=0", "docs", str(out)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    pages = {}
    for path in out.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        body = re.sub(r"<(script|style|pre|code)\b.*?</\1>", " ", text.partition('role="main"')[2], flags=re.DOTALL)
        pages[path.relative_to(out).as_posix()] = html.unescape(re.sub(r"<[^>]*>", "", body))
    return pages


@pytest.mark.slow
def test_no_backtick_is_left_and_quotes_are_straight(built):
    assert len(built) > 50
    for name, text in built.items():
        if not name.startswith(("gallery/", "genindex", "search")):
            assert not re.search("[`“”‘]", text), name


@pytest.mark.slow
def test_names_of_the_api_are_public(built):
    for name in ("suffice", "bounds", "simulate", "verification", "figures"):
        private = re.findall(r"\bsuffice(?:\.[a-z_]+){2,}", built[f"api/{name}.html"])
        assert not private, name
