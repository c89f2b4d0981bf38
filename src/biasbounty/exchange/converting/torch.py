"""Torch modules: a module on a float32 matrix, as torch's own exporter writes it.

The module answers [N] or [N, 1] numbers, or [N, k] scores, of which the place of the largest is the label.
"""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from biasbounty.arrays import Array, shown
from biasbounty.errors import ConversionError, MissingExtraError
from biasbounty.exchange.converting.answers import Answer, largest
from biasbounty.exchange.converting.columns import Blocks, matrix, width_of
from biasbounty.exchange.converting.graph import OPSETS, Graph, onnx_package

_ELEMENTS = {"BOOL": "bool", "FLOAT": "double", "DOUBLE": "double", "STRING": "string"}


def is_module(fitted: Any) -> bool:
    """Say whether this is a torch module, without importing torch."""
    return any(kind.__module__ == "torch.nn.modules.module" for kind in type(fitted).__mro__)


def answers_of_module(module: Any, rows: Array) -> Array:
    """Ask a module about rows, as its conversion answers."""
    import torch

    with _in_evaluation(module), torch.no_grad():
        output = module(torch.from_numpy(np.array(rows, np.float32)))
    answers = np.asarray(output.numpy())
    if answers.ndim == 2 and answers.shape[1] > 1:
        return np.asarray(answers.argmax(axis=1))
    if answers.shape not in ((len(rows),), (len(rows), 1)):
        raise ConversionError(
            f"module has answers of the wrong shape: expected [N], [N, 1] or [N, classes], got "
            f"{list(answers.shape)} for {len(rows)} rows; return one of these"
        )
    return answers.reshape(len(rows))


def answer_of_module(graph: Graph, module: Any, blocks: Blocks, who: str) -> Answer:
    """Add a module."""
    rows = matrix(graph, blocks, who, "float")
    with _in_evaluation(module):
        model = _exported(module, width_of(blocks), who)
    value, output = graph.inline(model, rows, who=who)
    shape = output.shape.dim
    if len(shape) == 2 and shape[1].dim_value > 1:
        return largest(graph, value, np.arange(shape[1].dim_value))
    wanted = _ELEMENTS.get(onnx_package().TensorProto.DataType.Name(output.elem_type), "int64")
    return Answer(graph.cast(value, wanted), wanted, len(shape))


def _exported(module: Any, width: int, who: str) -> Any:
    """Have torch export; what it says of itself while it does is not shown."""
    import torch

    device = next((str(each.device) for each in module.parameters()), "cpu")
    example = torch.zeros(2, width, device=device)
    with _quiet():
        try:
            program: Any = torch.onnx.export(
                module,
                (example,),
                dynamo=True,
                opset_version=OPSETS[""],
                dynamic_shapes=({0: torch.export.Dim.DYNAMIC},),
                verbose=False,
            )
        except (ImportError, torch.onnx.errors.OnnxExporterError) as error:
            if "onnxscript" in str(error) or isinstance(error, ImportError):
                raise MissingExtraError(f"{who} needs onnxscript to be converted: install onnxscript") from error
            raise _failed(error, who) from error
        except Exception as error:
            raise _failed(error, who) from error
    return program.model_proto


def _failed(error: Exception, who: str) -> ConversionError:
    words = shown(error.__cause__ or error, lambda cause: str(cause).strip().partition("\n")[0].partition(" (")[0])
    return ConversionError(
        f"{who} cannot be converted: expected a module that torch.onnx.export takes on a float32 matrix, got {words}; "
        "keep its forward free of branches on values"
    )


@contextmanager
def _in_evaluation(module: Any) -> Iterator[None]:
    """Have the module as it predicts: without dropout, and with the means it has learned."""
    training = [(part, part.training) for part in module.modules()]
    module.eval()
    try:
        yield
    finally:
        for part, was in training:
            part.training = was


@contextmanager
def _quiet() -> Iterator[None]:
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
