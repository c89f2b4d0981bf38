"""Graphs written at random, most of them valid: some treat each row alone, some mix rows, often in subtle ways."""

from typing import Any

import numpy as np
from onnx import TensorProto, helper

from biasbounty.exchange.onnx_run import open_session

ROWS = 6
OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]

_UNARY = ("Relu", "Neg", "Abs", "Identity", "Floor", "Sign")
_BINARY = ("Add", "Sub", "Max", "Min", "Mul")
_REDUCE = ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean")
_WORDS = """
unary unary binary binary constant_of constant_of constant_of product product gemm joined sliced gathered chosen
looked_up reduced reduced extreme softmax running largest reshaped reshaped reshaped flattened squeezed unsqueezed
unsqueezed transposed transposed expanded tiled padded one_hot by_size filled normalized picked scaled elements split
layer squares encoded cast_like where slope by_shape
"""
_KINDS = _WORDS.split()


class Writer:
    """Writes one graph, node by node; a node that does not run on the rows is taken back."""

    def __init__(self, rng: np.random.Generator, width: int) -> None:
        self._rng = rng
        self.X = rng.integers(-4, 5, (ROWS, width)).astype(np.float32)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.shapes: dict[str, tuple[int, ...]] = {"x": self.X.shape}
        self._names = 0

    def write(self, count: int) -> None:
        """Write so many nodes, or fewer where nothing fits."""
        for _ in range(4 * count):
            if len(self.shapes) > count:
                return
            self._try(str(self._rng.choice(_KINDS)))

    def model(self) -> Any:
        """Return the model; the last tensor is its output."""
        return self._model(list(self.shapes)[-1])

    def _model(self, output: str) -> Any:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", self.X.shape[1]])
        y = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        graph = helper.make_graph(needed(self.nodes, output), "written", [x], [y], self.constants)
        return helper.make_model(graph, opset_imports=OPSETS, ir_version=9)

    def _try(self, kind: str) -> None:
        before = len(self.nodes), len(self.constants)
        try:
            name = getattr(self, f"_{kind}")(self._tensor())
            found = run(self._model(name), self.X)
        except Exception:
            self.nodes, self.constants = self.nodes[: before[0]], self.constants[: before[1]]
            return
        if found.size > 5_000 or not found.size:
            self.nodes, self.constants = self.nodes[: before[0]], self.constants[: before[1]]
            return
        clipped = self._add("Clip", [name, self._constant(np.float32(-9)), self._constant(np.float32(9))])
        self.shapes[clipped] = found.shape

    def _tensor(self) -> str:
        names = list(self.shapes)
        return names[-1] if self._rng.random() < 0.6 else str(self._rng.choice(names))

    def _name(self) -> str:
        self._names += 1
        return f"t{self._names}"

    def _add(self, operator: str, inputs: list[str], outputs: int = 1, **attributes: Any) -> str:
        names = [self._name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[int(self._rng.integers(outputs))]

    def _constant(self, value: Any) -> str:
        array, name = np.asarray(value), self._name()
        element = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.constants.append(helper.make_tensor(name, element, array.shape, array.ravel().tolist()))
        return name

    def _whole(self, *numbers: int) -> str:
        return self._constant(np.array(numbers, np.int64))

    def _numbers(self, *shape: int) -> str:
        return self._constant(self._rng.integers(-2, 3, shape).astype(np.float32))

    def _axis(self, tensor: str) -> int:
        rank = max(1, len(self.shapes[tensor]))
        return int(self._rng.integers(-rank, rank))

    def _float(self, name: str) -> str:
        return self._add("Cast", [name], to=TensorProto.FLOAT)

    def _places(self, tensor: str, most: int) -> str:
        """Return whole numbers from 0 to `most`, that the tensor tells."""
        clipped = self._add("Clip", [tensor, self._constant(np.float32(0)), self._constant(np.float32(most))])
        return self._add("Cast", [clipped], to=TensorProto.INT64)

    def _unary(self, tensor: str) -> str:
        return self._add(str(self._rng.choice(_UNARY)), [tensor])

    def _binary(self, tensor: str) -> str:
        return self._add(str(self._rng.choice(_BINARY)), [tensor, self._tensor()])

    def _constant_shape(self, tensor: str) -> tuple[int, ...]:
        own = self.shapes[tensor]
        shape = tuple(length if self._rng.random() < 0.5 else 1 for length in own)
        return shape[int(self._rng.integers(0, len(shape) + 1)) :]

    def _constant_of(self, tensor: str) -> str:
        return self._numbers(*self._constant_shape(tensor))

    def _product(self, tensor: str) -> str:
        other = self._tensor() if self._rng.random() < 0.4 else self._numbers(self.shapes[tensor][-1], 3)
        return self._add("MatMul", [tensor, other] if self._rng.random() < 0.8 else [other, tensor])

    def _squares(self, tensor: str) -> str:
        turned = self._add("Transpose", [tensor], perm=[1, 0])
        return self._add("MatMul", [tensor, turned] if self._rng.random() < 0.5 else [turned, tensor])

    def _gemm(self, tensor: str) -> str:
        turned = int(self._rng.integers(2))
        rows, columns = self.shapes[tensor]
        added = self._numbers(3) if self._rng.random() < 0.7 else self._tensor()
        weights = self._numbers(rows if turned else columns, 3)
        return self._add("Gemm", [tensor, weights, added], transA=turned)

    def _joined(self, tensor: str) -> str:
        other = self._tensor() if self._rng.random() < 0.8 else self._numbers(*self.shapes[tensor])
        return self._add("Concat", [tensor, other], axis=self._axis(tensor))

    def _sliced(self, tensor: str) -> str:
        start, end = sorted(self._rng.integers(0, 4, 2).tolist())
        end = 2**31 - 1 if self._rng.random() < 0.3 else end + 1
        step = int(self._rng.choice([1, 1, 2]))
        names = [self._whole(number) for number in (start, end, self._axis(tensor), step)]
        return self._add("Slice", [tensor, *names])

    def _gathered(self, tensor: str) -> str:
        places = self._whole(*self._rng.integers(0, 3, int(self._rng.integers(1, 4))).tolist())
        if self._rng.random() < 0.3:
            places = self._constant(np.int64(0))
        return self._add("Gather", [tensor, places], axis=self._axis(tensor))

    def _chosen(self, tensor: str) -> str:
        data = self._numbers(5, 2) if self._rng.random() < 0.6 else self._tensor()
        return self._add("Gather", [data, self._places(tensor, 3)], axis=int(self._rng.integers(2)))

    def _looked_up(self, tensor: str) -> str:
        node = helper.make_node(
            "ArrayFeatureExtractor",
            [self._numbers(1, 5) if self._rng.random() < 0.6 else self._tensor(), self._places(tensor, 3)],
            [name := self._name()],
            domain="ai.onnx.ml",
        )
        self.nodes.append(node)
        return name

    def _picked(self, tensor: str) -> str:
        name, places = self._name(), self._whole(*self._rng.integers(0, 3, 2).tolist())
        self.nodes.append(helper.make_node("ArrayFeatureExtractor", [tensor, places], [name], domain="ai.onnx.ml"))
        return name

    def _scaled(self, tensor: str) -> str:
        name, operator = self._name(), str(self._rng.choice(["Scaler", "Normalizer", "Binarizer"]))
        attributes: dict[str, Any] = {"norm": "L1"} if operator == "Normalizer" else {}
        if operator == "Scaler":
            width = self.shapes[tensor][-1] if self._rng.random() < 0.7 else 1
            attributes = {"offset": [1.0] * width, "scale": list(map(float, range(1, width + 1)))}
        self.nodes.append(helper.make_node(operator, [tensor], [name], domain="ai.onnx.ml", **attributes))
        return name

    def _encoded(self, tensor: str) -> str:
        name = self._name()
        whole = self._add("Cast", [tensor], to=TensorProto.INT64)
        self.nodes.append(
            helper.make_node("OneHotEncoder", [whole], [name], domain="ai.onnx.ml", cats_int64s=[0, 1, 2], zeros=1)
        )
        return name

    def _elements(self, tensor: str) -> str:
        if self._rng.random() < 0.5:
            return self._add("GatherElements", [tensor, self._places(self._tensor(), 1)], axis=self._axis(tensor))
        places = self._places(tensor, 1)
        return self._add("ScatterElements", [tensor, places, self._tensor()], axis=self._axis(tensor))

    def _split(self, tensor: str) -> str:
        return self._add("Split", [tensor], outputs=2, axis=self._axis(tensor), num_outputs=2)

    def _layer(self, tensor: str) -> str:
        axis = self._axis(tensor)
        return self._add("LayerNormalization", [tensor, self._numbers(*self.shapes[tensor][axis:])], axis=axis)

    def _reduced(self, tensor: str) -> str:
        inputs = [tensor, self._whole(self._axis(tensor))] if self._rng.random() < 0.8 else [tensor]
        operator, kept = str(self._rng.choice(_REDUCE)), int(self._rng.integers(2))
        return self._add(operator, inputs, keepdims=kept, noop_with_empty_axes=int(self._rng.integers(2)))

    def _extreme(self, tensor: str) -> str:
        kept = int(self._rng.integers(2))
        return self._float(self._add("ArgMax", [tensor], axis=self._axis(tensor), keepdims=kept))

    def _softmax(self, tensor: str) -> str:
        return self._add(str(self._rng.choice(["Softmax", "LogSoftmax", "Hardmax"])), [tensor], axis=self._axis(tensor))

    def _normalized(self, tensor: str) -> str:
        return self._add("LpNormalization", [tensor], axis=self._axis(tensor), p=1)

    def _running(self, tensor: str) -> str:
        return self._add("CumSum", [tensor, self._constant(np.int64(self._axis(tensor)))])

    def _largest(self, tensor: str) -> str:
        names = [self._name(), self._name()]
        self.nodes.append(helper.make_node("TopK", [tensor, self._whole(2)], names, axis=self._axis(tensor)))
        return names[0] if self._rng.random() < 0.5 else self._float(names[1])

    def _reshaped(self, tensor: str) -> str:
        own = self.shapes[tensor]
        lengths = [*own, -1, -1, -1, 0, 0, 1, 2, 3, ROWS, int(np.prod(own[1:])), int(np.prod(own[:-1]))]
        wanted = [int(self._rng.choice(lengths)) for _ in range(int(self._rng.integers(1, 4)))]
        return self._add("Reshape", [tensor, self._whole(*wanted)])

    def _flattened(self, tensor: str) -> str:
        return self._add("Flatten", [tensor], axis=self._axis(tensor))

    def _squeezed(self, tensor: str) -> str:
        ones = [axis for axis, length in enumerate(self.shapes[tensor]) if length == 1]
        axes = [self._whole(int(self._rng.choice(ones)))] if ones and self._rng.random() < 0.8 else []
        return self._add("Squeeze", [tensor, *axes])

    def _unsqueezed(self, tensor: str) -> str:
        rank = len(self.shapes[tensor]) + 1
        return self._add("Unsqueeze", [tensor, self._whole(int(self._rng.integers(-rank, rank)))])

    def _transposed(self, tensor: str) -> str:
        return self._add("Transpose", [tensor], perm=self._rng.permutation(len(self.shapes[tensor])).tolist())

    def _expanded(self, tensor: str) -> str:
        wanted = [int(self._rng.choice([1, 1, 2, length])) for length in self.shapes[tensor]]
        return self._add("Expand", [tensor, self._whole(*([2] if self._rng.random() < 0.3 else []), *wanted)])

    def _tiled(self, tensor: str) -> str:
        return self._add("Tile", [tensor, self._whole(*self._rng.integers(1, 3, len(self.shapes[tensor])).tolist())])

    def _padded(self, tensor: str) -> str:
        pads = self._rng.integers(0, 2, 2 * len(self.shapes[tensor])) * (self._rng.random() < 0.5)
        pads[-1] = 1
        return self._add("Pad", [tensor, self._whole(*pads.tolist())])

    def _one_hot(self, tensor: str) -> str:
        values = self._constant(np.array([0, 1], np.float32))
        names = [self._places(tensor, 2), self._constant(np.int64(3)), values]
        return self._add("OneHot", names, axis=self._axis(tensor))

    def _by_size(self, tensor: str) -> str:
        """Reshape by what Shape says, in some order."""
        whole = self._add("Shape", [tensor])
        first = self._add("Slice", [whole, self._whole(0), self._whole(1)])
        rest = self._whole(-1)
        shape = self._add("Concat", [first, rest] if self._rng.random() < 0.7 else [rest, first], axis=0)
        return self._add("Reshape", [self._tensor(), shape])

    def _cast_like(self, tensor: str) -> str:
        return self._add("CastLike", [self._numbers(1, self.shapes[tensor][-1]), tensor])

    def _where(self, tensor: str) -> str:
        flag = self._add("Greater", [tensor, self._tensor()])
        return self._add("Where", [flag, self._tensor(), self._tensor()])

    def _slope(self, tensor: str) -> str:
        return self._add("PRelu", [tensor, self._tensor()])

    def _by_shape(self, tensor: str) -> str:
        return self._add("Expand", [self._tensor(), self._add("Shape", [tensor])])

    def _filled(self, tensor: str) -> str:
        shape = self._add("Shape", [tensor], end=int(self._rng.integers(1, 3)))
        value = helper.make_tensor("value", TensorProto.FLOAT, [1], [2.0])
        return self._add("ConstantOfShape", [shape], value=value)


def needed(nodes: list[Any], output: str) -> list[Any]:
    """Return the nodes that an output needs."""
    wanted, kept = {output}, []
    for node in reversed(nodes):
        if not wanted.isdisjoint(node.output):
            wanted |= set(node.input)
            kept.append(node)
    return kept[::-1]


def run(model: Any, X: Any) -> Any:
    """Return the first output for rows, from onnxruntime as models are run: what it rewrites is tested too."""
    session = open_session(model.SerializeToString())
    return session.run([session.get_outputs()[0].name], {"x": X})[0]
