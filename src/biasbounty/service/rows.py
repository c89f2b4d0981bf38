"""Rows: a bounty's rows as they are kept, and read back. The holdout's features and labels are two artifacts, apart."""

import io
import json
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
from sqlalchemy import Connection

from biasbounty.arrays import Array
from biasbounty.exchange.schema import ColumnType, Schema
from biasbounty.service.data import Data, Part
from biasbounty.store.artifacts import get_file, put_file

Arrow: TypeAlias = Any

TRAIN, PUBLIC = "train", "public"
HOLDOUT_ROWS, HOLDOUT_LABELS, PUBLIC_LABELS = "holdout rows", "holdout labels", "public labels"
INITIAL, INITIAL_ANSWERS = "initial model", "initial answers"
SHOWN = {TRAIN, PUBLIC, INITIAL}
"""The files that hunters may have; those of the rounds come beside them."""


@dataclass(frozen=True)
class Sizes:
    """How many rows there are, public ones first."""

    public: int
    holdout: int


def put_data(connection: Connection, bounty: str, data: Data, label: str) -> dict[str, str]:
    """Keep a bounty's rows; return the hashes of those that may be shown, and of those that may not."""
    return {
        role: put_file(connection, bounty, role, content)
        for role, content in (
            (TRAIN, _parquet(_with_label(data.train, label))),
            (PUBLIC, _parquet(_with_label(data.public, label))),
            (PUBLIC_LABELS, _array(data.public.y)),
            (HOLDOUT_ROWS, _parquet(data.holdout.X)),
            (HOLDOUT_LABELS, _array(data.holdout.y)),
        )
    }


def features(connection: Connection, bounty: str, label: str) -> Arrow:
    """Return the features of public and holdout rows, public ones first: what who scores needs."""
    shown = public_features(connection, bounty, label)
    return joined(shown, read_table(get_file(connection, bounty, HOLDOUT_ROWS)))


def joined(public: Arrow, kept: Arrow) -> Arrow:
    """Return public rows and then the holdout's, as one table."""
    import pyarrow as pa

    return pa.concat_tables([public, kept]).combine_chunks()


def public_features(connection: Connection, bounty: str, label: str) -> Arrow:
    """Return the features of public rows alone."""
    return read_table(get_file(connection, bounty, PUBLIC)).drop_columns([label])


def labels(connection: Connection, bounty: str) -> tuple[Array, Array]:
    """Return the labels of public rows and of the holdout: what who judges needs."""
    return read_label_file(get_file(connection, bounty, PUBLIC_LABELS)), read_label_file(
        get_file(connection, bounty, HOLDOUT_LABELS)
    )


def public_labels(connection: Connection, bounty: str) -> Array:
    """Return the labels of public rows alone."""
    return read_label_file(get_file(connection, bounty, PUBLIC_LABELS))


def write_schema(schema: Schema) -> str:
    """Return a schema as text."""
    return json.dumps([asdict(column) for column in schema.columns])


def read_schema(text: str) -> Schema:
    """Read a schema that was kept."""
    columns = (
        ColumnType(each["name"], each["kind"], None if each["categories"] is None else tuple(each["categories"]))
        for each in json.loads(text)
    )
    return Schema(tuple(columns))


def _with_label(part: Part, label: str) -> Arrow:
    import pyarrow as pa

    return part.X.append_column(label, pa.array(part.y))


def _parquet(table: Arrow) -> bytes:
    from pyarrow import parquet

    written = io.BytesIO()
    parquet.write_table(table, written, compression="zstd")
    return written.getvalue()


def read_table(data: bytes) -> Arrow:
    """Read rows that were kept."""
    from pyarrow import parquet

    return parquet.read_table(io.BytesIO(data))


def _array(values: Array) -> bytes:
    import pyarrow as pa

    return _parquet(pa.table({"label": pa.array(values)}))


def read_label_file(data: bytes) -> Array:
    """Read labels that were kept."""
    return read_label_column(read_table(data)["label"])


def read_label_column(column: Arrow) -> Array:
    """Return a column of labels as an array."""
    values: Array = column.to_numpy()
    return values.astype(str) if values.dtype.kind == "O" else np.asarray(values)
