"""scikit-learn's trees, forests and boosted trees, as trees of ours."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from biasbounty.arrays import Array
from biasbounty.errors import ConversionError
from biasbounty.exchange.converting.answers import Answer, above, by_scores, label, largest, number
from biasbounty.exchange.converting.columns import Blocks, matrix, select, singles
from biasbounty.exchange.converting.encoders import encode
from biasbounty.exchange.converting.graph import Graph
from biasbounty.exchange.converting.trees import Members, Tree, scores_of

TIE = 1e-9
"""Two sums of shares that are no further apart are the same sum, added up in another order."""


def classify_by_tree(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted tree: each leaf holds the place of its class."""
    _require_one(model, who)
    places = _values(model).argmax(axis=1, keepdims=True)
    scores = scores_of(graph, _rows(graph, blocks, who), [_tree(model, places)], 1, np.zeros(1))
    return label(graph, graph.cast(scores, "int64"), model.classes_, 2)


def regress_by_tree(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted regression tree."""
    _require_one(model, who)
    return number(scores_of(graph, _rows(graph, blocks, who), [_tree(model, _values(model))], 1, np.zeros(1)))


def classify_by_forest(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted forest: shares of the classes are added up; of two classes, their difference.

    Where trees tie, scikit-learn's answer hangs on the last bit of a sum; here a tie is the first class, in any order.
    """
    _require_one(model, who)
    two = len(model.classes_) == 2
    shares = (_values(tree) for tree in model.estimators_)
    values = [share[:, 1:] - share[:, :1] if two else share for share in shares]
    trees = [_tree(tree, value) for tree, value in zip(model.estimators_, values, strict=True)]
    count = 1 if two else len(model.classes_)
    scores = scores_of(graph, _rows(graph, blocks, who), trees, count, np.zeros(count))
    return above(graph, scores, model.classes_, bound=TIE) if two else largest(graph, scores, model.classes_)


def regress_by_forest(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted forest of regression trees."""
    _require_one(model, who)
    trees = [_tree(tree, _values(tree)) for tree in model.estimators_]
    total = scores_of(graph, _rows(graph, blocks, who), trees, 1, np.zeros(1))
    return number(graph.add("Div", total, graph.constant(np.float64(len(trees)))))


def classify_by_boosting(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted GradientBoostingClassifier."""
    scores = _boosted(graph, model, blocks, who, model.decision_function)
    if len(model.classes_) == 2:
        return above(graph, scores, model.classes_, "GreaterOrEqual")
    return largest(graph, scores, model.classes_)


def regress_by_boosting(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted GradientBoostingRegressor."""
    return number(_boosted(graph, model, blocks, who, model.predict))


def _boosted(graph: Graph, model: Any, blocks: Blocks, who: str, scores: Any) -> str:
    if model.init not in (None, "zero"):
        raise ConversionError(
            f"{who} cannot be converted: expected init=None or 'zero', got an estimator; fit it without init"
        )
    trees = [
        _tree(tree, _values(tree) * model.learning_rate, score)
        for row in model.estimators_.tolist()
        for score, tree in enumerate(row)
    ]
    return scores_of(graph, _rows(graph, blocks, who), trees, model.estimators_.shape[1], _base(model, scores, trees))


def _base(model: Any, scores: Any, trees: list[Tree]) -> Array:
    """Return what boosting started from: the scores of a row of zeros less what its trees add."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the row of zeros has no names
        base = np.array(scores(np.zeros((1, model.n_features_in_))), np.float64).reshape(-1)
    for tree, model_tree in zip(trees, model.estimators_.reshape(-1), strict=True):
        leaf = model_tree.tree_.apply(np.zeros((1, model.n_features_in_), np.float32))[0]
        base[tree.score] -= tree.values[leaf, 0]
    return base


def _rows(graph: Graph, blocks: Blocks, who: str) -> str:
    """Return the rows as scikit-learn's trees see them: rounded to float32."""
    return graph.cast(matrix(graph, blocks, who, "float"), "double")


def _values(model: Any) -> Array:
    return np.asarray(model.tree_.value[:, 0, :], np.float64)


def _tree(model: Any, values: Array, score: int = 0) -> Tree:
    tree = model.tree_
    missing_left = tree.missing_go_to_left.astype(np.bool_)
    return Tree(tree.feature, tree.threshold, tree.children_left, tree.children_right, missing_left, values, score)


def _require_one(model: Any, who: str) -> None:
    if model.n_outputs_ != 1:
        raise ConversionError(
            f"{who} cannot be converted: expected one answer for each row, got {model.n_outputs_}; fit one model each"
        )


def classify_by_histograms(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted HistGradientBoostingClassifier."""
    return by_scores(graph, _histogram_scores(graph, model, blocks, who), model.classes_)


def regress_by_histograms(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted HistGradientBoostingRegressor."""
    scores = _histogram_scores(graph, model, blocks, who)
    return number(graph.add("Exp", scores) if model.loss in ("poisson", "gamma") else scores)


def _histogram_scores(graph: Graph, model: Any, blocks: Blocks, who: str) -> str:
    rows = matrix(graph, _in_histogram_order(graph, model, blocks, who), who)
    trees = list(_histogram_trees(model))
    base = np.asarray(model._baseline_prediction, np.float64).reshape(-1)
    return scores_of(graph, rows, trees, len(base), base)


def _in_histogram_order(graph: Graph, model: Any, blocks: Blocks, who: str) -> Blocks:
    """Return the columns as its trees count them: categories first, as codes."""
    if model.is_categorical_ is None:
        return blocks
    encoder = model._preprocessor.named_transformers_["encoder"]
    coded = np.flatnonzero(model.is_categorical_).tolist()
    rest = np.flatnonzero(~model.is_categorical_).tolist()
    numeric = select(graph, blocks, rest) if rest else ()
    return (*encode(graph, encoder, select(graph, singles(graph, blocks), coded), who), *numeric)


def _histogram_trees(model: Any) -> Iterator[Tree]:
    counts = [0] * model.n_features_in_
    if model.is_categorical_ is not None:
        encoder = model._preprocessor.named_transformers_["encoder"]
        counts = [len(categories) for categories in encoder.categories_]
    for row in model._predictors:
        for score, predictor in enumerate(row):
            nodes = predictor.nodes
            left = np.where(nodes["is_leaf"] == 1, -1, nodes["left"].astype(np.int64))
            yield Tree(
                nodes["feature_idx"],
                nodes["num_threshold"],
                left,
                nodes["right"].astype(np.int64),
                nodes["missing_go_to_left"].astype(np.bool_),
                nodes["value"].reshape(-1, 1),
                score,
                {
                    node: _members(nodes[node], predictor.raw_left_cat_bitsets, counts)
                    for node in np.flatnonzero((nodes["is_categorical"] == 1) & (left >= 0)).tolist()
                },
            )


def _members(node: Any, bitsets: Array, counts: list[int]) -> Members:
    """Return a branch by category: what is missing or unknown goes where `missing_go_to_left` says."""
    bits = bitsets[node["bitset_idx"]]
    codes = range(counts[node["feature_idx"]])
    inside = [code for code in codes if bits[code // 32] >> (code % 32) & 1]
    if not node["missing_go_to_left"]:
        return Members(tuple(inside), to_left=True)
    return Members(tuple(code for code in codes if code not in inside), to_left=False)
