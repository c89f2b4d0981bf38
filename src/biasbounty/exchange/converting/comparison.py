"""Comparison: what a fitted model answers beside what its conversion answers, on rows that may be shown.

Labels must be equal. Numbers may differ by `TOLERANCE`, relative to the answer or to the mean size of all answers,
whichever is larger: onnxruntime adds in another order, and float32 is official.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import Array, as_text, is_text, plain, shown
from biasbounty.core.answers import ask
from biasbounty.core.rows import Rows
from biasbounty.errors import ConversionError
from biasbounty.exchange.converting.torch import answers_of_module, is_module
from biasbounty.exchange.onnx_feeds import Input, Table, feed
from biasbounty.exchange.onnx_model import OnnxModel

TOLERANCE = 1e-5
SHOWN = 5
"""So many places of mismatches are told."""


@dataclass(frozen=True)
class Mismatches:
    """Where a conversion answers otherwise than the fitted model, on how many rows."""

    rows: int
    count: int
    places: tuple[int, ...] = ()
    """The first few rows that differ."""
    largest: float | None = None
    """The largest difference between two numbers."""
    example: tuple[Any, Any] | None = None
    """What the fitted model and its conversion answer at the first of these places."""

    @property
    def share(self) -> float:
        """The share of rows that differ."""
        return self.count / max(1, self.rows)

    def __str__(self) -> str:
        if self.example is None:
            return f"all {self.rows} rows are answered alike"
        places = ", ".join(map(str, self.places)) + (", ..." if self.count > len(self.places) else "")
        by = "" if self.largest is None else f", by at most {self.largest:.3g}"
        return (
            f"{self.count} of {self.rows} rows are answered otherwise{by} (rows {places}; row {self.places[0]}: fitted "
            f"{shown(self.example[0])}, converted {shown(self.example[1])})"
        )


def compare(fitted: Any, data: bytes, X: Any) -> Mismatches:
    """Hold the answers of a fitted model for rows against those of its conversion."""
    try:
        expected = fitted_answers(fitted, X)
    except ConversionError:
        raise
    except Exception as error:
        raise ConversionError(
            f"fitted model fails on the rows: expected answers, got {type(error).__name__}: {shown(error, str)}; hand "
            "in rows like those it was fitted on"
        ) from error
    got = OnnxModel(data)(X)
    if expected.shape != got.shape:
        raise ConversionError(
            f"model has answers of the wrong shape: expected one for each of {len(X)} rows, got {list(expected.shape)}"
            "; fit one that answers one label or number a row"
        )
    labels = hasattr(fitted, "classes_") or expected.dtype.kind != "f"
    return _between(expected, got, labels or got.dtype.kind != "f")


def fitted_answers(fitted: Any, X: Any) -> Array:
    """Ask a fitted model about rows, in the way of its library."""
    if is_module(fitted):
        table = Table.of(X)
        rows = feed(table, (Input("\0", "float", 2, len(table.names)),))["\0"]
        return answers_of_module(fitted, rows)
    rows = Rows(X).shielded()
    if type(fitted).__name__ == "Booster" and type(fitted).__module__.startswith("xgboost"):
        import xgboost

        answers = np.asarray(fitted.predict(xgboost.DMatrix(rows)))
    else:
        answers = ask(fitted, rows)
    if answers.ndim == 2 and answers.shape[1] > 1 and type(fitted).__name__ == "Booster":
        return np.asarray(answers.argmax(axis=1))
    return answers.reshape(-1) if answers.ndim == 2 and answers.shape[1] == 1 else answers


def _between(expected: Array, got: Array, labels: bool) -> Mismatches:
    if is_text(expected) or is_text(got):
        wrong, largest = as_text(expected) != as_text(got), None
    elif labels:
        wrong, largest = expected != got, None
    else:
        wrong, gap = _apart(expected.astype(np.float64), got.astype(np.float64))
        largest = float(gap[wrong].max()) if wrong.any() else None
    places = np.flatnonzero(wrong)
    if not len(places):
        return Mismatches(len(expected), 0)
    example = plain(expected[places[0]]), plain(got[places[0]])
    return Mismatches(len(expected), len(places), tuple(places[:SHOWN].tolist()), largest, example)


def _apart(expected: Array, got: Array) -> tuple[Array, Array]:
    """Mark the numbers that are further apart than the tolerance; two NaN are alike."""
    size = np.abs(expected)
    finite = size[np.isfinite(size)]
    scale = np.maximum(size, finite.mean() if len(finite) else 0.0)
    with np.errstate(invalid="ignore"):
        gap = np.where(expected == got, 0.0, np.abs(expected - got))
        wrong = ~(gap <= TOLERANCE * scale)
    return wrong & ~(np.isnan(expected) & np.isnan(got)), gap
