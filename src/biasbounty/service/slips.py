"""Slips: what looks wrong about an organizer's rows and model, and need not be. Each is a warning in words.

A feature that tells the label; holdout rows that also stand among rows that are shown; a model that does worse than a
constant answer, as one does whose labels mean something else.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from biasbounty.arrays import Array, plain, shown
from biasbounty.service.data import Data, Part

FEW = 50
"""A feature of at most so many values is looked at for whether each of them has its label."""
MISSED = 0.001
"""It tells the label if so few rows have another, and far fewer than by guessing."""


def find_slips(data: Data, initial_risk: float, constant_risk: tuple[float, Any]) -> list[str]:
    """Say what looks like a slip, given the initial model's risk on public rows, and that of the best constant."""
    return [*_twice(data), *_telling(data.train), *_worse(initial_risk, *constant_risk)]


def _worse(risk: float, constant_risk: float, answer: Any) -> Iterator[str]:
    if risk > constant_risk:
        yield (
            f"initial model is worse than no model: its risk on public rows is {risk:.3g}, and {constant_risk:.3g} for "
            f"always answering {shown(answer)}; look whether it is the right file, and means the same labels"
        )


def _twice(data: Data) -> Iterator[str]:
    """Count holdout rows that also stand among rows that are shown, label and all, and how many would by chance."""
    for name, part in (("train", data.train), ("public", data.public)):
        holdout, other = _row_numbers(data.holdout, part)
        both = int(np.isin(holdout, other).sum())
        chance = _twins(holdout) * len(other) / len(holdout)
        if both > 2 * chance:
            yield (
                f"{both} of {len(holdout)} holdout rows also stand in the {name} rows, where chance explains some "
                f"{chance:.0f}: if they are the same people, hunters know their labels, and the guarantee does not hold"
            )
        elif both:
            yield (
                f"{both} of {len(holdout)} holdout rows look like {name} rows: as many as chance explains, since rows "
                "of so few columns are often alike"
            )


def _twins(numbers: Array) -> int:
    """Count the rows that are alike within the holdout: people do not stand there twice."""
    counts = np.unique(numbers, return_counts=True)[1]
    return int(counts[counts > 1].sum())


def _row_numbers(one: Part, other: Part) -> tuple[Array, Array]:
    """Give the rows of both parts numbers, so that equal rows, label included, have equal numbers."""
    numbers = np.unique(np.concatenate([one.y, other.y]), return_inverse=True)[1].astype(np.int64)
    for mine, theirs in zip(one.X.columns, other.X.columns, strict=True):
        codes = _codes(mine, theirs)
        numbers = np.unique(numbers * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return numbers[: len(one)], numbers[len(one) :]


def _codes(*columns: Any) -> Array:
    """Give the values of columns numbers; what is missing is 0."""
    import pyarrow as pa

    chunks = [chunk for column in columns for chunk in column.chunks]
    indices = pa.chunked_array(chunks, columns[0].type).combine_chunks().dictionary_encode().indices
    codes: Array = indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    return codes


def _telling(part: Part) -> Iterator[str]:
    """Find features that tell the label."""
    labels = np.unique(part.y, return_inverse=True)[1]
    if labels.max() == 0:
        return
    for name, column in zip(part.X.column_names, part.X.columns, strict=True):
        if _is_copy(column, part.y) or _tells(_codes(column), labels):
            yield f"column {name!r} tells the label: expected a feature, got the label under another name, it seems"


def _is_copy(column: Any, y: Array) -> bool:
    """Say whether a column of numbers is the label again."""
    import pyarrow as pa

    numbers = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if not numbers or y.dtype.kind not in "iuf":
        return False
    return bool(np.array_equal(column.to_numpy(), y))


def _tells(codes: Array, labels: Array) -> bool:
    """Say whether each of a few values has its own label."""
    if codes.max() > FEW or labels.max() > FEW:
        return False
    counts = np.zeros((int(codes.max()) + 1, int(labels.max()) + 1))
    np.add.at(counts, (codes, labels), 1)
    missed, guessed = (len(labels) - hits for hits in (counts.max(axis=1).sum(), counts.sum(axis=0).max()))
    return bool(missed <= MISSED * len(labels) and missed <= guessed / 10)


def best_constant(y: Array) -> Any:
    """Return the label that most rows have; of numbers with many values, the median."""
    values, counts = np.unique(y, return_counts=True)
    if len(values) > FEW and y.dtype.kind == "f":
        return plain(np.median(y))
    return plain(values[np.argmax(counts)])
