"""Columns: one number for each holdout row, packed so that every sum is a popcount.

A column is an array of bit planes: plane i holds bit i of each row's number, 64 rows to a word. A mask is one plane, a
zero-one loss is one plane, any other loss is sixteen (its multiple of 1/65535). All sums are exact integers, so they
add across shards in any order.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Column: TypeAlias = npt.NDArray[np.uint64]
"""Bit planes, shape (bits, words)."""
Plane: TypeAlias = npt.NDArray[np.uint64]
"""One bit of every row, shape (words,)."""

LEVELS = 65535
"""A loss that is not zero-one is stored as a multiple of one part in this many."""

_CHUNK = 1 << 15
"""Words handled at a time: a plane's chunk and its intermediate results stay in the cache."""


def pack(numbers: npt.NDArray[Any], bits: int) -> Column:
    """Pack one non-negative number below 2^bits for each row."""
    words = -(-len(numbers) // 64)
    planes = np.zeros((bits, words * 8), np.uint8)
    for bit in range(bits):
        ones = numbers if numbers.dtype == np.bool_ else (numbers >> bit) & 1 != 0
        packed = np.packbits(ones, bitorder="little")
        planes[bit, : len(packed)] = packed
    return planes.view(np.uint64)


def unpack(column: Column, size: int) -> npt.NDArray[np.int64]:
    """Return the number of each row: the inverse of `pack`."""
    bits = np.unpackbits(column.view(np.uint8), axis=1, count=size, bitorder="little")
    return np.asarray((1 << np.arange(len(column))) @ bits.astype(np.int64))


def choose(mask: Column, inside: Column, outside: Column) -> Column:
    """Return the column that is `inside` on the mask and `outside` elsewhere."""
    return (inside & mask) | (outside & ~mask)


def total(column: Column, mask: Column) -> int:
    """Return the sum of the column over the mask."""
    return sum(
        int(np.bitwise_count(plane[chunk] & mask[0, chunk]).sum()) << bit
        for chunk in _chunks(column)
        for bit, plane in enumerate(column)
    )


def moments(mask: Column, before: Column, after: Column) -> tuple[int, int]:
    """Return the sum and the sum of squares of `before - after` over the mask."""
    return _bit_moments(mask[0], before[0], after[0]) if len(before) == 1 else _number_moments(mask, before, after)


def _bit_moments(mask: Plane, before: Plane, after: Plane) -> tuple[int, int]:
    """For bits the squares are where they differ, and of those the ones before count up, the others down."""
    differ = (before ^ after) & mask
    count = int(np.bitwise_count(differ).sum())
    return 2 * int(np.bitwise_count(differ & before).sum()) - count, count


def _number_moments(mask: Column, before: Column, after: Column) -> tuple[int, int]:
    first = second = 0
    weights = [*(1 << bit for bit in range(len(before))), -(1 << len(before))]
    for chunk in _chunks(before):
        planes = _subtract(before[:, chunk] & mask[:, chunk], after[:, chunk] & mask[:, chunk])
        for i, (weight, plane) in enumerate(zip(weights, planes, strict=True)):
            count = int(np.bitwise_count(plane).sum())
            first += weight * count
            second += weight * weight * count
            for j in range(i):
                second += 2 * weight * weights[j] * int(np.bitwise_count(plane & planes[j]).sum())
    return first, second


def _subtract(left: Column, right: Column) -> Column:
    """Subtract row by row, bit by bit; the result has one plane more, the sign of two's complement."""
    bits, words = left.shape
    result = np.empty((bits + 1, words), np.uint64)
    borrow = np.zeros(words, np.uint64)
    for bit, (a, b) in enumerate(zip(left, right, strict=True)):
        differs = a ^ b
        result[bit] = differs ^ borrow
        borrow = (~a & b) | (~differs & borrow)
    result[bits] = borrow
    return result


def _chunks(column: Column) -> Iterator[slice]:
    for start in range(0, column.shape[1], _CHUNK):
        yield slice(start, start + _CHUNK)
