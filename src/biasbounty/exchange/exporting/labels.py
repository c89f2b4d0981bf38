"""Labels in the graph: answers cast to the label type as `predict` casts them, and refused where it refuses them.

ONNX has no operator that refuses. So what answers are expanded by, which is 1, is looked up in a table of one entry,
and an answer that is no label asks for a second: onnxruntime then fails, and names the node of that lookup, whose name
says in words what is wrong.
"""

from typing import Any

import numpy as np

from biasbounty.core.answers import LabelType
from biasbounty.errors import ConversionError
from biasbounty.exchange.exporting.graph import BOOL, Graph, Name

_INT64 = 7


def element_of(dtype: np.dtype[Any]) -> int:
    """Return the element type of ONNX for labels of this type."""
    from onnx import TensorProto, helper

    if dtype.kind in "UTO":
        return int(TensorProto.STRING)
    try:
        return int(helper.np_dtype_to_tensor_dtype(dtype))
    except (KeyError, ValueError) as error:
        raise ConversionError(
            f"labels have no place in ONNX: expected numbers, booleans or text, got {dtype}; let the initial model "
            "answer in another type"
        ) from error


def dtype_of(element: int) -> np.dtype[Any]:
    """Return the type of labels that a tensor of this element type holds."""
    from onnx import TensorProto, helper

    return np.dtype(str) if element == TensorProto.STRING else np.dtype(helper.tensor_dtype_to_np_dtype(element))


def verify_castable(answers: np.dtype[Any], labels: LabelType, who: str) -> None:
    """Raise where no answer of this type can be a label."""
    if (answers.kind == "U") != (labels.dtype.kind in "UTO"):
        raise ConversionError(
            f"{who} answers in another type: expected {labels}, as the initial model does, got {LabelType(answers)}; "
            "convert it with labels of that type"
        )
    if labels.dtype == np.float16 and answers == np.float64:
        raise ConversionError(
            f"{who} answers in another type: expected float32 or less where labels are float16, got {answers}, which "
            "onnxruntime rounds twice; convert it with labels of float32"
        )


def as_labels(graph: Graph, answers: Name, given: np.dtype[Any], labels: LabelType, who: str) -> Name:
    """Cast answers to labels."""
    cast = answers
    if given.kind != "U" and given != labels.dtype:
        cast = graph.do("Cast", answers, to=element_of(labels.dtype))
    good = _good(graph, answers, cast, given, labels.dtype)
    return _refused_unless(graph, good, cast, f"{who} has an answer that is no label")


def as_mask(graph: Graph, answers: Name, given: np.dtype[Any], who: str) -> Name:
    """Read answers as a mask; refuse all but 0 and 1."""
    if given.kind == "b":
        return answers
    answers = graph.do("Cast", answers, to=11)
    good = graph.joined("Or", [graph.do("Equal", answers, graph.constant(value)) for value in (0.0, 1.0)])
    return _refused_unless(graph, good, graph.do("Cast", answers, to=BOOL), f"{who} has a value that is no membership")


def _refused_unless(graph: Graph, good: Name | None, values: Name, words: str) -> Name:
    """Return the values, if all are good; None stands for that they are."""
    if good is None:
        return values
    worst = graph.do("ReduceMin", graph.do("Cast", good, to=6), keepdims=0)
    place = graph.do("Sub", graph.constant([1], np.int32), worst)
    return graph.do("Expand", values, graph.do("Gather", graph.constant([1], np.int64), place, name=words))


def _good(graph: Graph, answers: Name, cast: Name, given: np.dtype[Any], labels: np.dtype[Any]) -> Name | None:
    """Say which answers are labels of this type; None if all are."""
    if given.kind == "U" or (given == labels and given.kind != "f"):
        return None
    if labels.kind == "f":
        return _good_floats(graph, answers, cast, given, labels)
    if given.kind == "f":
        return _good_wholes(graph, graph.do("Cast", answers, to=11), labels)
    if np.can_cast(given, labels):
        return None
    return _within(graph, answers, given, labels)


def _good_floats(graph: Graph, answers: Name, cast: Name, given: np.dtype[Any], labels: np.dtype[Any]) -> Name | None:
    """Floats are to be finite; whole numbers are to stay the same."""
    if given.kind not in "iuf":
        return None
    finite = graph.do("Less", graph.do("Abs", graph.do("Cast", cast, to=11)), graph.constant(np.inf))
    if given.kind == "f":
        return finite
    if 8 * given.itemsize <= np.finfo(labels).nmant + 1:
        return None
    back = graph.do("Cast", graph.do("Cast", cast, to=element_of(given)), to=_INT64)
    same = graph.do("Equal", back, graph.do("Cast", answers, to=_INT64))
    return graph.do("And", finite, same) if labels == np.float16 else same


def _good_wholes(graph: Graph, answers: Name, labels: np.dtype[Any]) -> Name:
    """Floats are to be whole, and within the type."""
    low, high = _limits(labels)
    whole = graph.do("Equal", graph.do("Floor", answers), answers)
    at_least = graph.do("GreaterOrEqual", answers, graph.constant(float(low)))
    at_most = graph.do("Less", answers, graph.constant(float(high + 1)))
    return graph.joined("And", [whole, at_least, at_most])


def _within(graph: Graph, answers: Name, given: np.dtype[Any], labels: np.dtype[Any]) -> Name:
    """Whole numbers are to be within the type; unsigned ones beyond int64 are negative there."""
    low, high = _limits(labels)
    if given.kind == "u":
        low = 0
    wide = graph.do("Cast", answers, to=_INT64)
    at_least = graph.do("GreaterOrEqual", wide, graph.constant(low, np.int64))
    at_most = graph.do("LessOrEqual", wide, graph.constant(min(high, 2**63 - 1), np.int64))
    return graph.do("And", at_least, at_most)


def _limits(labels: np.dtype[Any]) -> tuple[int, int]:
    if labels.kind == "b":
        return 0, 1
    return int(np.iinfo(labels).min), int(np.iinfo(labels).max)
