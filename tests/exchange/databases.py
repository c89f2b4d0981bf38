"""Random rows and random predicates, and a database that is asked the same."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from biasbounty.exchange.predicate_words import quoted_name, quoted_text

Draw = np.random.Generator
T = TypeVar("T")
TEXTS = ["", "a", "A", "b'c", 'd"e', "é", "zz zz", "--", "NULL", "\n", "𝒜"]
WHOLE = [-(2**63), -(2**53) - 1, -300, -1, 0, 1, 2, 3, 7, 128, 2**53 + 1, 2**63 - 1]
REAL = [-np.inf, -1e300, -0.5, 0.0, 0.1, 0.25, 1.0, 2.5, 7.0, 16777217.0, 1e20, np.inf]
LITERALS = [
    "0",
    "1",
    "2",
    "3",
    "7",
    "-1",
    "- 1",
    "0.1",
    "0.25",
    "2.50",
    "7.0",
    "1e2",
    "3E0",
    "-0.5",
    "128",
    "300",
    "-300",
]
LITERALS += ["9007199254740993", "16777217", "9223372036854775807", "9223372036854775808", "1e20", "-1e300", "0.3e0"]
SIGNS = ["=", "==", "<>", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Table:
    """Rows in three kinds of frame, and in a database."""

    frames: tuple[Any, ...]
    base: sqlite3.Connection
    numbers: tuple[str, ...]
    texts: tuple[str, ...]

    def where(self, words: str) -> list[int]:
        """Ask the database which rows meet a condition."""
        return [row for (row,) in self.base.execute(f"SELECT number FROM rows WHERE {words}")]  # noqa: S608


def table(seed: int, size: int = 40) -> Table:
    """Draw rows with columns of many types; values are missing wherever a type has room for that."""
    rng = np.random.default_rng(seed)
    numbers = {
        "whole": pa.array(_some(rng, WHOLE, size, 0.2), pa.int64()),
        "count": pa.array(_some(rng, range(256), size, 0), pa.uint8()),
        "real": pa.array(_some(rng, REAL, size, 0.2), pa.float64()),
        "or der": pa.array(_some(rng, REAL, size, 0.1), pa.float32()),
        "date": pa.array(_some(rng, [True, False], size, 0.1), pa.bool_()),
        "AND": pa.array(_some(rng, range(4), size, 0), pa.int32()),
    }
    texts = {
        "job": pa.array(_some(rng, TEXTS, size, 0.2), pa.string()),
        'qu"oted': pa.array(_some(rng, TEXTS[:4], size, 0), pa.string()).dictionary_encode(),
    }
    arrow = pa.table(numbers | texts)
    frame = arrow.to_pandas()
    frame["whole"] = pd.array(arrow["whole"].to_pylist(), "Int64")  # a plain column would become one of floats
    return Table((arrow, pl.from_arrow(arrow), frame), _database(arrow), tuple(numbers), tuple(texts))


def _some(rng: Draw, values: Any, size: int, missing: float) -> list[Any]:
    return [None if rng.random() < missing else values[int(rng.integers(len(values)))] for _ in range(size)]


def _database(arrow: pa.Table) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:")
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in arrow.column_names)
    base.execute(f"CREATE TABLE rows (number, {names})")
    columns = [range(len(arrow)), *(column.to_pylist() for column in arrow.columns)]
    places = ", ".join("?" * len(columns))
    base.executemany(f"INSERT INTO rows VALUES ({places})", zip(*columns, strict=True))  # noqa: S608
    return base


@dataclass(frozen=True)
class Writer:
    """Writes predicates by the grammar, in as many ways as there are."""

    rng: Draw
    table: Table

    def condition(self, depth: int) -> str:
        """Return a condition, or several joined."""
        if depth == 0 or self.rng.random() < 0.2:
            return self._leaf()
        ways: list[Callable[[int], str]] = [self._joined, self._joined, self._denied, self._closed]
        return self._one(ways)(depth - 1)

    def _joined(self, depth: int) -> str:
        parts = [self.condition(depth) for _ in range(int(self.rng.integers(2, 4)))]
        return (
            self._space().join(f"{part} {self._word(self._one(['AND', 'OR']))}" for part in parts[:-1])
            + " "
            + parts[-1]
        )

    def _denied(self, depth: int) -> str:
        return f"{self._word('NOT')} {self._one([self._leaf(), f'({self.condition(depth)})'])}"

    def _closed(self, depth: int) -> str:
        return f"({self._space()}{self.condition(depth)})"

    def _leaf(self) -> str:
        is_text = self.rng.random() < 0.3
        name = self._name(self._one(self.table.texts if is_text else self.table.numbers))
        return self._one([self._compared, self._compared, self._among, self._between, self._absent])(name, is_text)

    def _compared(self, name: str, is_text: bool) -> str:
        sides = [name, self._value(is_text)]
        first, last = sides if self.rng.random() < 0.8 else sides[::-1]
        return self._one([" ", "", "\n"]).join([first, self._one(SIGNS), last])

    def _among(self, name: str, is_text: bool) -> str:
        values = [self._value(is_text) for _ in range(int(self.rng.integers(1, 14)))]
        return f"{name} {self._not()}{self._word('IN')}{self._space()}({', '.join(values)})"

    def _between(self, name: str, is_text: bool) -> str:
        low, high = self._value(is_text), self._value(is_text)
        return f"{name} {self._not()}{self._word('BETWEEN')} {low} {self._word('AND')} {high}"

    def _absent(self, name: str, is_text: bool) -> str:
        return f"{name} {self._word('IS')} {self._not()}{self._word('NULL')}"

    def _value(self, is_text: bool) -> str:
        if is_text:
            return quoted_text(self._one(TEXTS))
        return self._one([*LITERALS, "TRUE", "false"])

    def _name(self, name: str) -> str:
        return self._one([quoted_name(name), '"' + name.replace('"', '""') + '"'])

    def _not(self) -> str:
        return self._one(["", "", "NOT ", "not "])

    def _word(self, word: str) -> str:
        return self._one([word, word.lower(), word.title()])

    def _space(self) -> str:
        return self._one([" ", "  ", "\n", "\t"])

    def _one(self, choices: Sequence[T]) -> T:
        return choices[int(self.rng.integers(len(choices)))]
