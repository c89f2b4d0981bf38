"""XGBoost's models, read from their own JSON, as trees of ours."""

import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from biasbounty.arrays import Array
from biasbounty.errors import ConversionError
from biasbounty.exchange.converting.answers import Answer, by_scores, largest, number
from biasbounty.exchange.converting.columns import Blocks, matrix, singles
from biasbounty.exchange.converting.encoders import coded
from biasbounty.exchange.converting.graph import Graph
from biasbounty.exchange.converting.trees import Members, Tree, scores_of

_SIGMOID = {"binary:logistic", "reg:logistic"}
_EXPONENTIAL = {"count:poisson", "reg:gamma", "reg:tweedie"}
_CLASSES = {"multi:softmax", "multi:softprob"}
_PLAIN = {
    "reg:squarederror",
    "reg:squaredlogerror",
    "reg:absoluteerror",
    "reg:pseudohubererror",
    "reg:quantileerror",
    "binary:logitraw",
    "rank:ndcg",
    "rank:map",
    "rank:pairwise",
}


def classify(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted XGBClassifier."""
    learner = _learner(_kept_rounds(model), who)
    _require_nan(model, who)
    scores = _scores(graph, learner, blocks, who)
    return by_scores(graph, scores, model.classes_)


def regress(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted XGBRegressor or Booster: it answers its numbers, and of several scores the place of the largest."""
    _require_nan(model, who)
    learner = _learner(_kept_rounds(model), who)
    scores = _scores(graph, learner, blocks, who)
    objective = learner["objective"]["name"]
    if objective in _CLASSES:
        return largest(graph, scores, np.arange(_count(learner)))
    if objective in _SIGMOID:
        return number(graph.add("Sigmoid", scores))
    return number(graph.add("Exp", scores) if objective in _EXPONENTIAL else scores)


def _kept_rounds(model: Any) -> Any:
    """Return the booster, of an estimator that stopped early up to its best round."""
    if not hasattr(model, "get_booster"):
        return model
    booster = model.get_booster()
    best = booster.attributes().get("best_iteration")
    return booster if best is None else booster[: int(best) + 1]


def _require_nan(model: Any, who: str) -> None:
    if not np.isnan(getattr(model, "missing", np.nan)):
        raise ConversionError(
            f"{who} cannot be converted: expected missing=NaN, got missing={model.missing}; put NaN in the rows"
        )


def _learner(booster: Any, who: str) -> Any:
    """Read the model; raise for what has no form in trees."""
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    kind, objective = learner["gradient_booster"]["name"], learner["objective"]["name"]
    if kind not in ("gbtree", "dart"):
        raise ConversionError(f"{who} cannot be converted: expected trees, got booster={kind!r}; use a linear model")
    if objective not in _SIGMOID | _EXPONENTIAL | _CLASSES | _PLAIN:
        raise ConversionError(
            f"{who} cannot be converted: expected an objective such as reg:squarederror or binary:logistic, got "
            f"{objective}; fit it with one of these"
        )
    if int(learner["learner_model_param"].get("num_target", 1)) > 1:
        raise ConversionError(f"{who} cannot be converted: expected one answer for each row, got several; fit one each")
    return learner


def _count(learner: Any) -> int:
    return max(1, int(learner["learner_model_param"]["num_class"]))


def _scores(graph: Graph, learner: Any, blocks: Blocks, who: str) -> str:
    booster = learner["gradient_booster"]
    weights = booster.get("weight_drop")
    model = booster["gbtree"]["model"] if "gbtree" in booster else booster["model"]
    blocks = _in_codes(graph, model.get("cats", {}).get("enc", []), blocks, who)
    trees = [
        _tree(tree, score, 1.0 if weights is None else weights[place])
        for place, (tree, score) in enumerate(zip(model["trees"], model["tree_info"], strict=True))
    ]
    rows = graph.cast(matrix(graph, blocks, who, "float"), "double")
    return scores_of(graph, rows, trees, _count(learner), _base(learner), "BRANCH_LT")


def _in_codes(graph: Graph, known: list[Any], blocks: Blocks, who: str) -> Blocks:
    """Return the columns with those in codes that were categories of a frame when the model was fitted."""
    if not any(each["values"] for each in known):
        return blocks
    columns = zip(singles(graph, blocks), known, strict=True)
    return tuple(coded(graph, block, _categories(each), who) if each["values"] else block for block, each in columns)


def _categories(each: Any) -> list[Any]:
    """Read categories: text is held as its bytes, and where each begins."""
    if "offsets" not in each:
        return list(each["values"])
    data = bytes(value % 256 for value in each["values"])
    return [data[first:last].decode() for first, last in pairwise(each["offsets"])]


def _base(learner: Any) -> Array:
    """Return the margin that the trees are added to."""
    given = json.loads(learner["learner_model_param"]["base_score"])
    base = np.atleast_1d(np.array(given, np.float64))
    objective = learner["objective"]["name"]
    if objective in _SIGMOID or objective == "binary:logitraw":
        base = np.log(base / (1 - base)) if objective in _SIGMOID else base
    elif objective in _EXPONENTIAL:
        base = np.log(base)
    return np.broadcast_to(base, _count(learner)).copy()


def _tree(tree: Mapping[str, Any], score: int, weight: float) -> Tree:
    left = np.array(tree["left_children"])
    conditions = np.array(tree["split_conditions"], np.float32).astype(np.float64)
    return Tree(
        np.array(tree["split_indices"]),
        conditions,
        left,
        np.array(tree["right_children"]),
        np.array(tree["default_left"], np.bool_),
        conditions.reshape(-1, 1) * weight,
        score,
        dict(_members(tree)),
    )


def _members(tree: Mapping[str, Any]) -> Any:
    """Yield the branches by category: the codes listed go right."""
    segments = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    for node, first, size in segments:
        codes = tuple(tree["categories"][first : first + size])
        yield node, Members(codes, to_left=False, missing=not tree["default_left"][node])
