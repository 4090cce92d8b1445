"""Records write mathematics in ASCII (`sum_k alpha_k |grad R_k|^2 <= eps`): here it becomes TeX between dollars.

A text is cut at spaces. A run of pieces that are mathematics, or words beside an operator that name a keyword, is one
formula. What stands in backquotes, and names of files and functions, is code and stays.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from suffice.bounds import PAPERS, PARAMETERS

from .markdown import escaped

GREEK = (
    "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|pi|rho|sigma|tau|phi|chi|psi|omega|"
    "Gamma|Delta|Theta|Lambda|Xi|Sigma|Phi|Psi|Omega"
)
_FUNCTIONS = ("min", "max", "sup", "inf", "log", "ln", "exp", "det", "lim", "argmin", "mean", "tr", "diag", "card")
_NAMES = {name: f"\\{name}" for name in GREEK.split("|")} | {"eps": r"\varepsilon", "grad": r"\nabla", "sum": r"\sum"}
_NAMES |= {"prod": r"\prod", "infinity": r"\infty", "ell": r"\ell", "pinv": r"\mathrm{pinv}", "in": r"\in"}
_NAMES |= {name: f"\\{name}" if name in ("min", "max", "sup", "inf", "log", "ln", "exp", "det", "lim") else
           rf"\operatorname{{{name}}}" for name in _FUNCTIONS}  # fmt: skip
_LETTERS = {"E": r"\mathbb{E}", "P": r"\mathbb{P}", "Var": r"\operatorname{Var}", "Cov": r"\operatorname{Cov}"}
"""So only before a bracket or a bar."""
_OPERATORS = {
    "<=": r"\le", ">=": r"\ge", "!=": r"\ne", "->": r"\to", "<-": r"\leftarrow", "=>": r"\Rightarrow", "==": "=",
    "...": r"\dots", "..": r"\dots", "~": r"\sim", "*": r"\cdot", "%": r"\%", "+-": r"\pm",
}  # fmt: skip
_RELATIONS = ("=", "<", ">", "<=", ">=", "!=", "->", "<-", "==", "~", "+-")
_BINARY = (*_RELATIONS, "+", "-", "/", "*")
_LABELS = re.compile(
    r"(?i)(theorem|lemma|corollary|table|row|rows|section|equation|eq|eq\.|algorithm|appendix|assumption|assumptions|"
    r"property|definition|example|figure|remark|step|stage|stages|case|line|lines|proposition|and|display|page|part)$"
)
_CODE = re.compile(
    r"[a-z][a-z0-9]*(_[a-z0-9]{2,}){2,}|[a-z]{3,}_(weights?|based|index|batch|loss|rate|size|clients?|p)|[\w/]+\.(py|md|csv)|"
    r"[A-Z][a-z]+[A-Z]\w+\.\w+|(" + "|".join(paper.key for paper in PAPERS) + r")/[\w-]+"
)
_ENGLISH = ("near", "noise", "start", "level", "half", "step")
"""Keywords that are words unless an operator stands beside them."""
_WORD = re.compile(r"(?!smin|smax)[a-z]{4,}")
"""Keywords that are English words stand for themselves where no theorem says otherwise."""
_HYPHENED = re.compile(r"(?P<head>\S*?[A-Za-z0-9*}\])])-(?P<tail>[A-Za-z][a-z]{2,}[a-z-]*)(?P<end>[,;:.)]*)$")


def typeset(text: str, symbols: Mapping[str, str] | None = None) -> str:
    """Markdown of a text of a record; `symbols` are the TeX of keywords, by default those of the library."""
    known = {name: entry.symbol for name, entry in PARAMETERS.items() if not _WORD.fullmatch(name)}
    known |= symbols or {}
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if at % 2 else _prose(part, known) for at, part in enumerate(parts))


def _prose(text: str, known: Mapping[str, str]) -> str:
    pieces = re.findall(r"\S+|\s+", text)
    words = [piece for piece in pieces if not piece.isspace()]
    kinds = [_kind(word, known) for word in words]
    for at, word in enumerate(words):  # what a neighbour decides
        before, after = (kinds[at - 1] if at else "", words[at - 1] if at else ""), (words[at + 1 :] or [""])[0]
        beside = (before[0] == "operator" and before[1][-1:] not in ",;:") or after in _BINARY or after.startswith("<=")
        bare = word.strip("(),;:.[]{}")
        if kinds[at] == "number" and before[1] and _LABELS.match(before[1].strip("(,")) and after not in _BINARY:
            kinds[at] = "word"
        if (kinds[at] in ("letter", "name") and beside) or (
            kinds[at] == "word" and bare in known and (beside or (before[0] == "formula" and word.endswith(")")))
        ):
            kinds[at] = "formula"
        elif word == "in" and before[0] == "formula" and re.match(r"[({\[]|R\^|N\*|\d", after) and "," not in before[1]:
            kinds[at] = "operator"
        elif kinds[at] == "letter" and (bare not in ("a", "A", "I") or (bare == "I" and before[0] == "formula")):
            kinds[at] = "formula"
    out, run, at = [], [], 0
    for piece in pieces:
        if piece.isspace():
            (run if run else out).append(piece)
            continue
        kind, at = kinds[at], at + 1
        bare = piece.strip("()[]{},;:.")
        inside = run and _open("".join(run)) and kind != "code"
        inside = inside and (bare in known or bare in _FUNCTIONS or _closing(words[at - 1 :], kinds[at - 1 :]))
        if kind in ("formula", "operator", "number") or inside:
            run.append(piece)
            if not _open("".join(run)) and (re.search(r"[;:,.]$", piece) or _HYPHENED.match(piece)):
                out.append(_formula("".join(run), known))
                run = []
            continue
        if run:
            out.append(_formula("".join(run), known))
            run = []
        out.append(f"`{piece.strip('(),;:.')}`" .join(re.split(re.escape(piece.strip("(),;:.")), piece, maxsplit=1))
                   if kind == "code" else escaped(piece))  # fmt: skip
    return "".join(out) + (_formula("".join(run), known) if run else "")


def _kind(word: str, known: Mapping[str, str]) -> str:
    """What a piece is on its own."""
    bare = re.sub(r"'s$", "", word.strip("(),;:.").removesuffix("'s"))
    if word in _BINARY or word.rstrip(",;:") in ("...", "<=", ">="):
        return "operator"
    if _CODE.fullmatch(bare) and bare not in known:
        return "code"
    if re.fullmatch(r"[\[({]*-?\d[\d.,]*(e[+-]?\d+)?%?[\])}]*[,;:.]?", word):
        return "number"
    if re.fullmatch(rf"(\w|{GREEK})'+", bare):
        return "formula"
    if bare in ("smin", "smax"):
        return "formula"
    if re.fullmatch(r"[A-Za-z]", bare):
        return "letter"
    if re.fullmatch(r"[A-Za-z]\d", bare):
        return "letter" if bare[0].islower() or bare in known else "word"
    if re.fullmatch(r"[A-Za-z]+(-[A-Za-z0-9]+)*('s|')?", word.strip('(),;:.?"')) or not bare:
        stem = _HYPHENED.match(word)
        head = stem["head"].lstrip("(") if stem else bare
        return "formula" if (head in _NAMES and head not in ("in", "sum", *_FUNCTIONS)) or (
            stem and len(head) == 1 and head not in ("a", "A", "I")) else "word"  # fmt: skip
    if re.fullmatch(r"[A-Za-z]+(/[A-Za-z]+)+", bare) and not any(
        len(x) == 1 or x in _NAMES or x in known for x in bare.split("/")
    ):
        return "word"
    if re.fullmatch(r"[A-Za-z-]{2,}(-\d+)(-[a-z0-9]+)*|[A-Z]+-?\d+|\(A\d\)|\d+-\d+|[\"'].*|\d+(th|nd|st|rd)", bare):
        return "word"
    return "formula" if re.search(r"[_^=<>|*~+/{}\[\]]|[A-Za-z]\(|\d[a-z]|[a-z]\d", word) or bare in known else "word"


def _closing(words: list[str], kinds: list[str]) -> bool:
    """Whether an open bracket is closed by few pieces, most of them mathematics."""
    for count, word in enumerate(words[:5]):
        if kinds[count] == "word" and count > 2:
            return False
        if _over(word) and kinds[count] != "word":
            return True
    return False


def _open(text: str) -> bool:
    inner = len(re.findall(r"<(?=[a-z])", text)) > len(re.findall(r"[^ =-]>", text))  # an inner product
    return inner or sum(text.count(mark) for mark in "([{") > sum(text.count(mark) for mark in ")]}")


def _formula(text: str, known: Mapping[str, str]) -> str:
    """Dollars around a run, without what surrounds it: punctuation, brackets of the sentence, an English ending."""
    head = body = tail = ""
    body = text
    while body and ((body[-1] in " ,;:.\n" and not body.endswith("...")) or (body[-1] in ")]}" and _over(body))):
        body, tail = body[:-1], body[-1] + tail
    while body and (body[0] in " \n" or (body[0] in "([{" and _open(body))):
        head, body = head + body[0], body[1:]
    while body and body[-1] in " ,;:.)\n" and (body[-1] != ")" or _over(body)):
        body, tail = body[:-1], body[-1] + tail
    for ending in ("'s", "'"):
        if body.endswith(ending):
            body, tail = body[: -len(ending)], ending + tail
    if (stem := _HYPHENED.search(body)) and (
        (
            " " not in body[stem.start("tail") :]
            and not re.search(r"[_^({][^)}\s]*$", body[: stem.start("tail") - 1].rsplit(" ", 1)[-1])
        )
        or "_" in stem["head"]
    ):
        body, tail = body[: stem.start("tail") - 1], "-" + stem["tail"] + stem["end"] + tail
    for mark in ("=", "<=", ">=", "+", "-", "/", "*", "<", ">", "->"):
        if body.endswith(" " + mark) and mark in "-/+*":
            body, tail = body[: -len(mark) - 1], " " + mark + tail
        if body.startswith(mark + " ") and mark in "-/*":
            head, body = head + mark + " ", body[len(mark) + 1 :]
    if re.fullmatch(r"\*|[(\[]?-?[\d.,]*%?[)\]]?", body):  # a star alone begins an item
        return head + body + tail
    return f"{escaped(head)}${tex(body, known)}${escaped(tail)}"


def _over(text: str) -> bool:
    return sum(text.count(mark) for mark in ")]}") > sum(text.count(mark) for mark in "([{")


_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(,\d{3})*(\.\d+)?(e[+-]?\d+)?)|(?P<name>[A-Za-z]+\d*)|"
    r"(?P<mark><=|<-(?=\s)|>=|!=|->|=>|==|\.\.\.?|\+-|.)"
)


def tex(text: str, known: Mapping[str, str] | None = None) -> str:
    """TeX of a formula in ASCII."""
    known = known or {}
    text = re.sub(r"<(?=[A-Za-z(])([^<>=]*,[^<>=]*)>", r"⟨\1⟩", text)
    out: list[str] = []
    at = 0
    while at < len(text):
        hit = _TOKEN.match(text, at)
        assert hit is not None
        token, at = hit[0], hit.end()
        before = out[-1] if out else ""
        if hit["space"]:
            out.append(" ")
        elif hit["number"]:
            token = r"\mathbf{1}" if token == "1" and text[at : at + 1] == "{" else token
            out.append(
                token if "e" not in token else re.sub(r"e([+-]?)0*(\d+)", r"\\cdot 10^{\1\2}", token).replace("{+", "{")
            )
        elif token == "sqrt" and text[at : at + 1] == "(":
            inner, at = _group(text, at)
            out.append(rf"\sqrt{{{tex(inner, known)}}}")
        elif token in ("ceil", "floor") and text[at : at + 1] == "(":
            inner, at = _group(text, at)
            out.append(rf"\l{token} {tex(inner, known)}\r{token} ")
        elif hit["name"]:
            whole = re.match(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)+(?![A-Za-z{])", text[hit.start() :])
            if (
                whole
                and whole[0] in known
                and "_" in whole[0]
                and not re.match(r"[a-zA-Z]_|(" + "|".join(_NAMES) + ")_", whole[0])
            ):
                out.append(_grouped(known[whole[0]]))
                at = hit.start() + whole.end()
            else:
                beside = re.search(r"[-=<>+/*(] ?$", text[: hit.start()]) or re.match(r" ?[-=<>+/*)^]", text[at:])
                out.append(_name(token, text[at:], {} if token in _ENGLISH and not beside else known))
        elif token in "_^" and at < len(text):
            script, at = _script(text, at, known)
            nested = token == "_" and before.startswith("_{")
            out[-1:] = [f"{before[:-1]}_{{{script}}}}}"] if nested else [*out[-1:], f"{token}{{{script}}}"]
        elif token == "*" and before.strip():  # a product has a space before it
            out.append("^{*}" if not before.startswith("^") else "{}^{*}")
        elif token == "~" and before.strip() and before != " ":
            out[-1] = rf"\tilde{{{before}}}"
        elif token == "|":
            out.append(_bar(text, at, out))
        elif token in "{}":
            out.append("\\" + token)
        elif token in "⟨⟩":
            out.append({"⟨": r"\langle ", "⟩": r"\rangle "}[token])
        elif token in _OPERATORS:
            out.append(_OPERATORS[token] + " ")
        elif token == "<" or token == ">":
            out.append({"<": r"\lt ", ">": r"\gt "}[token])
        elif token == "#":
            out.append(r"\#")
        elif token == '"':
            out.append("''")
        else:
            out.append(token)
    found = re.sub(r"(\^\{\*\})\^\{([^{}]*)\}", r"^{*\2}", "".join(out))
    found = re.sub(r"(\^\{[^{}]*\})(_\{[^{}]*\})(\^\{\*\})", r"\2\1", found)
    return re.sub(r"\^\{([^{}]*)\}((?:_\{[^{}]*\})?)\^\{([^{}]*)\}", r"^{\1 \3}\2", found).strip()


def _group(text: str, at: int) -> tuple[str, int]:
    """What the bracket at `at` holds, and where it ends."""
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] in "([{") - (text[end] in ")]}")
        if not depth:
            return text[at + 1 : end], end + 1
    return text[at + 1 :], len(text)


def _script(text: str, at: int, known: Mapping[str, str]) -> tuple[str, int]:
    """TeX of a subscript or a power, and where it ends."""
    if text[at] in "{(":
        inner, end = _group(text, at)
        return (tex(inner, known) if text[at] == "{" else f"({tex(inner, known)})"), end
    hit = re.match(r"-?(\d+(\.\d+)?|\.\d+)|-?[A-Za-z]+\d*|[*+]|.", text[at:])
    assert hit is not None
    word = hit[0]
    if word in ("min", "max") and text[at + 3 : at + 4] == "(":  # of several, e_min(T, tau); lambda_max(A) has one
        inner, end = _group(text, at + 3)
        if "," in inner:
            return rf"\{word}({tex(inner, known)})", end
    if word in _NAMES and word not in ("in", "sum"):
        return _NAMES[word], at + len(word)
    if re.fullmatch(r"[A-Za-z]{3,}\d*", word) and not re.fullmatch(r"[ijkmtrs]{3}", word):
        return rf"\mathrm{{{word}}}", at + len(word)
    return word, at + len(word)


def _name(token: str, rest: str, known: Mapping[str, str]) -> str:
    """TeX of a name: a letter, a Greek one, a keyword, a function, a word."""
    if hat := re.fullmatch(r"(.+?)(hat|bar|tilde)", token):
        return rf"\{hat[2]}{{{_name(hat[1], '', {})}}}"
    if (token in _LETTERS and re.match(r"[\[|(]| ?sum_| \|", rest)) or token in ("Var", "Cov"):
        return _LETTERS[token] + " "
    if token in _NAMES:
        return _NAMES[token] + " "
    if len(token) == 1:
        return token
    if token in known:
        return _grouped(known[token])
    if digits := re.fullmatch(r"([A-Za-z]+)(\d+)", token):
        return f"{_name(digits[1], '', {}).strip()}_{{{digits[2]}}}"
    if re.fullmatch(r"[a-z]{2}", token) and not re.fullmatch(r"of|to|or|at|is|by|if|on|as|an|in|no", token):
        return token
    return rf"\text{{ {token} }}" if re.fullmatch("[a-z]+", token) and rest[:1] not in "_^(" else rf"\mathrm{{{token}}}"


def _grouped(symbol: str) -> str:
    """A keyword's symbol, in braces where a power or an index may follow one that it has."""
    return f"{{{symbol}}}" if re.search(r"[\^_ ]", symbol) else symbol + (" " if symbol.startswith("\\") else "")


def _bar(text: str, at: int, out: list[str]) -> str:
    """A bar: of a norm where gradients, models or matrices stand inside, of an absolute value, or "given"."""
    opening = sum(part in (r"\lVert ", r"\lvert ") for part in out) - sum(
        part in (r"\rVert ", r"\rvert ") for part in out
    )
    if text[at - 2 : at - 1] == " " and text[at : at + 1] == " ":
        return r"\mid "
    if opening > 0 and text[at - 2 : at - 1] not in (" ", "(", "", "["):
        last = next(part for part in reversed(out) if part in (r"\lVert ", r"\lvert "))
        return last.replace("\\l", "\\r")
    inner = text[at:].partition("|")[0]
    return r"\lVert " if re.search(r"grad|theta|xi|[xyzhgv]_|\b[xyzg]\b|A_|I -|Sigma|Lambda", inner) else r"\lvert "
