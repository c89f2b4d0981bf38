"""Rules for whole numbers that say how long axes are: constants, what Shape returns, and parts of these.

So a graph may ask how many rows there are and shape by it, as exporters of neural networks write it.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from biasbounty.exchange.auditing.walk import MOST_NUMBERS, numbers_of
from biasbounty.exchange.proving.steps import Step
from biasbounty.exchange.proving.values import Fixed, Sizes, Value, sizes

Numbers: TypeAlias = tuple[Any, ...]

_INT64 = 7


def follow(step: Step) -> Value | None:
    """Return what a node makes of whole numbers, if all its inputs are such and the node is one that keeps them."""
    known = [_numbers(value) for value in step.inputs if value is not None]
    act = _ACTS.get(step.node.op_type) if step.node.domain in ("", "ai.onnx") else None
    if act is None or None in known or len(known) < _INPUTS.get(step.node.op_type, 1):
        return None
    given = [numbers for numbers in known if numbers is not None]
    if sum(map(len, given)) > MOST_NUMBERS:
        return None
    found = act(step, given)
    return None if found is None else sizes(*found)


def _numbers(value: Value) -> Numbers | None:
    return value.numbers if isinstance(value, (Fixed, Sizes)) else None


Found: TypeAlias = tuple[Numbers, bool] | None


def _is_scalar(value: Value | None) -> bool:
    return value.is_scalar if isinstance(value, Sizes) else isinstance(value, Fixed) and value.shape == ()


def _constant(step: Step, _known: list[Numbers]) -> Found:
    if "value" in step.attributes:
        tensor = step.attributes["value"].t
        numbers = numbers_of(tensor)
        return None if numbers is None else (numbers, not tensor.dims)
    if "value_int" in step.attributes:
        return (step.attributes["value_int"].i,), True
    held = step.attributes["value_ints"].ints if "value_ints" in step.attributes else None
    return None if held is None or len(held) > MOST_NUMBERS else (tuple(held), False)


def _same(step: Step, known: list[Numbers]) -> Found:
    return known[0], _is_scalar(step.given(0))


def _cast(step: Step, known: list[Numbers]) -> Found:
    return _same(step, known) if step.number("to", 0) == _INT64 else None


def _gather(step: Step, known: list[Numbers]) -> Found:
    data, places = known[:2]
    if step.number("axis", 0) not in (0, -1) or any(not -len(data) <= _place(place) < len(data) for place in places):
        return None
    return tuple(data[place] for place in places), _is_scalar(step.given(1))


def _place(place: Any) -> int:
    return place if isinstance(place, int) else 2**63


def _concat(step: Step, known: list[Numbers]) -> Found:
    if any(_is_scalar(value) for value in step.inputs):
        return None
    return tuple(number for numbers in known for number in numbers), False


def _slice(step: Step, known: list[Numbers]) -> Found:
    starts, ends = step.numbers("starts", 1), step.numbers("ends", 2)
    if starts is None or ends is None or len(starts) != 1 or len(ends) != 1:
        return None
    stride = step.numbers("steps", 4) or (1,)
    if stride != (1,) or (step.numbers("axes", 3) or (0,)) not in ((0,), (-1,)):
        return None
    return known[0][starts[0] : ends[0]], False


def _squeeze(_step: Step, known: list[Numbers]) -> Found:
    return (known[0], True) if len(known[0]) == 1 else None


def _unsqueeze(step: Step, known: list[Numbers]) -> Found:
    axes = step.numbers("axes", 1)
    return (known[0], False) if axes in ((0,), (-1,)) and _is_scalar(step.given(0)) else None


def _reshape(step: Step, known: list[Numbers]) -> Found:
    wanted = step.numbers("shape", 1)
    return (known[0], False) if wanted in ((-1,), (len(known[0]),)) and known[0] else None


_INPUTS = {"Constant": 0, "Gather": 2}
"""How many inputs a node has at least; 1 where it is not said."""

_ACTS: dict[str, Callable[[Step, list[Numbers]], Found]] = {
    "Constant": _constant,
    "Identity": _same,
    "Cast": _cast,
    "Gather": _gather,
    "Concat": _concat,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Reshape": _reshape,
}
