"""docs/notation.md, from the records: what each paper calls a keyword."""

from __future__ import annotations

from suffice.bounds import PAPERS, PARAMETERS, THEOREMS, Quantity

from .markdown import cell
from .mathematics import typeset
from .theorems import unit

_INTRODUCTION = """# Notation

The library's keywords and the letters that each paper prints for them. A cell lists the letters in the order in which
they appear in the paper's records; an empty cell means that no record of the paper uses the keyword.
Units are powers of the loss and of $\\theta$.
"""
_KEYWORDS = """## Keywords

Arguments of `suffice theorem KEY NAME=VALUE` and of `sf.evaluate`.
"""
_QUANTITIES = """## Quantities

What a record bounds. $e_t$ is the realised excess loss of a client after $t$ iterations,
$\\tau = \\min\\{t \\ge 0: e_t < \\varepsilon\\}$ and
$\\tau_G = \\min\\{t \\ge 0: \\|\\nabla R_i(\\theta_t)\\|^2 < G\\}$.
"""


def text() -> str:
    """The whole page: keywords and quantities in the order of the records, whichever module was imported first."""
    papers = [paper.key for paper in PAPERS if _lettered(paper.key)]
    lines = [_INTRODUCTION, _KEYWORDS]
    lines += ["| keyword | meaning | unit | " + " | ".join(papers) + " |", "|---" * (3 + len(papers)) + "|"]
    used = dict.fromkeys(parameter.name for theorem in THEOREMS for parameter in theorem.parameters)
    for name in (*used, *sorted(PARAMETERS.keys() - used)):
        parameter = PARAMETERS[name]
        cells = [f"`{name}`", cell(typeset(parameter.meaning)), unit(parameter.unit)]
        cells += [", ".join(f"${cell(letter)}$" for letter in letters(paper, name)) for paper in papers]
        lines.append(_row(cells))
    lines += ["", _QUANTITIES, "| quantity | in words of the command | unit | papers |", "|---|---|---|---|"]
    said = [(theorem, what) for theorem in THEOREMS for what in (theorem.quantity, theorem.reaches) if what]
    bounded = dict.fromkeys(what for _, what in said)
    others = sorted((quantity for quantity in Quantity if quantity not in bounded), key=lambda quantity: quantity.name)
    for quantity in (*bounded, *others):
        users = dict.fromkeys(theorem.key.partition("/")[0] for theorem, what in said if what is quantity)
        lines.append(
            _row([f"${cell(quantity.latex)}$", f"`{cell(quantity.expression)}`", unit(quantity.unit), ", ".join(users)])
        )
    return "\n".join(lines) + "\n"


def _lettered(paper: str) -> bool:
    """Whether a paper prints other letters than the library for some keyword."""
    return any(theorem.source.symbols for theorem in THEOREMS if theorem.key.startswith(paper + "/"))


def letters(paper: str, name: str) -> tuple[str, ...]:
    """The LaTeX symbols that a paper's records use for a keyword, without repetition."""
    records = [theorem for theorem in THEOREMS if theorem.key.startswith(paper + "/")]
    using = [theorem for theorem in records if any(parameter.name == name for parameter in theorem.parameters)]
    return tuple(dict.fromkeys(theorem.symbol(name) for theorem in using))


def _row(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
