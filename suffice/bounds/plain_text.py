"""An unevaluated formula as Python would write it, with the parentheses that it needs and no others.

SymPy's own printer puts every product of an unevaluated product in parentheses: ((eta*beta)/((2*mu)))*s2.
"""

from __future__ import annotations

from typing import Any

_SUM, _PRODUCT, _POWER, _ATOM = range(4)


def text_of(formula) -> str:
    """`formula`, a SymPy expression, in the order written; its value is that of the text."""
    return _written(formula)[0]


def _written(node) -> tuple[str, int]:
    """The text and how tightly its outermost operation binds."""
    import sympy

    if isinstance(node, sympy.Add):
        return _sum(_flat(node, sympy.Add)), _SUM
    if isinstance(node, sympy.Mul):
        return _product(_flat(node, sympy.Mul))
    if isinstance(node, sympy.Pow):
        return _power(*node.args)
    if isinstance(node, sympy.Rational) and (node.q != 1 or node.p < 0):
        return str(node), _PRODUCT if node.p > 0 else _SUM
    if node.args:
        return f"{node.func.__name__}({', '.join(text_of(argument) for argument in node.args)})", _ATOM
    text = sympy.sstr(node, full_prec=False)
    return text, _SUM if text.startswith("-") else _ATOM


def _flat(node, kind) -> list[Any]:
    """The terms of a sum of sums, or the factors of a product of products."""
    return [leaf for each in node.args for leaf in (_flat(each, kind) if isinstance(each, kind) else [each])]


def _sum(terms: list[Any]) -> str:
    text = ""
    for term in terms:
        written = text_of(term)
        if not text:
            text = written
        else:
            text += f" - {written[1:]}" if written.startswith("-") else f" + {written}"
    return text


def _product(factors: list[Any]) -> tuple[str, int]:
    """Reciprocals go below the line, negative numbers set the sign."""
    import sympy

    above, below, negative = [], [], False
    for factor in factors:
        if factor.is_Number and factor.is_negative:
            negative = not negative
            factor = -factor
        if factor == 1:
            continue
        if isinstance(factor, sympy.Pow) and factor.exp == -1:
            inner = _flat(factor.base, sympy.Mul) if isinstance(factor.base, sympy.Mul) else [factor.base]
            below += [factor.base] if any(isinstance(each, sympy.Pow) and each.exp == -1 for each in inner) else inner
        elif isinstance(factor, sympy.Rational) and factor.q != 1 and factor.p == 1:
            below.append(sympy.Integer(factor.q))
        else:
            above.append(factor)
    text = "*".join(_within(factor, _PRODUCT, first=at == 0) for at, factor in enumerate(above)) or "1"
    if below:
        under = "*".join(_within(factor, _PRODUCT, first=False) for factor in below)
        text = f"{text}/({under})" if len(below) > 1 else f"{text}/{_within(below[0], _POWER)}"
    return (f"-{text}", _SUM) if negative else (text, _PRODUCT)


def _power(base, exponent) -> tuple[str, int]:
    import sympy

    if exponent == sympy.Rational(1, 2):
        return f"sqrt({text_of(base)})", _ATOM
    if exponent == -1:
        return _product([sympy.Pow(base, exponent, evaluate=False)])
    return f"{_within(base, _ATOM)}**{_within(exponent, _ATOM)}", _POWER


def _within(node: Any, least: int, *, first: bool = True) -> str:
    """`node` as an operand: in parentheses if it binds less tightly than `least`, or is a quotient that comes later."""
    text, tightness = _written(node)
    quotient = not first and tightness == _PRODUCT and "/" in text
    return f"({text})" if tightness < least or quotient else text
