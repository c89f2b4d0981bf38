"""Graphs: an ONNX model in the making, node by node; what comes out has always the same versions and plain contents.

`OPSETS` is the pair of versions that every conversion comes out with, so that an exported list can hold any of them
side by side: the newest for which skl2onnx, torch and our own writers all have a form (skl2onnx knows version 3 of
ai.onnx.ml, in which trees have no output of double precision).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from biasbounty.arrays import Array
from biasbounty.errors import ConversionError, MissingExtraError

OPSETS: Mapping[str, int] = {"": 21, "ai.onnx.ml": 3}
IR_VERSION = 10

Proto = Any


def onnx_package() -> Any:
    """Import onnx, or say which extra has it."""
    try:
        import onnx
    except ImportError as error:
        raise MissingExtraError("conversion needs onnx: install biasbounty[convert]") from error
    return onnx


class Graph:
    """Nodes, constants and inputs; every value has a name of its own."""

    def __init__(self) -> None:
        self._onnx = onnx_package()
        self._nodes: list[Proto] = []
        self._constants: dict[str, Proto] = {}
        self._inputs: list[Proto] = []
        self._taken: set[str] = set()

    def take_in(self, name: str, element: str, width: int) -> str:
        """Add an input of shape [N, width]."""
        kind = getattr(self._onnx.TensorProto, element.upper())
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, ["N", width]))
        self._taken.add(name)
        return name

    def constant(self, values: Any) -> str:
        """Add a constant tensor; text is given as an array of objects."""
        array = np.asarray(values)
        name = self._fresh("constant")
        if array.dtype.kind in "OU":
            texts = [str(text).encode() for text in array.reshape(-1).tolist()]
            tensor = self._onnx.helper.make_tensor(name, self._onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = self._onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self._constants[name] = tensor
        return name

    def add(self, op: str, *given: str, domain: str = "", **attributes: Any) -> str:
        """Add a node of one output and return that output's name."""
        name = self._fresh(op.lower())
        node = self._onnx.helper.make_node(op, list(given), [name], name=name, domain=domain, **attributes)
        self._nodes.append(node)
        return name

    def tensor(self, values: Array, name: str) -> Proto:
        """Return an array as the value of an attribute."""
        return self._onnx.numpy_helper.from_array(values, name)

    def cast(self, name: str, element: str) -> str:
        """Add a cast to an element type."""
        return self.add("Cast", name, to=getattr(self._onnx.TensorProto, element.upper()))

    def inline(self, model: Proto, *given: str, who: str, output: int = 0) -> tuple[str, Proto]:
        """Add all nodes of a converter's model; return the name and the type of one of its outputs."""
        inner = model.graph
        inputs = [value.name for value in inner.input if value.name not in {c.name for c in inner.initializer}]
        self._verify_plain(model, len(inputs) == len(given), who)
        names = dict(zip(inputs, given, strict=True)) | {"": ""}
        for tensor in inner.initializer:
            names[tensor.name] = self._fresh("constant")
            self._constants[names[tensor.name]] = _renamed(tensor, names[tensor.name])
        for node in inner.node:
            self._nodes.append(self._with_names(node, names))
        return names[inner.output[output].name], inner.output[output].type.tensor_type

    def _verify_plain(self, model: Proto, fits: bool, who: str) -> None:
        nested = any(each.type in (5, 10) for node in model.graph.node for each in node.attribute)
        foreign = {node.domain for node in model.graph.node} - {"", "ai.onnx", *OPSETS}
        if not fits or nested or foreign or len(model.functions) or len(model.graph.sparse_initializer):
            reason = f"operators of {', '.join(sorted(foreign))}" if foreign else "graphs within graphs or functions"
            raise ConversionError(
                f"{who} cannot be converted: expected plain operators of ONNX, got {reason}; use a simpler model"
            )

    def _with_names(self, node: Proto, names: dict[str, str]) -> Proto:
        """Return a node under names of this graph, without a converter's notes about where it comes from."""
        for name in node.output:
            names.setdefault(name, self._fresh(node.op_type.lower()))
        own = self._onnx.NodeProto(op_type=node.op_type, domain="" if node.domain == "ai.onnx" else node.domain)
        own.input.extend(names[name] for name in node.input)
        own.output.extend(names[name] for name in node.output)
        own.attribute.extend(node.attribute)
        own.name = next(name for name in own.output if name)
        return own

    def _fresh(self, stem: str) -> str:
        name = f"{stem}_{len(self._taken)}"
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def finish(self, answer: str, element: str, rank: int) -> bytes:
        """Return the model's bytes: nothing but what the answer needs."""
        onnx = self._onnx
        last = self.add("Identity", answer)
        nodes, needed = _needed(self._nodes, last)
        graph = onnx.helper.make_graph(
            nodes,
            "converted",
            [value for value in self._inputs if value.name in needed],
            [onnx.helper.make_tensor_value_info(last, getattr(onnx.TensorProto, element.upper()), ["N", 1][:rank])],
            [tensor for name, tensor in self._constants.items() if name in needed],
        )
        opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="biasbounty")
        return bytes(model.SerializeToString())


def _renamed(tensor: Proto, name: str) -> Proto:
    copy = type(tensor)()
    copy.CopyFrom(tensor)
    copy.name, copy.doc_string = name, ""
    return copy


def _needed(nodes: list[Proto], answer: str) -> tuple[list[Proto], set[str]]:
    """Return the nodes that the answer needs, in order, and the names of all values they read."""
    needed, kept = {answer}, []
    for node in reversed(nodes):
        if needed.intersection(node.output):
            kept.append(node)
            needed.update(node.input)
    return kept[::-1], needed
