"""Running an audited ONNX model: on all rows at once where that is proved to be the same, else one by one.

onnxruntime phones home by default: it is imported here and nowhere else, after that is turned off.
"""

import os
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from biasbounty.arrays import MOST_WORDS, Array
from biasbounty.errors import MissingExtraError, SubmissionFailedError

Session: TypeAlias = Any

_PATHS = re.compile(r"(?:/[\w.+-]+)+(?::\d+)?\s*")


def runtime() -> Any:
    """Import onnxruntime, its telemetry off."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError("running ONNX needs onnxruntime: install biasbounty[onnx]") from error
    return onnxruntime


def open_session(data: bytes) -> Session:
    """Load a model to run on one thread of the processor; raise SubmissionFailedError if it does not load."""
    ort = runtime()
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.use_deterministic_compute = True
    options.enable_cpu_mem_arena = False
    options.add_session_config_entry("session.load_model_format", "ONNX")
    return _told("load", lambda: ort.InferenceSession(data, options, providers=["CPUExecutionProvider"]))


def answer(session: Session, tensors: dict[str, Array], size: int, row_wise: bool) -> Array:
    """Return the first output, one value for each row."""
    name = session.get_outputs()[0].name
    if row_wise or size == 1:
        return _one_each(_told("run", lambda: session.run([name], tensors)[0]), size)
    answers = [
        answer(session, {key: tensor[row : row + 1] for key, tensor in tensors.items()}, 1, True) for row in range(size)
    ]
    return np.concatenate(answers) if answers else np.empty(0)


def _one_each(output: Any, size: int) -> Array:
    shape = getattr(output, "shape", None)
    if shape not in ((size,), (size, 1)):
        got = f"shape {shape}" if shape is not None else type(output).__name__
        raise SubmissionFailedError(
            f"model has the wrong length: expected {size} answers, one for each row, got {got}; its first output is to "
            "be of shape [N] or [N, 1]"
        )
    answers: Array = output.reshape(size)
    return answers.astype(str) if answers.dtype.kind == "O" else answers


def _told(verb: str, act: Callable[[], Any]) -> Any:
    """Act; what onnxruntime raises becomes an error of ours, in its words less the paths."""
    try:
        return act()
    except Exception as error:
        words = _PATHS.sub("", " ".join(str(error).split()))[:MOST_WORDS]
        raise SubmissionFailedError(
            f"model does not {verb}: expected a model that onnxruntime runs, got {words}; try it there first"
        ) from error
