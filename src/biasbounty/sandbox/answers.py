"""Answers of jobs: arrays, or words on what went wrong, in a form that is read without trusting a byte of it.

A job has run a stranger's model and may be in a stranger's hands. So nothing here is executed or looked up by name:
numbers of fixed width, each held against what it may be, then the arrays themselves.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import Array, is_text
from biasbounty.errors import SubmissionFailedError
from biasbounty.values import as_note

ARRAYS, FAILED, REFUSED, NO_MEMORY = range(4)

MOST_BYTES = 1 << 28
_MOST_ARRAYS = 256
_MOST_AXES = 32
_MOST_WORDS = 4096

_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
_TYPES = _NAMES.split()
_TEXT = len(_TYPES)
_HEAD = struct.Struct("<4sBH")
_MAGIC = b"BBA1"
_ARRAY = struct.Struct("<BBI")
_MOST_CODE_POINT, _SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)


class ForgedError(Exception):
    """Bytes are no answer."""


@dataclass(frozen=True)
class Told:
    """Words of a job on what went wrong: whether it failed, was refused or ran out of memory."""

    kind: int
    words: str


def write_arrays(arrays: Sequence[Array]) -> list[bytes | memoryview]:
    """Return arrays as pieces of an answer."""
    parts: list[bytes | memoryview] = [_HEAD.pack(_MAGIC, ARRAYS, len(arrays))]
    for array in arrays:
        body = np.ascontiguousarray(array.astype(str) if is_text(array) else array)
        name = body.dtype.newbyteorder("=").name
        if not is_text(body) and name not in _TYPES:
            raise SubmissionFailedError(
                f"model has an answer of another type: expected {', '.join(_TYPES)}, got {name}"
            )
        code = _TEXT if is_text(body) else _TYPES.index(name)
        width = body.dtype.itemsize
        parts += [_ARRAY.pack(code, array.ndim, width), struct.pack(f"<{array.ndim}Q", *array.shape)]
        parts.append(body.reshape(-1).view(np.uint8).data)
    return parts


def write_words(kind: int, words: str) -> bytes:
    """Return words as an answer."""
    return _HEAD.pack(_MAGIC, kind, 0) + words.encode(errors="replace")[:_MOST_WORDS]


def read(data: bytes) -> list[Array] | Told:
    """Read an answer; raise ForgedError if it is none."""
    magic, kind, count = _taken(_HEAD, data, 0)
    if magic != _MAGIC or kind not in (ARRAYS, FAILED, REFUSED, NO_MEMORY) or count > _MOST_ARRAYS:
        raise ForgedError
    if kind != ARRAYS:
        return Told(kind, as_note(data[_HEAD.size : _HEAD.size + _MOST_WORDS].decode(errors="replace")))
    at, arrays = _HEAD.size, []
    for _ in range(count):
        array, at = _read_array(data, at)
        arrays.append(array)
    if at != len(data):
        raise ForgedError
    return arrays


def _read_array(data: bytes, at: int) -> tuple[Array, int]:
    """Return the array at a place, and where it ends."""
    code, axes, width = _taken(_ARRAY, data, at)
    if code > _TEXT or axes > _MOST_AXES:
        raise ForgedError
    at += _ARRAY.size
    shape = _taken(struct.Struct(f"<{axes}Q"), data, at)
    at += 8 * axes
    size = math.prod(shape)
    dtype = _dtype(code, width)
    if size * width > len(data) - at or max(shape, default=0) > MOST_BYTES:
        raise ForgedError
    array = _shaped(np.frombuffer(data, dtype, size, at), shape)
    if not _holds(array):
        raise ForgedError
    return array, at + size * width


def _shaped(values: Array, shape: tuple[int, ...]) -> Array:
    """Return values in a shape; of no values numpy still refuses some."""
    try:
        return values.reshape(shape).copy()
    except ValueError as error:
        raise ForgedError from error


def _dtype(code: int, width: int) -> np.dtype[Any]:
    if code == _TEXT:
        if width % 4 or not 0 < width <= MOST_BYTES:
            raise ForgedError
        return np.dtype(f"<U{width // 4}")
    dtype = np.dtype(_TYPES[code])
    if width != dtype.itemsize:
        raise ForgedError
    return dtype


def _holds(array: Array) -> bool:
    """Say whether booleans are 0 and 1, and text is Unicode."""
    if array.dtype.kind == "b":
        return bool((array.reshape(-1).view(np.uint8) <= 1).all())
    if array.dtype.kind != "U":
        return True
    letters = array.reshape(-1).view(np.uint32)
    is_half = (letters >= _SURROGATES[0]) & (letters <= _SURROGATES[1])
    return bool((letters <= _MOST_CODE_POINT).all() and not is_half.any())


def _taken(form: struct.Struct, data: bytes, at: int) -> tuple[Any, ...]:
    if len(data) - at < form.size:
        raise ForgedError
    return form.unpack_from(data, at)
