"""OnnxModel: a group or model as ONNX bytes, which are data: audited first, then callable on rows.

It is equal to any other of the same bytes. In process it runs on one thread; `run` hands the bytes to a sandbox
instead.
"""

from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from biasbounty.arrays import Array
from biasbounty.exchange.onnx_feeds import Input, Table, feed, inputs_of
from biasbounty.exchange.onnx_run import Session, answer, open_session
from biasbounty.exchange.schema import Schema


class OnnxModel:
    """A group or model as ONNX bytes; called on rows it answers for each.

    Args:
        data: The bytes of the model. A RefusedError says what is wrong with them.
        run: Called with the bytes and rows in place of running in process: a Sandbox's `run`.
        schema: What the rows hold; the model's inputs must be some of these columns, or a matrix of them.
    """

    def __init__(
        self, data: bytes, run: Callable[[bytes, Any], Array] | None = None, schema: Schema | None = None
    ) -> None:
        from biasbounty.exchange.onnx_audit import audit

        audit(data, schema)
        self.data, self._run = bytes(data), run

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the bytes, in hexadecimal."""
        return sha256(self.data).hexdigest()

    @cached_property
    def proto(self) -> Any:
        """The parsed model, for reading only."""
        import onnx

        return onnx.ModelProto.FromString(self.data)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """What the model takes in."""
        return inputs_of(self.proto)

    @cached_property
    def row_wise(self) -> bool:
        """Whether each answer is proved to depend on its own row alone; if not, rows are run one by one."""
        from biasbounty.exchange.onnx_rows import why_not_row_wise

        return why_not_row_wise(self.proto) is None

    @cached_property
    def _session(self) -> Session:
        return open_session(self.data)

    def __call__(self, X: Any) -> Array:
        """Answer for each row."""
        if self._run is not None:
            return self._run(self.data, X)
        if not len(X):
            return np.empty(0)
        return answer(self._session, feed(Table.of(X), self.inputs), len(X), self.row_wise)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OnnxModel) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __reduce__(self) -> tuple[type["OnnxModel"], tuple[bytes]]:
        return OnnxModel, (self.data,)

    def __repr__(self) -> str:
        return f"OnnxModel({self.digest[:12]}, {len(self.data)} bytes)"
