"""Binding: a term is held against a schema, so that each column exists and each value is of its column's kind."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches

from biasbounty.arrays import shown
from biasbounty.errors import PredicateError
from biasbounty.exchange.columns import Kind
from biasbounty.exchange.predicate_terms import Absent, Among, Comparison, Leaf, Subject, Term, Value, leaves, values_of
from biasbounty.exchange.predicate_words import quoted_name, quoted_text
from biasbounty.exchange.schema import ColumnType, Schema

MOST_COMPARED = 200
"""A word that is not known is compared with at most so many others, and its first letters only."""
MOST_LETTERS = 40


def verify_bound(term: Term, schema: Schema) -> None:
    """Raise PredicateError unless every condition can be asked of rows of this schema."""
    for leaf in leaves(term):
        _verify(leaf, _column(leaf.subject, schema))


def _column(subject: Subject, schema: Schema) -> ColumnType:
    place = schema.places.get(subject.name)
    if place is None:
        raise PredicateError(
            f"predicate names an unknown column: expected a column of the schema, got {shown(subject.name)}; "
            f"{_advice(subject.name, schema.places, quoted_name)}"
        )
    return schema.columns[place]


def _verify(leaf: Leaf, column: ColumnType) -> None:
    name = quoted_name(column.name)
    _verify_seconds(leaf, name, column.kind)
    if isinstance(leaf, Absent):
        return
    if column.kind in ("nothing", "something else"):
        raise PredicateError(
            f"column {name} cannot be compared: expected numbers, text or moments, got {column.kind}; ask only "
            "whether it IS NULL"
        )
    for value in values_of(leaf):
        _verify_value(value, name, column)
    if isinstance(leaf, Among) or (isinstance(leaf, Comparison) and leaf.sign in ("=", "<>")):
        _verify_known(values_of(leaf), name, column)


def _verify_seconds(leaf: Leaf, name: str, kind: Kind) -> None:
    """Moments and durations are compared as seconds, and nothing else is."""
    timed = kind in ("moments", "durations")
    if leaf.subject.epoch and not timed:
        raise PredicateError(f"column {name} has no seconds: expected moments, got {kind}; compare {name} itself")
    if leaf.subject.epoch and isinstance(leaf, Absent):
        raise PredicateError(
            f"seconds are asked whether they are NULL: expected a column, got {leaf.subject}; write {name} IS NULL"
        )
    if timed and not leaf.subject.epoch and not isinstance(leaf, Absent):
        advice = f"write EXTRACT(EPOCH FROM {name}), a number of seconds{' since 1970' * (kind == 'moments')}"
        raise PredicateError(f"column {name} holds {kind}: expected its seconds, got the column itself; {advice}")


def _verify_value(value: Value, name: str, column: ColumnType) -> None:
    if isinstance(value, str) == (column.kind == "text"):
        return
    wanted = "text in single quotes" if column.kind == "text" else "a number without quotes"
    raise PredicateError(
        f"column {name} holds {column.kind}: expected {wanted}, got {shown(value)}; "
        "write the value as the column holds it"
    )


def _verify_known(values: Iterable[Value], name: str, column: ColumnType) -> None:
    if column.categories is None:
        return
    known = set(column.categories)
    for value in values:
        if isinstance(value, str) and value not in known:
            raise PredicateError(
                f"column {name} has no such category: expected one that is known, got {shown(value)}; "
                f"{_advice(value, column.categories, quoted_text)}"
            )


def _advice(word: str, known: Iterable[str], write: Callable[[str], str]) -> str:
    """Offer the nearest of the known words."""
    names = list(known)
    if not names:
        return "there are none"
    near = nearest(word, names)
    if near is not None:
        return f"did you mean {shown(write(near), str)}?"
    return f"there are {', '.join(shown(write(name), str) for name in sorted(names)[:5])}{' ...' * (len(names) > 5)}"


def nearest(word: str, names: list[str]) -> str | None:
    """Return the name that is most like a word, if any is."""
    alike = [name for name in names if name.casefold() == word.casefold()]
    if alike:
        return alike[0]
    start = word[:MOST_LETTERS]
    likely = sorted(names, key=lambda name: (-_shared(name, start), abs(len(name) - len(word))))
    starts = {name[:MOST_LETTERS]: name for name in reversed(likely[:MOST_COMPARED])}
    return next((starts[near] for near in get_close_matches(start, starts, n=1)), None)


def _shared(name: str, start: str) -> int:
    """Say roughly how many letters two words begin with alike."""
    return sum(name.startswith(start[:letters]) for letters in (1, 2, 4, 8, 12, 16, 24, 32))
