"""Versions: a model says by which version of the format and of each set of operators it is written."""

from collections.abc import Iterator

from biasbounty.arrays import shown
from biasbounty.exchange.auditing.reading import Model
from biasbounty.exchange.auditing.walk import DEFAULT_DOMAIN, MACHINE_LEARNING

FORMATS = (3, 13)
OPERATORS = {DEFAULT_DOMAIN: (1, 26), MACHINE_LEARNING: (1, 5)}
"""The oldest and newest versions of each set of operators that onnxruntime loads, and likewise of the format.

It does not tell them, so they stand here; the newest are those of onnxruntime 1.31. Of an old version it may have few
operators: which, it does tell (see `kernels`).
"""


def versions_of(model: Model) -> dict[str, int]:
    """Return the version of each set of operators, by its domain."""
    return {plain_domain(opset.domain): opset.version for opset in model.opset_import}


def plain_domain(domain: str) -> str:
    """Return a domain by its one name: the default one has two."""
    return DEFAULT_DOMAIN if domain == "ai.onnx" else domain


def version_reasons(model: Model) -> Iterator[str]:
    """Yield what is wrong with the versions that a model asks for."""
    if not FORMATS[0] <= model.ir_version <= FORMATS[1]:
        yield (
            f"file has an unknown format version: expected {FORMATS[0]} to {FORMATS[1]}, got {model.ir_version}; "
            "export it with ir_version=10, say"
        )
    if not model.opset_import:
        yield "file names no set of operators: expected an opset of ai.onnx, got none; export it again"
    if len(versions_of(model)) != len({(plain_domain(opset.domain), opset.version) for opset in model.opset_import}):
        yield "file has two versions of a set of operators: expected one, got several; keep one"
    for domain, version in versions_of(model).items():
        yield from _opset_reasons(domain, version)


def _opset_reasons(domain: str, version: int) -> Iterator[str]:
    known = OPERATORS.get(domain)
    if known is None:
        yield (f"set of operators {shown(domain)} is unknown: expected ai.onnx or ai.onnx.ml, got another; use these")
    elif not known[0] <= version <= known[1]:
        yield (
            f"version of {domain or 'ai.onnx'} is not one that can be run: expected {known[0]} to {known[1]}, got "
            f"{version}; export with target_opset={known[1] if domain else 21}, say"
        )
