"""Jobs: what a child of the worker does for one submission, locked in and alone."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from biasbounty.arrays import Array
from biasbounty.errors import RefusedError, SubmissionFailedError
from biasbounty.exchange.onnx_feeds import Input, feed
from biasbounty.exchange.onnx_run import answer, open_session
from biasbounty.sandbox import answers
from biasbounty.sandbox.messages import Message
from biasbounty.sandbox.tables import Resident, unpacked

Job: TypeAlias = Callable[[Resident, Message], list[Array]]
Parts: TypeAlias = list[bytes | memoryview]

IDENTITY = bytes.fromhex(
    "08083a390a100a017812017922084964656e746974791201675a100a0178120b0a09080112050a0312014e62100a0179120b0a09080112050a0312014e42040a00100d"
)
"""An ONNX model that answers what it is asked."""


def run_model(resident: Resident, message: Message) -> list[Array]:
    """Open the model and have it answer: rows that the worker keeps, rows that came with it, or bare tensors."""
    data = message.arrays[0].tobytes()
    if message.header["kind"] == "execute":
        return _executed(data, message)
    session = open_session(data)
    inputs = tuple(Input(*one) for one in message.header["inputs"])
    tensors, size = _fed(resident, message, inputs)
    return [answer(session, tensors, size, message.header["row_wise"])]


def _fed(resident: Resident, message: Message, inputs: tuple[Input, ...]) -> tuple[dict[str, Array], int]:
    if message.header["kind"] == "predict":
        rows = message.arrays[1] if len(message.arrays) > 1 else None
        return resident.feed(inputs, rows), resident.table.size if rows is None else len(rows)
    table = unpacked(message.header["table"], message.arrays[1:])
    return feed(table, inputs), table.size


def _executed(data: bytes, message: Message) -> list[Array]:
    session = open_session(data)
    tensors = dict(zip(message.header["tensors"], message.arrays[1:], strict=True))
    outputs = session.run(message.header["outputs"], tensors)
    for output in outputs:
        if not isinstance(output, np.ndarray):
            raise SubmissionFailedError(
                f"model has an answer that is no tensor: expected an array, got {type(output).__name__}; leave it out"
            )
    return list(outputs)


def warm_up() -> None:
    """Use onnxruntime once on a model of our own: the memory that it writes to is then this process's own already."""
    open_session(IDENTITY).run(None, {"x": np.zeros(1, np.float32)})


def told(job: Job, resident: Resident, message: Message) -> Parts:
    """Do a job; whatever comes of it is an answer."""
    try:
        return answers.write_arrays(job(resident, message))
    except Exception as error:
        return [_words_of(error)]


def _words_of(error: Exception) -> bytes:
    words = str(error)
    if isinstance(error, MemoryError) or any(sign in words for sign in _SIGNS_OF_NO_MEMORY):
        return answers.write_words(answers.NO_MEMORY, "")
    if isinstance(error, RefusedError):
        return answers.write_words(answers.REFUSED, words)
    if isinstance(error, SubmissionFailedError):
        return answers.write_words(answers.FAILED, words)
    return answers.write_words(answers.FAILED, f"model does not run: expected answers, got {_kind(error)}: {words}")


_SIGNS_OF_NO_MEMORY = ("bad_alloc", "Failed to allocate memory", "MemoryError", "Unable to allocate")


def _kind(error: Exception) -> Any:
    return type(error).__name__
