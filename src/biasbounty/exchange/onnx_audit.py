"""Audit: an ONNX file is looked at, and refused in words, before anything of it is run.

It is held against what may be in it, so whatever is new or strange is refused: operators and versions that are known to
run and to answer the same each time, tensors that hold what they say, nothing that points outside the file, no more of
anything than a model of tables needs, inputs that are columns, and one answer for each row. What cannot be seen by
looking (how long a loop runs, how much memory a product takes) is left to the limits of the sandbox.

All this is done in Python on the parsed file, one part after another: no library is asked to check or to shape a
stranger's graph.
"""

from collections.abc import Iterator
from itertools import islice

from biasbounty.errors import RefusedError
from biasbounty.exchange.auditing.contents import contents_reasons
from biasbounty.exchange.auditing.inputs import input_reasons, output_reasons
from biasbounty.exchange.auditing.operators import operator_reasons
from biasbounty.exchange.auditing.reading import Model, read
from biasbounty.exchange.auditing.sizes import size_reasons
from biasbounty.exchange.auditing.versions import version_reasons
from biasbounty.exchange.schema import Schema

MOST_REASONS = 20


def audit(data: bytes, schema: Schema | None = None, *, answers: bool = True) -> None:
    """Raise RefusedError, with what is wrong, unless the bytes are a model that may be run in a sandbox.

    Args:
        data: The bytes of an ONNX file.
        schema: The rows that the model is for; its inputs must be columns of them.
        answers: Whether its first output must be one answer for each row, and its inputs columns; without, and without
            a schema, it may take in and answer with tensors of any shape.
    """
    model = read(data)
    reasons = tuple(islice(_distinct(_reasons(model, schema, answers)), MOST_REASONS))
    if reasons:
        raise RefusedError(reasons)


def _distinct(reasons: Iterator[str]) -> Iterator[str]:
    """Yield each reason once, as it comes: a reason may take milliseconds to find, and a file may have 10,000."""
    told: set[str] = set()
    for reason in reasons:
        if reason not in told:
            told.add(reason)
            yield reason


def _reasons(model: Model, schema: Schema | None, answers: bool) -> Iterator[str]:
    yield from version_reasons(model)
    yield from contents_reasons(model)
    yield from operator_reasons(model)
    yield from size_reasons(model)
    if answers or schema is not None:
        yield from input_reasons(model, schema)
    if answers:
        yield from output_reasons(model)
