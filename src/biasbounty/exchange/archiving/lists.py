"""Lists in an archive: what a decision list is made of, as a manifest and leaves, and back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args

import numpy as np

from biasbounty.arrays import Array
from biasbounty.core.answers import LabelType
from biasbounty.core.decision_list import Node, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.errors import ArchiveError, BiasBountyError
from biasbounty.exchange.archiving.files import leaf_name
from biasbounty.exchange.archiving.manifest import Entry
from biasbounty.exchange.columns import Kind
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import Asked, Predicate, parse
from biasbounty.exchange.schema import ColumnType, Schema
from biasbounty.values import RowFunction

Json = dict[str, Any]
TEXT = "text"
LABELS = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64"),
)
MOST_COLUMNS = 100_000
"""How many columns there may be, in all schemas."""


def manifest_of(decision_list: PointerDecisionList) -> tuple[Json, dict[str, bytes]]:
    """Return the manifest, less its version, and the leaves by the names of their files."""
    writer = _Writer()
    manifest = {
        "labels": _labels_as_text(decision_list.labels),
        "heads": list(decision_list.heads),
        "initial": writer.model(decision_list.initial, "initial model"),
        "nodes": [writer.node(node, number) for number, node in enumerate(decision_list.nodes, start=1)],
    }
    return manifest | {"schemas": [schema.as_json() for schema in writer.schemas]}, writer.leaves


def _labels_as_text(labels: LabelType | None) -> str | None:
    if labels is None:
        return None
    if labels.dtype.kind in "UTO":
        return TEXT
    if labels.dtype.name not in LABELS:
        raise ArchiveError(f"labels cannot be saved: expected one of {', '.join(LABELS)} or text, got {labels.dtype}")
    return labels.dtype.name


@dataclass
class _Columns:
    """What predicates say of a schema: how many columns there are, and of those they ask about, names and kinds."""

    width: int
    named: bool
    asked: dict[int, Asked] = field(default_factory=dict)

    def takes(self, predicate: Predicate) -> bool:
        """Take in a predicate's columns, if they are of this schema."""
        names = {asked.name: asked for asked in self.asked.values()}
        known = (self.asked.get(one.place, names.get(one.name, one)) for one in predicate.columns)
        fits = (self.width, self.named) == (predicate.width, predicate.named) and tuple(known) == predicate.columns
        if fits:
            self.asked.update((one.place, one) for one in predicate.columns)
        return fits

    def as_json(self) -> Json:
        """Write them down."""
        columns = [{"place": place, "name": one.name, "kind": one.kind} for place, one in sorted(self.asked.items())]
        return {"width": self.width, "named": self.named, "columns": columns}


class _Writer:
    """Writes nodes; keeps the leaves and schemas that they name."""

    def __init__(self) -> None:
        self.leaves: dict[str, bytes] = {}
        self.schemas: list[_Columns] = []

    def node(self, node: Node, number: int) -> Json:
        """Write a node down."""
        said: Json = {"hunter": node.hunter, "note": node.note, "group": self._group(node.group, number)}
        if isinstance(node, RepairNode):
            return said | {"pointer": node.pointer}
        return said | {"model": self.model(node.model, f"model of node {number}")}

    def _group(self, group: RowFunction, number: int) -> Json:
        if not isinstance(group, Predicate):
            return {"onnx": self.model(group, f"group of node {number}")}
        return {"predicate": str(group), "schema": self._schema(group)}

    def _schema(self, predicate: Predicate) -> int:
        for place, known in enumerate(self.schemas):
            if known.takes(predicate):
                return place
        self.schemas.append(_Columns(predicate.width, predicate.named))
        self.schemas[-1].takes(predicate)
        return len(self.schemas) - 1

    def model(self, model: RowFunction, who: str) -> str:
        """Write down which leaf this is."""
        if not isinstance(model, OnnxModel):
            raise ArchiveError(
                f"{who} cannot be saved: expected a predicate or ONNX, got {type(model).__name__}, which is code; "
                "submit predicate text, and models as bb.to_onnx(fitted, X)"
            )
        self.leaves[leaf_name(model.digest)] = model.data
        return model.digest


class Leaves:
    """The leaves of an archive, by their hash; each is audited once."""

    def __init__(self, files: Mapping[str, bytes], run: Callable[[bytes, Any], Array] | None) -> None:
        self._files, self._run = files, run
        self._asked = set[str]()
        self._made = cache(self._make)

    def model(self, entry: Entry, name: str) -> OnnxModel:
        """Return the leaf that a manifest names."""
        digest = entry.text(name)
        if leaf_name(digest) not in self._files:
            raise entry.get(name).wrong("the hash of a leaf that is there")
        self._asked.add(leaf_name(digest))
        return self._made(digest)

    def _make(self, digest: str) -> OnnxModel:
        try:
            return OnnxModel(self._files[leaf_name(digest)], self._run)
        except BiasBountyError as error:
            raise ArchiveError(f"leaf {digest[:12]} is refused: {error}") from error

    def verify_all_named(self) -> None:
        """Raise where there is a leaf that no node has."""
        left = sorted(set(self._files) - self._asked)
        if left:
            raise ArchiveError(
                f"archive has a file too many: expected leaves of nodes alone, got {left[0]}; save it anew"
            )


def read_version_1(manifest: Entry, leaves: Leaves) -> PointerDecisionList:
    """Read a list from a manifest of version 1."""
    schemas = _schemas_in(manifest)
    initial = leaves.model(manifest, "initial")
    nodes = tuple(_node_in(entry, schemas, leaves) for entry in manifest.each("nodes"))
    heads = tuple(entry.as_whole() for entry in manifest.each("heads"))
    leaves.verify_all_named()
    try:
        return PointerDecisionList(initial, nodes, heads, labels=_labels_in(manifest))
    except BiasBountyError as error:
        raise ArchiveError(f"manifest makes no list: {error}") from error


def _labels_in(manifest: Entry) -> LabelType | None:
    name = manifest.text_or_none("labels")
    if name is None or name == TEXT:
        return None if name is None else LabelType(np.dtype(str))
    if name not in LABELS:
        raise manifest.get("labels").wrong(f"one of {', '.join(LABELS)} or text")
    return LabelType(np.dtype(name))


def _node_in(entry: Entry, schemas: list[Schema], leaves: Leaves) -> Node:
    group = _group_in(entry.get("group"), schemas, leaves)
    hunter, note = entry.text_or_none("hunter"), entry.text("note")
    if entry.get("pointer").held is not None:
        return RepairNode(group, entry.whole("pointer"), hunter, note)
    return UpdateNode(group, leaves.model(entry, "model"), hunter, note)


def _group_in(entry: Entry, schemas: list[Schema], leaves: Leaves) -> RowFunction:
    if entry.get("predicate").held is None:
        return leaves.model(entry, "onnx")
    place = entry.whole("schema")
    if place >= len(schemas):
        raise entry.get("schema").wrong("the place of a schema")
    try:
        return parse(entry.text("predicate"), schemas[place])
    except BiasBountyError as error:
        raise ArchiveError(f"{entry.where} is no group: {error}") from error


def _schemas_in(manifest: Entry) -> list[Schema]:
    entries = manifest.each("schemas")
    if sum(entry.whole("width") for entry in entries) > MOST_COLUMNS:
        raise manifest.get("schemas").wrong(f"at most {MOST_COLUMNS} columns in all")
    return [_schema_in(entry) for entry in entries]


def _schema_in(entry: Entry) -> Schema:
    """Return a schema; columns that no predicate asks about have names that no predicate can have."""
    width, columns = entry.whole("width"), entry.each("columns")
    types = [ColumnType(f"\0{place}", "something else") for place in range(width)]
    for column in columns:
        if column.whole("place") >= width or column.text("kind") not in get_args(Kind):
            raise column.wrong("a column in its place, of a kind that there is")
        kind: Any = column.text("kind")
        types[column.whole("place")] = ColumnType(column.text("name"), kind)
    if len({each.name for each in types}) != width:
        raise entry.wrong("columns of different names")
    return Schema(tuple(types), entry.flag("named"))
