"""Mathematics of records and pages: ASCII becomes TeX, and none is left."""

from __future__ import annotations

import re

import pytest
from blocks import ROOT
from pages.mathematics import GREEK, tex, typeset

PAGES = [*sorted((ROOT / "docs" / "theorems").glob("*.md"))]
PAGES += [ROOT / "docs" / f"{name}.md" for name in ("errata", "statements", "notation", "quantities", "verdicts")]


# Words of the command's own output, of files, of measurements and of bad examples stay as they are.
_OUTPUT = ("campaigns", "modules", "routes", "speed", "style")
WRITTEN = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page not in PAGES and page.stem not in _OUTPUT]

ASCII = re.compile(r"<=|>=|->|!=|[_^={}|<>~]|sqrt\(|\b(" + GREEK + r"|eps|grad)\b")
"""What must not be left outside formulas and code."""
FENCED = r"```.*?```|\$\$.*?\$\$|\A---.*?---"


def left_over(markdown: str) -> list[str]:
    """ASCII mathematics in a page that is neither a formula nor code, with its surroundings."""
    links = r"`[^`]*`|\$[^$]*\$|<[^>]*>|\[[\w/-]*\]\([^)]*\)|\]\([^)]*\)"
    for not_prose in (FENCED, links, r"^\|[-|:]+\|$|^#+ \S+( \(\w+\))?$"):
        markdown = re.sub(not_prose, " ", markdown, flags=re.DOTALL | re.MULTILINE)
    text = markdown.replace("|", " ")
    return [text[max(hit.start() - 30, 0) : hit.end() + 20] for hit in ASCII.finditer(text)]


@pytest.mark.parametrize("page", [*PAGES, *WRITTEN], ids=lambda page: page.stem)
def test_no_ascii_mathematics_is_left_on_a_page(page):
    text = page.read_text(encoding="utf-8")
    if page in WRITTEN:  # roles, headings in words, code by indentation, rows of what a command compares
        not_prose = (
            r"\{[\w-]+\}|^#.*|^ {4}.*|^\| [\w-]+, (stated|published) \|.*|\bepsilon\b|SUFFICE_DATA|heart_disease"
        )
        text = re.sub(not_prose, " ", text, flags=re.MULTILINE)
    assert left_over(text) == []
    for formula in re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", text):
        bare = formula.replace(r"\{", "").replace(r"\}", "")
        assert bare.count("{") == bare.count("}"), formula
        assert len(re.findall(r"\\l[Vv]ert", formula)) == len(re.findall(r"\\r[Vv]ert", formula)), formula
        assert not re.search(r"\^\{[^{}]*\}\^|_\{[^{}]*\}_", formula), formula


def test_what_is_left_is_found():
    assert left_over("the sum_k alpha_k |grad R_k|^2 is <= eps")
    assert left_over("Fine: $\\alpha_k \\le 1$, `x <= 1`, [a-phi](x.md#a-phi).\n\n$$\nx_1\n$$") == []


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("sum_k alpha_k^2 sigma_k^2", r"\sum_{k}\alpha_{k}^{2}\sigma_{k}^{2}"),
        ("|grad R_i(theta_t)|^2 <= eps", r"\lVert\nabla R_{i}(\theta_{t})\rVert^{2}\le\varepsilon"),
        ("|N*(eps)|", r"\lvert N^{*}(\varepsilon)\rvert"),
        ("E[e_t | F_{t-1}]", r"\mathbb{E}[e_{t}\mid F_{t-1}]"),
        ("sqrt(2 mu e_0)/(L + mu)", r"\sqrt{2\mu e_{0}}/(L+\mu)"),
        ("1{b_k = 0}", r"\mathbf{1}\{b_{k}=0\}"),
        ("gamma |<grad f_i, grad f_j>|", r"\gamma\lVert\langle\nabla f_{i},\nabla f_{j}\rangle\rVert"),
        ("x* = a x* + 2 * b", r"x^{*}=a x^{*}+2\cdot b"),
        ("(200^.5, 2^-.5, T^1.5)", r"(200^{.5},2^{-.5},T^{1.5})"),
        ("E[e_min(T, tau)]", r"\mathbb{E}[e_{\min(T,\tau)}]"),
        ("lambda_max(W) b_max/mu", r"\lambda_{\max}(W) b_{\max}/\mu"),
    ],
)
def test_formulas_are_what_the_ascii_says(text, formula):
    assert re.sub(r"\s", "", tex(text)) == re.sub(r"\s", "", formula)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Table 1, row 3", "Table 1, row 3"),
        ("R_i is beta-smooth", r"$R_{i}$ is $\beta$-smooth"),
        ("client i's model (of c clients)", "client $i$'s model (of $c$ clients)"),
        ("see `f_x` and run_all_of_it", "see `f_x` and `run_all_of_it`"),
        ("these hold:\n* one\n* two", "these hold:\n* one\n* two"),
        ("they are D*-Lipschitz in xi", r"they are $D^{*}$-Lipschitz in $\xi$"),
    ],
)
def test_prose_stays_prose(text, shown):
    assert typeset(text) == shown


def test_keywords_have_the_symbols_of_their_theorem():
    assert typeset("step size eta <= 1/(beta pull)", {"pull": "w"}).replace(" ", "") == r"stepsize$\eta\le1/(\betaw)$"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_formula_multiplies_by_nothing_or_has_half_a_power(page):
    for formula in re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", page.read_text(encoding="utf-8")):
        assert not re.search(r"\\cdot\s*($|[-+=),;]|\\[lg]e\b|\\lVert)", formula), formula
        assert not re.search(r"[_^]\{-?\.\}", formula), formula
        assert not re.search(r"_\{\\(min|max)\}\([^()]*,", formula), formula
