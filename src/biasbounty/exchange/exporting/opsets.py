"""Opsets: one file has one version of each set of operators, so leaves of several are brought to the newest among them.

Where the newer version changed no operator that a leaf has, the leaf is the same in both, and nothing is done. Else
ONNX's own converter of versions does it (for ai.onnx), or it is known that the newer operator only does more.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from biasbounty.arrays import shown
from biasbounty.errors import ConversionError

LEAST = {"": 13, "ai.onnx.ml": 2}
"""What the operators around the leaves need."""
_GROWN = {
    ("TreeEnsembleClassifier", 1, 3),
    ("TreeEnsembleRegressor", 1, 3),
    ("LabelEncoder", 2, 4),
}
"""Operators of ai.onnx.ml of which the newer version only does more."""

Opsets = Mapping[str, int]


def opsets_of(model: Any) -> dict[str, int]:
    """Return the version of each set of operators that a model imports."""
    return {_domain(entry.domain): entry.version for entry in model.opset_import}


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def newest(models: Iterable[Any], least: Opsets) -> dict[str, int]:
    """Return the newest version of each set among some models."""
    versions = {**LEAST}
    for each in (least, *map(opsets_of, models)):
        for domain, version in each.items():
            versions[domain] = max(version, versions.get(domain, 0))
    return versions


def raised(model: Any, opsets: Opsets, who: str) -> Any:
    """Return a model that means the same with these versions of its operators."""
    own = opsets_of(model)
    if _changed(model.graph, own, opsets, ""):
        model = _converted(model, opsets[""], who)
        own = opsets_of(model)
    left = [*_changed(model.graph, own, opsets, ""), *_changed(model.graph, own, opsets, "ai.onnx.ml")]
    if left:
        raise ConversionError(
            f"{who} has operators of another version: expected those of opsets {dict(opsets)}, which other leaves "
            f"have, got {', '.join(sorted(set(left)))}; convert it anew with target_opset={dict(opsets)}"
        )
    return model


def nodes_within(graph: Any) -> Iterator[Any]:
    """Yield the nodes of a graph and of all graphs in it."""
    graphs = [graph]
    while graphs:
        for node in graphs.pop().node:
            yield node
            graphs += inner_graphs(node)


def inner_graphs(node: Any) -> list[Any]:
    """Return the graphs that a node has as attributes."""
    held = [[attribute.g] if attribute.HasField("g") else attribute.graphs for attribute in node.attribute]
    return [graph for graphs in held for graph in graphs]


def _changed(graph: Any, own: Opsets, opsets: Opsets, domain: str) -> list[str]:
    """Return the operators of a domain that differ between two versions of it."""
    if domain not in own or own[domain] == opsets[domain]:
        return []
    operators = {node.op_type for node in nodes_within(graph) if _domain(node.domain) == domain}
    return [name for name in operators if not _is_same(name, domain, own[domain], opsets[domain])]


def _is_same(name: str, domain: str, version: int, newer: int) -> bool:
    from onnx import defs

    schemas = [defs.get_schema(name, each, domain) for each in (version, newer)]
    before, after = (schema.since_version for schema in schemas)
    return before == after or (name, before, after) in _GROWN


def _converted(model: Any, version: int, who: str) -> Any:
    from onnx import version_converter

    try:
        return version_converter.convert_version(model, version)
    except Exception as error:  # whatever a converter makes of a stranger's graph is no conversion
        raise ConversionError(
            f"{who} is of another version: expected opset {version}, which other leaves have, got "
            f"{opsets_of(model)['']}, and {shown(error, str)}; convert it anew with target_opset={version}"
        ) from error
