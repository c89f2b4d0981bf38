"""convert: a fitted model as ONNX bytes that answer as it does, compared on rows before anyone submits them.

Nothing of the model's code is taken along: what is written are its thresholds, weights and tables. Where the bytes
answer some rows otherwise a `MismatchWarning` says how many and where; where they answer more than `MOST_MISMATCHES`
otherwise, or the model cannot be written at all, a `ConversionError` says why and what to do.
"""

import warnings
from typing import Any

import numpy as np

from biasbounty.arrays import shown
from biasbounty.core.rows import Rows
from biasbounty.errors import ConversionError, RefusedError, SubmissionFailedError
from biasbounty.exchange.columns import names_of
from biasbounty.exchange.converting.columns import take_in
from biasbounty.exchange.converting.comparison import Mismatches, compare
from biasbounty.exchange.converting.graph import OPSETS, Graph, onnx_package
from biasbounty.exchange.converting.steps import WRITTEN, answer_of, is_known
from biasbounty.exchange.converting.torch import answer_of_module, is_module
from biasbounty.exchange.onnx_audit import audit
from biasbounty.exchange.onnx_rows import why_not_row_wise
from biasbounty.exchange.schema import Schema

MOST_MISMATCHES = 0.01
"""A conversion that answers a larger share of rows otherwise is no conversion."""

__all__ = ["MOST_MISMATCHES", "OPSETS", "MismatchWarning", "Mismatches", "compare", "convert"]


class MismatchWarning(UserWarning):
    """A converted model answers a few rows otherwise than the fitted one."""


def convert(fitted: Any, X: Any) -> bytes:
    """Return a fitted model, or a group, as the bytes of an ONNX file.

    Args:
        fitted: An estimator or pipeline of scikit-learn, LightGBM or XGBoost, a Booster, or a torch module that takes
            a float32 matrix. Of a module or Booster that answers k scores, the answer is the place of the largest.
        X: Rows like those it was fitted on, in the same type; public ones will do. They are compared on.
    """
    if hasattr(fitted, "decision_list_"):  # a BountyClassifier or BountyRegressor
        from biasbounty.exchange.export import export

        return bytes(export(fitted.decision_list_, X=X))
    _verify_convertible(fitted, X)
    data = _written(fitted, X)
    _verify_accepted(data, X)
    _verify_alike(_compared(fitted, data, X), data)
    return data


def is_convertible(fitted: Any) -> bool:
    """Say whether this is a fitted model of some kind, which `convert` may know, rather than code."""
    return is_module(fitted) or is_known(fitted) or callable(getattr(fitted, "predict", None))


def _written(fitted: Any, X: Any) -> bytes:
    graph = Graph()
    blocks = take_in(graph, X)
    write = answer_of_module if is_module(fitted) else answer_of
    answer = write(graph, fitted, blocks, "model")
    return graph.finish(answer.value, answer.element, answer.rank)


def _verify_convertible(fitted: Any, X: Any) -> None:
    if isinstance(fitted, type):
        advice = "make one, fit it, and hand that in"
        raise ConversionError(
            f"model cannot be converted: expected a fitted one, got the class {fitted.__name__}; {advice}"
        )
    if not is_convertible(fitted):
        raise ConversionError(
            f"model cannot be converted: expected one of {WRITTEN}, got {type(fitted).__name__}, which is code; "
            "write a group as predicate text, or fit a model to it"
        )
    if X is None:
        raise ConversionError(
            "rows are not given: expected X, rows like those it was fitted on, got None; hand in public rows, on which "
            "the answers are compared"
        )
    if not len(Rows(X)):
        raise ConversionError("rows are none: expected at least one row to compare on, got 0; hand in public rows")
    if hasattr(fitted, "fit"):
        _verify_fitted(fitted)
    _verify_columns(fitted, X)


def _verify_fitted(fitted: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(fitted)
    except (NotFittedError, TypeError) as error:
        raise ConversionError(
            f"model is not fitted: expected a fitted estimator, got {shown(fitted)}; call fit first"
        ) from error


def _verify_columns(fitted: Any, X: Any) -> None:
    names = names_of(X)
    width = _attribute(fitted, "n_features_in_")
    if width is not None and width != len(names):
        raise ConversionError(
            f"rows have other columns than those of fit: expected {width}, got {len(names)}; hand in all of them"
        )
    known = _attribute(fitted, "feature_names_in_")
    if known is None or isinstance(X, np.ndarray) or str(known[0]) == "Column_0":  # LightGBM's word for no name
        return
    if [_plain(name) for name in known] != [_plain(name) for name in names]:
        raise ConversionError(
            f"rows have other columns than those of fit: expected {shown(list(map(str, known)))}, got "
            f"{shown(list(names))}; hand them in by these names and in this order"
        )


def _plain(name: Any) -> str:
    """Return a name as LightGBM writes it, without spaces."""
    return "_".join(str(name).split())


def _attribute(fitted: Any, name: str) -> Any:
    """Return an attribute that some estimators have, and some only after this or that."""
    try:
        return getattr(fitted, name, None)
    except Exception:
        return None


def _verify_accepted(data: bytes, X: Any) -> None:
    try:
        audit(data, Schema.of(X))
    except RefusedError as error:
        raise ConversionError(
            f"model cannot be handed in: expected a file that the audit accepts, got {error}; take a simpler model"
        ) from error


def _compared(fitted: Any, data: bytes, X: Any) -> Mismatches:
    try:
        return compare(fitted, data, X)
    except SubmissionFailedError as error:
        raise ConversionError(
            f"converted model does not run: expected answers, got {error}; take another model in its place"
        ) from error


def _verify_alike(found: Mismatches, data: bytes) -> None:
    if found.share > MOST_MISMATCHES:
        mixed = why_not_row_wise(onnx_package().ModelProto.FromString(data))
        cause = f" (it is run on one row at a time, as {mixed})" if mixed else ""
        raise ConversionError(
            f"converted model answers otherwise: expected at most {MOST_MISMATCHES:.0%} of rows to differ, got {found}"
            f"{cause}; take another model in its place, or fit it on rows rounded to float32"
        )
    if found.count:
        warnings.warn(
            f"converted model answers some rows otherwise than the fitted one, and is what counts: {found}; mind that "
            "before you submit it, or fit it on rows rounded to float32",
            MismatchWarning,
            stacklevel=4,
        )
