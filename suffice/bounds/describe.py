"""Theorems as people read them: LaTeX from the bound itself, and a page of text."""

from __future__ import annotations

from .evaluate import as_record
from .plain_text import text_of
from .saved_errata import wrong_in_print
from .theorem import Definition, Theorem


def latex(theorem: Theorem | str) -> str:
    """Print the inequality of a theorem (a record, or its key) in LaTeX, with the terms in the paper's order.

    The text is empty where the record has no bound to print.
    """
    return as_record(theorem).latex()


def definition_page(definition: Definition) -> str:
    """A plain-text page of a quantity that reduces constants of clients to a scalar."""
    lines = [
        f"{definition.key} ({definition.edition})",
        f"{definition.title}: {definition.source}",
        "",
        f"  {definition.latex}",
        "",
        f"a definition [{definition.unit}], which gives a scalar of",
        *(f"  {name:11s} [{unit}]" for name, unit in definition.vectors.items()),
    ]
    if definition.fault:
        lines.append(f"fault       {definition.fault}")
    return "\n".join(lines)


def page(theorem: Theorem) -> str:
    """Write a plain-text page: statement, formula, hypotheses, parameters."""
    wrong, relation = wrong_in_print("", [theorem.key]), "<=" if theorem.direction == "upper" else ">="
    lines = [
        f"{theorem.key} ({theorem.edition})",
        *([f"wrong in print: {wrong}"] if wrong else []),
        f"{theorem.title}: {theorem.source}",
        "",
        theorem.statement,
        "",
        *(
            [f"  {theorem.quantity.expression} {relation} {text_of(theorem.expression())}", "", f"  {theorem.latex()}"]
            if theorem.bound
            else [f"  order only: {theorem.order_only}"]
        ),
        "",
        f"quantity    {theorem.quantity.expression} ({theorem.direction} bound, {theorem.mode})",
    ]
    facts = {
        theorem.fault_label.lower(): theorem.fault,
        "hypotheses": theorem.hypotheses,
        "conditions": "; ".join(theorem.condition_names()),
        "tight": theorem.tight,
        "corrected": f"suffice theorem {theorem.key}" if theorem.edition == "printed" else "",
        "superseded": f"by {theorem.superseded_by}" if theorem.superseded_by else "",
    }
    lines += [f"{name:11s} {text}" for name, text in facts.items() if text]
    lines += ["parameters", *(f"  {each.name:11s} {each.meaning} [{each.unit}]" for each in theorem.parameters)]
    return "\n".join([*lines, *(f"reduces to  {each.key}: {each.when}" for each in theorem.reduces_to)])
