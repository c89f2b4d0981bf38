"""Terms: a predicate as a tree of frozen values, each of which knows its one canonical text.

The text keeps what the hunter wrote, but for spaces, needless parentheses, the side on which a value stands, and the
order of values in a list. So `parse(str(predicate)) == predicate`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from biasbounty.exchange.predicate_words import quoted_name, value_words

Value: TypeAlias = int | float | str


@dataclass(frozen=True)
class Subject:
    """A column, or its moments as seconds since 1970 (of durations, their seconds)."""

    name: str
    epoch: bool = False

    def __str__(self) -> str:
        name = quoted_name(self.name)
        return f"EXTRACT(EPOCH FROM {name})" if self.epoch else name


@dataclass(frozen=True)
class Comparison:
    """A column compared with a value; the sign is one of = <> < <= > >=."""

    subject: Subject
    sign: str
    value: Value

    def __str__(self) -> str:
        return f"{self.subject} {self.sign} {value_words(self.value)}"


@dataclass(frozen=True)
class Among:
    """A column is one of some values: at least two, distinct and in order."""

    subject: Subject
    values: tuple[Value, ...]
    sign: ClassVar[str] = "IN"

    def __str__(self) -> str:
        return f"{self.subject} {self.sign} ({', '.join(map(value_words, self.values))})"


@dataclass(frozen=True)
class Between:
    """A column is from one value to another, both included."""

    subject: Subject
    low: Value
    high: Value
    sign: ClassVar[str] = "BETWEEN"

    def __str__(self) -> str:
        return f"{self.subject} {self.sign} {value_words(self.low)} AND {value_words(self.high)}"


@dataclass(frozen=True)
class Absent:
    """A column has no value."""

    subject: Subject

    def __str__(self) -> str:
        return f"{self.subject} IS NULL"


@dataclass(frozen=True)
class Not:
    """The contrary: unknown where the term is unknown."""

    term: "Term"

    def __str__(self) -> str:
        match self.term:
            case Among(subject) | Between(subject):
                return str(self.term).replace(f"{subject} ", f"{subject} NOT ", 1)
            case Absent(subject):
                return f"{subject} IS NOT NULL"
            case All() | Some():
                return f"NOT ({self.term})"
        return f"NOT {self.term}"


@dataclass(frozen=True)
class All:
    """Every one of at least two terms: AND. None of them is an All itself."""

    terms: tuple["Term", ...]

    def __str__(self) -> str:
        return " AND ".join(f"({term})" if isinstance(term, Some) else str(term) for term in self.terms)


@dataclass(frozen=True)
class Some:
    """At least one of at least two terms: OR. None of them is a Some itself."""

    terms: tuple["Term", ...]

    def __str__(self) -> str:
        return " OR ".join(map(str, self.terms))


Leaf: TypeAlias = Comparison | Among | Between | Absent
Term: TypeAlias = Leaf | Not | All | Some


def leaves(term: Term) -> Iterator[Leaf]:
    """Yield the conditions on single columns, in order."""
    match term:
        case Not(inner):
            yield from leaves(inner)
        case All(terms) | Some(terms):
            for one in terms:
                yield from leaves(one)
        case _:
            yield term


def values_of(leaf: Leaf) -> tuple[Value, ...]:
    """Return the values that a condition names."""
    match leaf:
        case Comparison(value=value):
            return (value,)
        case Among(values=values):
            return values
        case Between(low=low, high=high):
            return (low, high)
    return ()
