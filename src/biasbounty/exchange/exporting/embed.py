"""Embedding: a leaf's graph as part of a larger one. Its names get a prefix, and only what its answer needs is kept."""

from collections.abc import Mapping, Sequence
from typing import Any

from biasbounty.exchange.exporting.graph import Graph, Name
from biasbounty.exchange.exporting.opsets import inner_graphs


def embed(graph: Graph, model: Any, feeds: Mapping[str, Name]) -> Name:
    """Write a model's graph into another, fed with these tensors; return its first output."""
    leaf = _pruned(model.graph)
    prefix = f"{graph.fresh()}/"
    _rename(leaf, prefix, feeds)
    graph.nodes.extend(leaf.node)
    graph.kept.extend(leaf.initializer)
    graph.kept_sparse.extend(leaf.sparse_initializer)
    first = model.graph.output[0].name
    return feeds.get(first) or prefix + first


def _pruned(graph: Any) -> Any:
    """Return a copy of a graph with the nodes and constants that its first output needs."""
    import onnx

    needed, kept = {graph.output[0].name}, []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            kept.append(node)
            needed |= _read_by(node)
    leaf = onnx.GraphProto()
    leaf.node.extend(reversed(kept))
    leaf.initializer.extend(tensor for tensor in graph.initializer if tensor.name in needed)
    leaf.sparse_initializer.extend(tensor for tensor in graph.sparse_initializer if tensor.values.name in needed)
    return leaf


def _read_by(node: Any) -> set[str]:
    """Return the names that a node reads, and the graphs in it."""
    names, nodes = set[str](), [node]
    while nodes:
        one = nodes.pop()
        names.update(one.input)
        for inner in inner_graphs(one):
            names.update(output.name for output in inner.output)
            nodes.extend(inner.node)
    return names


def _rename(graph: Any, prefix: str, feeds: Mapping[str, Name]) -> None:
    """Put the prefix before every name in a graph, in all graphs in it, and in their axes; drop what is only said."""
    graphs = [graph]
    while graphs:
        one = graphs.pop()
        for node in one.node:
            node.input[:] = _renamed(node.input, prefix, feeds)
            node.output[:] = _renamed(node.output, prefix, feeds)
            for field in ("name", "doc_string", "metadata_props"):
                node.ClearField(field)
            graphs += inner_graphs(node)
        for field in ("value_info", "quantization_annotation", "doc_string", "metadata_props"):
            one.ClearField(field)
        for tensor in (*one.initializer, *(sparse.values for sparse in one.sparse_initializer)):
            tensor.name = prefix + tensor.name
            tensor.ClearField("doc_string")
        for value in (*one.input, *one.output):
            value.name = _renamed([value.name], prefix, feeds)[0]
            _rename_axes(value, prefix)


def _renamed(names: Sequence[str], prefix: str, feeds: Mapping[str, Name]) -> list[str]:
    return [feeds.get(name, prefix + name) if name else "" for name in names]


def _rename_axes(value: Any, prefix: str) -> None:
    for axis in value.type.tensor_type.shape.dim:
        if axis.dim_param:
            axis.dim_param = prefix + axis.dim_param
