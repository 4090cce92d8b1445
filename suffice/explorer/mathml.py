"""LaTeX of records as MathML, which browsers render by themselves: what the library's formulas use, nothing more."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from suffice.support.errors import InputError

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[{}^_]|\d+(?:\.\d+)?|[^\s]", re.DOTALL)
_LETTERS = dict(
    alpha="α", beta="β", gamma="γ", delta="δ", varepsilon="ε", zeta="ζ", eta="η", theta="θ", kappa="κ", lambda_="λ",
    mu="μ", nu="ν", xi="ξ", pi="π", rho="ρ", sigma="σ", tau="τ", phi="φ", chi="χ", psi="ψ", omega="ω", ell="ℓ",
    Gamma="Γ", Delta="Δ", Theta="Θ", Lambda="Λ", Xi="Ξ", Sigma="Σ", Phi="Φ", Psi="Ψ", Omega="Ω", nabla="∇", infty="∞",
)  # fmt: skip
_SIGNS = dict(
    le="≤", ge="≥", in_="∈", sim="∼", mid="∣", cdot="·", star="⋆", top="⊤", langle="⟨", rangle="⟩", dots="…", to="→",
    sum="∑", int="∫", prod="∏", pm="±", times="×", ne="≠", approx="≈", lt="&lt;", gt="&gt;", lVert="‖", rVert="‖",
    lvert="|", rvert="|", lceil="⌈", rceil="⌉", lfloor="⌊", rfloor="⌋", leftarrow="←", Rightarrow="⇒",
)  # fmt: skip
_NAMES = ("max", "min", "log", "ln", "exp", "sqrt", "arg", "sup", "inf")
_ACCENTS = {"bar": "¯", "overline": "‾", "tilde": "~", "hat": "^"}
_ALPHABETS = {
    **{upright: {} for upright in ("mathrm", "text", "operatorname")},
    "mathbb": {"E": "𝔼", "P": "ℙ", "V": "𝕍", "R": "ℝ"},
    "mathcal": {"N": "𝒩", "A": "𝒜", "F": "ℱ"},
    "mathbf": {"0": "𝟎", "1": "𝟏"},
}
_SPACES = {r"\,": "0.17em", r"\ ": "0.3em", r"\;": "0.28em", r"\quad": "1em"}
_UPRIGHT = ("langle", "rangle", "lVert", "rVert", "lvert", "rvert", "lceil", "rceil", "lfloor", "rfloor")
_SIZES = (r"\left", r"\right", r"\!")
_PAIRS = ((re.compile(r"\\[Bb]igg?l?(?=[(\[])"), r"\\left"), (re.compile(r"\\[Bb]igg?r?(?=[)\]])"), r"\\right"))
_CLOSE = ' lspace="0" rspace="0"'
_STRIPPED = {name.rstrip("_"): sign for name, sign in (_LETTERS | _SIGNS).items()} | {name: name for name in _NAMES}


def mathml(latex: str, *, display: bool = False) -> str:
    """One formula; `InputError` for a command that the converter does not know."""
    for size, grows in _PAIRS:  # brackets of a given size grow together too
        latex = size.sub(grows, latex)
    try:
        content = "".join(_row(_TOKEN.findall(latex), lambda token: False))
    except IndexError:
        raise InputError("formula", latex, "a command lacks its argument") from None
    shown = ' display="block"' if display else ""
    return f"<math{shown}><mrow>{content}</mrow></math>"


def letters(latex: str) -> str:
    """The symbol as plain text that people search for: sigma^2 is σ^2."""
    text = re.sub(r"\\([a-zA-Z]+)", lambda found: _STRIPPED.get(found[1], ""), latex)
    return re.sub(r"[{}\\]", "", text)


def _row(tokens: list[str], ends: Callable[[str], bool]) -> list[str]:
    """Elements up to the token that ends the group; consumes it."""
    parts: list[str] = []
    while tokens:
        token = tokens.pop(0)
        if ends(token):
            return parts
        if token in "^_":
            base = parts.pop() if parts else "<mrow></mrow>"
            parts.append(_scripts(base, token, tokens))
        else:
            parts.append(_element(token, tokens))
    return parts


def _scripts(base: str, token: str, tokens: list[str]) -> str:
    """The base with what stands below and above it."""
    found = {token: _argument(tokens)}
    if tokens and tokens[0] in "^_" and tokens[0] not in found:
        other = tokens.pop(0)
        found[other] = _argument(tokens)
    wide = base.startswith(('<mo movablelimits="true"', '<mi class="operator"'))
    low, high, both = ("munder", "mover", "munderover") if wide else ("msub", "msup", "msubsup")
    name = both if len(found) == 2 else low if "_" in found else high
    return f"<{name}>{base}{found.get('_', '')}{found.get('^', '')}</{name}>"


def _argument(tokens: list[str]) -> str:
    """The group, or the one token, that a command takes."""
    token = tokens.pop(0)
    if token.isdigit() and len(token) > 1:  # \frac12 is one half
        tokens.insert(0, token[1:])
        token = token[0]
    return _element(token, tokens)


def _element(token: str, tokens: list[str]) -> str:
    if token == "{":
        row = _row(tokens, lambda token: token == "}")
        return row[0] if len(row) == 1 else f"<mrow>{''.join(row)}</mrow>"
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if token.startswith("\\"):
        return _command(token, tokens)
    if token.isalpha():
        return f"<mi>{escape(token)}</mi>"
    token = {"-": "−", "*": "∗", "'": "′"}.get(token, token)
    fence = f' stretchy="false"{_CLOSE}' if token in "()[]|" else ""
    return f"<mo{fence}>{escape(token)}</mo>"


def _command(token: str, tokens: list[str]) -> str:
    name = token[1:]
    if token in _SIZES:
        return _fence(token, tokens)
    if name in ("frac", "tfrac"):
        return f"<mfrac>{_argument(tokens)}{_argument(tokens)}</mfrac>"
    if name == "sqrt":
        return f"<msqrt>{_argument(tokens)}</msqrt>"
    if name in _ACCENTS:
        return f'<mover accent="true">{_argument(tokens)}<mo>{_ACCENTS[name]}</mo></mover>'
    if name in _ALPHABETS:
        return _styled(name, tokens)
    if token in _SPACES:
        return f'<mspace width="{_SPACES[token]}"/>'
    if name in _NAMES:
        under = name in ("max", "min", "sup", "inf") and tokens[:1] == ["_"]
        return f'<mi class="operator">{name}</mi>' if under else f"<mi>{name}</mi><mo>&#8289;</mo>"
    if name in ("sum", "int", "prod"):
        return f'<mo movablelimits="true">{_STRIPPED[name]}</mo>'
    if name in _UPRIGHT:
        return f'<mo stretchy="false">{_STRIPPED[name]}</mo>'
    if name in _STRIPPED:
        kind = "mo" if name in _SIGNS or f"{name}_" in _SIGNS else "mi"
        return f"<{kind}>{_STRIPPED[name]}</{kind}>"
    if name in "{}|#%&":
        return f'<mo stretchy="false">{escape("‖" if name == "|" else name)}</mo>'
    raise InputError("formula", token, "explorer/mathml.py does not know this command")


def _fence(token: str, tokens: list[str]) -> str:
    """A bracket that grows with what it holds, between \\left and \\right."""
    if token == r"\!":
        return ""
    bracket = tokens.pop(0)
    sign = {".": "", r"\{": "{", r"\}": "}", r"\|": "‖", "|": "|", r"\langle": "⟨", r"\rangle": "⟩"}.get(
        bracket, bracket
    )
    if token != r"\left":
        return f"<mo{_CLOSE}>{escape(sign)}</mo>" if sign else ""
    inner, depth = [], 1
    while tokens and depth:
        taken = tokens.pop(0)
        depth += {r"\left": 1, r"\right": -1}.get(taken, 0)
        inner.append(taken)
    inner.pop()  # \right, whose bracket is next
    right = _fence(r"\right", tokens)
    opened = f'<mo fence="true"{_CLOSE}>{escape(sign)}</mo>' if sign else ""
    return f"<mrow>{opened}{''.join(_row(inner, lambda token: False))}{right}</mrow>"


def _styled(name: str, tokens: list[str]) -> str:
    """Letters in another alphabet, by their place in Unicode, as browsers know no other variants; or upright words."""
    token = tokens.pop(0)
    letters = [token]
    if token == "{":
        letters = []
        while tokens and (token := tokens.pop(0)) != "}":
            letters.append(token)
    text = "".join(_ALPHABETS[name].get(letter, letter) for letter in letters)
    return f'<mi mathvariant="normal">{escape(text)}</mi>'
