"""Types: the element type of each tensor of a graph, as far as ONNX's definitions of operators tell it from the inputs.

Names count for all graphs of a model together. Where a name has two types, or one that is not told, it has none here;
nothing is refused for that, for the runtime finds out when it loads the model.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from biasbounty.exchange.auditing.reading import Model, onnx_classes
from biasbounty.exchange.auditing.versions import plain_domain
from biasbounty.exchange.auditing.walk import Node, graphs

Types: TypeAlias = dict[str, int]
"""Element types, by their numbers in ONNX, of tensors by their names; 0 where there are two."""

_STATED = {"Cast": ("to", 0), "EyeLike": ("dtype", 0)}
_TYPED_VALUES = {
    "value_float": 1,
    "value_floats": 1,
    "value_int": 7,
    "value_ints": 7,
    "value_string": 8,
    "value_strings": 8,
}
_LABELS = {"classlabels_int64s": 7, "classlabels_ints": 7, "classlabels_strings": 8}
_MAPPED = {"values_strings": 8, "values_int64s": 7, "values_floats": 1}


@lru_cache(maxsize=1024)
def schema_of(operator: str, version: int, domain: str) -> Any:
    """Return ONNX's definition of an operator in a version of its domain, if there is one."""
    defs = onnx_classes().defs
    return defs.get_schema(operator, version, domain) if defs.has(operator, version, domain) else None


def types_of(model: Model, versions: dict[str, int]) -> Types:
    """Return the element types of tensors."""
    types: Types = {}
    for graph in graphs(model.graph):
        for tensor in graph.initializer:
            _learn(types, tensor.name, tensor.data_type)
        for value in (*graph.input, *graph.output, *graph.value_info):
            _learn(types, value.name, value.type.tensor_type.elem_type)
    for graph in graphs(model.graph):
        for node in graph.node:
            for name, element in _outputs(node, types, versions):
                _learn(types, name, element)
    return types


def _learn(types: Types, name: str, element: int) -> None:
    if name and element:
        types[name] = element if types.get(name, element) == element else 0


def _outputs(node: Node, types: Types, versions: dict[str, int]) -> Iterator[tuple[str, int]]:
    stated = _stated(node)
    if stated:
        yield node.output[0] if node.output else "", stated
        return
    domain = plain_domain(node.domain)
    schema = schema_of(node.op_type, versions.get(domain, 0), domain)
    if schema is None:
        return
    bound = bindings(node, schema, types)
    for name, formal in zip(node.output, schema.outputs, strict=False):
        element = bound.get(formal.type_str, 0) or element_of(formal.type_str)
        yield name, element


def _stated(node: Node) -> int:
    """Return the element type that a node states for its output."""
    attributes = {attribute.name: attribute for attribute in node.attribute}
    if node.op_type in _STATED:
        name, default = _STATED[node.op_type]
        return int(attributes[name].i) if name in attributes else default
    if node.op_type in ("Constant", "ConstantOfShape"):
        if "value" in attributes:
            return int(attributes["value"].t.data_type)
        return next((_TYPED_VALUES[name] for name in attributes if name in _TYPED_VALUES), 1)
    named = {"LabelEncoder": _MAPPED}.get(node.op_type, _LABELS if "Classifier" in node.op_type else {})
    return next((named[name] for name in attributes if name in named), 0)


def bindings(node: Node, schema: Any, types: Types) -> dict[str, int]:
    """Return the element type of each type parameter of an operator, and of each input by its formal name."""
    bound: dict[str, int] = {}
    for place, name in enumerate(node.input):
        formal = schema.inputs[min(place, len(schema.inputs) - 1)] if schema.inputs else None
        if formal is not None and types.get(name):
            bound[formal.type_str] = bound[formal.name] = types[name]
    return bound


def element_of(words: str) -> int:
    """Return the element type that a definition names outright: tensor(bool), say."""
    if not words.startswith("tensor("):
        return 0
    kinds = dict(onnx_classes().TensorProto.DataType.items())
    return int(kinds.get(words[len("tensor(") : -1].upper(), 0))
