"""Checking an export: it is opened by onnxruntime once, and where rows are given it answers them as the list does."""

from dataclasses import replace
from typing import Any

import numpy as np

from biasbounty.arrays import Array, Mask, as_text, shown
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.errors import ConversionError, SubmissionFailedError
from biasbounty.exchange.exporting.columns import MATRIX, element_of, is_one_matrix
from biasbounty.exchange.onnx_feeds import Input, Table, feed
from biasbounty.exchange.onnx_run import open_session
from biasbounty.exchange.schema import Schema


def tensors_of(X: Any, schema: Schema) -> dict[str, Array]:
    """Return rows as the tensors that an exported file takes in."""
    table = Table.of(X)
    if isinstance(X, np.ndarray) and X.shape[1] == len(schema.columns):
        table = replace(table, names=tuple(column.name for column in schema.columns))
    return feed(table, file_inputs(schema))


def file_inputs(schema: Schema) -> tuple[Input, ...]:
    """Return the inputs of an exported file."""
    if is_one_matrix(schema):
        return (Input(MATRIX, "double", 2, len(schema.columns)),)
    return tuple(Input(column.name, element_of(column), 2, 1) for column in schema.columns)


def answers_of_file(session: Any, X: Any, schema: Schema) -> Array:
    """Return what an exported file answers to rows."""
    answers: Array = session.run(None, tensors_of(X, schema))[0]
    return answers


def verify_export(data: bytes, decision_list: PointerDecisionList, schema: Schema, X: Any) -> None:
    """Raise unless onnxruntime opens the file, and it answers these rows as the list does."""
    try:
        session = open_session(data)
    except SubmissionFailedError as error:
        raise ConversionError(f"exported list does not open: {error}") from error
    if X is not None:
        verify_same(decision_list.predict(X), answers_of_file(session, X, schema))


def verify_same(expected: Array, got: Array) -> None:
    """Raise ConversionError unless an exported file's answers are those expected, to the last bit."""
    if expected.shape != got.shape:
        raise ConversionError(
            f"exported list has the wrong length: expected {len(expected)} answers, got {len(got)}; export it anew"
        )
    same = _is_same(expected, got)
    if not same.all():
        row = int(np.argmin(same))
        raise ConversionError(
            f"exported list answers otherwise: expected {shown(expected[row])} at row {row}, got {shown(got[row])}, "
            f"and {int(np.sum(~same))} rows differ; whole numbers beyond 2**53 are rounded in it, else report it"
        )


def _is_same(expected: Array, got: Array) -> Mask:
    if got.dtype.kind in "OUT":
        return np.asarray(as_text(expected) == as_text(got))
    if got.dtype.kind != "f":
        return np.asarray(expected == got)
    return np.asarray((expected == got) & (np.signbit(expected) == np.signbit(got)))
