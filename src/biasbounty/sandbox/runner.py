"""Sandbox: runs a stranger's ONNX model on rows, and lets it see, reach and harm nothing else.

A worker is started once, as a fresh interpreter with an empty environment. It has imported what it needs when it locks
itself in (see `worker`), and starts one child for each submission. Labels never come near it. What a model does to its
child ends with the child.
"""

import platform
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from biasbounty.arrays import Array, is_number
from biasbounty.errors import MissingExtraError, SettingsError, SubmissionFailedError
from biasbounty.exchange.onnx_feeds import Input, Table, inputs_of
from biasbounty.exchange.schema import ColumnType, Schema
from biasbounty.sandbox import answers
from biasbounty.sandbox.keeper import Keeper
from biasbounty.sandbox.layers import Layers
from biasbounty.sandbox.messages import Message
from biasbounty.sandbox.outcomes import Allowance, arrays_of
from biasbounty.sandbox.process import START
from biasbounty.sandbox.tables import packed

_MEGABYTE = 1 << 20
_BYTES_PER_ROW = 1024
"""An answer is a number or a label: of at most some 250 letters, where all have their place."""
_SPARE_BYTES = 4096
_PLANS = 4
"""Of how many models is remembered that they were audited: the last few, since these are large."""


class Sandbox:
    """Runs models on rows, each in a locked process of its own; to be closed, or used in a `with`.

    Args:
        X: The rows that `predict` answers for: an array, or a frame. Never labels.
        memory_mb: How much memory a model may take, in megabytes.
        seconds: How long a model may take.
        allow_weak: Whether to go on where this machine has neither namespaces nor Landlock, or no system call filter.
    """

    _start = START

    def __init__(self, X: Any, memory_mb: float = 1024, seconds: float = 10.0, allow_weak: bool = False) -> None:
        _require_linux()
        self._allowance = Allowance(_positive("memory_mb", memory_mb), _positive("seconds", seconds))
        self._keeper = Keeper(self._start, allow_weak)
        try:
            table = Table.of(X)
            self._size, self._schema = table.size, _schema_of(table, X)
            self._keeper.welcome(self._first_message(table, allow_weak))
        except BaseException:
            self.close()
            raise

    @property
    def layers(self) -> Layers:
        """Which layers protect the machine, and which do not and why."""
        return self._keeper.layers

    def predict(self, model: bytes, rows: Any = None) -> Array:
        """Return the model's answers for the sandbox's own rows.

        Args:
            model: An ONNX model. One that is not proved row-wise is run on one row at a time.
            rows: Which rows, as places or as a boolean for each; all if None.

        Raises:
            RefusedError: The audit refuses the model.
            SubmissionFailedError: It took too long or too much, crashed, or answered what is no answer.
        """
        chosen = None if rows is None else _places(rows, self._size)
        plan = _plan_of(bytes(model), self._schema)
        size = self._size if chosen is None else len(chosen)
        return self._answers("predict", model, plan, size, {}, () if chosen is None else (chosen,))

    def run(self, model: bytes, X: Any) -> Array:
        """Return the model's answers for other rows; otherwise as `predict`."""
        table = Table.of(X)
        plan = _plan_of(bytes(model), _schema_of(table, X))
        form, arrays = packed(table)
        return self._answers("run", model, plan, table.size, {"table": form}, arrays)

    def execute(
        self, model: bytes, tensors: Mapping[str, Array], outputs: Sequence[str] | None = None
    ) -> dict[str, Array]:
        """Run a model on tensors as they are; return the outputs named, or all. The audit is the caller's."""
        names = tuple(outputs) if outputs is not None else _outputs_of(model)
        header = {"kind": "execute", "tensors": list(tensors), "outputs": names}
        message = Message(header, (_as_bytes(model), *(np.asarray(tensor) for tensor in tensors.values())))
        answered = self._asked(message, answers.MOST_BYTES)
        if len(answered) != len(names):
            raise SubmissionFailedError(
                f"model has the wrong outputs: expected {len(names)} arrays, got {len(answered)}; submit another"
            )
        return dict(zip(names, answered, strict=True))

    def close(self) -> None:
        """End the worker; a closed sandbox takes no more models."""
        self._keeper.close()

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _first_message(self, table: Table, allow_weak: bool) -> Message:
        form, arrays = packed(table)
        header = {
            "table": form,
            "memory": int(self._allowance.memory_mb * _MEGABYTE),
            "seconds": self._allowance.seconds,
        }
        filters = (_as_bytes(program) for program in _programs(allow_weak))
        return Message(header, (*filters, *arrays))

    def _answers(
        self, kind: str, model: bytes, plan: "_Plan", size: int, header: dict[str, Any], arrays: tuple[Array, ...]
    ) -> Array:
        """Return one answer for each row; of no rows none, without asking."""
        if not size:
            return np.empty(0)
        form = {"kind": kind, "inputs": plan.inputs_as_lists(), "row_wise": plan.row_wise, **header}
        most = min(_SPARE_BYTES + _BYTES_PER_ROW * size, answers.MOST_BYTES)
        answered = self._asked(Message(form, (_as_bytes(model), *arrays)), most)
        if len(answered) != 1 or answered[0].shape != (size,) or answered[0].dtype.kind == "c":
            raise SubmissionFailedError(
                f"model has the wrong length: expected {size} answers, one for each row, got something else; submit "
                "another"
            )
        return answered[0]

    def _asked(self, message: Message, most_bytes: int) -> list[Array]:
        outcome = self._keeper.ask(message, most_bytes, self._allowance.seconds)
        return arrays_of(outcome, self._allowance, most_bytes)


class _Plan(NamedTuple):
    """What is known of an audited model without running it."""

    inputs: tuple[Input, ...]
    row_wise: bool

    def inputs_as_lists(self) -> list[list[Any]]:
        """Return the inputs as a message holds them."""
        return [[one.name, one.element, one.rank, one.width] for one in self.inputs]


@lru_cache(_PLANS)
def _plan_of(model: bytes, schema: Schema) -> _Plan:
    """Audit a model, unless that was just done."""
    import onnx

    from biasbounty.exchange.onnx_audit import audit
    from biasbounty.exchange.onnx_rows import why_not_row_wise

    audit(model, schema)
    proto = onnx.ModelProto.FromString(model)
    return _Plan(inputs_of(proto), why_not_row_wise(proto) is None)


def _outputs_of(model: bytes) -> tuple[str, ...]:
    import onnx

    return tuple(output.name for output in onnx.ModelProto.FromString(model).graph.output)


def _schema_of(table: Table, X: Any) -> Schema:
    columns = zip(table.names, table.columns, strict=True)
    return Schema(tuple(ColumnType(name, column.kind) for name, column in columns), not isinstance(X, np.ndarray))


def _as_bytes(data: bytes) -> Array:
    return np.frombuffer(data, np.uint8)


def _places(rows: Any, size: int) -> Array:
    """Return rows as places, each of them there."""
    chosen = np.asarray(rows)
    if chosen.dtype == np.bool_ and chosen.shape == (size,):
        return np.flatnonzero(chosen)
    if not chosen.size and chosen.ndim == 1:
        return np.empty(0, np.int64)
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or chosen.min() < 0 or chosen.max() >= size:
        raise SettingsError(
            f"rows are not of this sandbox: expected places from 0 to {size - 1} or {size} booleans, got "
            f"{chosen.dtype} of shape {chosen.shape}; count from 0"
        )
    return chosen.astype(np.int64)


def _programs(allow_weak: bool) -> tuple[bytes, bytes]:
    """Return the filters of the worker and its jobs; two empty ones where they cannot be had and need not."""
    from biasbounty.sandbox import filters

    try:
        return filters.worker_filter(), filters.job_filter()
    except (MissingExtraError, SettingsError):
        if not allow_weak:
            raise
        return b"", b""


def _positive(name: str, value: Any) -> float:
    if not is_number(value) or not 0 < value < float("inf"):
        raise SettingsError(f"{name} is not usable: expected a number above 0, got {value!r}; choose another")
    return float(value)


def _require_linux() -> None:
    if platform.system() != "Linux":
        raise SettingsError(
            f"sandbox does not run here: expected Linux, got {platform.system() or 'another system'}; run models in "
            "process, or in a Linux container"
        )
