"""Hostile submissions, each made by code: what an attacker would try within ONNX itself.

Each says how it has to end: `refused` are words of the audit's refusal; without, it passes the audit, and then `fails`
in the sandbox or answers. All take the rows as a matrix X of two columns.
"""

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from tests.exchange.onnx_models import BOOL, FLOAT, INT64, TEXT, above_mean, model_of

CANARY = "canary.bin"
X = np.array([[1.0, 2.0], [-3.0, 0.5], [np.nan, 4.0], [0.0, 0.0], [7.5, -1.0]])
WIDTH = X.shape[1]
HUGE = 10**12
_INPUT: list[tuple[str, int, list[Any]]] = [("X", FLOAT, ["N", WIDTH])]
_OUTPUT: tuple[str, int, list[Any]] = ("answer", FLOAT, ["N", 1])


@dataclass(frozen=True)
class Hostile:
    """One hostile submission."""

    name: str
    make: Callable[[], bytes]
    refused: str | None = None
    fails: str | None = None


def node(operator: str, inputs: str, outputs: str = "answer", **attributes: Any) -> Any:
    """Return a node; names are separated by spaces."""
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes)


def model(*nodes: Any, constants: Any = (), output: tuple[str, int, list[Any]] = _OUTPUT) -> bytes:
    """Return a model of the matrix X."""
    return model_of(list(nodes), _INPUT, output, list(constants))


def numbers(name: str, *values: int) -> Any:
    """Return a constant of whole numbers."""
    return helper.make_tensor(name, INT64, [len(values)], values)


def first_column(more: str = "") -> list[Any]:
    """Return nodes that take the first column, and its constants."""
    return [node("Gather", "X place", f"column{more}", axis=1)]


PLACE = numbers("place", 0)


def changed(data: bytes, change: Callable[[Any], Any]) -> bytes:
    """Return a model that was changed after it was made."""
    proto = ModelProto.FromString(data)
    change(proto)
    changed_data: bytes = proto.SerializeToString()
    return changed_data


def harmless() -> bytes:
    """Return a model whose answer is the first column."""
    return model(node("Gather", "X place", axis=1), constants=[PLACE])


def with_weights(values: Any = (1.0, 0.0)) -> bytes:
    """Return a linear model of the columns."""
    weights = helper.make_tensor("weights", FLOAT, [WIDTH, 1], list(values))
    return model(node("MatMul", "X weights"), constants=[weights])


def _outside(location: str, tensor: Any) -> None:
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    entries = {"location": location, "offset": "0", "length": str(4 * WIDTH)}
    tensor.external_data.extend(_entries(entries))


def _entries(entries: dict[str, str]) -> list[Any]:
    from onnx import StringStringEntryProto

    return [StringStringEntryProto(key=key, value=value) for key, value in entries.items()]


def external(location: str) -> bytes:
    """Return a model whose weights are in a file elsewhere."""
    return changed(with_weights(), lambda proto: _outside(location, proto.graph.initializer[0]))


def outside(folder: Path, port: int) -> Iterator[Hostile]:
    """Yield what points outside the file: to a canary in this folder, or to a socket."""
    words = "kept outside the file: expected its values in the file"
    for name, location in {
        "relative": CANARY,
        "absolute": str(folder / CANARY),
        "through a symlink": "link.bin",
        "up and down": f"../{folder.name}/{CANARY}",
        "of the worker itself": "/proc/self/maps",
        "by address": f"http://127.0.0.1:{port}/{CANARY}",
        "in memory": "*/_ORT_MEM_ADDR_/*",
        "nowhere": "",
    }.items():
        yield Hostile(f"external data, {name}", lambda location=location: external(location), words)  # type: ignore[misc]
    yield Hostile("external data in an attribute", lambda: _in_attribute(folder), words)
    yield Hostile("external data in a subgraph", lambda: _in_subgraph(folder), words)
    yield Hostile("external data in a sparse tensor", lambda: _in_sparse(folder), "sparse tensor|kept outside")
    yield Hostile("external data in a function", lambda: _in_function(folder), "functions of its own")
    yield Hostile("external data for training", lambda: _in_training(folder), "training information")
    path = str(folder / CANARY)
    yield Hostile("path in metadata", lambda: _metadata("weights", path), "metadata 'weights' names a file")
    yield Hostile("address in metadata", lambda: _metadata("see", f"http://127.0.0.1:{port}"), "names a file")
    yield Hostile("file in metadata", lambda: _metadata("location", CANARY), "metadata 'location' names a file")
    yield Hostile("path in metadata of a node", lambda: _node_metadata(path), "names a file")
    yield Hostile("path in an attribute", lambda: _path_attribute(path), "names a file: expected no paths")


def _in_attribute(folder: Path) -> bytes:
    tensor = helper.make_tensor("held", FLOAT, [WIDTH, 1], [1.0, 0.0])
    _outside(str(folder / CANARY), tensor)
    return model(node("Constant", "", "weights", value=tensor), node("MatMul", "X weights"))


def _branch(*nodes: Any, constants: Any = ()) -> Any:
    answer = helper.make_tensor_value_info("branched", FLOAT, None)
    return helper.make_graph(list(nodes), "branch", [], [answer], list(constants))


def _in_subgraph(folder: Path) -> bytes:
    weights = helper.make_tensor("weights", FLOAT, [WIDTH, 1], [1.0, 0.0])
    _outside(str(folder / CANARY), weights)
    inner = _branch(node("MatMul", "X weights", "branched"), constants=[weights])
    other = _branch(node("Gather", "X place", "branched", axis=1))
    flag = helper.make_tensor("flag", BOOL, [], [True])
    return model(node("If", "flag", then_branch=inner, else_branch=other), constants=[flag, PLACE])


def _in_sparse(folder: Path) -> bytes:
    def change(proto: Any) -> None:
        values = helper.make_tensor("weights", FLOAT, [1], [1.0])
        _outside(str(folder / CANARY), values)
        del proto.graph.initializer[:]
        places = helper.make_tensor("", INT64, [1], [0])
        proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [WIDTH, 1]))

    return changed(with_weights(), change)


def _function(name: str, *nodes: Any) -> Any:
    return helper.make_function("here", name, ["X"], ["answer"], list(nodes), [helper.make_opsetid("", 18)])


def _in_function(folder: Path) -> bytes:
    def change(proto: Any) -> None:
        tensor = helper.make_tensor("held", FLOAT, [WIDTH, 1], [1.0, 0.0])
        _outside(str(folder / CANARY), tensor)
        proto.functions.append(
            _function("read", node("Constant", "", "weights", value=tensor), node("MatMul", "X weights"))
        )
        proto.opset_import.append(helper.make_opsetid("here", 1))
        proto.graph.node[0].CopyFrom(node("read", "X", domain="here"))

    return changed(harmless(), change)


def _in_training(folder: Path) -> bytes:
    def change(proto: Any) -> None:
        tensor = helper.make_tensor("held", FLOAT, [WIDTH, 1], [1.0, 0.0])
        _outside(str(folder / CANARY), tensor)
        proto.training_info.add().algorithm.initializer.append(tensor)

    return changed(harmless(), change)


def _metadata(key: str, value: str) -> bytes:
    return changed(harmless(), lambda proto: helper.set_model_props(proto, {key: value}))


def _node_metadata(value: str) -> bytes:
    return changed(harmless(), lambda proto: proto.graph.node[0].metadata_props.extend(_entries({"from": value})))


def _path_attribute(path: str) -> bytes:
    return model(*first_column(), node("Gelu", "column", approximate=path), constants=[PLACE])


def bombs() -> Iterator[Hostile]:
    """Yield what makes or does far too much."""
    large = "makes too large a tensor: expected at most"
    much = "memory|too long|does not (run|load)|crashes"
    yield Hostile("a loop of 1e12 rounds", lambda: _loop(known=True), "loops too often: expected at most")
    yield Hostile("a loop of 1e12 rounds, computed", lambda: _loop(known=False), fails="runs too long")
    yield Hostile("a loop without end", _endless, fails="runs too long")
    yield Hostile("a product of 12,000 cubed", lambda: _product(known=True), large)
    yield Hostile("a product of 12,000 cubed, computed", lambda: _product(known=False), fails=much)
    yield Hostile("100 GB of zeros", lambda: _zeros(known=True), large)
    yield Hostile("100 GB of zeros, computed", lambda: _zeros(known=False), fails=much)
    yield Hostile("Expand to 1e12", lambda: _expand(FLOAT, known=True), large)
    yield Hostile("Expand to 1e12, computed", lambda: _expand(FLOAT, known=False), fails=much)
    yield Hostile("1e9 strings", lambda: _expand(TEXT, known=True), large)
    yield Hostile("1e9 strings, computed", lambda: _expand(TEXT, known=False), fails=much)
    yield Hostile("Tile 1e12 times", lambda: _tile(known=True), large)
    yield Hostile("Tile 1e12 times, computed", lambda: _tile(known=False), fails=much)
    yield Hostile("Range to 1e12", lambda: _range(known=True), large)
    yield Hostile("Range to 1e12, computed", lambda: _range(known=False), fails=much)
    yield Hostile("OneHot of 1e12", _one_hot, large)
    yield Hostile("Pad of 1e12", _pad, large)
    yield Hostile("a kernel of 1e9", _kernel, "reaches too far")
    yield Hostile("text doubled 60 times before it is run", lambda: _doubled_text("word"), fails=much)
    yield Hostile("text doubled 60 times from rows", lambda: _doubled_text("rows"), fails=much)
    yield Hostile("rows joined 40 times", _joined, fails=much)
    yield Hostile("a dense form of 1e12", _dense, "sparse tensor")
    yield Hostile("a sum of products without end", _einsum, "Einsum is not allowed")
    yield Hostile("a tree that never ends", _endless_tree, fails="does not load|too long|crashes|memory")
    yield Hostile("a tree that reads beyond its row", _reaching_tree, fails="does not run|crashes")


def _computed(name: str, *values: int, known: bool) -> tuple[list[Any], list[Any]]:
    """Return whole numbers as a constant, or as the product of two, which nobody looks at before it is run."""
    if known:
        return [], [numbers(name, *values)]
    return [node("Mul", f"{name}a {name}b", name)], [numbers(f"{name}a", *values), numbers(f"{name}b", 1)]


def _answer_by(*nodes: Any, constants: Any, of: str) -> bytes:
    """Return a model that adds the largest value of a tensor to the first column, so that it has to be made."""
    ends = [node("ReduceMax", of, "most", keepdims=0), *first_column(), node("Add", "column most")]
    return model(*nodes, *ends, constants=[*constants, PLACE])


def _loop(known: bool) -> bytes:
    nodes, constants = _computed("rounds", HUGE, known=known)
    body = helper.make_graph(
        [node("Identity", "going", "on"), node("Add", "state state", "next")],
        "body",
        [
            helper.make_tensor_value_info("round", INT64, []),
            helper.make_tensor_value_info("going", BOOL, []),
            helper.make_tensor_value_info("state", FLOAT, None),
        ],
        [helper.make_tensor_value_info("on", BOOL, []), helper.make_tensor_value_info("next", FLOAT, None)],
    )
    looping = helper.make_node("Loop", ["rounds", "", "column"], ["answer"], body=body)
    return model(*nodes, *first_column(), looping, constants=[*constants, PLACE])


def _endless() -> bytes:
    def change(proto: Any) -> None:
        proto.graph.node[1].input[:] = ["", "yes", "column"]
        proto.graph.initializer.append(helper.make_tensor("yes", BOOL, [], [True]))

    return changed(_loop(known=True), change)


def _product(known: bool) -> bytes:
    nodes, constants = _computed("shape", 12_000, 12_000, known=known)
    made = [node("ConstantOfShape", "shape", "square"), node("MatMul", "square square", "cube")]
    return _answer_by(*nodes, *made, constants=constants, of="cube")


def _zeros(known: bool) -> bytes:
    nodes, constants = _computed("shape", 25 * 10**9, known=known)
    return _answer_by(*nodes, node("ConstantOfShape", "shape", "zeros"), constants=constants, of="zeros")


def _expand(element: int, known: bool) -> bytes:
    nodes, constants = _computed("shape", 10**9 if element == TEXT else HUGE, known=known)
    held: list[Any] = [b"word" * 9 if element == TEXT else 1.0]
    word = helper.make_tensor("word", element, [1], held)
    nodes += [node("Expand", "word shape", "words")]
    if element == TEXT:
        nodes += [node("LabelEncoder", "words", "coded", domain="ai.onnx.ml", keys_strings=["a"], values_floats=[1.0])]
    return _answer_by(*nodes, constants=[*constants, word], of="coded" if element == TEXT else "words")


def _tile(known: bool) -> bytes:
    nodes, constants = _computed("times", 1, HUGE, known=known)
    return _answer_by(*nodes, node("Tile", "X times", "tiles"), constants=constants, of="tiles")


def _range(known: bool) -> bytes:
    ends = [helper.make_tensor(name, INT64, [], [end]) for name, end in (("start", 0), ("by", 1))]
    nodes, constants = _computed("limits", HUGE, known=known)
    if known:
        constants = [helper.make_tensor("limit", INT64, [], [HUGE])]
    else:
        nodes += [node("Squeeze", "limits", "limit")]
    made = [node("Range", "start limit by", "all"), node("Cast", "all", "floats", to=FLOAT)]
    return _answer_by(*nodes, *made, constants=[*constants, *ends], of="floats")


def _one_hot() -> bytes:
    depth, values = helper.make_tensor("depth", INT64, [], [HUGE]), helper.make_tensor("values", FLOAT, [2], [0, 1])
    return _answer_by(
        node("Cast", "X", "whole", to=INT64),
        node("OneHot", "whole depth values", "hot"),
        constants=[depth, values],
        of="hot",
    )


def _pad() -> bytes:
    return _answer_by(node("Pad", "X pads", "padded"), constants=[numbers("pads", 0, HUGE, 0, 0)], of="padded")


def _kernel() -> bytes:
    pooled = node("MaxPool", "image", "pooled", kernel_shape=[10**9], pads=[10**9 - 1, 10**9 - 1])
    return _answer_by(node("Unsqueeze", "X one", "image"), pooled, constants=[numbers("one", 1)], of="pooled")


def _doubled_text(start: str) -> bytes:
    held: list[Any] = [b"word"]
    word = helper.make_tensor("word", TEXT, [1], held)
    nodes = [] if start == "word" else [node("Cast", "X", "rows", to=TEXT)]
    last = start
    for turn in range(60):
        nodes.append(node("StringConcat", f"{last} {last}", f"t{turn}"))
        last = f"t{turn}"
    nodes.append(node("LabelEncoder", last, "coded", domain="ai.onnx.ml", keys_strings=["a"], values_floats=[1.0]))
    made = _answer_by(*nodes, constants=[word], of="coded")
    return changed(made, lambda proto: setattr(proto.opset_import[0], "version", 20))


def _joined() -> bytes:
    nodes = [node("Concat", f"{'X' if turn == 0 else f't{turn - 1}'} " * 2, f"t{turn}", axis=1) for turn in range(40)]
    return _answer_by(*nodes, constants=[], of="t39")


def _dense() -> bytes:
    def change(proto: Any) -> None:
        del proto.graph.initializer[:]
        values = helper.make_tensor("weights", FLOAT, [1], [1.0])
        places = helper.make_tensor("", INT64, [1], [0])
        proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [WIDTH, HUGE]))

    return changed(with_weights(), change)


def _einsum() -> bytes:
    nodes, constants = _computed("shape", 4096, known=False)
    made = [node("ConstantOfShape", "shape", "line"), node("Einsum", "line line line", "cube", equation="a,b,c->abc")]
    return _answer_by(*nodes, *made, constants=constants, of="cube")


def tree(**changes: Any) -> bytes:
    """Return a tree of one branch; changes are attributes."""
    attributes = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_values": [0.25, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
        "n_targets": 1,
    }
    return model(node("TreeEnsembleRegressor", "X", domain="ai.onnx.ml", **{**attributes, **changes}))


def _endless_tree() -> bytes:
    return tree(nodes_truenodeids=[0, 0, 0], nodes_falsenodeids=[0, 0, 0])


def _reaching_tree() -> bytes:
    return tree(nodes_featureids=[1_000_000, 0, 0])


def graphs_of_graphs() -> Iterator[Hostile]:
    """Yield graphs within graphs, and graphs that are none."""
    deep = "graph nests too deep: expected at most 64 levels"
    yield Hostile("If within If, 10 deep", lambda: nested(10))
    yield Hostile("If within If, 60 deep", lambda: nested(60), deep)
    yield Hostile("If within If, 20,000 deep", lambda: nested(20_000), deep)
    yield Hostile("a graph that picks its rule from the batch", lambda: above_mean(WIDTH))
    yield Hostile("a branch by the mean of the batch", _branch_by_batch)
    yield Hostile("nothing but NaN", lambda: model(*first_column(), node("Div", "column nought"), constants=_NOUGHT))
    yield Hostile("a circle of nodes", _circle, fails="does not load")
    yield Hostile("a tensor that nobody makes", lambda: model(node("Relu", "ghost")), fails="does not load")
    yield Hostile("a name given twice", _twice, fails="does not load")
    yield Hostile("a function in place of an operator", _override, "functions of its own")
    yield Hostile("a function of another domain", _other_function, "functions of its own")
    yield Hostile("a graph in an operator that has none", _stowaway, "has a graph within")
    yield Hostile("a loop that doubles its rows", _growing, fails="memory|too long|crashes|does not run")


_NOUGHT = [helper.make_tensor("nought", FLOAT, [1], [np.nan]), PLACE]


def nested(depth: int) -> bytes:
    """Return If within If, so many deep; written in bytes, as no library would."""
    inner = _branch(node("Gather", "X place", "branched", axis=1)).SerializeToString()
    other = helper.make_attribute("else_branch", _branch(node("Gather", "X place", "branched", axis=1)))
    flat = _field(NodeProto, "attribute", other.SerializeToString())
    before: list[bytes] = []
    after: list[bytes] = []
    size = len(inner)
    ends = b"".join(
        (
            _field(GraphProto, "name", b"branch"),
            _field(GraphProto, "output", ValueInfoProto(name="branched").SerializeToString()),
        )
    )
    for _ in range(depth - 1):
        size = _wrap(before, after, size, flat, ends)
    body = b"".join((*reversed(before), inner, *after))
    attribute = _field_bytes(1, b"then_branch") + _field_bytes(6, body) + bytes([0xA0, 0x01, 5])
    flag = helper.make_tensor("flag", BOOL, [], [True])
    outer = node("If", "flag").SerializeToString() + _field(NodeProto, "attribute", attribute) + flat
    made = ModelProto.FromString(model(constants=[flag, PLACE]))
    rest = made.graph.SerializeToString()
    made.ClearField("graph")
    data: bytes = made.SerializeToString() + _field(ModelProto, "graph", rest + _field(GraphProto, "node", outer))
    return data


def _wrap(before: list[bytes], after: list[bytes], size: int, flat: bytes, ends: bytes) -> int:
    """Put a graph of so many bytes into the branch of an If in a graph; return the size of that."""
    name, kind = _field_bytes(1, b"then_branch"), bytes([0xA0, 0x01, 5])
    head = bytes([6 << 3 | 2]) + _varint(size)
    attribute = len(name) + len(head) + size + len(kind)
    opening = bytes([5 << 3 | 2]) + _varint(attribute) + name + head
    plain = node("If", "flag", "branched").SerializeToString()
    whole = len(plain) + len(opening) + size + len(kind) + len(flat)
    start = bytes([1 << 3 | 2]) + _varint(whole) + plain + opening
    before.append(start)
    after.append(kind + flat + ends)
    return len(start) + size + len(kind) + len(flat) + len(ends)


def _field(kind: Any, name: str, body: bytes) -> bytes:
    return _field_bytes(kind.DESCRIPTOR.fields_by_name[name].number, body)


def _field_bytes(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes([*parts, value])


def _branch_by_batch() -> bytes:
    """Return a graph that answers with another column where there are more rows than one."""
    nodes = [
        node("Shape", "X", "shape"),
        node("Gather", "shape place", "count"),
        node("Squeeze", "count", "rows"),
        node("Greater", "rows one", "many"),
    ]
    branches = {
        "then_branch": _branch(node("Gather", "X second", "branched", axis=1)),
        "else_branch": _branch(node("Gather", "X place", "branched", axis=1)),
    }
    constants = [PLACE, numbers("second", 1), helper.make_tensor("one", INT64, [], [1])]
    return model(*nodes, node("If", "many", **branches), constants=constants)


def _circle() -> bytes:
    return model(node("Add", "X two", "one"), node("Neg", "one", "two"), node("Gather", "one place"), constants=[PLACE])


def _twice() -> bytes:
    return model(*first_column(), node("Neg", "column"), node("Abs", "column"), constants=[PLACE])


def _override() -> bytes:
    def change(proto: Any) -> None:
        proto.functions.append(
            helper.make_function(
                "", "Gather", ["X", "place"], ["answer"], [node("ReduceMean", "X")], proto.opset_import
            )
        )

    return changed(harmless(), change)


def _other_function() -> bytes:
    def change(proto: Any) -> None:
        proto.functions.append(_function("again", node("again", "X", domain="here")))
        proto.opset_import.append(helper.make_opsetid("here", 1))
        proto.graph.node[0].CopyFrom(node("again", "X", domain="here"))

    return changed(harmless(), change)


def _stowaway() -> bytes:
    return model(*first_column(), node("Neg", "column", body=_branch(node("Neg", "X", "branched"))), constants=[PLACE])


def _growing() -> bytes:
    def change(proto: Any) -> None:
        body = proto.graph.node[-1].attribute[0].g
        body.node[1].CopyFrom(node("Concat", "state state", "next", axis=0))

    return changed(_loop(known=False), change)


def malformed() -> Iterator[Hostile]:
    """Yield bytes that are no model, or not quite."""
    none = "is no ONNX model"
    whole = with_weights()
    yield Hostile("2 GB", lambda: bytes(2 << 30), "file is too large: expected at most")
    yield Hostile("nothing", lambda: b"", none)
    yield Hostile("text", lambda: b"AGEP < 25", none)
    yield Hostile("a pickle", lambda: pickle.dumps({"model": [1, 2, 3]}), none)
    yield Hostile("noise", lambda: np.random.default_rng(0).bytes(10_000), none)
    yield Hostile("half a file", lambda: whole[: len(whole) // 2], none)
    yield Hostile("a file cut in its last byte", lambda: whole[:-1], none)
    yield Hostile("bits flipped", lambda: bytes(byte ^ 1 for byte in whole), none)
    yield Hostile("32 million nodes of nothing", lambda: _field_bytes(7, b"\x0a\x00" * 2**24), "too many parts")
    yield Hostile("32 million lengths", lambda: _lengths(2**24), "no proper shape|not hold")
    yield Hostile("a field that nobody knows", lambda: whole + _field_bytes(99, b"x"), none)
    yield Hostile("a group, as protobuf once had", lambda: whole + bytes([9 << 3 | 3, 9 << 3 | 4]), none)
    yield Hostile("a number without end", lambda: whole + b"\x08" + b"\xff" * 11, none)
    yield Hostile(
        "a name that is no text", lambda: whole.replace(b"weights", b"w\xff\xfeghts"), "no text|no ONNX model"
    )
    yield Hostile("a name of a million letters", _long_name, fails="does not load")
    yield Hostile("fewer values than said", lambda: _weights(lambda one: one.float_data.pop()), "not hold what it says")
    yield Hostile(
        "more values than said", lambda: _weights(lambda one: one.float_data.append(0)), "not hold what it says"
    )
    yield Hostile("2e24 values, said", lambda: _weights(lambda one: one.dims.__setitem__(0, HUGE)), "not hold what it")
    yield Hostile("a negative length", lambda: _weights(lambda one: one.dims.__setitem__(0, -2)), "no proper shape")
    yield Hostile("values in two fields", lambda: _weights(_both), "not hold what it says")
    yield Hostile("an element type of none", lambda: _weights(lambda one: setattr(one, "data_type", 0)), "not allowed")
    yield Hostile("an element type of 99", lambda: _weights(lambda one: setattr(one, "data_type", 99)), "not allowed")
    yield Hostile("a format of the future", lambda: _set("ir_version", 99), "unknown format version")
    yield Hostile("operators of the future", lambda: _opset(99), "version of ai.onnx is not one that can be run")
    yield Hostile("operators of before", lambda: _opset(0), "version of ai.onnx is not one that can be run")
    yield Hostile("operators of long ago", _old, "has no implementation")
    yield Hostile(
        "no operators", lambda: changed(whole, lambda proto: proto.ClearField("opset_import")), "names no set"
    )
    yield Hostile("an attribute twice", _attribute_twice, "has an attribute twice")


def _lengths(count: int) -> bytes:
    """Return a model with a constant of so many axes."""
    packed = b"\x02" * count
    tensor = _field_bytes(1, packed) + bytes([2 << 3, 1]) + _field_bytes(8, b"weights")
    return with_weights() + _field(ModelProto, "graph", _field(GraphProto, "initializer", tensor))


def _long_name() -> bytes:
    return model(node("Relu", "x" * 10**6))


def _weights(change: Callable[[Any], Any]) -> bytes:
    return changed(with_weights(), lambda proto: change(proto.graph.initializer[0]))


def _both(tensor: Any) -> None:
    tensor.raw_data = np.zeros(WIDTH, np.float32).tobytes()


def _set(name: str, value: Any) -> bytes:
    return changed(with_weights(), lambda proto: setattr(proto, name, value))


def _opset(version: int) -> bytes:
    return changed(with_weights(), lambda proto: setattr(proto.opset_import[0], "version", version))


def _old() -> bytes:
    added = model(node("Add", "X X", "twice"), node("Gather", "twice place", axis=1), constants=[PLACE])
    return changed(added, lambda proto: setattr(proto.opset_import[0], "version", 6))


def _attribute_twice() -> bytes:
    return changed(harmless(), lambda proto: proto.graph.node[0].attribute.append(helper.make_attribute("axis", 0)))


def strangers() -> Iterator[Hostile]:
    """Yield operators that are not for models of tables."""
    for domain in ("com.microsoft", "ai.onnx.preview.training", "my.own", "ai.onnx.contrib"):
        yield Hostile(f"domain {domain}", lambda domain=domain: _domain(domain), "is unknown|unknown domain")  # type: ignore[misc]
    for operator in ("RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"):
        yield Hostile(operator, lambda operator=operator: _random(operator), "answers at random")  # type: ignore[misc]
    for operator in ("RandomNormal", "RandomUniform"):
        yield Hostile(operator, lambda operator=operator: _random_shape(operator), "answers at random")  # type: ignore[misc]
    yield Hostile("dropout in training", _dropout, "may be in training mode")
    yield Hostile("pictures", lambda: model(node("ImageDecoder", "X")), "is not allowed")
    yield Hostile("no such operator", lambda: model(node("ReadFile", "X")), "is not allowed")
    yield Hostile("lists of tensors", lambda: model(node("SequenceConstruct", "X X")), "is not allowed")


def _domain(domain: str) -> bytes:
    def change(proto: Any) -> None:
        proto.opset_import.append(helper.make_opsetid(domain, 1))
        proto.graph.node[0].domain = domain

    return changed(harmless(), change)


def _random(operator: str) -> bytes:
    return model(*first_column(), node(operator, "column"), constants=[PLACE])


def _random_shape(operator: str) -> bytes:
    return model(*first_column(), node(operator, "", "dice", shape=[1]), node("Add", "column dice"), constants=[PLACE])


def _dropout() -> bytes:
    half = helper.make_tensor("half", FLOAT, [], [0.5])
    yes = helper.make_tensor("yes", BOOL, [], [True])
    return model(*first_column(), node("Dropout", "column half yes"), constants=[PLACE, half, yes])


def shapes() -> Iterator[Hostile]:
    """Yield answers of the wrong shape or type, and inputs that are no columns."""
    wide: tuple[str, int, list[Any]] = ("answer", FLOAT, ["N", WIDTH])
    yield Hostile("two answers for each row", lambda: model(node("Relu", "X"), output=wide), "wrong shape")
    yield Hostile("two answers, said to be one", lambda: model(node("Relu", "X")), fails="wrong length|does not load")
    yield Hostile("one answer for all rows, so for each that comes alone", lambda: _all_in_one(["N", 1]))
    yield Hostile("one number for all", lambda: _all_in_one([]), "wrong shape")
    yield Hostile(
        "answers for three rows", lambda: model(node("Relu", "X"), output=("answer", FLOAT, [3])), "wrong shape"
    )
    yield Hostile("no answers", _no_answers, fails="wrong length")
    yield Hostile("answers twice", _answers_twice, fails="wrong length")
    yield Hostile("no output", lambda: changed(harmless(), lambda proto: proto.graph.ClearField("output")), "no output")
    yield Hostile("an answer of another type than said", _other_type, fails="does not load")
    yield Hostile("a map for each row", _maps, fails="does not load")
    yield Hostile("three columns", lambda: _inputs(["N", 3]), r"expected shape \[N, 2\], got \[N, 3\]")
    yield Hostile("five rows, always", lambda: _inputs([5, WIDTH]), "fixed number of rows")
    yield Hostile("an image for each row", lambda: _inputs(["N", 1, 28, 28]), "no column and no matrix")
    yield Hostile("no inputs", _no_inputs, "takes in no columns")
    yield Hostile("an input of half precision", lambda: _inputs(["N", WIDTH], 10), "is of another type")


def _all_in_one(shape: list[Any]) -> bytes:
    return model(node("ReduceSum", "X", keepdims=int(bool(shape))), output=("answer", FLOAT, shape))


def _no_answers() -> bytes:
    compressed = [node("Less", "column column", "none"), node("Squeeze", "none one", "flags")]
    return model(
        *first_column(), *compressed, node("Compress", "X flags", axis=0), constants=[PLACE, numbers("one", 1)]
    )


def _answers_twice() -> bytes:
    return model(*first_column(), node("Concat", "column column", axis=0), constants=[PLACE])


def _other_type() -> bytes:
    return model(*first_column(), node("Cast", "column", to=INT64), constants=[PLACE])


def _maps() -> bytes:
    return model(node("ZipMap", "X", domain="ai.onnx.ml", classlabels_int64s=[0, 1]))


def _inputs(shape: list[Any], element: int = FLOAT) -> bytes:
    nodes = [node("ReduceSum", "X"), node("Cast", "X", "other", to=element)]
    return model_of(nodes[:1], [("X", element, shape)], ("answer", element, ["N", 1]))


def _no_inputs() -> bytes:
    return model_of([node("Identity", "place")], [], ("answer", INT64, ["N"]), [PLACE])


def corpus(folder: Path, port: int) -> list[Hostile]:
    """Return all of them; a canary is in this folder, another listens at this port."""
    return [*outside(folder, port), *bombs(), *graphs_of_graphs(), *malformed(), *strangers(), *shapes()]
