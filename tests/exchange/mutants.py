"""Mutants: valid models, each with a little of it changed at random, in its bytes or in its parts."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from onnx import ModelProto

Rng: TypeAlias = np.random.Generator
Field: TypeAlias = tuple[int, int, bytes]
"""A field's number, wire type, and value as it stands there, less its length."""

_EXTREMES = (0, 1, 2, 7, 127, 255, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**64 - 1, 2**64 - 2)
_WIDTHS = {1: 8, 5: 4}


def mutant(models: Sequence[bytes], rng: Rng) -> bytes:
    """Return one of the models with one to four changes."""
    data = models[int(rng.integers(len(models)))]
    for _ in range(int(rng.integers(1, 5))):
        data = _WAYS[int(rng.integers(len(_WAYS)))](data, models[int(rng.integers(len(models)))], rng)
    return data


def _place(data: bytes, rng: Rng) -> int:
    return int(rng.integers(len(data) + 1))


def _flipped(data: bytes, _other: bytes, rng: Rng) -> bytes:
    bits = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        if bits:
            bits[int(rng.integers(len(bits)))] ^= 1 << int(rng.integers(8))
    return bytes(bits)


def _cut(data: bytes, _other: bytes, rng: Rng) -> bytes:
    return data[: _place(data, rng)]


def _spliced(data: bytes, other: bytes, rng: Rng) -> bytes:
    start, end = sorted((_place(other, rng), _place(other, rng)))
    put, until = _place(data, rng), _place(data, rng)
    return data[:put] + other[start : min(end, start + 200)] + data[put if rng.random() < 0.5 else max(put, until) :]


def _in_parts(change: Callable[[list[Field], Any, Rng], None]) -> Callable[[bytes, bytes, Rng], bytes]:
    """Return a way to change the fields of one message, somewhere in a model."""

    def changed(data: bytes, _other: bytes, rng: Rng) -> bytes:
        try:
            return _changed(data, ModelProto.DESCRIPTOR, change, rng)
        except ValueError:
            return data

    return changed


def _changed(data: bytes, kind: Any, change: Callable[[list[Field], Any, Rng], None], rng: Rng) -> bytes:
    """Go down into a message at random, change it, and write all around it anew."""
    fields = list(_fields(data))
    inner = [place for place, (number, wire, _) in enumerate(fields) if wire == 2 and _message(kind, number)]
    if inner and rng.random() < 0.8:
        place = inner[int(rng.integers(len(inner)))]
        number, wire, value = fields[place]
        fields[place] = number, wire, _changed(value, _message(kind, number), change, rng)
    elif fields:
        change(fields, kind, rng)
    return b"".join(map(_written, fields))


def _message(kind: Any, number: int) -> Any:
    field = kind.fields_by_number.get(number)
    return field.message_type if field is not None else None


def _fields(data: bytes) -> Iterator[Field]:
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        size = _WIDTHS.get(tag & 7)
        if tag & 7 == 0:
            size = _varint(data, place)[1] - place
        elif tag & 7 == 2:
            size, place = _varint(data, place)
        if size is None or place + size > len(data):
            raise ValueError("no message")
        yield tag >> 3, tag & 7, data[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = 0
    for turn in range(10):
        if place + turn >= len(data):
            break
        number |= (data[place + turn] & 127) << 7 * turn
        if data[place + turn] < 128:
            return number, place + turn + 1
    raise ValueError("no number")


def _number(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _written(field: Field) -> bytes:
    number, wire, value = field
    return _number(number << 3 | wire) + (_number(len(value)) if wire == 2 else b"") + value


def _doubled(fields: list[Field], _kind: Any, rng: Rng) -> None:
    fields.insert(int(rng.integers(len(fields) + 1)), fields[int(rng.integers(len(fields)))])


def _swapped(fields: list[Field], _kind: Any, rng: Rng) -> None:
    one, other = (int(rng.integers(len(fields))) for _ in range(2))
    if rng.random() < 0.5:
        fields[one], fields[other] = fields[other], fields[one]
    elif fields[one][1] == fields[other][1]:
        fields[one] = (*fields[one][:2], fields[other][2])


def _dropped(fields: list[Field], _kind: Any, rng: Rng) -> None:
    del fields[int(rng.integers(len(fields)))]


def _renumbered(fields: list[Field], kind: Any, rng: Rng) -> None:
    place = int(rng.integers(len(fields)))
    numbers = sorted(kind.fields_by_number)
    fields[place] = (numbers[int(rng.integers(len(numbers)))], *fields[place][1:])


def _extreme(fields: list[Field], _kind: Any, rng: Rng) -> None:
    whole = [place for place, (_, wire, _value) in enumerate(fields) if wire == 0]
    if whole:
        place = whole[int(rng.integers(len(whole)))]
        fields[place] = (*fields[place][:2], _number(_EXTREMES[int(rng.integers(len(_EXTREMES)))]))


def _garbled(fields: list[Field], _kind: Any, rng: Rng) -> None:
    place = int(rng.integers(len(fields)))
    number, wire, value = fields[place]
    if wire in _WIDTHS:
        fields[place] = number, wire, rng.bytes(len(value))
    elif wire == 2 and value:
        fields[place] = number, wire, _flipped(value, b"", rng)


_WAYS = (
    _flipped,
    _cut,
    _spliced,
    *(_in_parts(change) for change in (_doubled, _swapped, _dropped, _renumbered, _extreme, _extreme, _garbled)),
)
