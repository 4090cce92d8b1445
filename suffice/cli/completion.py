"""Tab completion offers names of the library: theorems, figures, errata and algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def one_of(*names: str) -> Callable[[str], list[str]]:
    """What is offered of a fixed set of names."""
    return lambda incomplete: _starting(names, incomplete)


def theorem_keys(incomplete: str) -> list[str]:
    from suffice.bounds import THEOREMS

    return _starting((record.key for record in THEOREMS), incomplete)


def figure_names(incomplete: str) -> list[str]:
    from suffice.figures import makers

    return _starting([*makers(), "all"], incomplete)


def errata_names(incomplete: str) -> list[str]:
    from suffice.verification import errata

    return _starting((entry.id for entry in errata()), incomplete)


def algorithm_names(incomplete: str) -> list[str]:
    from suffice.simulate import ALGORITHMS

    return _starting(ALGORITHMS, incomplete)


def _starting(names: Iterable[str], incomplete: str) -> list[str]:
    return sorted({name for name in names if name.startswith(incomplete)})
