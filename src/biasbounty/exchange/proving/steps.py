"""A step of the proof: one node with what is known of its inputs; and the register of rules, one for each operator.

A rule returns what is known of the outputs, the first of them at least, or raises NotProved with words that follow
"node so-and-so". It says what an operator does by ONNX's definition, for every version that has it: where versions
differ it takes what holds in all. Fixed tensors of known shape go through the same rules, as rows without a batch axis.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from biasbounty.exchange.auditing.walk import DEFAULT_DOMAIN, MOST_NUMBERS
from biasbounty.exchange.proving.values import Aligned, Fixed, NotProved, Shape, Sizes, Value, broadcast


@dataclass(frozen=True)
class Step:
    """A node, and what is known of its inputs; None stands for an input that is left out."""

    node: Any
    inputs: tuple[Value | None, ...]
    attributes: dict[str, Any]
    is_fixed: bool = False
    """Whether no input depends on rows: then any of known shape passes for rows, and none has a batch axis."""

    def given(self, place: int) -> Value | None:
        """Return what is known of an input, if it is there."""
        return self.inputs[place] if place < len(self.inputs) else None

    def rows(self, place: int, least: int = 0) -> Aligned:
        """Return an input that has a batch axis, and at least so many axes."""
        value = self.given(place)
        if self.is_fixed and isinstance(value, Fixed) and value.shape is not None:
            value = Aligned(value.shape)
        if not isinstance(value, Aligned):
            raise NotProved(f"takes something other than rows: expected input {place} to have one for each row")
        if value.rank < least:
            raise NotProved(f"has an input of too few axes: expected {least} or more, got {value.rank}")
        return value

    def batches(self, place: int, least: int = 2) -> Aligned:
        """Return an input whose first axis is the batch."""
        value = self.rows(place, least)
        if value.batch > 0:
            raise NotProved(f"has the rows along axis {value.batch}: expected them along axis 0")
        return value

    def fixed(self, place: int) -> Fixed:
        """Return an input that must not depend on rows; one that is left out says nothing."""
        value = self.given(place)
        if value is not None and not isinstance(value, Fixed):
            raise NotProved(f"takes from the rows what has to be fixed: expected input {place} to be a constant")
        return value if value is not None else Fixed(())

    def all_fixed(self, start: int) -> None:
        """Raise unless no input from this one on depends on rows."""
        for place in range(start, len(self.inputs)):
            self.fixed(place)

    def number(self, name: str, default: int) -> int:
        """Return a whole number that is an attribute."""
        return int(self.attributes[name].i) if name in self.attributes else default

    def numbers(self, name: str, place: int | None = None) -> tuple[int, ...] | None:
        """Return whole numbers that are an attribute, or (in later versions) an input; None if they are left out."""
        if name in self.attributes:
            held = self.attributes[name].ints
            if len(held) > MOST_NUMBERS:
                raise NotProved(f"has too many {name}: expected at most {MOST_NUMBERS}, got {len(held)}")
            return tuple(held)
        if place is None or self.given(place) is None:
            return None
        found = self.fixed(place).numbers
        if found is None:
            raise NotProved(f"has {name} that are not written in the graph: expected constants")
        return found

    def axis(self, name: str, default: int, rows: Aligned) -> int:
        """Return an axis that is an attribute, counted from the front, if it is not the batch's."""
        return other_axis(self.number(name, default), rows)


def axis_of(axis: int, rank: int) -> int:
    """Return an axis counted from the front."""
    if not -rank <= axis < rank:
        raise NotProved(f"works along axis {axis}, of which there is none")
    return axis % rank


def other_axis(axis: int, rows: Aligned) -> int:
    """Return an axis counted from the front; raise if it is that of the rows."""
    place = axis_of(axis, rows.rank)
    if place == rows.batch:
        raise NotProved("works along the axis of the rows: expected another one")
    return place


def together(step: Step) -> Aligned:
    """Return what the inputs are, combined value by value as ONNX broadcasts them."""
    return Aligned(broadcast(*(_shape(value) for value in step.inputs if value is not None)))


def _shape(value: Value) -> Shape:
    shape = getattr(value, "shape", None)
    if isinstance(value, Sizes) or shape is None:
        raise NotProved("combines rows with what is of unknown shape")
    known: Shape = shape
    return known


Outcome: TypeAlias = Value | tuple[Value, ...]
Rule: TypeAlias = Callable[[Step], Outcome]

RULES: dict[tuple[str, str], Rule] = {}
"""The rule of each operator, by domain and name."""


def rule(operators: str, domain: str = DEFAULT_DOMAIN) -> Callable[[Rule], Rule]:
    """Register a rule for operators, their names with spaces between."""

    def register(function: Rule) -> Rule:
        RULES.update({(domain, name): function for name in operators.split()})
        return function

    return register
