"""The rest of scikit-learn, by way of skl2onnx: one step at a time, in float32."""

import warnings
from copy import copy
from typing import Any

from biasbounty.arrays import shown
from biasbounty.errors import ConversionError, MissingExtraError
from biasbounty.exchange.converting.answers import Answer, largest
from biasbounty.exchange.converting.columns import Blocks, matrix, numbers, width_of
from biasbounty.exchange.converting.graph import OPSETS, Graph, onnx_package

_NUMBERS = {"FLOAT", "DOUBLE"}
_WHOLE = {"INT32", "INT64", "BOOL"}


_BY_SHARES = {
    *("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "MLPClassifier"),
    *("AdaBoostClassifier", "BaggingClassifier", "CalibratedClassifierCV"),
}
"""Their label is the class of the largest share, which skl2onnx looks up in a way that is not seen to be row-wise."""


def answer_by_skl2onnx(graph: Graph, model: Any, blocks: Blocks, who: str) -> Answer:
    """Add a fitted model that has no writer of ours."""
    if type(model).__name__ in _BY_SHARES:
        scores, _, _ = _inlined(graph, model, blocks, who, output=1)
        return largest(graph, scores, model.classes_)
    value, element, rank = _inlined(graph, model, blocks, who)
    labels = getattr(getattr(model, "classes_", None), "dtype", None)
    if element == "STRING":
        return Answer(value, "string", rank)
    if labels is not None and labels.kind == "f":
        return Answer(graph.cast(value, "double"), "double", rank)
    wanted = "bool" if labels is not None and labels.kind == "b" else "int64" if element in _WHOLE else "double"
    return Answer(graph.cast(value, wanted), wanted, rank)


def transform_by_skl2onnx(graph: Graph, step: Any, blocks: Blocks, who: str) -> Blocks:
    """Add a fitted transformer that has no writer of ours."""
    value, element, _ = _inlined(graph, step, blocks, who)
    if element not in _NUMBERS | _WHOLE:
        raise ConversionError(f"{who} cannot be converted: expected columns of numbers, got {element.lower()}; drop it")
    return numbers(graph.cast(value, "double"), _width_after(step, blocks, who))


def _width_after(step: Any, blocks: Blocks, who: str) -> int:
    try:
        return len(step.get_feature_names_out())
    except Exception as error:
        raise ConversionError(
            f"{who} cannot be converted: expected a transformer that knows its columns, got {shown(error, str)} for "
            f"{width_of(blocks)} of them; take another in its place"
        ) from error


def _inlined(graph: Graph, fitted: Any, blocks: Blocks, who: str, output: int = 0) -> tuple[str, str, int]:
    rows = matrix(graph, blocks, who, "float")
    model = _converted(fitted, width_of(blocks), who)
    value, kind = graph.inline(model, rows, who=who, output=output)
    return value, onnx_package().TensorProto.DataType.Name(kind.elem_type), len(kind.shape.dim)


def _converted(fitted: Any, width: int, who: str) -> Any:
    """Have skl2onnx convert; its warnings are about itself, and whatever it gets wrong the comparison finds."""
    try:
        import skl2onnx
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError as error:
        raise MissingExtraError(f"{who} needs skl2onnx to be converted: install biasbounty[convert]") from error
    if getattr(fitted, "flatten_transform", False):  # which skl2onnx refuses, and which means nothing to predict
        fitted = copy(fitted).set_params(flatten_transform=False)
    options = {id(fitted): {"zipmap": False}} if hasattr(fitted, "classes_") else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return skl2onnx.convert_sklearn(
                fitted,
                initial_types=[("rows", FloatTensorType([None, width]))],
                target_opset=dict(OPSETS),
                options=options,
            )
        except Exception as error:
            raise ConversionError(
                f"{who} cannot be converted: expected what skl2onnx has a converter for, got "
                f"{shown(error, lambda words: ' '.join(str(words).split()))}; take another in its place"
            ) from error
