"""ONNX's own tests: each model is refused with a reason, or runs in the sandbox and answers as ONNX says it should."""

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

from biasbounty.errors import RefusedError, SubmissionFailedError
from biasbounty.exchange.auditing.versions import FORMATS
from biasbounty.exchange.onnx_audit import audit
from biasbounty.sandbox import Sandbox

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"


@dataclass(frozen=True)
class Case:
    """A model, what it takes in, and what it should answer."""

    name: str
    model: ModelProto
    inputs: list[Any]
    outputs: list[Any]
    rtol: float = 1e-3
    atol: float = 1e-7


@dataclass
class Tally:
    """What became of all cases."""

    ran: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rows = [
            (self.ran, "ran, with the expected output"),
            *((count, why) for why, count in self.refused.most_common()),
        ]
        return "\n".join(f"{count:6,}  {words}" for count, words in rows)


def node_cases() -> Iterator[Case]:
    """Yield the cases of single operators."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = collect_testcases()
    for case in cases:
        assert case.model is not None
        for inputs, outputs in case.data_sets or ():
            yield Case(case.name, case.model, list(inputs), list(outputs), case.rtol, case.atol)


def stored_cases() -> Iterator[Case]:
    """Yield the cases whose models are files in the wheel."""
    for path in sorted(DATA.rglob("*.onnx")):
        model = onnx.load_model(path)
        if path.name != "model.onnx":
            yield Case(path.stem, model, _ramps(model), _stored(path.parent, f"{path.stem}_output"))
        for folder in sorted(path.parent.glob("test_data_set_*")) if path.name == "model.onnx" else []:
            yield Case(path.parent.name, model, _stored(folder, "input"), _stored(folder, "output"))


def _ramps(model: ModelProto) -> list[Any]:
    """Return inputs as ONNX's own runner makes them where none are stored: numbers that rise from 0 to 1."""
    shapes = [[dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in _asked(model)]
    return [(np.arange(prod(shape)).reshape(shape) / prod(shape)).astype(np.float32) for shape in shapes]


def _asked(model: ModelProto) -> list[Any]:
    """Return the inputs that have to be given."""
    held = {tensor.name for tensor in model.graph.initializer}
    return [value for value in model.graph.input if value.name not in held]


def _stored(folder: Path, kind: str) -> list[Any]:
    count = len(list(folder.glob(f"{kind}_*.pb")))
    return [TensorProto.FromString((folder / f"{kind}_{place}.pb").read_bytes()) for place in range(count)]


def array(value: Any) -> Any:
    """Return a case's value as an array."""
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else np.asarray(value)


def tallied(cases: Iterator[Case]) -> Tally:
    """Have each case refused or run."""
    tally = Tally()
    with Sandbox(np.zeros((1, 1)), memory_mb=1024, seconds=10) as sandbox:
        for case in cases:
            reasons = _reasons(case.model)
            if len(reasons) == 1 and "format version" in reasons[0]:
                tally.refused[_kind(reasons[0])] += 1
                case.model.ir_version = FORMATS[1]
                reasons = _reasons(case.model)
            elif reasons:
                tally.refused[_kind(reasons[0])] += 1
            else:
                tally.ran += 1
            problem = None if reasons else _problem(case, sandbox)
            tally.wrong += [f"{case.name}: {problem}"] if problem else []
    return tally


def _reasons(model: ModelProto) -> tuple[str, ...]:
    try:
        audit(model.SerializeToString(), answers=False)
    except RefusedError as refused:
        return refused.reasons
    return ()


def _kind(reason: str) -> str:
    """Return a reason without names."""
    said = reason.split(": expected")[0]
    said = re.sub(r"^(node) .* \(\w+\) ", r"\1 ", said)
    return "refused: " + re.sub(r"'[^']*' |(?<=^operator )\S+ |of '.*?' ", "", said)


def _problem(case: Case, sandbox: Sandbox) -> str | None:
    """Say what is wrong with the answers, if anything is."""
    names = [value.name for value in _asked(case.model)]
    tensors = dict(zip(names, map(array, case.inputs), strict=False))
    outputs = [output.name for output in case.model.graph.output]
    try:
        answers = sandbox.execute(case.model.SerializeToString(), tensors, outputs)
    except SubmissionFailedError as failed:
        return str(failed)
    for name, expected in zip(outputs, map(array, case.outputs), strict=False):
        if not _is_close(answers[name], expected, case):
            return f"{name} is {answers[name].ravel()[:3]}, not {expected.ravel()[:3]}"
    return None


def _is_close(answer: Any, expected: Any, case: Case) -> bool:
    if answer.shape != expected.shape:
        return False
    if answer.dtype.kind in "fc":
        return np.allclose(answer, expected, rtol=case.rtol, atol=case.atol, equal_nan=True)
    return bool((answer == expected.astype(answer.dtype)).all())


@pytest.mark.parametrize(("cases", "least"), [(node_cases, 1_884), (stored_cases, 140)], ids=["nodes", "models"])
def test_each_is_refused_with_a_reason_or_runs_as_it_should(cases: Any, least: int) -> None:
    tally = tallied(cases())
    print(f"\n{onnx.__version__} {cases.__name__}\n{tally}")  # noqa: T201 - shown with -s
    assert tally.wrong == []
    assert tally.ran + tally.refused.total() >= least
    assert tally.ran > least / 4
