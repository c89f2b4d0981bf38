"""Kernels: whether the installed onnxruntime has an implementation of an operator for the types it is used with.

It says so itself. An operator without one that ONNX defines by others is made of those; its types are not asked about.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from biasbounty.exchange.auditing.contents import ELEMENTS
from biasbounty.exchange.auditing.types import Types, bindings, schema_of
from biasbounty.exchange.auditing.versions import plain_domain
from biasbounty.exchange.auditing.walk import Node, called
from biasbounty.exchange.onnx_run import runtime

Kernel: TypeAlias = Any

_FOREVER = 2**31 - 1
_HALF = "float16"
_PARTIAL = {("ReduceMax", "bool"), ("ReduceMin", "bool")}
"""What is implemented, but not for every tensor: no extreme of no booleans."""


@cache
def _kernels() -> Mapping[tuple[str, str], Sequence[Kernel]]:
    """Return the implementations for the processor, by domain and operator; none where the runtime does not tell."""
    found: dict[tuple[str, str], list[Kernel]] = defaultdict(list)
    tell = getattr(runtime().capi.onnxruntime_pybind11_state, "get_all_opkernel_def", None)
    for kernel in tell() if tell is not None else ():
        if kernel.provider == "CPUExecutionProvider":
            found[kernel.domain, kernel.op_name].append(kernel)
    return found


def kernel_reasons(node: Node, version: int, types: Types) -> Iterator[str]:
    """Yield why the runtime cannot run a node."""
    schema = schema_of(node.op_type, version, plain_domain(node.domain))
    if schema is None or schema.deprecated:
        yield (
            f"{called(node)} is not of this version: expected an operator of opset {version}, got none; export it again"
        )
        return
    if not (schema.min_input <= len(node.input) <= schema.max_input and len(node.output) <= schema.max_output):
        yield (
            f"{called(node)} has the wrong number of inputs or outputs: expected {schema.min_input} to "
            f"{schema.max_input} and at most {schema.max_output}, got "
            f"{len(node.input)} and {len(node.output)}; export it again"
        )
    kernels = [
        kernel for kernel in _kernels().get((schema.domain, schema.name), ()) if _is_for(kernel, schema.since_version)
    ]
    if not kernels and (not _kernels() or _is_made_of_others(schema)):
        return
    bound = {name: ELEMENTS.get(element, "") for name, element in bindings(node, schema, types).items()}
    partial = any((node.op_type, element) in _PARTIAL for element in bound.values())
    if partial or not any(_takes(kernel, bound) for kernel in kernels):
        given = ", ".join(dict.fromkeys(name for name in bound.values() if name)) or "any type"
        yield (
            f"{called(node)} has no implementation: expected an operator that onnxruntime runs in opset {version}, got "
            f"one for {given}; cast to float, or export for another opset"
        )


def _is_made_of_others(schema: Any) -> bool:
    return bool(schema.has_function or schema.has_context_dependent_function or schema.name == "Constant")


def _is_for(kernel: Kernel, since: int) -> bool:
    """Say whether an implementation is for an operator of this version: one without end is for its first alone."""
    first, last = kernel.version_range
    return bool(first == since or (first < since <= last and last != _FOREVER))


def _takes(kernel: Kernel, bound: Mapping[str, str]) -> bool:
    """Say whether an implementation takes these types; half precision is cast to single by the runtime."""
    for name, kinds in kernel.type_constraints.items():
        element = bound.get(name)
        wanted = {f"tensor({element})", "tensor(float)" if element == _HALF else ""}
        if element and wanted.isdisjoint(kinds):
            return False
    return True
