"""An unevaluated formula as Python would write it, with the parentheses that it needs and no others.

SymPy's own printer puts every product of an unevaluated product in parentheses, ((eta*beta)/((2*mu)))*s2; Python's
writes what it has parsed without those that change nothing.
"""

from __future__ import annotations

import ast
import re


class _WithoutOnes(ast.NodeTransformer):
    """Drops a factor 1 at the left of a product: SymPy begins negative products with such a factor."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        one = isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Constant) and node.left.value == 1
        return node.right if one else node


def text_of(formula) -> str:
    """`formula`, a SymPy expression, in the order written; its value is that of the text."""
    import sympy

    tree = ast.parse(sympy.sstr(formula, order="none", full_prec=False), mode="eval")
    return re.sub(r" (\*\*|[*/]) ", r"\1", ast.unparse(_WithoutOnes().visit(tree)))
