"""Contents: nothing in a file points outside it, and every tensor holds what it says it holds."""

import re
from collections.abc import Iterator
from math import prod
from typing import Any

from biasbounty.arrays import shown
from biasbounty.exchange.auditing.reading import Message, Model
from biasbounty.exchange.auditing.walk import Tensor, called, messages

_PATH = re.compile(r"""(?:^|[\s"'=(,])(?:/|~/|\.{1,2}[/\\]|[A-Za-z]:[\\/]|\\\\)|://|[/\\]\.\.""")
"""A path from the root, the home or here, a drive, or an address."""
_FILE = re.compile(
    r"[\w ./\\-]+\.(?:bin|csv|data|dll|json|npy|npz|ort|pb|pkl|pt|pth|safetensors|so|tar|txt|weights|zip)"
)

MOST_AXES = 64
MOST_LETTERS = 2**22
"""How much text may stand where paths are looked for."""

_ELEMENTS = {
    1: ("float", "float_data", 4),
    2: ("uint8", "int32_data", 1),
    3: ("int8", "int32_data", 1),
    4: ("uint16", "int32_data", 2),
    5: ("int16", "int32_data", 2),
    6: ("int32", "int32_data", 4),
    7: ("int64", "int64_data", 8),
    8: ("string", "string_data", 0),
    9: ("bool", "int32_data", 1),
    10: ("float16", "int32_data", 2),
    11: ("double", "double_data", 8),
    12: ("uint32", "uint64_data", 4),
    13: ("uint64", "uint64_data", 8),
}
"""The element types that are allowed, by their numbers in ONNX: name, field of the values, and bytes of each."""

ELEMENTS = {number: name for number, (name, _, _) in _ELEMENTS.items()}
"""Their names."""
_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "raw_data", "double_data", "uint64_data")


def contents_reasons(model: Model) -> Iterator[str]:
    """Yield what is wrong with the parts of a model, wherever they are."""
    if model.functions:
        yield (
            f"file has functions of its own: expected none, got {len(model.functions)}; write them into the graph, by "
            "onnx.inliner.inline_local_functions(model)"
        )
    if model.training_info:
        yield "file has training information: expected none, got some; export the model for inference"
    letters = 0
    for message in messages(model):
        letters += _letters(message)
        if letters > MOST_LETTERS:
            yield (
                f"file has too much text in metadata and attributes: expected at most {MOST_LETTERS:,} letters, got "
                "more; take out metadata (del model.metadata_props[:], and that of nodes)"
            )
            return
        act = _ACTS.get(message.DESCRIPTOR.name)
        yield from act(message) if act is not None else ()


def _letters(message: Message) -> int:
    """Return how much of a message is searched for paths, which takes a while."""
    kind = message.DESCRIPTOR.name
    if kind == "StringStringEntryProto":
        return len(message.key) + len(message.value)
    return sum(len(attribute.s) for attribute in message.attribute) if kind == "NodeProto" else 0


def _tensor_reasons(tensor: Tensor) -> Iterator[str]:
    name = shown(tensor.name)
    if tensor.data_location or tensor.external_data:
        yield (
            f"tensor {name} is kept outside the file: expected its values in the file, got external data; save it "
            "with save_as_external_data=False"
        )
    elif tensor.data_type not in ELEMENTS:
        yield f"tensor {name} {element_problem(tensor.data_type)}"
    elif tensor.HasField("segment") or len(tensor.dims) > MOST_AXES or any(length < 0 for length in tensor.dims):
        yield f"tensor {name} has no proper shape: expected few lengths, of 0 or more, got others; export it again"
    else:
        yield from _size_reasons(tensor, name)


def element_problem(element: int) -> str:
    """Return what is wrong with an element type that is not allowed."""
    return (
        f"has an element type that is not allowed: expected one of {', '.join(ELEMENTS.values())}, got type number "
        f"{element}; cast to one of these"
    )


def _size_reasons(tensor: Tensor, name: str) -> Iterator[str]:
    """Yield whether values are missing, or are too many, or in several fields."""
    _, field, width = _ELEMENTS[tensor.data_type]
    size, held = prod(tensor.dims), [each for each in _FIELDS if len(getattr(tensor, each))]
    is_raw = tensor.HasField("raw_data") and width
    got = len(tensor.raw_data) if is_raw else len(getattr(tensor, field))
    if got != size * (width if is_raw else 1) or held not in ([], ["raw_data" if is_raw else field]):
        yield (
            f"tensor {name} does not hold what it says: expected {size:,} values of type "
            f"{ELEMENTS[tensor.data_type]}, got {got:,} {'bytes' if is_raw else 'values'}; export it again"
        )


def _sparse_reasons(_tensor: Message) -> Iterator[str]:
    yield "file has a sparse tensor: expected dense ones, got one that is filled up when it is loaded; write it dense"


def _entry_reasons(entry: Message) -> Iterator[str]:
    """Yield whether metadata names a file."""
    for words in (entry.key, entry.value):
        if _PATH.search(words) or _FILE.fullmatch(words):
            yield (
                f"metadata {shown(entry.key)} names a file: expected words, got a path; take it out, of the model and "
                "of each node (del node.metadata_props[:])"
            )
            return


def _graph_reasons(graph: Message) -> Iterator[str]:
    """Yield whether anything is no tensor: lists, maps and optional values; but an output may be what ZipMap makes."""
    mapped = {name for node in graph.node if node.op_type == "ZipMap" for name in node.output}
    for value in (*graph.input, *graph.value_info, *(each for each in graph.output if each.name not in mapped)):
        held = value.type.WhichOneof("value")
        if held not in (None, "tensor_type"):
            yield f"{shown(value.name)} is no tensor: expected one, got a {held}; use tensors"


def _node_reasons(node: Message) -> Iterator[str]:
    names = [attribute.name for attribute in node.attribute]
    if len(set(names)) != len(names):
        yield f"{called(node)} has an attribute twice: expected each once, got two; keep one"
    if node.overload or any(attribute.ref_attr_name for attribute in node.attribute):
        yield f"{called(node)} refers to a function: expected none, got one; write it into the graph"
    for attribute in node.attribute:
        words = attribute.s.decode("utf-8", "replace")
        if words and node.op_type not in ("RegexFullMatch", "StringSplit") and _PATH.search(words):
            yield (
                f"{called(node)} names a file: expected no paths, got {shown(words)} in {shown(attribute.name)}; take "
                "it out"
            )


def _type_reasons(kind: Message) -> Iterator[str]:
    """Yield whether a declared element type is not allowed; where none is declared, the runtime finds it."""
    if kind.elem_type and kind.elem_type not in ELEMENTS:
        yield f"declared type {element_problem(kind.elem_type)}"


_ACTS: dict[str, Any] = {
    "TensorProto": _tensor_reasons,
    "SparseTensorProto": _sparse_reasons,
    "StringStringEntryProto": _entry_reasons,
    "GraphProto": _graph_reasons,
    "NodeProto": _node_reasons,
    "Tensor": _type_reasons,
}
