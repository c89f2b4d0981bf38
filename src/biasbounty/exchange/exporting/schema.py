"""The schema of an export: which columns the file takes in. Given, read off rows, or put together from the leaves."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.errors import ConversionError
from biasbounty.exchange.columns import Kind
from biasbounty.exchange.exporting.leaves import Part, parts_of
from biasbounty.exchange.onnx_feeds import Input, is_matrix
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import Asked, Predicate
from biasbounty.exchange.schema import ColumnType, Schema

_ADVICE = "pass schema=bb.Schema.of(X), or X="


def schema_for(decision_list: PointerDecisionList, schema: Schema | None, X: Any) -> Schema:
    """Return the schema of the file, held against every leaf."""
    parts = tuple(parts_of(decision_list))
    if schema is None:
        schema = Schema.of(X, categories=False) if X is not None else _put_together(parts)
    schema = _with_kinds_asked(schema, parts)
    _verify_names(schema)
    for part in parts:
        if isinstance(part.function, Predicate):
            _verify_predicate(part.function, part.who, schema)
        else:
            _verify_inputs(part.function.inputs, part.who, schema)
    return schema


def place_of(asked: Asked, predicate: Predicate, schema: Schema) -> int | None:
    """Return where a predicate finds a column: by name if both have names, else by place."""
    if predicate.named and schema.named:
        return schema.places.get(asked.name)
    return asked.place if predicate.width == len(schema.columns) else None


def output_name(schema: Schema) -> str:
    """Return the name of the file's output: that of no column."""
    name = "answer"
    while name in schema.places:
        name += "_"
    return name


def _with_kinds_asked(schema: Schema, parts: Iterable[Part]) -> Schema:
    """Return the schema with text in place of nothing, where that is what is asked of a column."""
    texts = set(_places_of_text(schema, parts))
    columns = [
        replace(column, kind="text") if column.kind == "nothing" and place in texts else column
        for place, column in enumerate(schema.columns)
    ]
    return replace(schema, columns=tuple(columns))


def _places_of_text(schema: Schema, parts: Iterable[Part]) -> Iterator[int | None]:
    for part in parts:
        if isinstance(part.function, Predicate):
            yield from (
                place_of(asked, part.function, schema) for asked in part.function.columns if asked.kind == "text"
            )
        else:
            yield from (schema.places.get(each.name) for each in part.function.inputs if each.element == "string")


def _verify_names(schema: Schema) -> None:
    if not schema.columns or not all(column.name for column in schema.columns):
        raise ConversionError(
            "schema has no place in ONNX: expected columns with names, got none or one without; name every column"
        )


def _verify_predicate(predicate: Predicate, who: str, schema: Schema) -> None:
    for asked in predicate.columns:
        place = place_of(asked, predicate, schema)
        if place is None:
            raise ConversionError(
                f"{who} asks for {asked.name!r}: expected a column of the schema, got none; {_ADVICE}"
            )
        kind = schema.columns[place].kind
        if kind not in (asked.kind, "nothing") and asked.kind != "nothing":
            raise ConversionError(
                f"{who} asks for {asked.name!r}: expected {asked.kind}, got {kind} in the schema; prepare rows alike"
            )


def _verify_inputs(inputs: tuple[Input, ...], who: str, schema: Schema) -> None:
    names = tuple(column.name for column in schema.columns)
    if is_matrix(inputs, names) and (inputs[0].width != 1 or len(names) == 1):
        if inputs[0].width not in (None, len(names)):
            raise ConversionError(
                f"{who} takes in a matrix of {inputs[0].width} columns: expected {len(names)}, as in the schema; "
                f"{_ADVICE}"
            )
        wanted = [(name, inputs[0]) for name in names]
    else:
        wanted = [(each.name, each) for each in inputs]
    for name, given in wanted:
        if name not in schema.places:
            raise ConversionError(f"{who} takes in {name!r}: expected a column of the schema, got none; {_ADVICE}")
        kind = schema.columns[schema.places[name]].kind
        if (given.element == "string") != (kind == "text"):
            raise ConversionError(
                f"{who} takes in {name!r} as {given.element}: expected {kind}, as in the schema; {_ADVICE}"
            )


def _put_together(parts: Iterable[Part]) -> Schema:
    """Return the columns that predicates and leaves name, or as many without names as they count."""
    functions = [part.function for part in parts]
    predicates = [function for function in functions if isinstance(function, Predicate)]
    models = [function for function in functions if isinstance(function, OnnxModel)]
    widths = {predicate.width for predicate in predicates} | {_width(model) for model in models if _is_wide(model)}
    by_place = {asked.place: asked for predicate in predicates for asked in predicate.columns}
    named = any(predicate.named for predicate in predicates) or not widths
    if not named or any(map(_is_wide, models)):
        return _whole(widths, by_place, named)
    columns = {asked.name: asked.kind for _, asked in sorted(by_place.items())} | dict(_named_inputs(models))
    return Schema(tuple(ColumnType(name, kind) for name, kind in columns.items()))


def _is_wide(model: OnnxModel) -> bool:
    """Say whether a model takes in a matrix: one of one column is as well a column."""
    return len(model.inputs) == 1 and model.inputs[0].rank == 2 and model.inputs[0].width != 1


def _width(model: OnnxModel) -> int | None:
    return model.inputs[0].width


def _whole(widths: set[int | None], by_place: dict[int, Asked], named: bool) -> Schema:
    """Return a schema of all columns, which a matrix or a place counts on."""
    known = widths - {None}
    width = next(iter(known), None)
    if len(known) != 1 or width is None or (named and len(by_place) < width):
        raise ConversionError(
            f"schema is not known: expected the names of all columns, got those of {len(by_place)} from predicates and "
            f"matrices of {', '.join(map(str, sorted(known, key=str))) or 'unknown'} columns; {_ADVICE}"
        )
    return Schema(tuple(_type_at(place, by_place) for place in range(width)), named)


def _type_at(place: int, by_place: dict[int, Asked]) -> ColumnType:
    asked = by_place.get(place)
    return ColumnType(f"x{place}", "numbers") if asked is None else ColumnType(asked.name, asked.kind)


def _named_inputs(models: Iterable[OnnxModel]) -> Iterator[tuple[str, Kind]]:
    for model in models:
        for each in model.inputs:
            yield each.name, "text" if each.element == "string" else "numbers"


def schema_as_json(schema: Schema) -> str:
    """Write a schema down."""
    columns = [
        {"name": column.name, "kind": column.kind}
        | ({} if column.categories is None else {"categories": list(column.categories)})
        for column in schema.columns
    ]
    return json.dumps({"named": schema.named, "columns": columns}, ensure_ascii=False)
