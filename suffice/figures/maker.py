"""A `Maker` computes a figure: a function with a name, registered where it is written.

What the function takes by keyword are the figure's options, each an `option` or a dataclass of them; those of the names
below are checked here, so that every figure refuses the same values in the same words.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from types import FunctionType
from typing import Any, cast

import numpy as np

from suffice.support.errors import InputError
from suffice.support.numbers import as_choice, as_numbers, as_whole
from suffice.support.parse import nearest

from .figure import Figure
from .setting import Competitors

EDITIONS = ("stated", "published")
ALONE = "No paper has this picture."
OWN = "a figure of our own: no code was released for it"
Progress = Callable[[int, int], None]
MOST = {"clients": 10_000, "agents": 10_000, "features": 10_000, "iterations": 10**7, "rounds": 10**7, "seeds": 10**6}
"""With more than these a figure would take days, or more memory than machines have."""
NOT_NEGATIVE = ("spread", "noises", "ditto_pull", "cobo_rho")
SHARES = ("wga_mixture", "wga_memory", "apfl_mixture")
"""Options that take numbers of at least 0, and from 0 to 1; other options that are floats take positive ones."""
COMPETITORS = tuple(one.name for one in fields(Competitors))
"""Options of rules that no released code has."""


def chosen_seeds(seeds: Any, *, least: int) -> Sequence[int]:
    """The seeds 0, 1, ... or those given. Raises `InputError`."""
    several = [seeds] if isinstance(seeds, float) else seeds
    wanted = range(seeds) if type(seeds) is int else as_numbers("seeds", several, ("n",)).tolist()
    some = wanted[-1:] if isinstance(wanted, range) else wanted
    outside = any(seed % 1 or not 0 <= seed < 2**32 for seed in some)
    if len(wanted) < least or len(set(wanted)) < len(wanted) or outside:
        how = f"give how many (at least {least}), or different whole numbers within 0..2^32 - 1"
        raise InputError("seeds", seeds, how)
    return wanted if isinstance(wanted, range) else tuple(map(int, wanted))


def _plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, range):
        return len(value)
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, str | int | float | None) else repr(value)


@dataclass(frozen=True)
class Option:
    """The kind of an option, as annotated, its default and its meaning."""

    kind: str
    default: Any
    about: str

    @property
    def several(self) -> bool:
        """Whether the option may have several values."""
        return self.kind.startswith(("Sequence", "tuple"))

    @property
    def words(self) -> str:
        """The meaning of the option, and its default in words."""
        if self.default is None:
            return self.about
        default = _plain(self.default)
        if isinstance(default, list) and len(default) > 8:
            default = f"{len(default)} from {default[0]:g} to {default[-1]:g}"
        elif isinstance(default, list):
            default = ",".join(map(str, default))
        return f"{self.about} (default {default})"


@dataclass(frozen=True)
class Maker:
    """A figure's name, what it shows in one line, and the function that computes it; its module's `draw` paints.

    The function takes `edition` and `progress` if it needs them; what it takes besides are the figure's options.
    differs: from the paper's picture in what, and why: below what the command wrote.
    unpublished: why there is no published edition; empty where there is one.
    least: where a whole number must be larger than others of its name.
    """

    name: str
    about: str
    differs: str
    compute: Callable[..., Figure]
    unpublished: str
    least: Mapping[str, int]

    def __call__(self, edition: str = EDITIONS[0], *, progress: Progress | None = None, **options: Any) -> Figure:
        """The figure; `InputError` for an unknown edition or option."""
        options = self._checked(options)
        if as_choice("edition", edition, EDITIONS) == "published" and self.unpublished:
            raise InputError("edition", edition, f"{self.unpublished}; use stated")
        for name in set(options) & set(COMPETITORS) if edition == "published" else ():
            raise InputError(name, options[name], "the released code has no such rule; use stated or leave it out")
        began = time.perf_counter()
        progress = progress or (lambda done, total: None)
        defaults = {name: option.default for name, option in self.options.items()}
        asked = defaults | options
        try:
            made = self.compute(**self._arguments(asked | {"edition": edition, "progress": progress}))
        except (MemoryError, RuntimeError) as error:  # torch has no class of its own for this
            if not (isinstance(error, MemoryError) or "allocate" in str(error)):
                raise
            sizes = ", ".join(name for name in self.options if name in MOST)
            raise InputError("figure", self.name, f"the memory does not suffice; reduce {sizes}") from None
        progress(1, 1)
        seconds = time.perf_counter() - began
        unread = {"data", *(COMPETITORS if edition == "published" else ())}
        used = {name: _plain(value) for name, value in asked.items() if name not in unread}
        changed = {name: used[name] for name in options if name in used and options[name] != defaults[name]}
        setup = used | dict(made.setup) | {"changed": changed}
        if seeds := asked.get("seeds"):
            setup |= {"runs": len(seeds), "seeds": [min(seeds), max(seeds)] if len(seeds) > 3 else list(seeds)}
        return replace(made, name=self.name, edition=edition, seconds=seconds, setup=setup, draw=self.draw)

    @property
    def options(self) -> dict[str, Option]:
        """The figure's options by name: all that it takes besides `edition` and `progress`."""
        found: dict[str, Option] = {}
        for name, entry in inspect.signature(self.compute).parameters.items():
            if isinstance(entry.default, Field):
                found[name] = Option(str(entry.annotation), entry.default.default, entry.default.metadata["about"])
            elif is_dataclass(entry.default):
                for one in fields(entry.default):
                    found[one.name] = Option(str(one.type), getattr(entry.default, one.name), one.metadata["about"])
        return found

    def _checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        known = self.options
        for name in set(given) - set(known):
            remedy = f"{self.name} takes {', '.join(known) or 'no options; drop it'}"
            near = nearest(name, known)
            raise InputError(name, given[name], f"did you mean {near}? {remedy}" if near else remedy)
        return {name: self._valid(name, value, known[name]) for name, value in given.items()}

    def _valid(self, name: str, value: Any, option: Option) -> Any:
        if name == "seeds":
            return chosen_seeds(value, least=self.least[name])
        if value is not None and option.kind.startswith("int"):
            as_whole(name, value, least=self.least.get(name, 1))
            if value > MOST.get(name, value):
                raise InputError(name, value, f"give at most {MOST[name]:,}")
        elif value is not None and "float" in option.kind:
            bounded = name in (*NOT_NEGATIVE, *SHARES)
            numbers = as_numbers(name, value, ("n",), one_for_all=True, positive=not bounded).tolist()
            most = 1.0 if name in SHARES else np.inf
            if wrong := [number for number in numbers if not 0 <= number <= most]:
                how = "of at least 0" if most == np.inf else f"from 0 to {most:g}"
                raise InputError(name, wrong[0], f"give numbers {how}")
            if not (numbers if option.several else len(numbers) == 1):
                raise InputError(name, value, "give at least one number" if option.several else "give one number")
            return tuple(numbers) if option.several else numbers[0]
        return value

    def _arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the function takes them: fields of a dataclass together."""
        taken = {}
        for name, entry in inspect.signature(self.compute).parameters.items():
            together = is_dataclass(entry.default) and {one.name: given[one.name] for one in fields(entry.default)}
            taken[name] = replace(entry.default, **together) if together else given[name]
        return taken

    @property
    def draw(self) -> Callable[[Figure, Any], None]:
        """The function of the maker's module that paints the figure."""
        return cast(FunctionType, self.compute).__globals__["draw"]


def maker(
    name: str, about: str, differs: str = ALONE, *, unpublished: str = OWN, least: Mapping[str, int] | None = None
) -> Callable[[Callable[..., Figure]], Maker]:
    """Makes the decorated function the figure `name`; its module is one of those listed in `suffice.figures`."""
    most_need = {"seeds": 2, "clients": 2}  # two have a spread
    return lambda compute: Maker(name, about, differs, compute, unpublished, most_need | dict(least or {}))
