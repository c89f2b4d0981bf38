"""Drift: a summary of the rows that a list was made on, and whether the rows that it meets now are still like them.

A summary has no rows: of each column how many there were, how many without a value, and the shares of numbers up to
some cuts, or of texts. `check_drift` compares shares with those of new rows. A column is said to drift where a share
has changed by more than `tolerance` and chance together: were the rows drawn alike, the probability that any column is
said to drift is at most about `delta`, whatever the number of rows and columns.
"""

import json
from dataclasses import asdict, dataclass, replace
from math import isfinite, log, sqrt
from typing import Any

import numpy as np

from biasbounty.arrays import Array, is_number, shown
from biasbounty.errors import SettingsError
from biasbounty.exchange.columns import Column, Kind
from biasbounty.exchange.onnx_feeds import Table

CUTS = 20
MOST_TEXTS = 200
"""The most frequent texts are kept; any other counts as one that is not known."""
VERSION = 1
_MOST_SHOWN = 5


@dataclass(frozen=True)
class ColumnSummary:
    """One column: how many values it has, and their shares."""

    name: str
    kind: Kind
    missing: int
    cuts: tuple[float, ...] = ()
    """Of numbers: some of them, from the least to the greatest."""
    up_to: tuple[float, ...] = ()
    """For each cut, the share of the numbers that are not above it."""
    texts: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    """The share of each of these texts among the values."""


@dataclass(frozen=True)
class Summary:
    """The columns of some rows, without the rows."""

    rows: int
    columns: tuple[ColumnSummary, ...]
    named: bool = True

    def to_json(self) -> str:
        """Write it down."""
        said = {"version": VERSION, **asdict(self)}
        for column in said["columns"]:
            column["cuts"] = [cut if isfinite(cut) else str(cut) for cut in column["cuts"]]
        return json.dumps(said, indent=1, allow_nan=False) + "\n"

    @staticmethod
    def from_json(text: str) -> "Summary":
        """Read what `to_json` wrote."""
        try:
            held = json.loads(text)
            if held.pop("version") != VERSION:
                raise ValueError(f"another version than {VERSION}")
            return Summary(held["rows"], tuple(_column_in(one) for one in held["columns"]), held["named"])
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise SettingsError(
                f"summary cannot be read: expected what to_json wrote, got {shown(error)}; summarize the rows anew"
            ) from error


def _column_in(held: dict[str, Any]) -> ColumnSummary:
    lists = {name: tuple(held[name]) for name in ("up_to", "texts", "shares")}
    return ColumnSummary(held["name"], held["kind"], held["missing"], tuple(map(float, held["cuts"])), **lists)


@dataclass(frozen=True)
class ColumnDrift:
    """One column, then and now."""

    name: str
    distance: float
    """The greatest change of a share: of numbers up to a cut, of a text, of the values that are missing."""
    threshold: float
    """What tolerance and chance account for."""
    what: str
    """Which share it was, and what it was and is."""
    unseen: float = 0.0
    """The share of values that are beyond those seen then: out of their range, or other texts."""
    new: tuple[str, ...] = ()
    """Some of the texts that are new."""

    @property
    def drifted(self) -> bool:
        """Whether the change is more than tolerance and chance account for."""
        return self.distance > self.threshold

    def __str__(self) -> str:
        verb = "has drifted" if self.drifted else "is as it was"
        beyond = f"; {self.unseen:.1%} of its values were not seen then" if self.unseen else ""
        named = f", such as {', '.join(map(shown, self.new))}" if self.new else ""
        return f"{self.name} {verb}: {self.what} (threshold {self.threshold:.3f}){beyond}{named}"


@dataclass(frozen=True)
class Drift:
    """All columns, then and now."""

    columns: tuple[ColumnDrift, ...]

    @property
    def drifted(self) -> tuple[str, ...]:
        """The names of the columns that have drifted."""
        return tuple(column.name for column in self.columns if column.drifted)

    def __str__(self) -> str:
        drifted = [str(column) for column in self.columns if column.drifted]
        return "\n".join(drifted) if drifted else f"none of {len(self.columns)} columns has drifted"


def summarize(X: Any) -> Summary:
    """Summarize rows: an array, or a frame of any kind. The summary tells extremes and texts, so mind who sees it."""
    table = Table.of(X)
    pairs = zip(table.names, table.columns, strict=True)
    return Summary(table.size, tuple(_summary(*pair) for pair in pairs), not isinstance(X, np.ndarray))


def _summary(name: str, column: Column) -> ColumnSummary:
    values = _present(column)
    missing = len(column.values) - len(values)
    if column.kind == "text":
        return _summary_of_text(name, values, column, missing)
    if not len(values):
        return ColumnSummary(name, column.kind, missing)
    ends = np.linspace(0, len(values) - 1, CUTS + 1).round().astype(np.intp)
    cuts = np.unique(np.sort(values)[ends])
    return ColumnSummary(name, column.kind, missing, tuple(cuts.tolist()), tuple(_up_to(values, cuts).tolist()))


def _summary_of_text(name: str, codes: Array, column: Column, missing: int) -> ColumnSummary:
    counts = _counts(codes, column)
    kept = sorted(counts, key=lambda text: (-counts[text], text))[:MOST_TEXTS]
    shares = tuple(counts[text] / len(codes) for text in kept)
    return ColumnSummary(name, column.kind, missing, texts=tuple(kept), shares=shares)


def _counts(codes: Array, column: Column) -> dict[str, int]:
    """Count the texts that there are."""
    counts = np.bincount(codes.astype(np.intp), minlength=len(column.texts)).tolist()
    return {text: count for text, count in zip(column.texts, counts, strict=True) if count and text is not None}


def _present(column: Column) -> Array:
    """Return the values that are there: numbers as float64, of texts their codes."""
    if column.kind == "text":
        there = np.array([*(text is not None for text in column.texts), False], np.bool_)
        return column.values[there[column.values]]
    if column.kind in ("nothing", "something else"):
        return np.empty(0)
    values = column.values.astype(np.float64)
    absent = np.isnan(values) if column.missing is None else np.isnan(values) | column.missing
    return values[~absent]


def _up_to(values: Array, cuts: Array) -> Array:
    """Return for each cut the share of the values that are not above it."""
    return np.searchsorted(np.sort(values), cuts, side="right") / max(len(values), 1)


def check_drift(summary: Summary, X: Any, *, tolerance: float = 0.02, delta: float = 0.01) -> Drift:
    """Compare new rows with a summary.

    Args:
        summary: Of the rows that the list was made on.
        X: New rows, with the same columns.
        tolerance: How much a share may truly change before it counts.
        delta: How probable it may be that any column is said to drift where rows are drawn alike.
    """
    for name, value, most in (("tolerance", tolerance, 1), ("delta", delta, 1)):
        if not (is_number(value) and 0 <= value < most) or (name == "delta" and value == 0):
            raise SettingsError(f"{name} is out of range: expected a number from 0 to below 1, got {value!r}")
    table = Table.of(X)
    level = delta / max(2 * len(summary.columns), 1)
    found = (_drift(known, summary.rows, _column(known, table, summary), level) for known in summary.columns)
    return Drift(tuple(replace(one, threshold=one.threshold + tolerance) for one in found))


def _column(known: ColumnSummary, table: Table, summary: Summary) -> Column:
    names = table.names if summary.named else tuple(column.name for column in summary.columns)
    if known.name not in names or len(names) != len(table.names):
        raise SettingsError(
            f"rows lack a column of the summary: expected {shown(known.name)}, got none; hand in rows with the "
            "same columns"
        )
    return table.columns[names.index(known.name)]


def _drift(known: ColumnSummary, rows: int, column: Column, level: float) -> ColumnDrift:
    """Compare a column: the share that is missing, and those of its values; the worse of the two is what is told."""
    values, size = _present(column), len(column.values)
    before, now = known.missing / max(rows, 1), (size - len(values)) / max(size, 1)
    missing = _told(known.name, "values missing", before, now, _noise(rows, size, 1, level))
    if not len(values) or known.missing == rows:
        return missing
    if column.kind != known.kind:
        return ColumnDrift(known.name, 1.0, 0.0, f"it holds {column.kind} where it held {known.kind}", 1.0)
    compare = _compared_texts if column.kind == "text" else _compared_numbers
    found = compare(known, rows - known.missing, column, values, level)
    worse = max(missing, found, key=lambda one: one.distance - one.threshold)
    return replace(worse, unseen=found.unseen, new=found.new)


def _told(name: str, what: str, before: float, now: float, threshold: float) -> ColumnDrift:
    return ColumnDrift(name, abs(now - before), threshold, f"{what}: {before:.1%} then, {now:.1%} now")


def _noise(then: int, now: int, shares: int, level: float) -> float:
    """Return what any of some shares differs by, by chance alone, with at most this probability (Hoeffding's bound)."""
    return sqrt(log(2 * shares / level) / 2 * (1 / max(then, 1) + 1 / max(now, 1)))


def _compared_numbers(known: ColumnSummary, then: int, _: Column, values: Array, level: float) -> ColumnDrift:
    """Compare the shares up to each cut: their greatest change is bounded like a single one (Kolmogorov, Smirnov)."""
    cuts = np.array(known.cuts)
    now = _up_to(values, cuts)
    worst = int(np.argmax(np.abs(now - known.up_to)))
    told = _told(
        known.name,
        f"values up to {cuts[worst]:g}",
        known.up_to[worst],
        float(now[worst]),
        _noise(then, len(values), 1, level),
    )
    outside = float(np.mean((values < cuts[0]) | (values > cuts[-1])))
    return replace(told, unseen=outside)


def _compared_texts(known: ColumnSummary, then: int, column: Column, codes: Array, level: float) -> ColumnDrift:
    """Compare the share of each text, and of all that are not known."""
    counts = _counts(codes, column)
    before = [*known.shares, 1 - sum(known.shares)]
    now = [counts.get(text, 0) / len(codes) for text in known.texts]
    now.append(1 - sum(now))
    worst = max(range(len(now)), key=lambda place: abs(now[place] - before[place]))
    what = [*(f"text {shown(text)}" for text in known.texts), "other texts"][worst]
    told = _told(known.name, what, before[worst], now[worst], _noise(then, len(codes), len(before), level))
    new = sorted(set(counts) - set(known.texts), key=lambda text: (-counts[text], text))
    unseen = sum(counts[text] for text in new) / len(codes)
    return replace(told, unseen=unseen, new=tuple(new[:_MOST_SHOWN]))
