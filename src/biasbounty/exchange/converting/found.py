"""What our own finders find, and constants: groups and models that hold fitted estimators, never code of a stranger."""

from typing import Any

import numpy as np

from biasbounty.arrays import shown
from biasbounty.errors import ConversionError
from biasbounty.exchange.converting.answers import Answer, label
from biasbounty.exchange.converting.columns import Block, Blocks, matrix, select, singles, vector
from biasbounty.exchange.converting.encoders import coded
from biasbounty.exchange.converting.graph import Graph
from biasbounty.exchange.onnx_feeds import MISSING_TEXT

ROUNDING = 1e-12
"""A cost this little below 0 is one of rounding only, as in `finders.interface`."""


def constant(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:  # noqa: ARG001
    """Add the same answer for each row."""
    return label(graph, _zeros(graph, blocks), model.answer, 1)


def everyone(graph: Graph, group: Any, blocks: Blocks, who: str) -> Answer:  # noqa: ARG001
    """Add the group of all rows."""
    return label(graph, _zeros(graph, blocks), np.array([True]), 1)


def dummy(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted DummyClassifier or DummyRegressor that answers one constant."""
    if model.strategy in ("stratified", "uniform"):
        raise ConversionError(
            f"{who} cannot be converted: expected a model without chance, got strategy={model.strategy!r}; take another"
        )
    return label(graph, _zeros(graph, blocks), np.asarray(model.predict(np.zeros((1, 1)))), 1)


def _zeros(graph: Graph, blocks: Blocks) -> str:
    """Return 0 for each row, of shape [N]: whether a value is one that no value is."""
    (block,) = select(graph, blocks[:1], [0])
    value = vector(graph, block)
    if block.element == "string":
        never = graph.add("Equal", value, graph.constant(np.array([MISSING_TEXT + MISSING_TEXT], object)))
    else:
        never = graph.add("And", graph.add("IsNaN", value), graph.constant(np.array([False])))
    return graph.cast(never, "int64")


def found_model(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a model that a finder found: its estimator on the features' numbers, kept within the labels."""
    answer = _answer_of(graph, model.estimator, _features(graph, model.features, blocks, who), who)
    if model.span is None:
        return answer
    value = _within(graph, graph.cast(answer.value, "double"), model.span.low, model.span.high)
    if model.span.dtype.kind == "f":
        return Answer(value, "double", answer.rank)
    element = "bool" if model.span.dtype.kind == "b" else "int64"
    return Answer(graph.cast(graph.add("Round", value), element), element, answer.rank)


def found_group(graph: Graph, group: Any, blocks: Blocks, who: str) -> Answer:
    """Add a group that a finder found: the rows that its estimator calls 1."""
    answer = _answer_of(graph, group.estimator, _features(graph, group.features, blocks, who), who)
    one = graph.constant(np.int64(1))
    return Answer(graph.add("Equal", graph.cast(answer.value, "int64"), one), "bool", answer.rank)


def worthwhile(graph: Graph, estimator: Any, blocks: Blocks, who: str) -> Answer:
    """Add the ternary finder's group: some predicted cost is below 0."""
    least = graph.add("ReduceMin", _costs(graph, estimator.costs, blocks, who), _axis(graph), keepdims=1)
    bound = graph.constant(np.float64(-ROUNDING))
    return Answer(graph.cast(graph.add("Less", least, bound), "int64"), "int64", 2)


def cheapest(graph: Graph, estimator: Any, blocks: Blocks, who: str) -> Answer:
    """Add the ternary finder's model: the class of least predicted cost."""
    place = graph.add("ArgMin", _costs(graph, estimator.costs, blocks, who), axis=1, keepdims=0)
    return label(graph, place, estimator.costs.classes, 1)


def clipped(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a model whose answers are moved into a range."""
    answer = _answer_of(graph, model.model, blocks, who)
    value = _within(graph, graph.cast(answer.value, "double"), model.low, model.high)
    return Answer(value, "double", answer.rank)


def _costs(graph: Graph, costs: Any, blocks: Blocks, who: str) -> str:
    columns = tuple(_column(_answer_of(graph, each, blocks, who)) for each in costs.regressors)
    return matrix(graph, columns, who)


def _column(answer: Answer) -> Block:
    return Block(answer.value, "double", 1)


def _axis(graph: Graph) -> str:
    return graph.constant(np.array([1], np.int64))


def _within(graph: Graph, value: str, low: float, high: float) -> str:
    """Move numbers into a range; NaN stays as it is."""
    for op, bound in (("Less", low), ("Greater", high)):
        end = graph.constant(np.float64(bound))
        value = graph.add("Where", graph.add(op, value, end), end, value)
    return value


def _features(graph: Graph, features: Any, blocks: Blocks, who: str) -> Blocks:
    """Return the columns as `finders.features` makes numbers of them."""
    largest = float(np.finfo(np.float32).max)
    if all(feature.kind == "numbers" for feature in features.columns) and len(blocks) == 1:
        return (Block(_within(graph, matrix(graph, blocks, who), -largest, largest), "double", blocks[0].width),)
    columns = singles(graph, blocks)
    by_name = {block.name: block for block in columns}
    if features.named and all(by_name):
        lacking = [feature.name for feature in features.columns if feature.name not in by_name]
        if lacking:
            raise ConversionError(f"rows lack columns of {who}: expected {shown(lacking)} among them; hand them in")
        columns = tuple(by_name[feature.name] for feature in features.columns)
    return tuple(
        Block(_within(graph, matrix(graph, (block,), who), -largest, largest), "double", 1, block.name)
        if feature.kind == "numbers"
        else _other(graph, feature, block, who)
        for feature, block in zip(features.columns, columns, strict=True)
    )


def _other(graph: Graph, feature: Any, block: Block, who: str) -> Block:
    if feature.kind in ("moments", "durations"):
        raise ConversionError(
            f"column {shown(feature.name)} cannot be converted: expected numbers or text, got {feature.kind}; make it "
            "a number before fitting"
        )
    return coded(graph, block, feature.categories if feature.kind == "text" else (), who)


def _answer_of(graph: Graph, fitted: Any, blocks: Blocks, who: str) -> Answer:
    from biasbounty.exchange.converting.steps import answer_of

    return answer_of(graph, fitted, blocks, who)
