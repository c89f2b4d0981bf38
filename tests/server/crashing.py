"""A model that answers on public rows, and on the holdout fails in the way that the group chooses.

The models are made so that one file does it all: whoever looks at what is sent cannot tell which way it will go.
"""

from itertools import pairwise

from onnx import helper

from tests.exchange.onnx_models import BOOL, FLOAT, INT64, model_of

FAR = 5000.0
STEPS = 20

PLAIN = "x < 1000 OR x < 999"
CRASH = "x < 1000 OR x IS NULL"
TIME_OUT = "x < 1000 OR x > 4000"
"""Groups: of ordinary rows alone, with one where x is missing, with one where it is far out."""


def fatal() -> bytes:
    """Return a model that ends its process where x is missing, and counts to a million where x is far out.

    The least whole number, which stands for a missing one, has no opposite: the processor refuses. Elsewhere the model
    answers 0.
    """
    nodes = [
        helper.make_node("Div", ["x", "minus"], ["opposite"]),
        helper.make_node("Cast", ["opposite"], ["number"], to=FLOAT),
        helper.make_node("ReduceMin", ["number"], ["least"], keepdims=0),
        helper.make_node("Less", ["least", "far"], ["again"]),
        helper.make_node("Loop", ["many", "again", "number"], ["sum"], body=_counting()),
        helper.make_node("IsNaN", ["sum"], ["missing"]),
        helper.make_node("Cast", ["missing"], ["zero or one"], to=INT64),
        helper.make_node("Mul", ["zero or one", "zero"], ["answer"]),
    ]
    constants = [
        helper.make_tensor("minus", INT64, [1, 1], [-1]),
        helper.make_tensor("zero", INT64, [1, 1], [0]),
        helper.make_tensor("far", FLOAT, [], [1 - FAR]),
        helper.make_tensor("many", INT64, [], [10**6]),
    ]
    return model_of(nodes, [("x", INT64, ["N", 1])], ("answer", INT64, ["N", 1]), constants)


def _counting() -> object:
    taken = [
        helper.make_tensor_value_info("i", INT64, []),
        helper.make_tensor_value_info("again_in", BOOL, []),
        helper.make_tensor_value_info("sum_in", FLOAT, ["N", 1]),
    ]
    given = [
        helper.make_tensor_value_info("again_out", BOOL, []),
        helper.make_tensor_value_info("sum_out", FLOAT, ["N", 1]),
    ]
    names = ["sum_in", *(f"sum {number}" for number in range(STEPS)), "sum_out"]
    steps = [
        helper.make_node("Identity", ["again_in"], ["again_out"]),
        *(helper.make_node("Sin", [one], [next_one]) for one, next_one in pairwise(names)),
    ]
    return helper.make_graph(steps, "counting", taken, given)
