"""Records and definitions of one paper, by the rest of their keys."""

from __future__ import annotations

from suffice.bounds import DEFINITIONS, evaluate, find


def bound_of(paper):
    def bound(key, edition="corrected", enforce=True, **values):
        """The record's bound; keywords that it does not take are left out."""
        theorem = find(f"{paper}/{key}", edition)
        return evaluate(theorem, enforce=enforce, **{p.name: values[p.name] for p in theorem.parameters})

    return bound


def definition_of(paper):
    def definition(key, edition="corrected"):
        (found,) = (each for each in DEFINITIONS if (each.key, each.edition) == (f"{paper}/{key}", edition))
        return found.reduce

    return definition
