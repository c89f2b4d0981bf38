"""Data: an organizer's rows, from Parquet or CSV, refused in words where they cannot be used, and looked at for slips.

Rows are kept as Arrow tables, the label apart. What is only strange, and not wrong, is a warning: a feature that tells
the label, holdout rows that also stand in the train rows.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from biasbounty.arrays import Array, is_missing
from biasbounty.errors import SettingsError

Arrow: TypeAlias = Any

FEW = 50
"""A feature of at most so many values is looked at for whether it tells the label."""
TELLS = 0.999


@dataclass(frozen=True, eq=False)
class Part:
    """Rows with their labels."""

    X: Arrow
    y: Array

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, eq=False)
class Data:
    """The three parts of a bounty's rows."""

    train: Part
    public: Part
    holdout: Part

    def warnings(self) -> list[str]:
        """Say what looks like a slip."""
        return [*_twice(self), *_telling(self.train)]


def read_rows(data: bytes, what: str = "rows") -> Arrow:
    """Read a Parquet or CSV file."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        read = parquet.read_table if data[:4] == b"PAR1" else csv.read_csv
        table = read(io.BytesIO(data))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())[:200]
        raise SettingsError(
            f"{what} cannot be read: expected Parquet, or CSV in UTF-8 with a header, got {words}"
        ) from error
    names = table.column_names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingsError(f"{what} have columns of one name: expected distinct names, got {', '.join(twice)} twice")
    if not table.num_rows:
        raise SettingsError(f"{what} are empty: expected at least one row, got none")
    return table


def with_label(table: Arrow, label: str, what: str = "rows") -> Part:
    """Take the label out of the rows."""
    if label not in table.column_names:
        raise SettingsError(
            f"{what} have no label: expected a column {label!r}, got {', '.join(table.column_names)[:200]}"
        )
    y = table[label].to_numpy()
    missing = is_missing(y)
    if missing.any():
        raise SettingsError(
            f"{what} have rows without a label: expected one in each, got {int(missing.sum())} without, the first at "
            f"row {int(np.argmax(missing))}; drop these rows"
        )
    return Part(table.drop_columns([label]), y)


def in_three(part: Part, seed: int, public: float = 0.25, holdout: float = 0.5) -> Data:
    """Split rows at random."""
    if not (public > 0 and holdout > 0 and public + holdout < 1):
        raise SettingsError(
            f"shares are out of range: expected public and holdout above 0, and less than 1 together, got {public} and "
            f"{holdout}"
        )
    order = np.random.default_rng(seed).permutation(len(part))
    marks = np.rint(np.array([holdout, holdout + public]) * len(part)).astype(int)
    kept, shown, rest = (np.sort(ids) for ids in np.split(order, marks))
    if not (len(kept) and len(shown) and len(rest)):
        raise SettingsError(f"rows are too few: expected some for each of the three parts, got {len(part)} in all")
    return Data(*(Part(part.X.take(ids), part.y[ids]) for ids in (rest, shown, kept)))


def verify_alike(data: Data) -> None:
    """Raise unless the three parts have the same columns, of the same types."""
    for name, part in (("public", data.public), ("holdout", data.holdout)):
        if part.X.schema.remove_metadata() != data.train.X.schema.remove_metadata():
            raise SettingsError(
                f"{name} rows have other columns than train rows: expected {_columns(data.train)}, got {_columns(part)}"
            )


def _columns(part: Part) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in part.X.schema)[:300]


def _twice(data: Data) -> Iterator[str]:
    """Count holdout rows that also stand among rows that are shown, labels left aside."""
    for name, part in (("train", data.train), ("public", data.public)):
        both = _in_both(data.holdout.X, part.X)
        if both:
            yield (
                f"{both} of {len(data.holdout)} holdout rows also stand in the {name} rows: if they are the same "
                "people, hunters know their labels, and the guarantee does not hold for these"
            )


def _in_both(one: Arrow, other: Arrow) -> int:
    known = set(zip(*(column.to_pylist() for column in other.columns), strict=True))
    return sum(row in known for row in zip(*(column.to_pylist() for column in one.columns), strict=True))


def _telling(part: Part) -> Iterator[str]:
    """Find features that tell the label."""
    labels = np.unique(part.y, return_inverse=True)[1]
    for name, column in zip(part.X.column_names, part.X.columns, strict=True):
        codes = column.combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False) + 1
        if len(np.unique(labels)) > 1 and codes.max() <= FEW:
            counts = np.zeros((codes.max() + 1, labels.max() + 1))
            np.add.at(counts, (codes, labels), 1)
            if counts.max(axis=1).sum() >= TELLS * len(part):
                yield f"column {name!r} tells the label: expected a feature, got the label under another name, it seems"
