"""Graphs that mix rows: in each, what is answered for a row depends on the rows beside it, or on its place."""

import ast
from typing import Any

import numpy as np
from onnx import ModelProto, helper

from tests.exchange.onnx_models import BOOL, FLOAT, INT64, model_of

X = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0], [-3.0, 0.0, 2.0], [2.0, 2.5, 0.25], [7.0, 1.0, -5.0]], np.float32)

_WRITTEN = """
a running sum over rows
    CumSum x zero
softmax over rows
    Softmax x axis=0
softmax over rows, counted from behind
    LogSoftmax x axis=-2
the mean of the batch
    ReduceMean x [0] > mean
    Sub x mean
the sum of all
    ReduceSum x > sum
    Div x sum
the best row
    ArgMax x > best axis=0
    Cast best > number to=1
    Sub x number
rows by each other
    Transpose x > turned
    MatMul x turned > square
    ReduceMax square [1]
rows by each other, between
    Transpose x > turned
    MatMul turned x > square
    MatMul x square
products that are turned
    Gemm x weights_of_five > product transA=1
    ReduceSum product > sum
    Add x sum
the first row
    Gather x zero > first
    Sub x first
rows that rows name
    Gather x [0] > column axis=1
    Cast column > whole to=7
    Clip whole zero zero > none
    Squeeze none [1] > places
    Gather x places
what there is
    Unique x axis=0
rows in order
    TopK x [1] > most places axis=0
    Add x most
columns against rows
    Gather x [0] > column axis=1
    Squeeze column [1] > flat
    Sub column flat > all
    ReduceMax all [1]
columns against rows, turned
    Gather x [0] > column axis=1
    Transpose column > turned
    Mul column turned > all
    ReduceSum all [1]
other rows by shape
    Reshape x [3,-1] > other
    ReduceMax other [0] > most
    ReduceMax most > top
    Sub x top
halves of rows
    Concat x x > double axis=1
    Reshape double [-1,2] > halves
    Softmax halves > soft axis=0
    Reshape soft [-1,6]
one row of all
    Reshape x [1,-1] > flat
    Softmax flat > soft axis=1
    Reshape soft [-1,3]
all flat
    Flatten x > flat axis=0
    Softmax flat > soft axis=1
    Reshape soft [-1,3]
turned, and shaped like before
    Transpose x > turned
    Reshape turned [-1,3]
turned and summed
    Transpose x > turned
    CumSum turned one > sums
    Transpose sums
rows below rows
    Concat x x > double axis=0
    Softmax double > soft axis=0
    Slice soft [0] [1] > first
    Sub x first
a row before
    Pad x [1,0,0,0] > padded
    Slice padded [0] [-1] [0]
every second row
    Slice x [0] [100] [0] [2] > some
    ReduceMax some > most
    Sub x most
rows backward
    Slice x [-1] [-100] [0] [-1]
sums of products
    Einsum x x > square equation='ij,kj->ik'
    ReduceMax square [1]
a norm of the batch
    LpNormalization x axis=0
a norm of all
    LayerNormalization x ones axis=0
mean and variance
    Unsqueeze x [2,3] > image
    MeanVarianceNormalization image > norm
    Squeeze norm [2,3]
training
    BatchNormalization x ones ones ones ones > answer mean variance training_mode=1
channels that are rows
    Unsqueeze x [0] > image
    BatchNormalization image five five five five > norm
    Squeeze norm [0]
steps that are rows
    Unsqueeze x [1] > series
    RNN series input_weights weights hidden_size=2
one row as ai.onnx.ml sees it
    Gather x zero > flat axis=1
    ml.Normalizer flat norm='MAX'
one row for a linear model
    Gather x zero > flat axis=1
    ml.LinearRegressor flat > sum coefficients=[1.0,1.0,1.0,1.0,1.0] intercepts=[0.0]
    Add x sum
features that are rows
    Gather x zero > flat axis=1
    ml.ArrayFeatureExtractor flat [0] > first
    Sub x first
scales that are rows
    QuantizeLinear x five nines > whole axis=0
    DequantizeLinear whole five nines axis=0
scales of the batch
    DynamicQuantizeLinear x > whole scale point
    DequantizeLinear whole scale point
axes that come and go, and none is named
    Gather x [0] > column axis=1
    Squeeze column no_axes > flat
    Add flat column > all
    ReduceSum all [1]
axes told by a boolean that is two
    Unsqueeze x [0] > image
    Cast two > axis to=7
    ReduceSum image axis > sum
    Add sum x > sums
    Squeeze sums [0]
a shape that does not hold a row, which the runtime turns into another
    Shape x > shape
    Gather shape [0] > count
    Concat count [1] > wanted axis=0
    Reshape x wanted > values
    Gather x [0] > column axis=1
    Cast column > whole to=7
    Mul whole zero > places
    GatherElements values places axis=1
slopes that are more than what they slope, so that the runtime misses the rows
    PRelu [[-1.0]] x > sloped
    Shape sloped > shape
    Gather shape [0] > count
    Concat count [-1] > wanted axis=0
    Reshape x wanted > rows
    ReduceSum rows [1] > sums
    Add sums x
axes that come and go
    Gather x [0] > column axis=1
    Squeeze column > flat
    Softmax flat axis=0
how many are not nought
    NonZero x > places
    Shape places > shape
    Cast shape > numbers to=1
    ReduceMax numbers > number
    Add x number
places along rows
    Cast x > whole to=7
    Mul whole zero > places
    GatherElements x places axis=0
places of other rows
    Cast x > whole to=7
    Mul whole zero > places
    ScatterElements x places x axis=0
rows at places
    GatherND x [0] > first
    Sub x first
rows put at places
    ScatterND x first_place row
rows that are left out
    Gather x zero > flat axis=1
    Greater flat nought > chosen
    Compress x chosen > some axis=0
    ReduceSum some > sum
    Add x sum
rows repeated
    Tile x [2,1] > double
    CumSum double zero > sums
    Slice sums [0] [5] [0]
the number of rows
    Shape x > shape
    Cast shape > numbers to=1
    ReduceMax numbers > number
    Add x number
the number of values
    Size x > size
    Cast size > number to=1
    Add x number
numbers of rows
    Shape x > shape
    Gather shape zero > count
    Range zero count one > places
    Cast places > numbers to=1
    Unsqueeze numbers [1] > column
    Add x column
a constant for each of five rows
    Add x column_of_five
a triangle
    Trilu x
ones on the diagonal
    EyeLike x > eye
    Add x eye
one row said to be many
    CastLike row x > one_row
    Cast one_row > whole to=7
    Mul whole zero > places
    GatherElements x places > first axis=1
    Sub x first
one answer for all
    ReduceMax x
the same answer, once
    Identity ones
"""

_CONSTANTS = {
    "zero": np.int64(0),
    "one": np.int64(1),
    "nought": np.float32(0),
    "ones": np.ones(3, np.float32),
    "five": np.arange(1, 6, dtype=np.float32),
    "nines": np.full(5, 9, np.uint8),
    "weights_of_five": np.arange(5, dtype=np.float32).reshape(5, 1),
    "column_of_five": np.arange(5, dtype=np.float32).reshape(5, 1),
    "input_weights": np.arange(6, dtype=np.float32).reshape(1, 2, 3) / 6,
    "weights": np.array([[[0.5, 0.1], [0.2, 0.3]]], np.float32),
    "first_place": np.zeros((1, 1), np.int64),
    "row": np.full((1, 3), 9, np.float32),
    "start": np.zeros(3, np.float32),
    "rounds": np.int64(2),
    "limit": np.float32(0.8),
    "three": np.int64(3),
    "no_axes": np.empty(0, np.int64),
    "yes": np.bool_(True),
}


def mixing() -> dict[str, Any]:
    """Return the graphs by name, as models."""
    written: dict[str, list[str]] = {}
    for line in _WRITTEN.strip().splitlines():
        if line.startswith(" "):
            written[list(written)[-1]].append(line.strip())
        else:
            written[line] = []
    models = {name: graph_of(*lines) for name, lines in written.items()}
    models["softmax over all, as before version 13"] = _older()
    two = models["axes told by a boolean that is two"].graph.initializer.add(name="two", data_type=BOOL, dims=[1])
    two.int32_data.append(2)
    return models | {name: _model(nodes) for name, nodes in _with_graphs().items()}


def _older() -> Any:
    """Return softmax along what it was along before version 13: the axis 1 and all after it."""
    model = graph_of("Unsqueeze x > image axes=[0]", "Softmax image > soft", "Squeeze soft axes=[0]")
    model.opset_import[0].version = 12
    return model


def graph_of(*lines: str) -> Any:
    """Return a model of nodes, each written as: operator, inputs, > outputs, attributes."""
    return _model([_node(line) for line in lines])


def _node(line: str) -> Any:
    operator, *words = line.split()
    attributes = dict(word.split("=", 1) for word in words if "=" in word)
    names = [word for word in words if "=" not in word]
    place = names.index(">") if ">" in names else len(names)
    domain, _, operator = operator.rpartition(".")
    return helper.make_node(
        operator,
        names[:place],
        names[place + 1 :] or ["answer"],
        domain="ai.onnx.ml" if domain else "",
        **{name: ast.literal_eval(value) for name, value in attributes.items()},
    )


def _model(nodes: list[Any]) -> Any:
    used = {name for node in nodes for name in node.input} | {"zero", "three"}
    constants = [_constant(name, value) for name, value in _CONSTANTS.items() if name in used]
    constants += [_constant(name, _array(name)) for name in sorted(used) if name.startswith("[")]
    proto = ModelProto.FromString(model_of(nodes, [("x", FLOAT, ["N", 3])], ("answer", FLOAT, []), constants))
    proto.graph.output[0].type.Clear()
    return proto


def _array(words: str) -> Any:
    found = np.array(ast.literal_eval(words))
    return found.astype(np.float32) if found.dtype.kind == "f" else found


def _constant(name: str, value: Any) -> Any:
    element = helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype)
    return helper.make_tensor(name, element, np.shape(value), np.ravel(value).tolist())


def _graph(lines: list[str], inputs: list[Any], outputs: list[Any]) -> Any:
    return helper.make_graph([_node(line) for line in lines], "body", inputs, outputs)


def _with_graphs() -> dict[str, list[Any]]:
    """Return nodes that have graphs within."""
    info = helper.make_tensor_value_info
    branched = [info("branched", FLOAT, None)]
    branches = {
        "then_branch": _graph(["Neg x > branched"], [], branched),
        "else_branch": _graph(["Abs x > branched"], [], branched),
    }
    by_mean = ["ReduceMean x > mean keepdims=0", "Greater mean limit > flag"]
    by_count = ["Shape x > shape", "Gather shape zero > count", "Greater count three > flag"]
    choice = helper.make_node("If", ["flag"], ["answer"], **branches)
    later = _graph(["Identity mean > branched"], [], branched)
    early = helper.make_node("If", ["yes"], ["least"], then_branch=later, else_branch=later)
    rows = _graph(
        ["Add state row > next", "Identity next > out"],
        [info("state", FLOAT, [3]), info("row", FLOAT, [3])],
        [info("next", FLOAT, [3]), info("out", FLOAT, [3])],
    )
    rounds = _graph(
        ["Identity going > on", "CumSum state zero > next"],
        [info("round", INT64, []), info("going", BOOL, []), info("state", FLOAT, None)],
        [info("on", BOOL, []), info("next", FLOAT, None)],
    )
    return {
        "a branch by the mean": [*map(_node, by_mean), choice],
        "a branch that takes in what is made after it": [early, *map(_node, [by_mean[0], "Clip x least"])],
        "a branch by the number of rows": [*map(_node, by_count), choice],
        "a scan over rows": [
            helper.make_node("Scan", ["start", "x"], ["last", "answer"], body=rows, num_scan_inputs=1)
        ],
        "a loop that adds up rows": [helper.make_node("Loop", ["rounds", "", "x"], ["answer"], body=rounds)],
    }
