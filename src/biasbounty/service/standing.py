"""Standing: where a checker stands, as text; so that a judge that starts again need not judge everything again.

An examination is a tree of frozen dataclasses: written as their names and fields, floats exactly, and read back from a
list of known classes only.
"""

import json
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from biasbounty.core import thresholds
from biasbounty.core.anytime import Anytime, AnytimeExamination
from biasbounty.core.checkers import Examination
from biasbounty.core.thresholds import Paper, Plain
from biasbounty.errors import StoreError
from biasbounty.statistics import surprise

_MODULES = (surprise, thresholds)
_KNOWN = {
    each.__name__: each
    for each in (
        Anytime,
        AnytimeExamination,
        Paper,
        Plain,
        *(
            each
            for module in _MODULES
            for each in vars(module).values()
            if isinstance(each, type) and is_dataclass(each)
        ),
    )
}


def write_standing(examination: Examination) -> str:
    """Return where a checker stands, as text."""
    return json.dumps(_written(examination), separators=(",", ":"))


def read_standing(text: str) -> Examination:
    """Return the checker that stands where the text says."""
    standing = _read(json.loads(text))
    if not isinstance(standing, Examination):
        raise StoreError(f"standing is none: expected an examination, got {type(standing).__name__}")
    return standing


def _written(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        kept = {field.name: _written(getattr(value, field.name)) for field in fields(value) if field.init}
        return {"is": type(value).__name__, "with": kept}
    if isinstance(value, np.ndarray):
        return {"is": "array", "with": [_written(each) for each in value.tolist()]}
    if isinstance(value, tuple):
        return {"is": "tuple", "with": [_written(each) for each in value]}
    if isinstance(value, float):
        return {"is": "float", "with": value.hex()}
    if isinstance(value, Fraction):
        return {"is": "fraction", "with": str(value)}
    if value is None or isinstance(value, (str, bool, int)):
        return value
    raise StoreError(f"standing cannot be kept: expected numbers, text and dataclasses, got {type(value).__name__}")


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kind, held = value["is"], value["with"]
    if kind == "float":
        return float.fromhex(held)
    if kind == "fraction":
        return Fraction(held)
    if kind in ("tuple", "array"):
        read = tuple(_read(each) for each in held)
        return np.array(read) if kind == "array" else read
    if kind not in _KNOWN:
        raise StoreError(f"standing is of another version: expected a known class, got {kind!r}")
    return _KNOWN[kind](**{name: _read(each) for name, each in held.items()})
