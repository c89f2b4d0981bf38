"""to_onnx: one name for the two ways into ONNX, of a hunter's fitted model and of a patched model."""

from typing import Any

from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.errors import SettingsError


def to_onnx(model: Any, X: Any = None, *, round: int | None = None, **options: Any) -> bytes:
    """Return a fitted model, or a decision list, as the bytes of one ONNX file.

    Args:
        model: A fitted estimator (see `exchange.convert`), or a `PointerDecisionList` (see `exchange.export`).
        X: Rows like those it was fitted on. A fitted model's answers for them are compared with those of the file; a
            list needs them only where it holds fitted estimators, which are then converted.
        round: Of a list, the round to export; the newest if None.
        options: Further options of `export`.
    """
    if isinstance(model, PointerDecisionList):
        from biasbounty.exchange.export import export

        return export(model, round, X=X, **options)
    if round is not None or options:
        raise SettingsError(
            f"model has no rounds: expected a PointerDecisionList with round= and other options, got "
            f"{type(model).__name__}; leave them out"
        )
    from biasbounty.exchange.convert import convert

    return convert(model, X)
