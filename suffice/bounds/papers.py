"""The papers whose statements are known: the library's own, and those that other packages add.

A package adds a paper by an entry point of the group `suffice.papers` that names a `Paper`, or a function that
returns one. Nothing is read before it is needed, and a key is looked up in the modules of its own paper alone.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, TypeVar

from suffice.support.errors import InputError

T = TypeVar("T")
GROUP = "suffice.papers"
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A group of statements whose keys begin with `key`: what its pages say of it, and the modules that hold it.

    `reference` is how a list of references cites it, `read` the version that its errata are about, and `method` what
    people call it by. The modules are named as for `import`, "" where there is none.
    They define, each in its order,
        records     THEOREMS, a sequence of `Theorem`, and possibly DEFINITIONS, one of `Definition`, and STATEMENTS,
                    one of `Statement`: all that the paper says, in its order
        claims      claims(), which returns a sequence of `Claim`
        errata      ERRATA, a sequence of `Erratum` whose ids begin with `key`
        identities  IDENTITIES, a sequence of `Identity`
    New keywords and quantities are added by the module of the records: `add_parameter`, `add_quantity`.
    """

    key: str
    citation: str
    title: str
    reference: str = ""
    read: str = ""
    method: str = ""
    records: str
    claims: str = ""
    errata: str = ""
    identities: str = ""

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise InputError("paper", self.key, "use lower-case words with hyphens, as in sample-optimal")

    def part(self, name: str, attribute: str) -> tuple[Any, ...]:
        """The entries that one of the modules defines; () where there is none. Raises whatever importing it raises."""
        module = getattr(self, name)
        if not module:
            return ()
        found: Any = getattr(importlib.import_module(module), attribute, ())
        return tuple(found() if callable(found) else found)


class LazyTuple(Sequence[T]):
    """A tuple that is made when it is first looked at."""

    def __init__(self, make: Callable[[], Iterable[T]]) -> None:
        self._make = make

    @cached_property
    def _entries(self) -> tuple[T, ...]:
        return tuple(self._make())

    def __getitem__(self, at: Any) -> Any:
        return self._entries[at]

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[T]:
        return iter(self._entries)


def _own(key: str, citation: str, title: str, *parts: str, **said: str) -> Paper:
    """A paper of the library: one folder, or one module, of the same name in each place."""
    folder = key.replace("-", "_")
    modules = {part: f"suffice.verification.{part}.{folder}" for part in parts}
    records = f"suffice.bounds.theorems.{folder}"
    return Paper(key=key, citation=citation, title=title, records=records, **modules, **said)


_CHECKED = ("claims", "errata", "identities")
OWN: Mapping[str, Paper] = {
    paper.key: paper
    for paper in (
        _own(
            "adaptive",
            "Philippenko, Le Bars, Scaman, Massoulie (2025)",
            "Adaptive collaboration (Philippenko et al., 2025)",
            *_CHECKED,
            reference="C. Philippenko, B. Le Bars, K. Scaman, L. Massoulie. Adaptive collaboration for online "
            "personalized distributed learning with heterogeneous clients. Preprint, 2025.",
            read="the preprint with its appendices",
            method="all-for-one",
        ),
        _own("worst-case", "suffice", "Sharp results proved in this project", "claims", "identities"),
        _own(
            "sample-optimal",
            "Even, Massoulie, Scaman (2022)",
            "Sample optimality (Even, Massoulie, Scaman, 2022)",
            *_CHECKED,
            reference="M. Even, L. Massoulie, K. Scaman. On sample optimality in personalized collaborative and "
            "federated learning. Advances in Neural Information Processing Systems 35, 2022.",
            read="the text of this title, without its appendices; that of the title Sample optimality and All-for-all "
            "strategies in personalized federated and collaborative learning was not read, and may differ",
            method="all-for-all",
        ),
        _own(
            "cobo",
            "Hashemi, He, Jaggi (2024)",
            "CoBo (Hashemi, He, Jaggi, 2024)",
            *_CHECKED,
            reference="D. Hashemi, L. He, M. Jaggi. CoBo: collaborative learning via bilevel optimization. Advances in "
            "Neural Information Processing Systems 37, 2024. arXiv:2409.05539.",
            read="the text with its appendices",
        ),
        _own(
            "scafflix",
            "Yi, Condat, Richtarik (2023)",
            "Scafflix (Yi, Condat, Richtarik, 2023)",
            *_CHECKED,
            reference="K. Yi, L. Condat, P. Richtarik. Explicit personalization and local training: double "
            "communication acceleration in federated learning. Preprint of 18 May 2023.",
            read="the text of that day",
        ),
        _own("averaged-sgd", "Polyak, Juditsky (1992)", "Averaged iterates (Polyak, Juditsky, 1992)", "claims"),
        _own("stein", "Stein (1956, 1981)", "Risk of weights (Stein, 1956 and 1981)", "claims", "identities"),
    )
}
"""The library's own papers by key, known without a look at what other packages add."""


def _all() -> Iterator[Paper]:
    yield from OWN.values()
    keys = set(OWN)
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        try:
            loaded = entry.load()
            paper = loaded if isinstance(loaded, Paper) else loaded()
            if paper.key in keys:
                raise ValueError(f"the key {paper.key} is another paper's")
        except Exception as error:  # of a package that others wrote
            remedy = f"this entry point gives no paper: {error}; mend or uninstall its package"
            raise InputError(GROUP, entry.value, remedy) from error
        keys.add(paper.key)
        yield paper


PAPERS: Sequence[Paper] = LazyTuple(_all)
"""Every paper, the library's first, then others by the names of their entry points."""


def parts(name: str, attribute: str) -> Iterator[Any]:
    """The entries of the papers' modules, paper by paper: `parts("records", "THEOREMS")`."""
    for paper in PAPERS:
        yield from paper.part(name, attribute)
