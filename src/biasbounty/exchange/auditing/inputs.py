"""Inputs and output: a model takes in columns by name, or a matrix of them, and answers one value for each row."""

from collections.abc import Iterator
from typing import Any

from biasbounty.arrays import shown
from biasbounty.exchange.auditing.contents import ELEMENTS as NAMES
from biasbounty.exchange.auditing.reading import Model
from biasbounty.exchange.onnx_feeds import ELEMENTS
from biasbounty.exchange.predicate_binding import nearest
from biasbounty.exchange.schema import ColumnType, Schema

MOST_INPUTS = 10_000
MOST_LETTERS = 200
"""A name that is not known is compared by so many letters."""

_NUMERIC = ("numbers", "moments", "durations", "nothing")


def inputs_of(model: Model) -> list[Any]:
    """Return the inputs that have to be given: all but those that are initializers."""
    initialized = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in initialized]


def input_reasons(model: Model, schema: Schema | None) -> Iterator[str]:
    """Yield what is wrong with the inputs, by themselves or for rows of this schema."""
    given = inputs_of(model)
    if not 1 <= len(given) <= MOST_INPUTS:
        yield f"model takes in no columns: expected 1 to {MOST_INPUTS:,} inputs, got {len(given):,}; give it some"
        return
    if len({value.name for value in given}) != len(given):
        yield "inputs share a name: expected distinct names, got some twice; rename them"
        return
    for value in given:
        problems = list(_own_reasons(value))
        yield from problems
        if schema is not None and not problems:
            yield from _schema_reasons(value, len(given) == 1, schema)
        if schema is None and not problems and len(given) > 1:
            yield from _width_reasons(value)


def _own_reasons(value: Any) -> Iterator[str]:
    """Yield whether rows could not be cast to an input, or do not lie along its first axis."""
    name, tensor = shown(value.name), value.type.tensor_type
    if tensor.elem_type not in ELEMENTS:
        yield (
            f"input {name} is of another type: expected float, double, int64 or string, got "
            f"{NAMES.get(tensor.elem_type, 'something else')}; convert the model with one of these and cast inside"
        )
    dims = tensor.shape.dim
    if not 1 <= len(dims) <= 2:
        yield (
            f"input {name} is no column and no matrix: expected shape [N, 1], [N] or [N, columns], got "
            f"{_shape_words(value)}; reshape inside the model"
        )
    elif dims[0].HasField("dim_value"):
        yield (
            f"input {name} has a fixed number of rows: expected a symbolic first axis, got {dims[0].dim_value}; export "
            "with a dynamic batch axis"
        )


def _width(value: Any) -> int | None:
    """Return the length of an input's second axis; 1 where there is none, None where it is not told."""
    dims = value.type.tensor_type.shape.dim
    if len(dims) == 1:
        return 1
    return int(dims[1].dim_value) if dims[1].HasField("dim_value") else None


def _width_reasons(value: Any) -> Iterator[str]:
    """Yield whether one of several inputs is more than one column."""
    if _width(value) not in (1, None):
        yield (
            f"input {shown(value.name)} is no column: expected shape [N, 1] or [N] for one of several inputs, got "
            f"{_shape_words(value)}; give each column its own input, or all of them one"
        )


def _schema_reasons(value: Any, alone: bool, schema: Schema) -> Iterator[str]:
    place = schema.places.get(value.name)
    if place is not None:
        yield from _width_reasons(value)
        yield from _kind_reasons(value, schema.columns[place])
    elif alone and len(value.type.tensor_type.shape.dim) == 2:
        yield from _matrix_reasons(value, schema)
    else:
        yield (
            f"input {shown(value.name)} names no column: expected a column of the rows, got another name; "
            f"{_advice(value.name, schema)}"
        )


def _matrix_reasons(value: Any, schema: Schema) -> Iterator[str]:
    name, width = shown(value.name), _width(value)
    if width not in (None, len(schema.columns)):
        yield (
            f"input {name} fits no column and no matrix: expected shape [N, {len(schema.columns)}], got "
            f"{_shape_words(value)}; take in all columns, or name the input as the one that it is: "
            f"{_advice(value.name, schema)}"
        )
    for column in schema.columns:
        yield from _kind_reasons(value, column)


def _kind_reasons(value: Any, column: ColumnType) -> Iterator[str]:
    """Yield whether an input is not of a column's kind: text goes into strings, numbers into others."""
    is_text = ELEMENTS[value.type.tensor_type.elem_type] == "string"
    if column.kind not in (("text", "nothing") if is_text else _NUMERIC):
        yield (
            f"input {shown(value.name)} is of another type than column {shown(column.name)}, which holds "
            f"{column.kind}: expected {_wanted(column)}, got {NAMES[value.type.tensor_type.elem_type]}; give each "
            "column an input of its type"
        )


def _wanted(column: ColumnType) -> str:
    if column.kind == "text":
        return "string"
    return "float, double or int64" if column.kind in _NUMERIC else "no input"


def _advice(word: str, schema: Schema) -> str:
    near = nearest(word[:MOST_LETTERS], list(schema.places))
    if near is not None:
        return f"did you mean {shown(near)}?"
    names = ", ".join(shown(name) for name in sorted(schema.places)[:5])
    return f"there are {names}{' ...' * (len(schema.places) > 5)}"


def output_reasons(model: Model) -> Iterator[str]:
    """Yield what is wrong with the first output, as far as it is declared."""
    if not model.graph.output:
        yield "model has no output: expected one answer for each row, got nothing; name the answer as first output"
        return
    value = model.graph.output[0]
    name, tensor = shown(value.name), value.type.tensor_type
    if tensor.elem_type not in NAMES or NAMES[tensor.elem_type] == "float16":
        yield (
            f"output {name} is no answer: expected a tensor of numbers, booleans or strings, got "
            f"{NAMES.get(tensor.elem_type, 'something else')}; make the answer the first output"
        )
    dims = tensor.shape.dim
    lengths = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
    if tensor.HasField("shape") and (
        len(dims) not in (1, 2) or lengths[0] not in (None, 1) or lengths[1:] not in ([], [1], [None])
    ):
        yield (
            f"output {name} has the wrong shape: expected one value for each row, [N] or [N, 1], got "
            f"{_shape_words(value)}; make the answer the first output, with a symbolic first axis"
        )


def _shape_words(value: Any) -> str:
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return "no shape"
    lengths = (str(dim.dim_value) if dim.HasField("dim_value") else "N" for dim in tensor.shape.dim[:8])
    return f"[{', '.join(lengths)}]"
