"""Small ONNX models, made by hand for tests."""

from typing import Any

from onnx import TensorProto, helper

OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
FLOAT, DOUBLE, INT64, TEXT, BOOL = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.INT64,
    TensorProto.STRING,
    TensorProto.BOOL,
)


def model_of(
    nodes: list[Any], inputs: list[tuple[str, int, list[Any]]], output: tuple[str, int, list[Any]], constants: Any = ()
) -> bytes:
    """Return a model of these nodes; inputs and output by name, element type and shape."""
    infos = [helper.make_tensor_value_info(*each) for each in inputs]
    graph = helper.make_graph(nodes, "test", infos, [helper.make_tensor_value_info(*output)], list(constants))
    made = helper.make_model(graph, opset_imports=OPSETS, ir_version=9)
    data: bytes = made.SerializeToString()
    return data


def below(column: str, value: float, element: int = FLOAT, answer: int = BOOL) -> bytes:
    """Return a model that says whether a column is below a value, as booleans or as numbers."""
    nodes = [
        helper.make_node("Less", [column, "value"], ["less"]),
        helper.make_node("Cast", ["less"], ["answer"], to=answer),
    ]
    constant = helper.make_tensor("value", element, [1, 1], [value])
    return model_of(nodes, [(column, element, ["N", 1])], ("answer", answer, ["N", 1]), [constant])


def matrix_below(place: int, value: float, columns: int, answer: int = INT64) -> bytes:
    """Return a model of a matrix that says whether one of its columns is below a value."""
    nodes = [
        helper.make_node("Gather", ["X", "place"], ["column"], axis=1),
        helper.make_node("Less", ["column", "value"], ["less"]),
        helper.make_node("Cast", ["less"], ["answer"], to=answer),
    ]
    constants = [
        helper.make_tensor("place", INT64, [1], [place]),
        helper.make_tensor("value", FLOAT, [1, 1], [value]),
    ]
    return model_of(nodes, [("X", FLOAT, ["N", columns])], ("answer", answer, ["N", 1]), constants)


def always(value: int, column: str) -> bytes:
    """Return a model that always gives one whole number."""
    nodes = [
        helper.make_node("IsNaN", [column], ["missing"]),
        helper.make_node("Cast", ["missing"], ["number"], to=INT64),
        helper.make_node("Mul", ["number", "zero"], ["nothing"]),
        helper.make_node("Add", ["nothing", "value"], ["answer"]),
    ]
    constants = [helper.make_tensor("zero", INT64, [1, 1], [0]), helper.make_tensor("value", INT64, [1, 1], [value])]
    return model_of(nodes, [(column, FLOAT, ["N", 1])], ("answer", INT64, ["N", 1]), constants)


def equal_to(column: str, text: str) -> bytes:
    """Return a model that says whether a column of text is a given text."""
    nodes = [
        helper.make_node(
            "LabelEncoder",
            [column],
            ["answer"],
            domain="ai.onnx.ml",
            keys_strings=[text],
            values_int64s=[1],
            default_int64=0,
        )
    ]
    return model_of(nodes, [(column, TEXT, ["N", 1])], ("answer", INT64, ["N", 1]))


def above_mean(columns: int) -> bytes:
    """Return a model whose answer for a row depends on the rows beside it."""
    nodes = [
        helper.make_node("Gather", ["X", "place"], ["column"], axis=1),
        helper.make_node("ReduceMean", ["column", "axes"], ["mean"], keepdims=1),
        helper.make_node("Greater", ["column", "mean"], ["more"]),
        helper.make_node("Cast", ["more"], ["answer"], to=INT64),
    ]
    constants = [helper.make_tensor("place", INT64, [1], [0]), helper.make_tensor("axes", INT64, [1], [0])]
    return model_of(nodes, [("X", FLOAT, ["N", columns])], ("answer", INT64, ["N", 1]), constants)


def endless(column: str) -> bytes:
    """Return a model that turns and turns, as long as a number goes on growing."""
    turn = helper.make_graph(
        [
            helper.make_node("Add", ["before", "before"], ["after"]),
            helper.make_node("Equal", ["round", "round"], ["goes_on"]),
        ],
        "turn",
        [
            helper.make_tensor_value_info("round", INT64, []),
            helper.make_tensor_value_info("going", BOOL, []),
            helper.make_tensor_value_info("before", FLOAT, ["N", 1]),
        ],
        [helper.make_tensor_value_info("goes_on", BOOL, []), helper.make_tensor_value_info("after", FLOAT, ["N", 1])],
    )
    nodes = [
        helper.make_node("Loop", ["", "yes", column], ["last"], body=turn),
        helper.make_node("Cast", ["last"], ["answer"], to=INT64),
    ]
    constants = [helper.make_tensor("yes", BOOL, [], [True])]
    return model_of(nodes, [(column, FLOAT, ["N", 1])], ("answer", INT64, ["N", 1]), constants)
