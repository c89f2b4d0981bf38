"""Conditions: what a slice asks of one column, as a function of one row and as predicate text that says the same.

A missing value meets no condition but IS NULL, and a text that was never seen meets none at all, as in SQL. A column is
read here in the way that `Features` reads it. Moments are compared as seconds since 1970, durations as seconds. Numbers
are those that a float can hold: of whole numbers beyond 2^53, and beyond what a float32 holds, the text is not exact.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from biasbounty.arrays import Array, Mask, is_missing
from biasbounty.core.rows import Rows
from biasbounty.errors import SettingsError
from biasbounty.exchange.predicate_words import number_words, quoted_name, quoted_text
from biasbounty.finders.features import Feature, is_absent


@dataclass(frozen=True)
class Condition(ABC):
    """A question about one column."""

    feature: Feature

    @abstractmethod
    def holds(self, values: Array) -> Mask:
        """Say of each value of the column whether it meets the condition."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The condition as predicate text."""

    @property
    def subject(self) -> str:
        """The column as predicate text."""
        name = quoted_name(self.feature.name)
        return f"EXTRACT(EPOCH FROM {name})" if self.feature.kind in ("moments", "durations") else name


@dataclass(frozen=True)
class Range(Condition):
    """A number is at least `low` and below `high`; an end that is None is open, with both open any number will do."""

    low: float | None = None
    high: float | None = None

    def holds(self, values: Array) -> Mask:
        """Say of each value whether it is in the range."""
        numbers = self.feature.encode(values)
        inside = ~np.isnan(numbers)
        if self.low is not None:
            inside &= numbers >= self.low
        return inside if self.high is None else inside & (numbers < self.high)

    @property
    def words(self) -> str:
        """The range as predicate text."""
        if self.low is None and self.high is None:
            return f"{quoted_name(self.feature.name)} IS NOT NULL"
        ends = ((">=", self.low), ("<", self.high))
        return " AND ".join(f"{self.subject} {sign} {number_words(end)}" for sign, end in ends if end is not None)


@dataclass(frozen=True)
class Among(Condition):
    """A number is one of a few."""

    numbers: tuple[float, ...] = ()

    def holds(self, values: Array) -> Mask:
        """Say of each value whether it is one of the numbers."""
        return np.isin(self.feature.encode(values), self.numbers)

    @property
    def words(self) -> str:
        """The equality as predicate text."""
        return f"{self.subject} {_one_of([number_words(number) for number in self.numbers])}"


@dataclass(frozen=True)
class Named(Condition):
    """A text is one of the feature's categories."""

    def holds(self, values: Array) -> Mask:
        """Say of each value whether it is one of the texts."""
        return ~np.isnan(self.feature.encode(values))

    @property
    def words(self) -> str:
        """The equality as predicate text."""
        return f"{self.subject} {_one_of([quoted_text(text) for text in self.feature.categories])}"


@dataclass(frozen=True)
class Missing(Condition):
    """There is no value."""

    def holds(self, values: Array) -> Mask:
        """Say of each value whether it is missing."""
        if values.dtype.kind in "OT":
            return np.fromiter(map(is_absent, values.tolist()), np.bool_, len(values))
        return np.isnat(values) if values.dtype.kind in "mM" else is_missing(values)

    @property
    def words(self) -> str:
        """The absence as predicate text."""
        return f"{quoted_name(self.feature.name)} IS NULL"


@dataclass(frozen=True)
class SliceGroup:
    """The rows that meet every one of some conditions, each about a column of its own."""

    conditions: tuple[Condition, ...]
    places: tuple[int, ...]
    """The place of each condition's column among those learned from."""
    width: int
    """How many columns were learned from."""
    named: bool
    """Whether those had names, or only places."""

    @property
    def words(self) -> str:
        """The group as predicate text."""
        return " AND ".join(condition.words for condition in self.conditions)

    def __call__(self, X: Any) -> Mask:
        """Say of each row whether it is in the group."""
        columns = self._columns(X)
        holding = [condition.holds(values) for condition, values in zip(self.conditions, columns, strict=True)]
        return np.asarray(np.logical_and.reduce(holding))

    def _columns(self, X: Any) -> list[Array]:
        """Return the columns that are asked about: by name if there are names on both sides, else by place."""
        if isinstance(X, np.ndarray):
            self._require_width(X.shape[1] if X.ndim == 2 else 0)
            return [X[:, place] for place in self.places]
        frame = _frame(X)
        if not self.named:
            self._require_width(len(frame.columns))
            return [frame[:, place].to_numpy() for place in self.places]
        by_name = {str(column.name): column for column in frame.iter_columns()}
        for condition in self.conditions:
            if condition.feature.name not in by_name:
                raise SettingsError(f"rows lack a column of the slice {self.words}: expected {condition.feature.name}")
        return [by_name[condition.feature.name].to_numpy() for condition in self.conditions]

    def _require_width(self, width: int) -> None:
        if width != self.width:
            raise SettingsError(
                f"rows have other columns than those that the slice was found on: expected {self.width}, got {width}"
            )

    def __str__(self) -> str:
        return self.words


def _one_of(words: list[str]) -> str:
    return f"= {words[0]}" if len(words) == 1 else f"IN ({', '.join(words)})"


def _frame(X: Any) -> Any:
    try:
        return nw.from_native(X, eager_only=True)
    except TypeError:
        Rows(X)
        raise
