"""Parity: rows, and the answers that a decision list gives to them, for whoever runs its file in another place.

It is JSON. Numbers read back as the same ones; what JSON has no number for is "NaN", "Infinity" or "-Infinity", whole
numbers of 64 bits are in quotes, and missing text is null: `missing_text` stands for it in the inputs of the file.
"""

import json
from typing import Any

import numpy as np

from biasbounty.arrays import Array
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.errors import ConversionError
from biasbounty.exchange.exporting.check import tensors_of, verify_same
from biasbounty.exchange.exporting.leaves import as_data
from biasbounty.exchange.exporting.schema import output_name, schema_for
from biasbounty.exchange.onnx_feeds import MISSING_TEXT
from biasbounty.exchange.onnx_run import open_session
from biasbounty.exchange.schema import Schema

_NAMES = {"float64": "double", "float32": "float"}
_ENDLESS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def parity_rows(
    decision_list: PointerDecisionList, X: Any, round: int | None = None, *, schema: Schema | None = None
) -> bytes:
    """Return rows and the answers of a round (the newest if None), as JSON, to lie beside the exported file.

    Give the schema if the export was given one. The rows are written down as they are: take such as may be shown.
    """
    decision_list = as_data(decision_list.at(round), X)
    schema = schema_for(decision_list, schema, X)
    answers = decision_list.predict(X)
    parity = {
        "format": 1,
        "round": len(decision_list.heads) - 1,
        "rows": len(answers),
        "missing_text": MISSING_TEXT,
        "inputs": [_input(name, tensor) for name, tensor in tensors_of(X, schema).items()],
        "output": output_name(schema),
        "type": _type_of(answers),
        "expected": _written(answers),
    }
    return json.dumps(parity, allow_nan=False).encode()


def verify_parity(data: bytes, parity: bytes) -> None:
    """Raise ConversionError unless an exported file answers the rows of a parity file as it says."""
    said = json.loads(parity)
    tensors = {each["name"]: _tensor(each, said["missing_text"]) for each in said["inputs"]}
    got = open_session(data).run([said["output"]], tensors)[0]
    if _type_of(got) != said["type"]:
        raise ConversionError(
            f"exported list answers in another type: expected {said['type']}, got {_type_of(got)}; export it anew"
        )
    verify_same(_read(said["expected"], got.dtype), got)


def _input(name: str, tensor: Array) -> dict[str, Any]:
    values = tensor.ravel()
    written = (
        [None if one == MISSING_TEXT else one for one in values.tolist()] if _is_text(values) else _written(values)
    )
    return {"name": name, "type": _type_of(tensor), "shape": list(tensor.shape), "values": written}


def _tensor(given: dict[str, Any], missing_text: str) -> Array:
    if given["type"] == "string":
        values = [missing_text if one is None else one for one in given["values"]]
        return np.array(values, object).reshape(given["shape"])
    return _read(given["values"], np.dtype(np.float64)).reshape(given["shape"])


def _is_text(values: Array) -> bool:
    return values.dtype.kind in "OUT"


def _type_of(values: Array) -> str:
    return "string" if _is_text(values) else _NAMES.get(str(values.dtype), str(values.dtype))


def _written(values: Array) -> list[Any]:
    """Write values down, so that any reader of JSON reads just these."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        return [str(one) for one in values.tolist()]
    if values.dtype.kind == "f":
        return [_ENDLESS.get(str(one), one) for one in values.tolist()]
    written: list[Any] = values.tolist()
    return written


def _read(written: list[Any], dtype: np.dtype[Any]) -> Array:
    if dtype.kind in "OUT":
        return np.array(written, object)
    return np.array([float(one) if dtype.kind == "f" else int(one) for one in written], dtype)
