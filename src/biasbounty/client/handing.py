"""Handing in: whatever a hunter has as a group or a model, as what the service takes: predicate text or ONNX.

Fitted estimators are converted, and compared with their conversion on public rows before anything is sent. Text and
ONNX are read here first, so that a slip is told at once; the server reads them again, since it trusts nobody.
"""

from typing import Any

from biasbounty.client.rows import Frame
from biasbounty.errors import GroupError, ModelError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import Predicate, parse
from biasbounty.exchange.schema import Schema

BYTES = (bytes, bytearray, memoryview)


def handed_group(group: Any, X: Frame, schema: Schema) -> str | bytes:
    """Return a group as predicate text or ONNX; X are public rows."""
    if isinstance(group, (str, Predicate)):
        return str(parse(str(group), schema))
    if isinstance(group, (*BYTES, OnnxModel)):
        return _audited(group, schema)
    if type(group).__module__.startswith("biasbounty.finders.") and hasattr(group, "words"):
        return str(parse(group.words, schema))  # a slice
    _require_no_code(group, GroupError, "group", "predicate text")
    return _converted(group, X)


def handed_model(model: Any, X: Frame, schema: Schema) -> bytes:
    """Return a model as ONNX; X are public rows."""
    if isinstance(model, (*BYTES, OnnxModel)):
        return _audited(model, schema)
    _require_no_code(model, ModelError, "model", "ONNX bytes")
    return _converted(model, X)


def _audited(given: Any, schema: Schema) -> bytes:
    from biasbounty.exchange.onnx_audit import audit

    data = given.data if isinstance(given, OnnxModel) else bytes(given)
    audit(data, schema)
    return data


def _converted(fitted: Any, X: Frame) -> bytes:
    from biasbounty.exchange.convert import convert

    return convert(fitted, _like_fitted(fitted, X))


def _like_fitted(fitted: Any, X: Frame) -> Any:
    """Return rows as the model was fitted on: a matrix, where it knows no names."""
    named = hasattr(fitted, "feature_names_in_") or not hasattr(fitted, "n_features_in_")
    return X if named else as_matrix(X)


def as_matrix(X: Frame) -> Any:
    """Return a frame of numbers as a matrix; one with other columns as it is."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    numeric = all(kind.is_numeric() or kind == nw.Boolean for kind in frame.schema.values())
    return frame.to_numpy().astype("float64") if numeric else X


def _require_no_code(given: Any, kind: type[Exception], what: str, instead: str) -> None:
    """Refuse what is only code: the service runs nobody's Python."""
    from biasbounty.exchange.convert import is_convertible

    if not is_convertible(given):
        raise kind(
            f"{what} is code: expected {instead} or a fitted estimator, got {type(given).__name__}; the service takes "
            "data only" + ("; learn the group from rows by bounty.group_from(rows)" if what == "group" else "")
        )
