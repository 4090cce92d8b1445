"""One browser and one file of the whole page for all tests of it."""

from __future__ import annotations

import pytest
from chromium import browser
from whole_pages import whole_page


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "explore.html"
    out.write_text(whole_page(), encoding="utf-8")
    return out.as_uri()


@pytest.fixture(scope="session")
def chromium():
    with browser() as found:
        yield found
