"""Rows: what a bounty shows of its data, as frames and labels.

Frames are of pandas where that is installed, else of polars, else of Arrow; everything here takes any of them.
"""

import io
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

from biasbounty.arrays import Array
from biasbounty.errors import MissingExtraError, SettingsError, UnreachableError

Frame: TypeAlias = Any
Kind: TypeAlias = Literal["pandas", "polars", "arrow"]


@dataclass(frozen=True, eq=False)
class Part:
    """Rows and their labels."""

    X: Frame
    y: Array

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True, eq=False)
class BountyData:
    """What hunters may see: rows to learn from, and rows to look at how they did."""

    train: Part
    public: Part


def read_part(data: bytes, label: str, kind: Kind | None = None) -> Part:
    """Read rows with their labels off a Parquet file."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.read_table(io.BytesIO(data))
        y = table[label].to_numpy()
    except (pa.ArrowException, OSError, KeyError) as error:
        raise UnreachableError(
            f"server sends other rows: expected Parquet with the label {label!r}, got {' '.join(str(error).split())}; "
            "try again"
        ) from error
    return Part(_frame(table.drop_columns([label]), kind), y.astype(str) if y.dtype.kind == "O" else y)


def _frame(table: Any, kind: Kind | None) -> Frame:
    if kind is None:
        kind = next((each for each in ("pandas", "polars") if find_spec(each)), "arrow")
    if kind not in get_args(Kind):
        raise SettingsError(f"frames of that kind are unknown: expected pandas, polars or arrow, got {kind!r:.40}")
    try:
        if kind == "polars":
            import polars

            return polars.from_arrow(table)
        return table.to_pandas() if kind == "pandas" else table
    except ImportError as error:
        raise MissingExtraError(f"frames of {kind} need it: install {kind}, or ask for another kind") from error
