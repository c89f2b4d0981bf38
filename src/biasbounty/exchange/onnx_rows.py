"""Row by row: a proof that each answer of a graph depends on its own row alone.

The batch axis is followed from the inputs on. Of each tensor it is known that it is the same whatever the rows are, or
that its first axis is the batch and its row i depends on row i of the inputs alone, or how long axes are; else it is
unproved, with the reason. Each operator has a rule, in `proving`. What the first output does not need is not
asked about. In doubt nothing is proved: such a graph is run one row at a time, which is slow and always right.

A proof is about what is computed, not about the last bit: libraries add up in another order for one row than for
many, so a sum may differ by rounding.
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from biasbounty.arrays import shown
from biasbounty.exchange.auditing.reading import Model
from biasbounty.exchange.auditing.walk import RANDOM, Node, called, domain_of, graphs, numbers_of, subgraphs
from biasbounty.exchange.proving import learned, numbers, shapes
from biasbounty.exchange.proving.sizes import follow
from biasbounty.exchange.proving.steps import RULES, Step
from biasbounty.exchange.proving.values import Aligned, Fixed, Length, N, NotProved, Shape, Unproved, Value

_ROOMS = (learned, numbers, shapes)
"""Where the rules are; importing them registers these."""


def why_not_row_wise(model: Model) -> str | None:
    """Return why answers might depend on other rows than their own; None where they are proved not to."""
    if model.functions:
        return "the model has functions of its own, which are not followed: expected none; inline them"
    if not model.graph.output:
        return "the graph has no output: expected one"
    try:
        values = _Proof.of(model.graph).run(model.graph)
    except NotProved as reason:
        return f"an input {reason}"
    return _declared_otherwise(model.graph, values) or _why_not(values, model.graph.output[0].name)


def _why_not(values: dict[str, Value], first: str) -> str | None:
    """Return why the first output is not known to have its rows apart, along its first axis."""
    value = values.get(first, Unproved("the first output is made by no node"))
    if isinstance(value, Unproved):
        return value.reason
    if isinstance(value, Aligned):
        along = f"the first output has the rows along axis {value.batch}: expected them along axis 0; transpose it"
        return None if value.batch == 0 else along
    return "the first output is the same for any rows, and has no row for each of them; repeat it for each row"


def _declared_otherwise(graph: Any, values: dict[str, Value]) -> str | None:
    """Return which tensor a file says to be of another shape than it is.

    The runtime believes what is declared: it would take a number of rows that is declared for the number of rows. Old
    converters declare outputs wrong, which does no harm to a tensor that no other can take its shape from.
    """
    harmless = _last(graph)
    for declared in (*graph.input, *graph.output, *graph.value_info):
        shape = getattr(values.get(declared.name), "shape", None)
        if shape is not None and declared.name not in harmless and _is_other(shape, declared.type.tensor_type):
            return f"tensor {shown(declared.name)} is declared to be of another shape than it has: leave that out"
    return None


def _last(graph: Any) -> set[str]:
    """Return the tensors that no node takes in, nor has the runtime cause to: it merges nodes that do the same."""
    taken = {name for one in graphs(graph) for node in one.node for name in node.input}
    taken |= {value.name for one in graphs(graph) if one is not graph for value in one.output}
    often = Counter(node.op_type for node in graph.node)
    return {name for node in graph.node if often[node.op_type] == 1 for name in node.output} - taken


def _is_other(shape: Shape, declared: Any) -> bool:
    if not declared.HasField("shape"):
        return False
    dims = declared.shape.dim
    pairs = zip(shape, dims, strict=False)
    said = [(length, dim.dim_value) for length, dim in pairs if dim.HasField("dim_value") and length is not None]
    return len(dims) != len(shape) or any(length != number for length, number in said)


@dataclass
class _Proof:
    """What is known of each tensor of a graph so far."""

    made: frozenset[str]
    """The names of all that nodes make, before it is known what they are."""
    values: dict[str, Value] = field(default_factory=dict)

    @staticmethod
    def of(graph: Any) -> "_Proof":
        """Begin with initializers, which are fixed, and inputs, which are rows."""
        proof = _Proof(frozenset(name for node in graph.node for name in node.output))
        for tensor in graph.initializer:
            proof.learn(tensor.name, _constant(tensor))
        for tensor in graph.sparse_initializer:
            proof.learn(tensor.values.name, Fixed())
        for value in graph.input:
            if value.name not in proof.values:
                proof.learn(value.name, _input(value))
        return proof

    def run(self, graph: Any) -> dict[str, Value]:
        """Follow all nodes, in their order, and return what is known then."""
        for node in graph.node:
            outcomes = self._outcomes(node)
            missing = Unproved(f"{called(node)} has an output that is not followed")
            for place, name in enumerate(node.output):
                self.learn(name, outcomes[place] if place < len(outcomes) else missing)
        return self.values

    def learn(self, name: str, value: Value) -> None:
        """Keep what is known of a tensor; a name that is given twice is known of neither."""
        twice = Unproved(f"two tensors share the name {name!r}: expected distinct names; rename one")
        self.values[name] = twice if name in self.values else value

    def _outcomes(self, node: Node) -> tuple[Value, ...]:
        used = [self._value(name) for name in node.input]
        bad = [value for value in (*used, *self._captured(node)) if isinstance(value, Unproved)]
        if bad:
            return tuple(bad[:1] * len(node.output))
        attributes = {attribute.name: attribute for attribute in node.attribute}
        if node.op_type in RANDOM or len(attributes) != len(node.attribute):
            return self._unproved(node, "answers at random, or has an attribute twice")
        try:
            return self._followed(Step(node, tuple(used), attributes))
        except NotProved as reason:
            return self._unproved(node, str(reason))

    def _followed(self, step: Step) -> tuple[Value, ...]:
        numbers = follow(step)
        if numbers is not None:
            return (numbers,)
        given = [value for value in (*step.inputs, *self._captured(step.node)) if value is not None]
        if all(isinstance(value, Fixed) for value in given):
            return _fixed(step)
        return tuple(map(_with_rows, _asked(step)))

    def _value(self, name: str) -> Value | None:
        if not name:
            return None
        return self.values.get(name, Unproved(f"tensor {name!r} is made by no node before it is used"))

    def _captured(self, node: Node) -> list[Value]:
        """Return what is known of tensors that a node's subgraphs take from around them."""
        names = {
            name
            for one in subgraphs(node)
            for graph in graphs(one)
            for name in (*(name for inner in graph.node for name in inner.input), *(out.name for out in graph.output))
        }
        known = (self._value(name) for name in sorted(names) if name in self.values or name in self.made)
        return [value for value in known if value is not None]

    def _unproved(self, node: Node, reason: str) -> tuple[Value, ...]:
        return (Unproved(f"{called(node)} {reason}"),) * len(node.output)


def _constant(tensor: Any) -> Fixed:
    return Fixed(tuple(tensor.dims), numbers_of(tensor))


def _fixed(step: Step) -> tuple[Value, ...]:
    """Return the outputs of a node whose inputs are all fixed: fixed as well, and of known shape if a rule tells it."""
    inside = (node.op_type for one in subgraphs(step.node) for graph in graphs(one) for node in graph.node)
    if not {step.node.op_type, *inside}.isdisjoint({*RANDOM, "Dropout"}):
        raise NotProved("may answer at random")
    if step.node.op_type == "Constant" and "value" in step.attributes:
        return (Fixed(tuple(step.attributes["value"].t.dims)),)
    try:
        outcome = _asked(replace(step, is_fixed=True))
    except NotProved:
        outcome = ()
    known = tuple(_as_fixed(value) for value in outcome)
    return (*known, *(Fixed(),) * (len(step.node.output) - len(known)))


def _as_fixed(value: Value) -> Fixed:
    return Fixed(value.shape) if isinstance(value, Aligned) else Fixed()


def _with_rows(value: Value) -> Value:
    """Return the value unless the rows got lost in it, which no rule should let happen."""
    return Unproved("the rows get lost") if isinstance(value, Aligned) and value.batch < 0 else value


def _asked(step: Step) -> tuple[Value, ...]:
    """Return what the rule of a node's operator says."""
    act = RULES.get((domain_of(step.node), step.node.op_type))
    if act is None or subgraphs(step.node):
        raise NotProved("is an operator that is not known to treat each row alone")
    outcome = act(step)
    return outcome if isinstance(outcome, tuple) else (outcome,)


def _input(value: Any) -> Value:
    tensor = value.type.tensor_type
    dims = tensor.shape.dim
    if not value.type.HasField("tensor_type") or not dims:
        return Unproved(f"input {value.name!r} is not known to have rows: expected a tensor of shape [N] or [N, width]")
    if dims[0].HasField("dim_value"):
        return Unproved(f"input {value.name!r} has a fixed number of rows: expected a symbolic first axis")
    return Aligned((N, *(_length(dim) for dim in dims[1:])))


def _length(dim: Any) -> Length:
    return dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None
