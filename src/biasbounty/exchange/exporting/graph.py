"""Graph: an ONNX graph being written. What is asked for twice is done once, and a branch sees what is around it."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

Name: TypeAlias = str
"""The name of a tensor."""
Write: TypeAlias = Callable[["Graph"], Name]
"""Writes into a graph, and returns the name of the result."""

BOOL = 9
_SIGNS = {">": "Greater", ">=": "GreaterOrEqual", "<": "Less", "<=": "LessOrEqual", "=": "Equal"}


class Graph:
    """Nodes in order, and the constants they need. `prefix` begins every name, so that none is a column's."""

    def __init__(self, prefix: str, around: "Graph | None" = None) -> None:
        self.prefix, self.nodes = prefix, list[Any]()
        self.constants: dict[Any, Any] = {}
        """Of the outermost graph: the constants, by what they hold."""
        self.kept, self.kept_sparse = list[Any](), list[Any]()
        """Constants that came with a leaf."""
        self._around = around
        self._root: Graph = self if around is None else around._root
        self._done: dict[Any, Name] = {}
        self._named = 0

    def fresh(self) -> Name:
        """Return a name that nothing has."""
        self._root._named += 1
        return f"{self.prefix}{self._root._named}"

    def constant(self, values: Any, dtype: Any = None) -> Name:
        """Return a constant tensor."""
        from onnx import numpy_helper

        array = np.asarray(values, dtype)
        key = str(array.dtype), array.shape, tuple(array.ravel()) if array.dtype == object else array.tobytes()
        known = self._root.constants
        if key not in known:
            known[key] = numpy_helper.from_array(array, self.fresh())
        name: Name = known[key].name
        return name

    def do(self, operator: str, *inputs: Name, domain: str = "", name: str = "", **attributes: Any) -> Name:
        """Return the result of an operation; `name` tells whoever sees it fail what it was about."""
        key = operator, inputs, name, tuple((each, _frozen(value)) for each, value in sorted(attributes.items()))
        done = self._find(key)
        if done is None:
            done = self._done[key] = self.append(operator, inputs, domain=domain, name=name, **attributes)
        return done

    def append(
        self, operator: str, inputs: Sequence[Name], *, domain: str = "", name: str = "", **attributes: Any
    ) -> Name:
        """Append an operation, whether or not it was done before."""
        from onnx import helper

        result = self.fresh()
        self.nodes.append(
            helper.make_node(operator, inputs, [result], name=name or None, domain=domain or None, **attributes)
        )
        return result

    def _find(self, key: Any) -> Name | None:
        graph: Graph | None = self
        while graph is not None:
            if key in graph._done:
                return graph._done[key]
            graph = graph._around
        return None

    def joined(self, operator: str, masks: Iterable[Name]) -> Name:
        """Join masks, by And or by Or."""
        first, *others = masks
        for mask in others:
            first = self.do(operator, first, mask)
        return first

    def compared(self, sign: str, left: Name, right: Name) -> Name:
        """Compare numbers; NaN meets no comparison, not even <>."""
        if sign != "<>":
            return self.do(_SIGNS[sign], left, right)
        return self.do("And", self.do("Not", self.do("Equal", left, right)), self.do("Equal", left, left))

    def where_any(self, rows: Name, element: int, then: Write, otherwise: Write) -> Name:
        """Return what `then` writes if there are rows, else what `otherwise` does: tensors of one axis."""
        some = self.do("Cast", self.do("Shape", rows), to=BOOL)
        branches = {"then_branch": self._branch(then, element), "else_branch": self._branch(otherwise, element)}
        return self.append("If", [some], **branches)

    def _branch(self, write: Write, element: int) -> Any:
        branch = self.inner()
        return branch.subgraph(write(branch), element, [None])

    def inner(self) -> "Graph":
        """Return a graph that sees all of this one, and is not seen by it."""
        return Graph(self.prefix, self)

    def subgraph(self, result: Name, element: int, shape: list[Any], inputs: Sequence[Any] = ()) -> Any:
        """Return the graph as part of a node of the one around it."""
        from onnx import helper

        outputs = [helper.make_tensor_value_info(result, element, shape)]
        return helper.make_graph(
            self.nodes, self.fresh(), list(inputs), outputs, self.kept, sparse_initializer=self.kept_sparse
        )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else value
