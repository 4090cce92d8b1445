"""A theorem as a record: its source, hypotheses, quantity, and its bound as one plain function."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import Any, Literal, TypeVar

from suffice.support import html

from . import symbolic
from .parameters import PARAMETERS, Parameter
from .quantities import Quantity
from .units import DIMENSIONLESS, Unit

Edition = Literal["printed", "corrected"]
Conditions = Mapping[str, tuple[Any, Any]]
Bound = TypeVar("Bound", bound=Callable[..., Any])
_RELATION = {"upper": r"\le", "lower": r"\ge"}
_KEY = re.compile(r"^[a-z0-9]+(-[a-z0-9]+)*/[a-z0-9]+(-[a-z0-9]+)*$")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a statement stands: the paper's short name and the locator inside it.

    `symbols` maps keywords to the letters that this paper prints for them, where they differ from `bounds.parameters`.
    """

    paper: str
    locator: str
    symbols: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.paper}, {self.locator}"


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """A special case: at the arguments that `at` makes of those of the theorem `key` the bounds agree.

    What `at` does not name stays as it is. `when` says the same in words. The contract tests evaluate both.
    """

    key: str
    when: str
    at: Callable[..., Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Sharper:
    """A stronger statement of the same quantity; `at` gives its arguments where they are not some of the old ones.

    The old bound over the new one lies between the two numbers of `ratio`, which are 1 or more. Where these differ,
    `exactly(new, **values)` is the old bound from the new one: `new` is the new bound as a function of the arguments
    that differ from `at(**values)`. Tests and claims evaluate all three.
    """

    key: str
    ratio: tuple[float, float]
    at: Callable[..., Mapping[str, Any]] = lambda **values: values
    exactly: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        if self.exactly is None and self.ratio[0] != self.ratio[1]:
            raise ValueError(f"{self.key}: the ratio is no number: `exactly` says what the old bound is")

    def restated(self, bound: Callable[..., Any], values: Mapping[str, Any]) -> Any:
        """The old bound at `values`, from the bound of the new record."""
        given, taken = self.at(**values), inspect.signature(bound).parameters

        def new(**changes):
            return bound(**{name: value for name, value in {**given, **changes}.items() if name in taken})

        return self.ratio[0] * new() if self.exactly is None else self.exactly(new, **values)

    def __str__(self) -> str:
        low, high = self.ratio
        times = f"{low:g}" if low == high else f"at least {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"
        return f"{self.key}: this bound is {times} times that one"


def no_conditions() -> Conditions:
    """Nothing is assumed beyond the domains of the parameters."""
    return {}


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """One edition of one numbered result: corrected, an upper bound, in expectation, unless it says otherwise.

    `bound` is a function of keyword scalars (names from `own` or `bounds.parameters`) that runs on floats,
    arrays, mpmath numbers and SymPy symbols alike. `conditions` maps a condition's name to the
    pair (lhs, rhs) that must satisfy lhs <= rhs; `hypotheses` says what numbers cannot. `fault` says what is wrong with
    a printed edition: a printed edition is never a guarantee. `superseded_by` names a sharper statement; the old one
    stays true, and `verify` of a whole paper leaves it out. `order_only` gives the reason when a statement cannot be
    evaluated (hidden constants, a random right-hand side); `bound` is then None. `reaches` is, of a number of rounds,
    the quantity that is at most eps after them.
    """

    key: str
    edition: Edition = "corrected"
    title: str
    source: Source
    statement: str
    quantity: Quantity
    reaches: Quantity | None = None
    direction: Literal["upper", "lower"] = "upper"
    mode: Literal["sure", "expectation", "probability"] = "expectation"
    bound: Callable[..., Any] | None
    conditions: Callable[..., Conditions] = no_conditions
    hypotheses: str = ""
    tight: str = ""
    monotone: Mapping[str, int] = field(default_factory=dict)
    reduces_to: tuple[Reduction, ...] = ()
    superseded_by: Sharper | None = None
    fault: str | None = None
    order_only: str | None = None
    own: Mapping[str, Parameter] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not _KEY.match(self.key):
            raise ValueError(f"{self.key!r} does not read paper/result[-row]")
        if (self.bound is None) == (self.order_only is None):
            raise ValueError(f"{self.key}: exactly one of bound and order_only must be given")
        if (self.edition == "printed") != (self.fault is not None):
            raise ValueError(f"{self.key}: a printed edition states its fault, a corrected one has none")
        unknown = [name for name in self._names() if name not in {**PARAMETERS, **self.own}]
        if unknown:
            raise ValueError(f"{self.key}: {unknown} are not in bounds.parameters: add_parameter makes a keyword known")

    def as_printed(self, bound: Callable[..., Any] | str, fault: str, *, statement: str, **changes: Any) -> Theorem:
        """The same result as its paper prints it; a text for `bound` says why it cannot be evaluated.

        `changes` are fields in which the print also differs. What is known of the corrected bound alone is left out.
        """
        parts: dict[str, Any] = {"bound": bound}
        if isinstance(bound, str):
            parts = {"bound": None, "order_only": bound, "conditions": no_conditions}
        own: dict[str, Any] = {"tight": "", "monotone": {}, "reduces_to": (), "superseded_by": None}
        return replace(self, edition="printed", fault=fault, statement=statement, **own | parts | changes)

    @property
    def guarantee(self) -> bool:
        """A corrected edition may be relied on."""
        return self.edition == "corrected"

    @property
    def true_as_printed(self) -> bool:
        """True of a printed statement that holds and is merely not sharp, as its fault says in its first words."""
        return self.fault is not None and self.fault.startswith("The statement is true")

    @property
    def fault_label(self) -> str:
        """The word before the fault: "Remark" where the statement is true and merely less sharp than possible."""
        return "Remark" if self.true_as_printed else "Fault"

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The scalars that the bound or its conditions take, in the order of their signatures."""
        return tuple(map(self.parameter, self._names()))

    def parameter(self, name: str) -> Parameter:
        """The meaning of a keyword here."""
        return self.own[name] if name in self.own else PARAMETERS[name]

    @cached_property
    def bound_keywords(self) -> tuple[str, ...]:
        """The keywords of the bound; none where there is no bound."""
        return () if self.bound is None else tuple(inspect.signature(self.bound).parameters)

    @cached_property
    def condition_keywords(self) -> tuple[str, ...]:
        """The keywords of the conditions."""
        return tuple(inspect.signature(self.conditions).parameters)

    def symbol(self, name: str) -> str:
        """The LaTeX symbol of a keyword in the paper's own letters."""
        return self.source.symbols.get(name, self.parameter(name).symbol)

    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.bound_keywords, *self.condition_keywords)))

    def __str__(self) -> str:
        return f"{self.key} ({self.source.locator})"

    def expression(self) -> Any:
        """The bound as an unevaluated SymPy expression, one symbol per keyword, in the order written."""
        return self._expression

    @cached_property
    def _expression(self) -> Any:
        assert self.bound is not None
        return symbolic.expression(self.bound)

    def latex(self) -> str:
        """The inequality in LaTeX, terms in the paper's order; "" where there is no bound to print."""
        if self.bound is None:
            return ""
        import sympy

        bound = self.expression()
        symbols = {symbol: self.symbol(symbol.name) for symbol in bound.free_symbols}
        right = re.sub(r" \+ 0 \S+$", "", sympy.latex(bound, order="none", symbol_names=symbols))  # 0 x: x's shape
        return f"{self.quantity.latex} {_RELATION[self.direction]} {right}"

    def promise(self, level: str) -> str:
        """The promise in words: the quantity, or what is reached after so many rounds, is at most `level`."""
        what, comma, where = (self.reaches or self.quantity).expression.partition(",")
        return f"{what} <= {level}{comma}{where}"

    def condition_names(self) -> list[str]:
        """The conditions in words, each of the form "... lhs <= rhs"."""
        return list(self.conditions(**dict.fromkeys(self.condition_keywords, 1.0)))

    def _repr_html_(self) -> str:
        """HTML for notebooks: the formula for MathJax, what it rests on, and its keywords."""
        formula = f"$${escape(self.latex())}$$" if self.bound is not None else ""
        facts = {
            "Statement": self.statement,
            "Source": str(self.source),
            self.fault_label: self.fault or "",
            "Hypotheses": self.hypotheses,
            "Conditions": "; ".join(self.condition_names()),
            "Keywords": "; ".join(f"{one.name} [{one.unit}], {one.meaning}" for one in self.parameters),
        }
        written = html.facts({name: html.text(fact) for name, fact in facts.items() if fact})
        return f'<div class="mathjax_process">{formula}{written}</div>'  # MathJax looks inside


def theorem(**fields: Any) -> Callable[[Bound], Bound]:
    """A `Theorem` declared on its bound, which stays a plain function: `record_of` is its record.

    `fields` are the others; without a statement among them it is the first paragraph of the docstring.
    """
    return _declared(Theorem, fields)


def printed(corrected: Callable[..., Any], **fields: Any) -> Callable[[Bound], Bound]:
    """The same result `as_printed`, declared on the bound that its paper prints."""
    return _declared(record_of(corrected).as_printed, fields)


def reduces_to(key: str, when: str, at: Callable[..., Mapping[str, Any]]) -> Callable[[Bound], Bound]:
    """One more `Reduction` of the theorem declared below it."""

    def declare(bound: Bound) -> Bound:
        known, case = record_of(bound), Reduction(key=key, when=when, at=at)
        bound.__dict__["record"] = replace(known, reduces_to=(case, *known.reduces_to))
        return bound

    return declare


def _declared(make: Callable[..., Theorem], fields: Mapping[str, Any]) -> Callable[[Bound], Bound]:
    def declare(bound: Bound) -> Bound:
        said = " ".join((bound.__doc__ or "").partition("\n\n")[0].split())
        bound.__dict__["record"] = make(bound=bound, **{"statement": said} | dict(fields))
        return bound

    return declare


def record_of(bound: Callable[..., Any]) -> Theorem:
    """The record that `theorem` declared on a function."""
    return bound.__dict__["record"]


def records(*stated: Theorem | Callable[..., Any]) -> tuple[Theorem, ...]:
    """Records, or the functions that they are declared on, in the order given."""
    return tuple(each if isinstance(each, Theorem) else record_of(each) for each in stated)


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A quantity that turns vectors of constants into the scalars that theorems take.

    `reduce` takes arrays by keyword and reduces over their last axis, the clients, or over the last axes that
    `shapes` names: "N" one entry per client, "NN" per pair, "" a scalar, "d" per feature, "dd" a symmetric positive
    definite matrix, "nd" samples by features. Further axes in front are a batch.
    An array has the unit of its keyword in `bounds.parameters`, none where that has no such keyword, or what `units`
    says; `unit` is that of the result, none by default.
    """

    key: str
    edition: Edition = "corrected"
    title: str
    source: Source
    latex: str
    unit: Unit = DIMENSIONLESS
    reduce: Callable[..., Any]
    units: Mapping[str, Unit] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    fault: str | None = None

    @cached_property
    def vectors(self) -> dict[str, Unit]:
        """The unit of each array that `reduce` takes."""
        known = {name: parameter.unit for name, parameter in PARAMETERS.items()} | dict(self.units)
        return {name: known.get(name, DIMENSIONLESS) for name in inspect.signature(self.reduce).parameters}

    def shape(self, name: str) -> str:
        """The axes of one array."""
        return self.shapes.get(name, "N")
