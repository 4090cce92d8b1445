"""LaTeX of records as MathML, which browsers render by themselves."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from unicodedata import combining, normalize
from xml.etree.ElementTree import tostring

from latex2mathml.converter import Converter
from latex2mathml.symbols_parser import convert_symbol

from suffice.support.errors import InputError

_FUNCTIONS = ("max", "min", "log", "ln", "exp", "sup", "inf", "sqrt")


@cache
def mathml(latex: str, *, display: bool = False) -> str:
    """One formula; `InputError` for what is not whole, or has a command that the converter does not know."""
    single = re.sub(r"\\[lr]([Vv])ert", lambda found: r"\|" if found[1] == "V" else "|", latex)  # bars that do not grow
    try:
        tree = Converter(display="block" if display else "inline").convert_to_element(single)
    except Exception:  # those of the converter have nothing in common
        raise InputError("formula", latex, "this is not whole") from None
    del tree.attrib["xmlns"]
    signs = "&amp;#x([0-9A-F]+);"  # the converter writes signs as entities, into text
    made = re.sub(signs, lambda found: escape(chr(int(found[1], 16))), tostring(tree, encoding="unicode"))
    if "\\" in made:
        raise InputError("formula", latex, "the converter does not know a command in it")
    return made


def letters(latex: str) -> str:
    """The symbol as plain text that people search for: sigma^2 is σ^2."""
    return re.sub(r"[{}\\]|\\\W", "", re.sub(r"\\([a-zA-Z]+)", _plain, latex.replace(r"\|", "|")))


def _plain(command: re.Match[str]) -> str:
    """A letter as people type it, the name of a function, and nothing of fonts, fractions and accents."""
    if command[1] in _FUNCTIONS:
        return command[1]
    sign = chr(int(convert_symbol(command[0]) or "0", 16))
    return "" if combining(sign) or sign == "\0" else normalize("NFKC", sign)
