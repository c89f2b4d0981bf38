"""Export: a whole decision list as one ONNX file, which answers every row as `predict` does, in any ONNX runtime.

Groups are written as operations on columns, leaves are embedded as they are, and each is asked about the rows that
reach it alone. The file says what it is: rounds, hunters, notes, schema and the hash of the ledger are in its
metadata, all of it public. The same list gives the same bytes. What is returned was opened by onnxruntime, and where
rows are given it answered them as the list does.
"""

import json
from typing import Any

from biasbounty._version import __version__
from biasbounty.core.answers import LabelType
from biasbounty.core.decision_list import PointerDecisionList, RepairNode
from biasbounty.errors import ConversionError, MissingExtraError
from biasbounty.exchange.exporting.check import verify_export
from biasbounty.exchange.exporting.columns import Columns
from biasbounty.exchange.exporting.graph import Graph, Name
from biasbounty.exchange.exporting.labels import element_of, verify_castable
from biasbounty.exchange.exporting.leaves import as_data, parts_of
from biasbounty.exchange.exporting.masks import Masks
from biasbounty.exchange.exporting.opsets import newest, raised
from biasbounty.exchange.exporting.rows import Leaf, Rows
from biasbounty.exchange.exporting.schema import output_name, place_of, schema_as_json, schema_for
from biasbounty.exchange.exporting.sweep import Sweep
from biasbounty.exchange.onnx_feeds import MISSING_TEXT
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import Predicate
from biasbounty.exchange.predicate_terms import Comparison, leaves, values_of
from biasbounty.exchange.schema import Schema

FORMAT = 1
"""The version of what a file takes in, answers and says of itself. Raise it when any of these changes."""
LARGEST = 2**31 - 2**20
"""No file is larger: protobuf holds less than 2 GiB."""


def export(
    decision_list: PointerDecisionList,
    round: int | None = None,
    *,
    schema: Schema | None = None,
    X: Any = None,
    ledger_hash: str | None = None,
) -> bytes:
    """Return a decision list, as it is in a round, as the bytes of one ONNX file.

    Args:
        decision_list: The list: groups are predicates or ONNX, models ONNX; fitted estimators are converted, given X.
        round: The round to export; the newest if None. An earlier one is how to roll back.
        schema: The columns that the file takes in; if not given, those of X, or those that the leaves name.
        X: Rows like those that it will meet; the file's answers for them are compared with the list's.
        ledger_hash: The hash of the ledger, to be kept in the metadata.
    """
    _require_onnx()
    decision_list = as_data(decision_list.at(round), X)
    schema = schema_for(decision_list, schema, X)
    data = _File(decision_list, schema).write(ledger_hash)
    verify_export(data, decision_list, schema, X)
    return data


def _require_onnx() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("exporting needs onnx: install biasbounty[onnx]") from error


class _File:
    """The file, being written."""

    def __init__(self, decision_list: PointerDecisionList, schema: Schema) -> None:
        self._list, self._schema = decision_list, schema
        parts = {part.who: part.function for part in parts_of(decision_list)}
        self._predicates = {who: one for who, one in parts.items() if isinstance(one, Predicate)}
        self._onnx = {who: one for who, one in parts.items() if isinstance(one, OnnxModel)}
        self._opsets = newest((one.proto for one in self._onnx.values()), self._least())
        self._leaves = {who: Leaf.of(one, raised(one.proto, self._opsets, who), who) for who, one in self._onnx.items()}
        self._labels = decision_list.labels or LabelType.of(_no_answers(self._leaves["initial model"]))
        self._graph = Graph(_prefix(schema))
        self._columns = Columns(self._graph, schema, self._asked(), self._texts())
        self._masks = Masks(self._graph, self._columns, [column.kind == "text" for column in schema.columns])
        self._rows = Rows(self._columns, schema)
        self._sweep = Sweep(self._graph, self._columns, self._rows, self._labels)

    def write(self, ledger_hash: str | None) -> bytes:
        """Write it."""
        from onnx import helper

        models = {0: self._model("initial model")}
        for number, node in enumerate(self._list.nodes, start=1):
            if not isinstance(node, RepairNode):
                models[number] = self._model(f"model of node {number}")
        answers = self._sweep.write(self._list, self._mask, models)
        name = output_name(self._schema)
        self._graph.nodes.append(helper.make_node("Identity", [answers], [name]))
        graph = helper.make_graph(
            self._graph.nodes,
            "biasbounty",
            self._columns.inputs,
            [helper.make_tensor_value_info(name, element_of(self._labels.dtype), ["N"])],
            list(self._graph.constants.values()),
        )
        return self._bytes(graph, ledger_hash)

    def _bytes(self, graph: Any, ledger_hash: str | None) -> bytes:
        from onnx import helper

        opsets = [helper.make_opsetid(domain, version) for domain, version in sorted(self._opsets.items())]
        model = helper.make_model(
            graph,
            producer_name="biasbounty",
            producer_version=__version__,
            opset_imports=opsets,
            ir_version=max(8, helper.find_min_ir_version_for(opsets)),
        )
        helper.set_model_props(model, _metadata(self._list, self._schema, ledger_hash))
        if model.ByteSize() > LARGEST:
            raise ConversionError(
                f"list is too large for one file: expected less than 2 GiB, got {model.ByteSize()} bytes; submit "
                "smaller models"
            )
        data: bytes = model.SerializeToString(deterministic=True)
        return data

    def _model(self, who: str) -> Leaf:
        leaf = self._leaves[who]
        verify_castable(leaf.dtype, self._labels, who)
        return leaf

    def _mask(self, number: int, standing: Name | None) -> Name:
        """Write the group of a node; ONNX is asked about the rows that stand there alone."""
        who = f"group of node {number}"
        predicate = self._predicates.get(who)
        if predicate is not None:
            return self._masks.where(predicate.term, self._places(predicate))
        leaf = self._leaves[who]
        if leaf.dtype.kind == "U":
            raise ConversionError(
                f"{who} answers text: expected True and False, or 0 and 1; convert it with such labels"
            )
        return self._rows.mask(self._graph, leaf, self._sweep.numbers_of(standing), self._columns.nobody)

    def _places(self, predicate: Predicate) -> dict[str, int]:
        places = {asked.name: place_of(asked, predicate, self._schema) for asked in predicate.columns}
        return {name: place for name, place in places.items() if place is not None}

    def _asked(self) -> set[int]:
        """Return the places that predicates ask about."""
        return {place for predicate in self._predicates.values() for place in self._places(predicate).values()}

    def _texts(self) -> dict[int, tuple[str, ...]]:
        """Return the texts that predicates name, by the place of their column."""
        texts: dict[int, dict[str, None]] = {}
        for predicate in self._predicates.values():
            places = self._places(predicate)
            for leaf in leaves(predicate.term):
                named = [value for value in values_of(leaf) if isinstance(value, str)]
                texts.setdefault(places[leaf.subject.name], {}).update(dict.fromkeys(named))
        return {place: tuple(sorted(named)) for place, named in texts.items()}

    def _least(self) -> dict[str, int]:
        """Return the opsets that the groups need: texts are only put in order by regular expressions, new in 20."""
        ordered = any(
            isinstance(value, str) and not (isinstance(leaf, Comparison) and leaf.sign in ("=", "<>"))
            for predicate in self._predicates.values()
            for leaf in leaves(predicate.term)
            for value in values_of(leaf)
        )
        return {"": 20} if ordered else {}


def _no_answers(leaf: Leaf) -> Any:
    import numpy as np

    return np.empty(0, leaf.dtype)


def _prefix(schema: Schema) -> str:
    """Return what no column's name begins with."""
    prefix = "/"
    while any(column.name.startswith(prefix) for column in schema.columns):
        prefix += "/"
    return prefix


def _metadata(decision_list: PointerDecisionList, schema: Schema, ledger_hash: str | None) -> dict[str, str]:
    """Return what a file says of itself; hunters and notes are public."""
    said = {
        "format": FORMAT,
        "version": __version__,
        "round": len(decision_list.heads) - 1,
        "heads": decision_list.heads,
        "nodes": len(decision_list),
        "hunters": [node.hunter for node in decision_list.nodes],
        "notes": [node.note for node in decision_list.nodes],
        "ledger_hash": ledger_hash,
        "missing_text": MISSING_TEXT,
    }
    words = {name: value if isinstance(value, str) else json.dumps(value) for name, value in said.items()}
    return {f"biasbounty.{name}": value for name, value in words.items()} | {
        "biasbounty.schema": schema_as_json(schema)
    }
