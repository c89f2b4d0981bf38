"""Data: an organizer's rows, from Parquet or CSV, refused in words where they cannot be used.

Rows are kept as Arrow tables, the label apart. What is only strange, and not wrong, is a warning (`service.slips`).
"""

import io
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from biasbounty.arrays import Array, is_missing
from biasbounty.errors import SettingsError

Arrow: TypeAlias = Any

MOST_BYTES, MOST_CELLS = 2**31, 5 * 10**7
"""A Parquet file of a few bytes can hold any number of rows: it may have so many."""


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


def read_rows(data: bytes, what: str = "rows") -> Arrow:
    """Read a Parquet or CSV file."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    try:
        if data[:4] == b"PAR1":
            _require_bounded(parquet.read_metadata(io.BytesIO(data)), what)
        read = parquet.read_table if data[:4] == b"PAR1" else csv.read_csv
        table = read(io.BytesIO(data))
        names = table.column_names
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        words = " ".join(str(error).split())[:200]
        raise SettingsError(
            f"{what} cannot be read: expected Parquet, or CSV in UTF-8 with a header, got {words}"
        ) from error
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise SettingsError(f"{what} have columns of one name: expected distinct names, got {', '.join(twice)} twice")
    if not table.num_rows:
        raise SettingsError(f"{what} are empty: expected at least one row, got none")
    _require_readable(table, what)
    return table


def _require_readable(table: Arrow, what: str) -> None:
    """Raise if a column is neither numbers, text nor dates: text in another encoding is read as bytes."""
    import pyarrow as pa

    for field in table.schema:
        if pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
            raise SettingsError(
                f"{what} have a column {field.name!r:.60} that is no text: expected UTF-8, got other bytes; save "
                "the file as UTF-8"
            )
        if pa.types.is_nested(field.type):
            raise SettingsError(
                f"{what} have a column {field.name!r:.60} of several values a row: expected one number, text or date, "
                f"got {field.type}; make a column of each"
            )


def _require_bounded(metadata: Any, what: str) -> None:
    """Raise if a file, unpacked, would be larger than any that could have been sent."""
    groups = (metadata.row_group(place) for place in range(metadata.num_row_groups))
    size, cells = sum(group.total_byte_size for group in groups), metadata.num_rows * metadata.num_columns
    if size > MOST_BYTES or cells > MOST_CELLS:
        raise SettingsError(
            f"{what} are too large: expected at most {MOST_BYTES:,} bytes and {MOST_CELLS:,} cells unpacked, got "
            f"{size:,} and {cells:,}; take fewer rows"
        )


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
                f"{name} rows have other columns than train rows: expected {_columns(data.train)}, got "
                f"{_columns(part)}; hand in one file and have it split, or Parquet files of one schema"
            )


def _columns(part: Part) -> str:
    return ", ".join(f"{field.name} {field.type}" for field in part.X.schema)[:300]
