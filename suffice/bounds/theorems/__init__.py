"""The library of statements. Keys are permanent and read paper/result[-row]; people may write them otherwise."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from suffice.support.errors import InputError

from ..papers import OWN, PAPERS, LazyTuple, parts
from ..theorem import Definition, Theorem

THEOREMS: Sequence[Theorem] = LazyTuple(lambda: parts("records", "THEOREMS"))
DEFINITIONS: Sequence[Definition] = LazyTuple(lambda: parts("records", "DEFINITIONS"))


def is_paper(text: str) -> bool:
    """Whether a text is the key of a paper."""
    return text in OWN or any(paper.key == text for paper in PAPERS)


def spelled(text: str) -> str:
    """A key, or a part of one, as keys are written: "Adaptive Theorem 2", "All-for-one theorem 2" are one result."""
    words = re.sub(r"[\s_-]+", "-", str(text).strip().lower())
    words = re.sub(r"-?/-?", "/", words)
    for paper in OWN.values():
        if paper.method and words.startswith(paper.method):
            words = paper.key + words.removeprefix(paper.method)
    if words.partition("/")[0] in OWN:
        return words
    key = next((paper.key for paper in PAPERS if words.startswith(f"{paper.key}-")), None)
    return words if key is None else f"{key}/{words[len(key) + 1 :]}"


def ids_of(part: str, ids: Sequence[str]) -> list[str]:
    """Those of `ids`, such as "adaptive-theorem-2-expectation", that a part names: an id, a paper, a result of a paper
    or of any, or a row of a result ("adaptive/theorem-2-constant"), which stands for its result."""
    words = spelled(part).replace("/", "-").split("-")
    for count in range(len(words), 0, -1):
        text = "-".join(words[:count])
        if count == len(words) and text in ids:
            return [text]
        if count == len(words) or words[count - 1].isdigit():
            below = [each for each in ids if f"{each}-".startswith(f"{text}-")]
            if found := below or [each for each in ids if f"-{text}-" in f"-{each}-" and words[count - 1].isdigit()]:
                return found
    return []


def rows(part: str) -> list[Theorem]:
    """The records that a part of a key names: the rows of a paper's result, all that have it, or one key's editions."""
    text = spelled(part)
    whole = [theorem for theorem in THEOREMS if theorem.key == text]
    if whole or "/" in text:
        below = [theorem for theorem in THEOREMS if theorem.key.startswith(f"{text}-")]
        return whole or below or [theorem for theorem in THEOREMS if theorem.key.startswith(text)]
    return [theorem for theorem in THEOREMS if text in theorem.key]


def find(key: str, edition: str = "corrected") -> Theorem:
    """Find the record of `key`, however it is `spelled`, in one edition.

    If there is none, `InputError` names its rows or the nearest key."""
    text = spelled(key)
    paper = OWN.get(text.partition("/")[0])
    for theorem in THEOREMS if paper is None else paper.part("records", "THEOREMS"):
        if (theorem.key, theorem.edition) == (text, edition):
            return theorem
    keys = sorted({theorem.key for theorem in THEOREMS})
    if text in keys:
        raise InputError("edition", edition, f"{text} has no such edition; use printed or corrected")
    below = sorted({theorem.key for theorem in rows(text)}) if "/" in text else []
    results = [
        result for paper in PAPERS if any(f"{key}-".startswith(f"{(result := f'{paper.key}/{text}')}-") for key in keys)
    ]
    if below or results:
        raise InputError("theorem", key, f"say which: {', '.join(below or results)}")
    if is_paper(text):
        raise InputError("theorem", key, f"a paper, not a key; `suffice theorem {text}` lists its keys")
    near = nearest(text, keys, 0.55)
    raise InputError("theorem", key, f"did you mean {near}?" if near else "`suffice theorem` lists them")


def nearest(text: str, keys: Sequence[str], cutoff: float) -> str:
    """The key, the result of several rows, or the paper that is spelled most alike; "" where none is near."""
    results = [found[0] for key in keys if (found := re.match(r".*?[a-z]-\d+", key))]
    known = sorted({*keys, *results, *(paper.key for paper in PAPERS)})
    return next(iter(difflib.get_close_matches(text, known, n=1, cutoff=cutoff)), "")
