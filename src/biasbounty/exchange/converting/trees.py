"""Trees: any library's trees as one ensemble of ONNX that takes the same branch and adds up the same leaves.

Thresholds and leaves are kept in double precision, as the libraries have them, so that `x <= threshold` falls as it
does there; only the sum is rounded to float32. Where a missing value goes is kept, and sets of categories become
chains of equalities.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from biasbounty.arrays import Array
from biasbounty.exchange.converting.graph import Graph

Comparison: TypeAlias = Literal["BRANCH_LEQ", "BRANCH_LT"]

NEVER = -1.0
"""No code of a category is negative."""


@dataclass(frozen=True)
class Members:
    """A branch by category: some codes lead to one child, all else to the other."""

    codes: tuple[int, ...]
    to_left: bool
    """Which child the codes lead to."""
    missing: bool = False
    """Whether a missing value goes with the codes."""


@dataclass(frozen=True, eq=False)
class Tree:
    """One tree as arrays over its nodes, the first of them the root; a leaf has a negative left child."""

    feature: Array
    threshold: Array
    left: Array
    right: Array
    missing_left: Array
    values: Array
    """What each leaf adds, for each of the scores from `score` on: shape [nodes, scores]."""
    score: int = 0
    members: Mapping[int, Members] = field(default_factory=dict)


def scores_of(
    graph: Graph, rows: str, trees: Sequence[Tree], count: int, base: Array, comparison: Comparison = "BRANCH_LEQ"
) -> str:
    """Add an ensemble over rows of double precision; return its scores, of shape [N, count]."""
    parts = [_attributes(number, tree, comparison) for number, tree in enumerate(trees)]
    joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    tensors = {f"{key}_as_tensor": graph.tensor(joined.pop(key), key) for key in ("nodes_values", "target_weights")}
    scores = graph.add(
        "TreeEnsembleRegressor",
        rows,
        domain="ai.onnx.ml",
        n_targets=count,
        aggregate_function="SUM",
        post_transform="NONE",
        base_values_as_tensor=graph.tensor(np.asarray(base, np.float64), "base_values"),
        **{key: values.tolist() for key, values in joined.items()},
        **tensors,
    )
    return graph.cast(scores, "double")


def _attributes(number: int, tree: Tree, comparison: Comparison) -> dict[str, Array]:
    nodes = _nodes(tree, comparison)
    leaves = np.flatnonzero(tree.left < 0)
    scores = tree.values.shape[1]
    return {
        "nodes_treeids": np.full(len(nodes["nodes_modes"]), number),
        "nodes_nodeids": np.arange(len(nodes["nodes_modes"])),
        **nodes,
        "target_treeids": np.full(len(leaves) * scores, number),
        "target_nodeids": np.repeat(leaves, scores),
        "target_ids": np.tile(np.arange(scores) + tree.score, len(leaves)),
        "target_weights": tree.values[leaves].reshape(-1).astype(np.float64),
    }


def _nodes(tree: Tree, comparison: Comparison) -> dict[str, Array]:
    leaf = tree.left < 0
    nodes = {
        "nodes_featureids": np.where(leaf, 0, tree.feature).astype(np.int64),
        "nodes_modes": np.where(leaf, "LEAF", comparison).astype(object),
        "nodes_values": np.where(leaf, 0.0, tree.threshold).astype(np.float64),
        "nodes_truenodeids": np.where(leaf, 0, tree.left).astype(np.int64),
        "nodes_falsenodeids": np.where(leaf, 0, tree.right).astype(np.int64),
        "nodes_missing_value_tracks_true": np.where(leaf, False, tree.missing_left).astype(np.int64),
    }
    extra: list[tuple[object, ...]] = []
    for node, members in tree.members.items():
        chain = list(_chain(tree, node, members, len(leaf) + len(extra)))
        for key, value in zip(nodes, chain[0], strict=True):
            nodes[key][node] = value
        extra += chain[1:]
    if not extra:
        return nodes
    added = zip(nodes.items(), zip(*extra, strict=True), strict=True)
    return {key: np.concatenate([values, np.array(more, values.dtype)]) for (key, values), more in added}


def _chain(tree: Tree, node: int, members: Members, free: int) -> Iterator[tuple[object, ...]]:
    """Yield the nodes that ask for one code after the other; the first takes the place of the branch itself."""
    hit, other = (tree.left, tree.right) if members.to_left else (tree.right, tree.left)
    codes = members.codes or (NEVER,)
    for place, code in enumerate(codes):
        onward = int(other[node]) if place == len(codes) - 1 else free + place
        missing = int(members.missing and place == 0)
        yield int(tree.feature[node]), "BRANCH_EQ", float(code), int(hit[node]), onward, missing
