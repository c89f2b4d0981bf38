"""LightGBM's models, read from their own dump, as trees of ours."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from biasbounty.errors import ConversionError
from biasbounty.exchange.converting.answers import Answer, by_scores, largest, number
from biasbounty.exchange.converting.columns import Blocks, matrix
from biasbounty.exchange.converting.encoders import coded
from biasbounty.exchange.converting.graph import Graph
from biasbounty.exchange.converting.trees import Members, Tree, scores_of

_EXPONENTIAL = {"poisson", "gamma", "tweedie"}
_SIGMOID = {"binary", "cross_entropy"}
_PLAIN = {"regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg"}
_CLASSES = {"multiclass", "multiclassova"}


def classify(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted LGBMClassifier."""
    dump = model.booster_.dump_model()
    scores = _scores(graph, dump, blocks, who)
    return by_scores(graph, scores, model.classes_)


def regress(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted LGBMRegressor or Booster: it answers its numbers, and of several scores the place of the largest."""
    dump = getattr(model, "booster_", model).dump_model()
    scores = _scores(graph, dump, blocks, who)
    objective, *settings = dump.get("objective", "regression").split()
    if objective in _CLASSES:
        return largest(graph, scores, np.arange(dump["num_tree_per_iteration"]))
    if objective in _EXPONENTIAL:
        return number(graph.add("Exp", scores))
    if objective in _SIGMOID:
        slope = dict(setting.split(":") for setting in settings if ":" in setting).get("sigmoid", "1")
        return number(graph.add("Sigmoid", graph.add("Mul", scores, graph.constant(np.float64(slope)))))
    if objective not in _PLAIN or "sqrt" in settings:
        raise ConversionError(
            f"{who} cannot be converted: expected an objective such as regression, binary or poisson, got "
            f"{' '.join([objective, *settings])}; fit it with one of these"
        )
    return number(scores)


def _scores(graph: Graph, dump: Any, blocks: Blocks, who: str) -> str:
    count = dump["num_tree_per_iteration"]
    infos = dump["tree_info"]
    trees = [_tree(info["tree_structure"], place % count, who) for place, info in enumerate(infos)]
    blocks = _in_codes(graph, dump.get("pandas_categorical") or [], blocks, who)
    scores = scores_of(graph, matrix(graph, blocks, who), trees, count, np.zeros(count))
    if dump.get("average_output"):
        scores = graph.add("Div", scores, graph.constant(np.float64(max(1, len(trees) // count))))
    return scores


def _in_codes(graph: Graph, known: list[list[Any]], blocks: Blocks, who: str) -> Blocks:
    """Return the columns with text as codes, where the model was fitted on pandas categories."""
    if not known:
        return blocks
    texts = [place for place, block in enumerate(blocks) if block.element == "string"]
    if len(texts) != len(known):
        raise ConversionError(
            f"{who} cannot be converted: expected all {len(known)} pandas categories it was fitted on to be text, got "
            f"{len(texts)} columns of text; give the others as numbers with categorical_feature="
        )
    codes = {place: coded(graph, blocks[place], own, who) for place, own in zip(texts, known, strict=True)}
    return tuple(codes.get(place, block) for place, block in enumerate(blocks))


def _walk(root: Any) -> Iterator[tuple[Any, int]]:
    """Yield each node, a parent before its children, and where its left child comes; children are neighbors."""
    queue, free = [root], 1
    for node in queue:
        if "leaf_value" in node:
            yield node, -1
        else:
            yield node, free
            queue += [node["left_child"], node["right_child"]]
            free += 2


def _tree(root: Any, score: int, who: str) -> Tree:
    nodes, lefts = zip(*_walk(root), strict=True)
    for node in nodes:
        if "leaf_coeff" in node or node.get("missing_type") == "Zero":
            raise ConversionError(
                f"{who} cannot be converted: expected neither linear_tree nor zero_as_missing, got one of them; fit it "
                "without"
            )
    left = np.array(lefts)
    return Tree(
        np.array([node.get("split_feature", 0) for node in nodes]),
        np.array([_threshold(node) for node in nodes]),
        left,
        np.where(left < 0, -1, left + 1),
        np.array([_missing_left(node) for node in nodes]),
        np.array([[node.get("leaf_value", 0.0)] for node in nodes]),
        score,
        {place: _members(node) for place, node in enumerate(nodes) if node.get("decision_type") == "=="},
    )


def _threshold(node: Any) -> float:
    return 0.0 if node.get("decision_type") != "<=" else float(node["threshold"])


def _missing_left(node: Any) -> bool:
    """Say where NaN goes; a column that had none when it was fitted takes it for zero."""
    if node.get("missing_type") == "None":
        return _threshold(node) >= 0
    return bool(node.get("default_left", False))


def _members(node: Any) -> Members:
    return Members(tuple(int(code) for code in str(node["threshold"]).split("||")), to_left=True)
