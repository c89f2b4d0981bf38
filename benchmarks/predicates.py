"""Predicates on ten million rows, beside the same expression in numpy; and how long it takes to refuse what is none."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.hostile import NONSENSE, ROWS, TOO_MUCH
from benchmarks.measure import Figure, at_most, times
from biasbounty.errors import PredicateError
from biasbounty.exchange.predicate import Predicate, parse
from biasbounty.exchange.schema import ColumnType, Schema

SIZE = 10_000_000
TIMES_NUMPY = 5
TO_REFUSE = 0.05
"""Seconds."""

Numbers = dict[str, npt.NDArray[Any]]
ISSUE = "AGEP < 25 AND RAC1P IN (1, 2) AND NOT (SEX = 2 OR SCHL BETWEEN 16 AND 20)"


def figures() -> Iterator[Figure]:
    """Yield the time of three predicates beside numpy's, then the longest time that a refusal takes."""
    yield from _evaluations(SIZE)
    yield _slowest_refusal("small schema", Schema.of(ROWS), [*NONSENSE, *TOO_MUCH])
    yield _slowest_refusal("5,000 columns, 1,000 categories", _wide(), [*NONSENSE, *TOO_MUCH, *_near_misses()])


def _evaluations(size: int) -> Iterator[Figure]:
    rng = np.random.default_rng(0)
    whole = {
        "AGEP": rng.integers(0, 95, size),
        "RAC1P": rng.integers(1, 10, size),
        "SEX": rng.integers(1, 3, size),
        "SCHL": rng.integers(1, 25, size),
    }
    yield _beside_numpy(f"whole numbers ({size:,} rows)", parse(ISSUE, Schema.of(_table(whole))), whole, _issue)
    real = {name: np.where(rng.random(size) < 0.05, np.nan, values) for name, values in whole.items()}
    yield _beside_numpy(
        f"floats, some missing ({size:,} rows)", parse(ISSUE, Schema.of(_table(real))), real, _issue_with_missing
    )
    text = {"job": rng.choice(np.array(["clerk", "cook", "judge", "nurse"]), size)}
    yield _beside_numpy(
        f"text ({size:,} rows)",
        parse("job IN ('cook', 'nurse')", Schema.of(_table(text))),
        text,
        lambda X: (X["job"] == "cook") | (X["job"] == "nurse"),
    )


def _table(columns: Numbers) -> pa.Table:
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def _issue(X: Numbers) -> Any:
    among = (X["RAC1P"] == 1) | (X["RAC1P"] == 2)
    return (X["AGEP"] < 25) & among & ~((X["SEX"] == 2) | ((X["SCHL"] >= 16) & (X["SCHL"] <= 20)))


def _issue_with_missing(X: Numbers) -> Any:
    """Leave out rows of which it is unknown whether NOT (...) holds."""
    return _issue(X) & ~np.isnan(X["SEX"]) & ~np.isnan(X["SCHL"])


def _beside_numpy(name: str, predicate: Predicate, columns: Numbers, expression: Callable[[Numbers], Any]) -> Figure:
    table = _table(columns)
    if not np.array_equal(predicate(table), expression(columns)):
        raise AssertionError(f"predicate and numpy differ on {name}: expected one mask, got two")
    numpy, ours = times(partial(expression, columns), partial(predicate, table), repeat=5)
    return at_most(f"predicate on {name}, beside numpy", ours, "s", numpy, TIMES_NUMPY)


def _wide() -> Schema:
    """Return a schema of more columns and categories than most."""
    jobs = tuple(sorted(f"{'a category of some length ' * 4}{number}" for number in range(1000)))
    columns = (ColumnType(f"a_column_of_some_length_{number:05}", "numbers") for number in range(5000))
    return Schema((*Schema.of(ROWS).columns, *columns, ColumnType("work", "text", jobs)))


def _near_misses() -> list[str]:
    part = "a category of some length "
    return [
        "a_column_of_some_length_0001 = 1",
        f"{'a_column_of_some_length_' * 160} = 1",
        *(f"work = '{part * many}x'" for many in (1, 4, 150)),
    ]


def _slowest_refusal(name: str, schema: Schema, texts: list[str]) -> Figure:
    """Return the median seconds of the text that takes longest to refuse; the parser is imported by then."""
    seconds = {text: times(partial(_refused, text, schema), repeat=5)[0] for text in texts}
    slowest = max(seconds, key=lambda text: seconds[text])
    what = f"refusal that takes longest, of {len(texts)} hostile texts ({name}): {slowest[:24]!r}"
    return at_most(what, seconds[slowest], "s", TO_REFUSE, 1)


def _refused(text: str, schema: Schema) -> None:
    try:
        parse(text, schema)
    except PredicateError:
        return
    raise AssertionError(f"predicate is not refused: expected a PredicateError, got none for {text[:40]!r}")
