"""Walking a model: its messages, graphs and nodes, one after another, without recursion; and small constants in it."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

from biasbounty.arrays import shown
from biasbounty.exchange.auditing.reading import Message, Model

Node: TypeAlias = Any
Graph: TypeAlias = Any
Tensor: TypeAlias = Any

DEFAULT_DOMAIN, MACHINE_LEARNING = "", "ai.onnx.ml"

RANDOM = frozenset(
    ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
)
"""Operators that may answer differently each time."""

MOST_NUMBERS = 256
"""Constants of more numbers than this are no sizes, axes or places, and are not looked at."""
_WHOLE = {2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_, 12: np.uint32}
"""Element types of whole numbers, by their numbers in ONNX."""
_RANGES: dict[Any, tuple[int, int]] = {
    element: (0, 1) if element is np.bool_ else (int(np.iinfo(element).min), int(np.iinfo(element).max))
    for element in _WHOLE.values()
}
"""What each holds; a number beyond stands for another one, and the runtime decides which."""


def messages(model: Model) -> Iterator[Message]:
    """Yield every message of a model, each before those within it."""
    waiting = [model]
    while waiting:
        message = waiting.pop()
        yield message
        for field, value in message.ListFields():
            if field.message_type is not None:
                waiting += value if hasattr(value, "__len__") else [value]


def graphs(graph: Graph) -> Iterator[Graph]:
    """Yield a graph and the graphs within it, however deep."""
    waiting = [graph]
    while waiting:
        one = waiting.pop()
        yield one
        for node in one.node:
            waiting += subgraphs(node)


def subgraphs(node: Node) -> list[Graph]:
    """Return the graphs that a node has as attributes."""
    found: list[Graph] = []
    for attribute in node.attribute:
        found += [attribute.g] if attribute.HasField("g") else []
        found += attribute.graphs
    return found


def domain_of(node: Node) -> str:
    """Return the domain of a node's operator; the default one has two names."""
    return DEFAULT_DOMAIN if node.domain == "ai.onnx" else str(node.domain)


def called(node: Node) -> str:
    """Return how a message calls a node: by its operator and its name, or else its first output."""
    name = node.name or next((output for output in node.output if output), "")
    return f"node {shown(name)} ({shown(node.op_type, str)})"


def numbers_of(tensor: Tensor, most: int = MOST_NUMBERS) -> tuple[int, ...] | None:
    """Return the whole numbers of a small tensor of at most one axis, if it is one and all are of its type."""
    element = _WHOLE.get(tensor.data_type)
    size = tensor.dims[0] if len(tensor.dims) else 1
    if element is None or len(tensor.dims) > 1 or not 0 <= size <= most or tensor.data_location:
        return None
    if tensor.HasField("raw_data"):
        if len(tensor.raw_data) != size * np.dtype(element).itemsize:
            return None
        values = np.frombuffer(tensor.raw_data, np.uint8 if element is np.bool_ else element).tolist()
    else:
        values = list(tensor.int64_data or tensor.int32_data or tensor.uint64_data)
    least, greatest = _RANGES[element]
    is_held = len(values) == size and all(least <= value <= greatest for value in values)
    return tuple(values) if is_held else None
