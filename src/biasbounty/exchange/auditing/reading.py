"""Reading: bytes become a ModelProto, after a look at the bytes alone has shown that parsing them is harmless.

Two bytes can be a whole message, so a small file can take a hundred times its size in memory; and messages can nest.
So the parts of a file are counted first, in its bytes: which fields there are, how many messages, how deep. What the
installed onnx has no field for is refused too: the runtime might know it, and whatever it knows has to be looked at.
Nothing here recurses, and nothing here has the file's numbers looked at one by one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from biasbounty.errors import MissingExtraError, RefusedError

MOST_BYTES = 64 * 2**20
MOST_PARTS = 200_000
"""How many messages, and fields other than runs of numbers and short texts, a file may have."""
MOST_NESTED = 64
"""How deep messages may nest; a subgraph takes three levels. Protobuf's own limit is 100."""

Model: TypeAlias = Any
Message: TypeAlias = Any

_SHORT_TEXTS = range(4, 32)
"""Texts of these lengths are not counted: the modes of a tree's nodes, one for each node. Shorter ones are, for they
take ten times their size in memory."""
_WIDTHS = {1: 8, 5: 4}
"""How many bytes the value of a field of each fixed wire type has."""


def read(data: Any) -> Model:
    """Return the model that the bytes hold, or raise RefusedError."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise RefusedError([f"file is none: expected bytes, got {type(data).__name__}; hand in what the file holds"])
    if memoryview(data).nbytes > MOST_BYTES:
        raise RefusedError(
            [
                f"file is too large: expected at most {MOST_BYTES:,} bytes, got {memoryview(data).nbytes:,}; make the "
                "model smaller, with fewer or shallower trees, say"
            ]
        )
    given = bytes(data)
    _Scan(given).verify()
    return _parsed(given)


def _parsed(data: bytes) -> Model:
    kind = onnx_classes().ModelProto
    try:
        model = kind.FromString(data)
    except Exception as error:  # whatever protobuf makes of a stranger's bytes is a refusal
        raise _unreadable() from error
    if not model.HasField("graph"):
        raise _unreadable()
    return model


def _unreadable() -> RefusedError:
    return RefusedError(
        [
            "file is no ONNX model: expected one, got other bytes or a part of one; export it again, and hand in all "
            "of it"
        ]
    )


def onnx_classes() -> Any:
    """Return onnx, which is imported only here and only when needed."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError(
            "onnx is missing: expected it to be installed, got nothing; install biasbounty[onnx]"
        ) from error
    return onnx


@dataclass(frozen=True)
class _Kind:
    """What a message can hold: which fields are messages, of what kind, and what runs of the others look like."""

    name: str
    messages: dict[int, str]
    wires: dict[int, tuple[int, ...]]
    """For each field, the wire types it may have."""
    texts: frozenset[int]
    run: re.Pattern[bytes] | None


@cache
def _kinds() -> dict[str, _Kind]:
    """Return every kind of message that a model can hold, by its name, as the installed onnx describes it."""
    kinds: dict[str, _Kind] = {}
    waiting = [onnx_classes().ModelProto.DESCRIPTOR]
    while waiting:
        described = waiting.pop()
        if described.name not in kinds:
            kinds[described.name] = _kind(described)
            waiting += [field.message_type for field in described.fields if field.message_type is not None]
    return kinds


def _kind(described: Any) -> _Kind:
    messages = {field.number: field.message_type.name for field in described.fields if field.message_type is not None}
    wires = {field.number: _wires(field) for field in described.fields}
    texts = frozenset(field.number for field in described.fields if field.type == field.TYPE_STRING)
    return _Kind(described.name, messages, wires, texts, _run(described.fields))


def _wires(field: Any) -> tuple[int, ...]:
    """Return the wire types that a field's values may have: packed or not where they are numbers."""
    if field.type in (field.TYPE_MESSAGE, field.TYPE_STRING, field.TYPE_BYTES):
        return (2,)
    single = {field.TYPE_FLOAT: 5, field.TYPE_DOUBLE: 1}.get(field.type, 0)
    return (single, 2) if _is_repeated(field) else (single,)


def _is_repeated(field: Any) -> bool:
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def _run(fields: Any) -> re.Pattern[bytes] | None:
    """Return the pattern of a run of short values of repeated fields, which the standard library skips in C."""
    ways = [_value(field) for field in fields if _is_repeated(field) and _is_plain(field) and field.number < 16]
    return re.compile(b"(?:" + b"|".join(ways) + b")++", re.DOTALL) if ways else None


def _is_plain(field: Any) -> bool:
    return field.message_type is None and field.type != field.TYPE_STRING


def _value(field: Any) -> bytes:
    wire = _wires(field)[0]
    tag = re.escape(bytes([field.number << 3 | wire]))
    if wire == 2:
        lengths = (re.escape(bytes([size])) + b".{%d}" % size for size in _SHORT_TEXTS)
        return tag + b"(?:" + b"|".join(lengths) + b")"
    return tag + (b"[\x80-\xff]{0,9}[\x00-\x7f]" if wire == 0 else b".{%d}" % _WIDTHS[wire])


class _Scan:
    """Counts the parts of a file, in its bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self._parts = data, 0

    def verify(self) -> None:
        """Raise RefusedError where a file has too many parts, too deep ones, or such as onnx does not know."""
        kinds = _kinds()
        waiting = [(0, len(self._data), kinds["ModelProto"], 1)]
        while waiting:
            start, end, kind, depth = waiting.pop()
            if depth > MOST_NESTED:
                raise _too_deep()
            waiting += [(first, last, kinds[name], depth + 1) for first, last, name in self._messages(start, end, kind)]

    def _messages(self, start: int, end: int, kind: _Kind) -> Iterator[tuple[int, int, str]]:
        """Yield where the messages of one message are, and of which kind."""
        while start < end:
            run = kind.run.match(self._data, start, end) if kind.run is not None else None
            if run is not None:
                start = run.end()
                continue
            number, wire, start = self._tag(start, end, kind)
            first = self._varint(start, end)[1] if wire == 2 else start
            last = self._after(start, end, wire)
            if number in kind.messages:
                yield first, last, kind.messages[number]
            elif number in kind.texts:
                _verify_text(self._data[first:last])
            start = last

    def _tag(self, start: int, end: int, kind: _Kind) -> tuple[int, int, int]:
        self._parts += 1
        if self._parts > MOST_PARTS:
            raise RefusedError(
                [
                    f"file has too many parts: expected at most {MOST_PARTS:,}, got more; make the graph smaller, with "
                    "tensors in place of many nodes"
                ]
            )
        tag, start = self._varint(start, end)
        number, wire = tag >> 3, tag & 7
        if wire not in kind.wires.get(number, ()):
            raise RefusedError(
                [
                    f"file is no ONNX model, or a newer one: expected a field of {kind.name} that onnx knows, got "
                    f"number {number} of wire type {wire}; export it again, with an older version of onnx"
                ]
            )
        return number, wire, start

    def _after(self, start: int, end: int, wire: int) -> int:
        """Return where the value ends that begins here."""
        if wire == 0:
            return self._varint(start, end)[1]
        if wire == 2:
            size, start = self._varint(start, end)
        else:
            size = _WIDTHS[wire]
        if start + size > end:
            raise _unreadable()
        return start + size

    def _varint(self, start: int, end: int) -> tuple[int, int]:
        number = 0
        for place in range(start, min(start + 10, end)):
            byte = self._data[place]
            number |= (byte & 0x7F) << 7 * (place - start)
            if byte < 0x80:
                return number, place + 1
        raise _unreadable()


def _verify_text(words: bytes) -> None:
    try:
        words.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(
            ["file has a name that is no text: expected UTF-8, got other bytes; export it again"]
        ) from error


def _too_deep() -> RefusedError:
    return RefusedError(
        [
            f"graph nests too deep: expected at most {MOST_NESTED} levels, about {MOST_NESTED // 3 - 1} subgraphs "
            "within one another, got more; use Where in place of If, or one graph after another"
        ]
    )
