"""Sizes: what a graph says, in constants, that it will make or do is not too much.

Sizes that only show when it runs are left to the sandbox's limits, as are loops without a constant number of rounds: a
loop may be needed, and whether one ends cannot be seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TypeAlias

from biasbounty.exchange.auditing.contents import MOST_AXES
from biasbounty.exchange.auditing.reading import Model
from biasbounty.exchange.auditing.walk import MOST_NUMBERS, Graph, Node, called, graphs, numbers_of

MOST_VALUES = 2**24
"""How many values a tensor may have that a graph makes by a constant shape."""
MOST_ROUNDS = 10**6
MOST_REACH = 2**16
"""How large a kernel, stride or pad may be."""

_MOST_IN_SHAPES = 2 * MOST_AXES
"""A shape has a number for each axis, and pads have two."""
_BEYOND = 2**64
"""Whatever is larger counts as this: a product of many large numbers would be too long to be written down."""

Constants: TypeAlias = Mapping[str, tuple[int, ...]]

_REACHING = ("dilations", "kernel_shape", "output_padding", "output_shape", "pads", "strides")
_SHAPED = {"ConstantOfShape": 0, "Expand": 1, "Tile": 1, "OneHot": 1, "TopK": 1, "Pad": 1}
"""The operators that make tensors of a size that they are given, and by which input they are given it."""


def size_reasons(model: Model) -> Iterator[str]:
    """Yield what a graph would make or do too much of."""
    constants = _constants(model)
    for graph in graphs(model.graph):
        for node in graph.node:
            yield from _node_reasons(node, constants)


def _constants(model: Model) -> Constants:
    """Return the whole numbers of small constants by name: the largest, where graphs share a name."""
    found: dict[str, tuple[int, ...]] = {}
    for graph in graphs(model.graph):
        for name, numbers in _constants_in(graph):
            found[name] = max(found[name], numbers, key=_volume) if name in found else numbers
    return found


def _constants_in(graph: Graph) -> Iterator[tuple[str, tuple[int, ...]]]:
    for tensor in graph.initializer:
        numbers = numbers_of(tensor, _MOST_IN_SHAPES)
        if numbers is not None:
            yield tensor.name, numbers
    for node in graph.node:
        numbers = _constant(node) if node.op_type == "Constant" and node.output else None
        if numbers is not None:
            yield node.output[0], numbers


def _constant(node: Node) -> tuple[int, ...] | None:
    for attribute in node.attribute:
        if attribute.name == "value":
            return numbers_of(attribute.t, _MOST_IN_SHAPES)
        if attribute.name in ("value_int", "value_ints"):
            return (attribute.i,) if attribute.name == "value_int" else tuple(attribute.ints[:_MOST_IN_SHAPES])
    return None


def _node_reasons(node: Node, constants: Constants) -> Iterator[str]:
    given = [constants.get(name) for name in node.input]
    made = _made(node, given)
    if made > MOST_VALUES:
        yield (
            f"{called(node)} makes too large a tensor: expected at most {MOST_VALUES:,} values, got {made:,}; make it "
            "smaller"
        )
    rounds = given[0] if node.op_type == "Loop" and given else None
    if rounds and rounds[0] > MOST_ROUNDS:
        yield f"{called(node)} loops too often: expected at most {MOST_ROUNDS:,} rounds, got {rounds[0]:,}; use fewer"
    for attribute in node.attribute:
        if attribute.name in _REACHING and _reaches_far(attribute.ints):
            yield (
                f"{called(node)} reaches too far: expected {attribute.name} of at most {MOST_REACH:,}, got more; use "
                "smaller ones"
            )


def _reaches_far(numbers: Sequence[int]) -> bool:
    return len(numbers) > MOST_NUMBERS or any(abs(number) > MOST_REACH for number in numbers)


def _made(node: Node, given: list[tuple[int, ...] | None]) -> int:
    """Return how many values a node makes at least, as far as constants tell."""
    if node.op_type == "Range" and len(given) == 3:
        return _steps(given)
    place = _SHAPED.get(node.op_type)
    numbers = given[place] if place is not None and place < len(given) else None
    if node.op_type == "Pad":
        return max(map(abs, numbers or ()), default=0)
    return _volume(numbers or ())


def _volume(numbers: tuple[int, ...]) -> int:
    return min(prod(abs(number) or 1 for number in numbers), _BEYOND)


def _steps(given: list[tuple[int, ...] | None]) -> int:
    start, limit, step = ((numbers or (None,))[0] for numbers in given)
    if start is None or limit is None or not step:
        return 0
    return max(0, (limit - start) // step)
