"""Linear models: one product and one sum, in double precision as in scikit-learn."""

from typing import Any

import numpy as np

from biasbounty.errors import ConversionError
from biasbounty.exchange.converting.answers import Answer, by_scores, number
from biasbounty.exchange.converting.columns import Blocks, matrix
from biasbounty.exchange.converting.graph import Graph


def classify(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted linear classifier."""
    if model.classes_.ndim != 1 or len(np.atleast_2d(model.coef_)) != (
        1 if len(model.classes_) == 2 else len(model.classes_)
    ):
        raise ConversionError(f"{who} cannot be converted: expected one label for each row, got several; fit one each")
    return by_scores(graph, _scores(graph, model, blocks, who), model.classes_)


def regress(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted linear regression."""
    return number(_scores(graph, model, blocks, who))


def regress_by_logarithm(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted regression whose link is the logarithm."""
    return number(graph.add("Exp", _scores(graph, model, blocks, who)))


def _scores(graph: Graph, model: Any, blocks: Blocks, who: str) -> str:
    weights = np.atleast_2d(np.asarray(model.coef_, np.float64)).T
    offset = np.atleast_1d(np.asarray(model.intercept_, np.float64))
    product = graph.add("MatMul", matrix(graph, blocks, who), graph.constant(weights))
    return graph.add("Add", product, graph.constant(offset))
