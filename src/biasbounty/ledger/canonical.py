"""Canonical JSON: one text for one value, so that it can be hashed.

Keys in order of their code points, no spaces, UTF-8 as it is. Only what every language writes in the same way is taken:
objects, lists, text, whole numbers up to 2**53, true, false and null. Floats are not; `exact` writes one as text.
"""

import json
from typing import Any

from biasbounty.errors import LedgerError

LARGEST = 2**53


def canonical(value: Any) -> bytes:
    """Return a value's one text; raise LedgerError for what has none."""
    _require_plain(value)
    try:
        return _written(value)
    except RecursionError as error:
        raise LedgerError("entry is too deep: expected a few levels of lists and objects, got hundreds") from error


def exact(number: float) -> str:
    """Return a float as text that tells it from any other."""
    return float(number).hex()


def parse(text: bytes) -> Any:
    """Read a value; raise LedgerError unless the text is the canonical one."""
    try:
        value = json.loads(text, parse_float=_refuse, parse_constant=_refuse, parse_int=_small)
        same = _written(value) == text
    except (ValueError, RecursionError, UnicodeError) as error:
        raise LedgerError(f"entry is no JSON: expected canonical JSON, got {text[:60]!r}") from error
    if not same:
        raise LedgerError(f"entry is not canonical: expected sorted keys and no spaces, got {text[:60]!r}")
    return value


def _written(value: Any) -> bytes:
    return _encode(value).encode()


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False).encode


def _small(number: str) -> int:
    if len(number) > 17 or abs(int(number)) > LARGEST:
        raise ValueError(f"a number that is too large: {number[:20]}")
    return int(number)


def _refuse(number: str) -> Any:
    raise ValueError(f"a number that is not whole: {number}")


def _require_plain(value: Any) -> None:
    """Look at all that is in the value, without going deep on the stack."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            if not all(isinstance(key, str) for key in each):
                raise LedgerError("entry has a key that is no text: expected text, got another kind")
            left.extend(each)
            left.extend(each.values())
        elif isinstance(each, (list, tuple)):
            left.extend(each)
        elif isinstance(each, str):
            _require_unicode(each)
        elif not (each is None or isinstance(each, bool) or (isinstance(each, int) and abs(each) <= LARGEST)):
            raise LedgerError(
                f"entry holds what canonical JSON does not: expected text, lists, objects, whole numbers to 2**53, "
                f"got {type(each).__name__}; write floats by exact()"
            )


def _require_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise LedgerError("entry holds text that is no Unicode: expected no lone surrogates, got some") from error
