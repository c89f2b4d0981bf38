"""Small ONNX models of many kinds, written by hand: what exports and archives are tried on."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, DOUBLE, INT64, STRING, BOOL = (
    TensorProto.FLOAT,
    TensorProto.DOUBLE,
    TensorProto.INT64,
    TensorProto.STRING,
    TensorProto.BOOL,
)


class Leaf:
    """A model being written: inputs, nodes, constants."""

    def __init__(self, opset: int = 17, **inputs: Any) -> None:
        self.opset, self.nodes, self.constants = opset, list[Any](), list[Any]()
        self.inputs = [helper.make_tensor_value_info(name, *given) for name, given in inputs.items()]

    def constant(self, values: Any, dtype: Any = None) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), f"c{len(self.constants)}"))
        return str(self.constants[-1].name)

    def do(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def data(self, output: str, element: int, shape: Any = ("N",), ml: int = 3) -> bytes:
        outputs = [helper.make_tensor_value_info(output, element, list(shape))]
        graph = helper.make_graph(self.nodes, "leaf", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("ai.onnx.ml", ml)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        return bytes(model.SerializeToString())


def matrix(width: int, element: int = FLOAT, opset: int = 17) -> Leaf:
    return Leaf(opset, X=(element, ["N", width]))


def linear(rng: np.random.Generator, width: int, opset: int = 17) -> bytes:
    """Weigh the columns of a matrix; what is missing counts for nothing."""
    leaf = matrix(width, opset=opset)
    finite = leaf.do("Less", leaf.do("Abs", "X"), leaf.constant(1e6, np.float32))
    known = leaf.do("Where", finite, "X", leaf.constant(0, np.float32))
    score = leaf.do("MatMul", known, leaf.constant(rng.normal(size=(width, 1)), np.float32))
    return leaf.data(leaf.do("Add", score, leaf.constant(rng.normal(), np.float32)), FLOAT, ("N", 1))


def classes(rng: np.random.Generator, width: int, labels: int, element: int = INT64, opset: int = 17) -> bytes:
    """Answer one of some classes, by which of as many weighings is the greatest."""
    leaf = matrix(width, opset=opset)
    finite = leaf.do("Less", leaf.do("Abs", "X"), leaf.constant(1e6, np.float32))
    known = leaf.do("Where", finite, "X", leaf.constant(0, np.float32))
    scores = leaf.do("MatMul", known, leaf.constant(rng.normal(size=(width, labels)), np.float32))
    best = leaf.do("ArgMax", scores, axis=1, keepdims=0)
    return leaf.data(leaf.do("Cast", best, to=element), element)


def below_mean(width: int) -> bytes:
    """Answer by the batch: whether a row's first column is below the mean. Alone, no row is."""
    leaf = matrix(width)
    first = leaf.do("Gather", "X", leaf.constant(0, np.int64), axis=1)
    below = leaf.do("Less", first, leaf.do("ReduceMean", first, keepdims=0))
    return leaf.data(leaf.do("Cast", below, to=INT64), INT64)


def above(name: str, bound: float, element: int = DOUBLE, rank: int = 2) -> bytes:
    """Say whether a column is above a bound."""
    leaf = Leaf(17, **{name: (element, ["N", 1][:rank])})
    dtypes: dict[int, Any] = {DOUBLE: np.float64, FLOAT: np.float32, INT64: np.int64}
    return leaf.data(leaf.do("Greater", name, leaf.constant(bound, dtypes[element])), BOOL, ["N", 1][:rank])


def word(name: str, text: str, element: int = INT64, rank: int = 2) -> bytes:
    """Say whether a column holds a text: of all words 1, of others 0."""
    leaf = Leaf(17, **{name: (STRING, ["N", 1][:rank])})
    found = leaf.do("LabelEncoder", name, domain="ai.onnx.ml", keys_strings=[text], values_int64s=[1], default_int64=0)
    return leaf.data(leaf.do("Cast", found, to=element), element, ["N", 1][:rank])


def worded(rng: np.random.Generator, width: int, words: list[str]) -> bytes:
    """Answer one of some words."""
    leaf = matrix(width)
    finite = leaf.do("Less", leaf.do("Abs", "X"), leaf.constant(1e6, np.float32))
    known = leaf.do("Where", finite, "X", leaf.constant(0, np.float32))
    scores = leaf.do("MatMul", known, leaf.constant(rng.normal(size=(width, len(words))), np.float32))
    best = leaf.do("ArgMax", scores, axis=1, keepdims=0)
    told = leaf.do(
        "LabelEncoder",
        best,
        domain="ai.onnx.ml",
        keys_int64s=list(range(len(words))),
        values_strings=words,
        default_string="?",
    )
    return leaf.data(told, STRING)


def same(name: str, element: int, out: int, rank: int = 2) -> bytes:
    """Answer what a column holds, in another type."""
    leaf = Leaf(17, **{name: (element, ["N", 1][:rank])})
    return leaf.data(leaf.do("Cast", name, to=out), out, ["N", 1][:rank])


def constant(value: Any, width: int, element: int) -> bytes:
    """Answer the same for every row of a matrix."""
    leaf = matrix(width)
    first = leaf.do("Gather", "X", leaf.constant(0, np.int64), axis=1)
    nought = leaf.do("Cast", leaf.do("Equal", first, first), to=DOUBLE)
    added = leaf.do("Add", leaf.do("Mul", nought, leaf.constant(0.0)), leaf.constant(float(value)))
    return leaf.data(leaf.do("Cast", added, to=element), element)


def softmax(rng: np.random.Generator, width: int, opset: int) -> bytes:
    """Answer a class by way of operators whose meaning or form changed between opsets."""
    leaf = matrix(width, opset=opset)
    scores = leaf.do("MatMul", "X", leaf.constant(rng.normal(size=(width, 3)), np.float32))
    shares = leaf.do("Softmax", scores, axis=1)
    if opset < 13:
        column = leaf.do("Unsqueeze", leaf.do("ReduceMax", shares, axes=[1], keepdims=0), axes=[1])
    else:
        kept = leaf.do("ArgMax", shares, axis=1, keepdims=1)
        column = leaf.do("GatherElements", shares, kept, axis=1)
    best = leaf.do("ArgMax", leaf.do("Sub", shares, column), axis=1, keepdims=0)
    return leaf.data(best, INT64)


def branching(width: int, opset: int = 17) -> bytes:
    """Answer by way of a graph within the graph, with names of its own and of the graph around it."""
    leaf = matrix(width, opset=opset)
    first = leaf.do("Gather", "X", leaf.constant(0, np.int64), axis=1)
    branches = {}
    for name, sign in (("then_branch", 1), ("else_branch", -1)):
        signs = numpy_helper.from_array(np.array(sign, np.float32), f"sign{sign}")
        nodes = [
            helper.make_node("Mul", [first, f"sign{sign}"], [f"inner{sign}"]),
            helper.make_node("Cast", [f"inner{sign}"], [f"out{sign}"], to=INT64),
        ]
        branches[name] = helper.make_graph(
            nodes, name, [], [helper.make_tensor_value_info(f"out{sign}", INT64, ["N"])], [signs]
        )
    asked = leaf.do("If", leaf.constant(True, np.bool_), **branches)
    return leaf.data(asked, INT64)
