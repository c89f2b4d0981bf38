"""What finders find: groups and models that are functions of one row, learned by fitted estimators.

Where the estimator of a group is a small tree, the group's rule is put in words. A model answers in the type of the
labels and never beyond them. A base estimator that knows no missing values is given the median in their place, one that
refuses to learn from a single label gives way to that label.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import BaseDecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import has_fit_parameter

from biasbounty.arrays import Array, shown
from biasbounty.core.rows import Ids
from biasbounty.errors import SettingsError
from biasbounty.finders.features import Feature, Features
from biasbounty.finders.interface import Floats, Mask, Searched
from biasbounty.losses import Absolute, ZeroOne

MODEL_DEPTH, MODEL_LEAF = 6, 10
GROUP_DEPTH, GROUP_LEAF = 4, 20
"""The depth and smallest leaf of the trees used where no base is given; those of groups are to be read."""
SINGLE_PRECISION = (
    BaseDecisionTree,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
"""Trees and forests: they would make such a copy of the rows themselves."""
BLOCK = 1 << 14
"""So many rows are copied at a time."""
MOST_RULES = 3
"""A group of more regions than this is not spelled out."""
MOST_VALUES = 5
"""Nor is a list of more values than this."""
LONGEST_RULE = 350
"""Nor is what would take more characters than this."""


@dataclass(frozen=True, eq=False)
class Span:
    """What numbers may be answered: none beyond those learned from, in their type."""

    low: float
    high: float
    dtype: np.dtype[Any]

    def __call__(self, answers: Array) -> Array:
        """Return the answers within the span and in its type."""
        within = np.clip(np.asarray(answers, np.float64), self.low, self.high)
        return (within if self.dtype.kind == "f" else np.rint(within)).astype(self.dtype)


@dataclass(frozen=True, eq=False)
class FoundModel:
    """A fitted estimator that answers about rows of any kind."""

    features: Features
    estimator: Any
    span: Span | None = None

    def __call__(self, X: Any) -> Array:
        """Answer for each row."""
        return self.of(self.features(X))

    def of(self, matrix: Floats) -> Array:
        """Answer for each row of the features' matrix."""
        answers = ask_base(self.estimator, matrix)
        return answers if self.span is None else self.span(answers)


@dataclass(frozen=True, eq=False)
class FoundGroup:
    """The rows that a fitted classifier calls 1."""

    features: Features
    estimator: Any

    def __call__(self, X: Any) -> npt.NDArray[np.bool_]:
        """Say of each row whether it is in the group."""
        return self.of(self.features(X))

    def of(self, matrix: Floats) -> npt.NDArray[np.bool_]:
        """Say of each row of the features' matrix whether it is in the group."""
        return np.asarray(ask_base(self.estimator, matrix) == 1)


@dataclass(frozen=True, eq=False)
class Everyone:
    """The group of all rows."""

    def __call__(self, X: Any) -> npt.NDArray[np.bool_]:
        """Say yes of each row."""
        return np.ones(len(X), np.bool_)


def ask_base(estimator: Any, matrix: Floats) -> Array:
    """Ask an estimator; most refuse to be asked about no rows at all."""
    asked = matrix if len(matrix) else np.full((1, matrix.shape[1]), np.nan)
    try:
        return np.asarray(estimator.predict(asked))[: len(matrix)]
    except SettingsError:
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {shown(error, str)}"
        raise SettingsError(
            f"base {shown(estimator)} failed when asked about {len(asked)} rows: expected answers, got {words}"
        ) from error


def learn(base: Any, matrix: Floats, targets: Array, weights: Floats | None, seed: int) -> Any:
    """Return a clone of the base, fitted; all its chance comes from the seed.

    Where all targets are the same, a ValueError is taken for a refusal to learn from that; not one about a setting,
    which scikit-learn makes a TypeError as well.
    """
    estimator = _seeded(clone(base), seed)
    if _takes_missing(estimator):
        matrix = _without_blanks(matrix)
    else:
        estimator = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), estimator)
    weighing = _weighing(estimator, weights)
    try:
        return estimator.fit(matrix, targets, **weighing)
    except Exception as error:
        if (targets == targets[0]).all() and isinstance(error, ValueError) and not isinstance(error, TypeError):
            constant = DummyClassifier(strategy="most_frequent") if is_classifier(base) else DummyRegressor()
            return constant.fit(matrix, targets)
        words = f"{type(error).__name__}: {shown(error, str)}"
        raise SettingsError(
            f"base {shown(base)} failed on {len(matrix)} rows: expected it to fit, got {words}"
        ) from error


def rows_for(searched: Searched, base: Any, ids: Ids) -> npt.NDArray[Any]:
    """Return some rows of the matrix as a base wants them: trees and forests read single precision, half the bytes."""
    if not isinstance(base, SINGLE_PRECISION):
        return searched.rows(ids)
    rows = np.empty((len(ids), searched.matrix.shape[1]), np.float32)
    for first in range(0, len(ids), BLOCK):
        rows[first : first + BLOCK] = searched.matrix[ids[first : first + BLOCK]]
    return rows


def _without_blanks(matrix: Floats) -> Floats:
    """Return the matrix with 0 in columns that are wholly missing: not every estimator knows to pass them by."""
    blank = [at for at in np.flatnonzero(np.isnan(matrix[0])) if np.isnan(matrix[:, at]).all()]
    if not blank:
        return matrix
    filled = matrix.copy()
    filled[:, blank] = 0.0
    return filled


def learn_model(searched: Searched, base: Any, ids: Ids, seed: int) -> FoundModel | None:
    """Return the model that does best on these rows, or None if none of them counts.

    A classifier minimises any loss of classes exactly if it minimises weighted mistakes exactly: each row is shown once
    for each class, weighted by what answering it saves over the worst answer.
    """
    ids = searched.weighed(ids)
    if searched.classes is None:
        base = default_regressor(searched) if base is None else base
        return _fitted_model(searched, base, ids, searched.y[ids], None, seed, _span_of(searched))
    base = DecisionTreeClassifier(max_depth=MODEL_DEPTH, min_samples_leaf=MODEL_LEAF) if base is None else base
    if isinstance(searched.loss, ZeroOne):
        return _fitted_model(searched, base, ids, searched.y[ids], None, seed)
    costs = np.stack([searched.loss(np.full(len(ids), c), searched.y[ids]) for c in searched.classes], axis=1)
    savings = costs.max(axis=1, keepdims=True) - costs
    rows, classes = np.nonzero(savings)
    return _fitted_model(searched, base, ids[rows], searched.classes[classes], savings[rows, classes], seed)


def _fitted_model(
    searched: Searched, base: Any, ids: Ids, targets: Array, counts: Floats | None, seed: int, span: Span | None = None
) -> FoundModel | None:
    if not len(ids):
        return None
    weights = combined(searched, ids, counts)
    return FoundModel(searched.features, learn(base, rows_for(searched, base, ids), targets, weights, seed), span)


def learn_group(
    searched: Searched, base: Any, ids: Ids, inside: Mask, counts: Floats | None, seed: int
) -> FoundGroup | None:
    """Return the group that holds those of these rows that are inside, or None if none of them counts."""
    kept = np.ones(len(ids), np.bool_) if searched.weights is None else searched.weights[ids] > 0
    if not kept.any():
        return None
    ids, counts = ids[kept], None if counts is None else counts[kept]
    base = DecisionTreeClassifier(max_depth=GROUP_DEPTH, min_samples_leaf=GROUP_LEAF) if base is None else base
    weights = combined(searched, ids, counts)
    return FoundGroup(
        searched.features, learn(base, rows_for(searched, base, ids), inside[kept].astype(int), weights, seed)
    )


def combined(searched: Searched, ids: Ids, counts: Floats | None) -> Floats | None:
    """Return the weights of some rows, each counted so many times; None if all are the same."""
    weights = np.ones(len(ids)) if searched.weights is None else searched.weights[ids]
    weights = weights if counts is None else weights * counts
    return None if (weights == weights[0]).all() else np.asarray(weights / weights.mean())


def default_regressor(searched: Searched) -> DecisionTreeRegressor:
    """Return a tree whose leaves answer what costs least: the median for the absolute loss, else the mean."""
    criterion = "absolute_error" if isinstance(searched.loss, Absolute) else "squared_error"
    return DecisionTreeRegressor(criterion=criterion, max_depth=MODEL_DEPTH, min_samples_leaf=MODEL_LEAF)


def require_base(base: Any, what: str, *, classifier: bool) -> None:
    """Raise unless this is None or an unfitted estimator of the kind that is needed."""
    needed = "a scikit-learn " + ("classifier" if classifier else "regressor")
    if base is None:
        return
    if isinstance(base, type) or not all(hasattr(base, name) for name in ("fit", "predict", "get_params")):
        raise SettingsError(f"{what} is no estimator: expected {needed}, got {shown(base)}")
    if not (is_classifier(base) if classifier else is_regressor(base)):
        raise SettingsError(f"{what} is of the wrong kind: expected {needed}, got {shown(base)}")


def seed_from(rng: np.random.Generator) -> int:
    """Draw a seed for an estimator."""
    return int(rng.integers(2**31 - 1))


def _span_of(searched: Searched) -> Span:
    dtype, counted = np.result_type(searched.y, searched.predictions), searched.y[searched.weighed(searched.everyone)]
    return Span(float(counted.min()), float(counted.max()), dtype)


def _seeded(estimator: Any, seed: int) -> Any:
    """Give the estimator, and all within it, a seed where none was set."""
    chance = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    }
    return estimator.set_params(**chance)


def _takes_missing(estimator: Any) -> bool:
    tags = getattr(estimator, "__sklearn_tags__", None)
    return bool(tags().input_tags.allow_nan) if tags else False


def _weighing(estimator: Any, weights: Floats | None) -> dict[str, Floats]:
    """Return the argument by which an estimator, or the last of a pipeline, is told what each row counts."""
    if weights is None:
        return {}
    steps = ""
    while isinstance(estimator, Pipeline):
        steps, estimator = f"{steps}{estimator.steps[-1][0]}__", estimator.steps[-1][1]
    if not has_fit_parameter(estimator, "sample_weight"):
        raise SettingsError(
            f"base {shown(estimator)} cannot count rows by weight: expected a fit that takes sample_weight; "
            "use another, or neither give weights nor a loss other than zero_one"
        )
    return {f"{steps}sample_weight": weights}


@dataclass(frozen=True)
class Interval:
    """The values of a feature above low and up to high, and whether a missing one belongs to them."""

    low: float = -np.inf
    high: float = np.inf
    missing: bool = True

    def left(self, threshold: float, *, missing: bool) -> "Interval":
        """Return what goes left at a split."""
        return Interval(self.low, min(self.high, threshold), self.missing and missing)

    def right(self, threshold: float, *, missing: bool) -> "Interval":
        """Return what goes right at a split."""
        return Interval(max(self.low, threshold), self.high, self.missing and missing)


Region: TypeAlias = dict[int, Interval]
"""By number of the feature, its values; of other features, all."""


def tree_regions(estimator: Any, chosen: Callable[[Array], Mask]) -> list[Region] | None:
    """Return the regions of a fitted tree whose leaves have chosen values, or None if it is no tree."""
    tree = getattr(estimator, "tree_", None)
    if tree is None:
        return None
    taken, found = np.asarray(chosen(tree.value)), list[Region]()
    inner = np.flatnonzero(tree.children_left >= 0)
    for node in inner[::-1]:
        taken[node] = taken[tree.children_left[node]] and taken[tree.children_right[node]]
    paths: dict[int, Region] = {0: {}}
    for node in range(tree.node_count):
        path = paths.pop(node, None)
        if path is not None and taken[node]:
            found.append(path)
        elif path is not None and tree.children_left[node] >= 0:
            paths |= _split(tree, node, path)
    return found


def _split(tree: Any, node: int, path: Region) -> dict[int, Region]:
    """Return the regions of the two children of a node."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    before, missing_left = path.get(feature, Interval()), bool(tree.missing_go_to_left[node])
    return {
        int(tree.children_left[node]): {**path, feature: before.left(threshold, missing=missing_left)},
        int(tree.children_right[node]): {**path, feature: before.right(threshold, missing=not missing_left)},
    }


def group_rule(searched: Searched, group: FoundGroup) -> str:
    """Return the rule of a group in words, or nothing if its estimator is no small tree."""
    classes = getattr(group.estimator, "classes_", np.zeros(1))
    regions = tree_regions(group.estimator, lambda values: np.asarray(classes[values[:, 0].argmax(axis=1)] == 1))
    return in_words(searched, regions)


def in_words(searched: Searched, regions: list[Region] | None) -> str:
    """Return regions in words, or nothing if they are too many for it."""
    if not regions or len(regions) > MOST_RULES:
        return ""
    gaps: Mask = np.asarray(np.isnan(searched.matrix).any(axis=0))
    rules = [_words_of_region(searched.features, region, gaps) for region in regions]
    words = " or ".join(dict.fromkeys(f"({rule})" for rule in rules)) if len(set(rules)) > 1 else rules[0]
    return words if len(words) <= LONGEST_RULE else ""


def _words_of_region(features: Features, region: Region, gaps: Mask) -> str:
    words = [_condition(features.columns[at], interval, gaps=bool(gaps[at])) for at, interval in region.items()]
    return " and ".join(word for word in words if word) or "all rows"


def _condition(feature: Feature, interval: Interval, *, gaps: bool) -> str:
    """Return a condition on one feature in words; nothing if it holds for all rows that there are."""
    if interval.low == np.inf:
        return f"{feature.name} is missing"
    if interval.low == -np.inf and interval.high == np.inf:
        return f"{feature.name} is known" if gaps and not interval.missing else ""
    words = _range_in_words(feature, interval)
    return f"{words} (or missing)" if gaps and interval.missing else words


def _range_in_words(feature: Feature, interval: Interval) -> str:
    if feature.kind == "text":
        values = [value for at, value in enumerate(feature.categories) if interval.low < at <= interval.high]
        listed = f"one of {len(values)} values" if len(values) > MOST_VALUES else " or ".join(map(repr, values))
        return f"{feature.name} is {listed}"
    low, high = (_limit(feature, value) for value in (interval.low, interval.high))
    if interval.low == -np.inf:
        return f"{feature.name} <= {high}"
    return f"{feature.name} > {low}" if interval.high == np.inf else f"{low} < {feature.name} <= {high}"


def _limit(feature: Feature, value: float) -> str:
    if feature.kind == "moments" and np.isfinite(value):
        return str(np.datetime64(round(value), "s"))
    return f"{value:.6g}"
