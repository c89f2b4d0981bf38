"""A decision list goes into one file and comes back the same; a file from a stranger is read without trust."""

import io
import json
import os
import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import biasbounty as bb
from biasbounty.core.answers import LabelType
from biasbounty.core.decision_list import PointerDecisionList, RepairNode, UpdateNode
from biasbounty.errors import ArchiveError
from biasbounty.exchange.archive import READERS, VERSION, load, save
from biasbounty.exchange.archiving import files as archive_files
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import parse
from tests.exchange import leaves
from tests.exchange.golden import HERE, answers_in_every_round, golden_list
from tests.exchange.lists import KINDS, Lists, array_rows, frame_rows

Manifest = dict[str, Any]


@settings(deadline=None, max_examples=40, derandomize=True)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), framed=st.booleans(), nodes=st.integers(0, 9))
def test_what_is_saved_comes_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, seed: int, kind: str, framed: bool, nodes: int
) -> None:
    rng = np.random.default_rng(seed)
    X = (frame_rows if framed else array_rows)(rng, 60)
    decision_list = Lists(rng, X, kind).draw(nodes)
    path = tmp_path_factory.mktemp("archive") / "list"
    save(decision_list, path)
    again = load(path)
    assert (again.initial, again.nodes, again.heads) == (
        decision_list.initial,
        decision_list.nodes,
        decision_list.heads,
    )
    assert again.labels == decision_list.labels
    for round in range(len(again.heads)):
        assert again.predict(X, round).tolist() == decision_list.predict(X, round).tolist()
    save(again, path.with_name("again"))
    assert path.with_name("again").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("dtype", [None, "int64", "uint8", "float32", "bool", "U3", "O"])
def test_the_label_type_comes_back(tmp_path: Path, dtype: str | None) -> None:
    labels = None if dtype is None else LabelType(np.dtype(dtype))
    save(PointerDecisionList(OnnxModel(leaves.word("job", "cook")), labels=labels), tmp_path / "list")
    back = load(tmp_path / "list").labels
    assert (str(back), back is None) == (str(labels), labels is None)


def test_predicates_of_several_schemas_come_back(tmp_path: Path) -> None:
    model = OnnxModel(leaves.word("job", "cook"))
    schemas = [bb.Schema.of(array_rows(np.random.default_rng(0), 9)), bb.Schema.of(np.zeros((2, 3)))]
    schemas += [bb.Schema.of(frame_rows(np.random.default_rng(0), 9))]
    words = ["x0 < 1", "x2 IS NULL", "x3 > 0 AND x1 = 2", "x0 = 7"]
    groups = [parse(one, schemas[0]) for one in words] + [parse("x2 > 1", schemas[1]), parse("real > 1", schemas[2])]
    decision_list = PointerDecisionList(model, tuple(UpdateNode(group, model) for group in groups), (0, len(groups)))
    save(decision_list, tmp_path / "list")
    assert load(tmp_path / "list").nodes == decision_list.nodes
    assert len(_manifest((tmp_path / "list").read_bytes())["schemas"]) == 3


def test_a_model_is_kept_once_however_many_nodes_have_it(tmp_path: Path) -> None:
    save(golden_list(), tmp_path / "list")
    with zipfile.ZipFile(tmp_path / "list") as archive:
        assert len(archive.namelist()) == 1 + 3
        assert archive.namelist()[0] == "manifest.json"


def test_leaves_run_where_one_says(tmp_path: Path) -> None:
    asked = []

    def run(data: bytes, X: Any) -> Any:
        asked.append(data)
        return np.zeros(len(X), np.int64)

    save(golden_list(), tmp_path / "list")
    answers_in_every_round(load(tmp_path / "list", run=run))
    assert asked


@pytest.mark.parametrize("version", sorted(READERS))
def test_an_archive_of_every_version_is_still_read(version: int, tmp_path: Path) -> None:
    path = HERE / f"list-v{version}.zip"
    read = load(path)
    assert answers_in_every_round(read) == json.loads(path.with_suffix(".json").read_text())
    assert (read.nodes, read.heads, read.labels) == (golden_list().nodes, golden_list().heads, golden_list().labels)
    save(golden_list(), tmp_path / "list")
    assert version < VERSION or (tmp_path / "list").read_bytes() == path.read_bytes()


def test_code_is_not_saved_and_the_node_is_named(tmp_path: Path) -> None:
    model, group = OnnxModel(leaves.word("job", "cook")), parse("x0 > 1", bb.Schema.of(np.zeros((1, 1))))
    for decision_list, who in (
        (PointerDecisionList(lambda X: X), "initial model"),
        (PointerDecisionList(model, (UpdateNode(lambda X: X, model),), (0, 1)), "group of node 1"),
        (PointerDecisionList(model, (UpdateNode(group, lambda X: X),), (0, 1)), "model of node 1"),
        (PointerDecisionList(model, (RepairNode(lambda X: X, 0),), (0, 1)), "group of node 1"),
    ):
        with pytest.raises(ArchiveError, match=f"{who} cannot be saved: .* got function, which is code; submit"):
            save(decision_list, tmp_path / "list")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_at_once_or_not_at_all(tmp_path: Path) -> None:
    save(PointerDecisionList(OnnxModel(leaves.word("job", "cook"))), tmp_path / "list")
    save(golden_list(), tmp_path / "list")
    assert [path.name for path in tmp_path.iterdir()] == ["list"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(ArchiveError, match="cannot be written: expected the path of a file, .* name a file"):
        save(golden_list(), tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "list"]
    assert load(tmp_path / "list").nodes == golden_list().nodes


def test_what_is_no_file_is_never_replaced_by_one(tmp_path: Path) -> None:
    """A device or a pipe that stands at the path stays there, whatever the rights of whoever saves."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArchiveError, match="cannot be written: expected the path of a file, .*pipe; name a file"):
        save(golden_list(), tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(ArchiveError, match="cannot be written: .* got No such file or directory; look at the path"):
        save(golden_list(), tmp_path / "no folder" / "list")
    save(golden_list(), tmp_path / ("x" * 250))
    assert sorted(len(path.name) for path in tmp_path.iterdir()) == [4, 250]


def _files() -> dict[str, bytes]:
    with zipfile.ZipFile(HERE / "list-v1.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _manifest(data: bytes) -> Manifest:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest: Manifest = json.loads(archive.read("manifest.json"))
        return manifest


def _zip(files: dict[str, bytes], **settings: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **settings) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _changed(change: Callable[[Manifest], object]) -> bytes:
    files = _files()
    manifest = json.loads(files["manifest.json"])
    change(manifest)
    return _zip(files | {"manifest.json": json.dumps(manifest).encode()})


def _twice() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("manifest.json", b"{}")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("manifest.json", b"{}")
    return buffer.getvalue()


def _with_leaf(data: bytes) -> bytes:
    return _zip(_files() | {f"onnx/{sha256(data).hexdigest()}.onnx": data})


def _claiming(size: int) -> bytes:
    """Let the manifest claim another size than it has, in both places."""
    data = bytearray(_zip(_files()))
    held = struct.pack("<I", len(_files()["manifest.json"]))
    for at in (22, data.index(b"PK\1\2") + 24):
        assert data[at : at + 4] == held
        data[at : at + 4] = struct.pack("<I", size)
    return bytes(data)


def _claiming_all(size: int) -> bytes:
    """Let each of forty leaves claim to be large once it is unpacked."""
    data = bytearray(_zip(_files() | {f"onnx/{number:064x}.onnx": b"" for number in range(40)}))
    at = data.find(b"PK\1\2")
    while at >= 0:
        data[at + 24 : at + 28] = struct.pack("<I", size)
        at = data.find(b"PK\1\2", at + 1)
    return bytes(data)


def _counting(count: int) -> bytes:
    data = bytearray(_zip(_files()))
    data[-14:-10] = struct.pack("<HH", count, count)
    return bytes(data)


GOLDEN = (HERE / "list-v1.zip").read_bytes()
LEAF = next(name for name in _files() if name != "manifest.json")
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "one that does not end as it should"),
    "no zip": (lambda: b"\x80\x04\x95" * 100, "one that does not end as it should"),
    "a pickle at the end of a zip": (lambda: GOLDEN + b"cos\nsystem\n", "one that does not end as it should"),
    "cut short": (lambda: GOLDEN[:-30], "one that does not end as it should"),
    "no beginning": (lambda: GOLDEN[200:], "archive cannot be read"),
    "another version": (lambda: _changed(lambda m: m.update(version=99)), "another version: expected one of 1, got 99"),
    "a version that is none": (lambda: _changed(lambda m: m.update(version="1")), "manifest.version is malformed"),
    "true as a version": (lambda: _changed(lambda m: m.update(version=True)), "manifest.version is malformed"),
    "no manifest": (lambda: _zip({LEAF: _files()[LEAF]}), "one without a manifest"),
    "two manifests": (_twice, "two files of one name"),
    "a path": (lambda: _zip(_files() | {"../../etc/passwd": b""}), "a file named '../../etc/passwd'"),
    "an absolute path": (lambda: _zip(_files() | {"/x.onnx": b""}), "a file named"),
    "a file too many": (lambda: _with_leaf(leaves.word("a", "b")), "archive has a file too many"),
    "a NUL in a name": (
        lambda: _zip(_files()).replace(b"manifest.json", b"manifest\0json"),
        "a file named|without a m",
    ),
    "another leaf under a hash": (
        lambda: _zip(_files() | {LEAF: b"else"}),
        "archive was changed: expected the bytes that",
    ),
    "a leaf that is no ONNX": (
        lambda: _changed_leaf(b"else"),
        "leaf [0-9a-f]{12} is refused",
    ),
    "a bomb": (lambda: _bomb(100 * 2**20), "manifest.json is too large: expected at most 67108864 bytes"),
    "a bomb that lies small": (lambda: _claiming(10), "archive cannot be read"),
    "a bomb that lies large": (lambda: _claiming(2**32 - 1), "is too large"),
    "many bombs": (lambda: _claiming_all(64 * 2**20), "archive, unpacked, is too large"),
    "too many files": (lambda: _counting(60_000), "archive has too many files: expected at most 20000, got 60000"),
    "another way to pack": (lambda: _zip(_files(), compression=zipfile.ZIP_LZMA), "packed in another way"),
    "JSON that is none": (lambda: _zip(_files() | {"manifest.json": b"{"}), "manifest cannot be read: expected JSON"),
    "JSON that is deep": (lambda: _zip(_files() | {"manifest.json": b"[" * 10**6}), "manifest cannot be read"),
    "JSON of another kind": (
        lambda: _zip(_files() | {"manifest.json": b"[]"}),
        "manifest is malformed: expected an object",
    ),
    "no nodes": (lambda: _changed(lambda m: m.pop("nodes")), "manifest.nodes is malformed: expected a list, got None"),
    "a node that is none": (lambda: _changed(lambda m: m["nodes"].append(7)), r"manifest.nodes\[4\] is malformed"),
    "a pointer that leads up": (
        lambda: _changed(lambda m: m["nodes"][2].update(pointer=3)),
        "manifest makes no list: pointer of node 3 does not lead down",
    ),
    "heads that do not fit": (lambda: _changed(lambda m: m["heads"].append(2)), "makes no list: heads do not fit"),
    "labels of objects": (lambda: _changed(lambda m: m.update(labels="object")), "manifest.labels is malformed"),
    "a hunter that is none": (lambda: _changed(lambda m: m["nodes"][0].update(hunter=[1])), "hunter is malformed"),
    "a note that is none": (lambda: _changed(lambda m: m["nodes"][0].pop("note")), "note is malformed: expected text"),
    "a predicate that is none": (
        lambda: _changed(lambda m: m["nodes"][0]["group"].update(predicate="DROP TABLE x")),
        r"manifest.nodes\[0\].group is no group: predicate",
    ),
    "a schema that is not there": (
        lambda: _changed(lambda m: m["nodes"][0]["group"].update(schema=9)),
        "expected the place of a schema, got 9",
    ),
    "a column out of its place": (
        lambda: _changed(lambda m: m["schemas"][0]["columns"][0].update(place=9)),
        "expected a column in its place",
    ),
    "columns of one name": (
        lambda: _changed(lambda m: m["schemas"][0]["columns"][0].update(name="job")),
        "expected columns of different names",
    ),
    "a schema without end": (
        lambda: _changed(lambda m: m["schemas"][0].update(width=2**30)),
        "expected at most 100000 columns in all",
    ),
    "a leaf that is not there": (
        lambda: _changed(lambda m: m.update(initial="0" * 64)),
        "manifest.initial is malformed: expected the hash of a leaf that is there",
    ),
}


def _changed_leaf(data: bytes) -> bytes:
    files, digest = _files(), sha256(data).hexdigest()
    old = json.loads(files["manifest.json"])["initial"]
    manifest = files.pop("manifest.json").replace(old.encode(), digest.encode())
    files.pop(f"onnx/{old}.onnx")
    return _zip({"manifest.json": manifest, **files, f"onnx/{digest}.onnx": data})


def _bomb(size: int) -> bytes:
    return _zip(_files() | {"manifest.json": bytes(size)}, compression=zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_strange_file_is_refused_in_words(name: str, tmp_path: Path) -> None:
    make, words = HOSTILE[name]
    (tmp_path / "list").write_bytes(make())
    with pytest.raises(ArchiveError, match=words):
        load(tmp_path / "list")


def test_a_file_that_is_not_there_or_too_large_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="archive cannot be opened: expected a file, got No such file"):
        load(tmp_path / "list")
    with (tmp_path / "list").open("wb") as file:
        file.truncate(archive_files.MOST_BYTES + 1)
    with pytest.raises(ArchiveError, match="archive is too large: expected at most 2147483648 bytes, got 2147483649"):
        load(tmp_path / "list")


def test_a_packed_archive_is_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(_zip(_files(), compression=zipfile.ZIP_DEFLATED))
    assert load(tmp_path / "list").nodes == golden_list().nodes


def test_mutated_archives_are_refused_or_read_and_nothing_else(tmp_path: Path) -> None:
    """Bytes changed anywhere: an ArchiveError, or a list; whatever comes of it, no other exception."""
    rng, path, refused = np.random.default_rng(0), tmp_path / "list", 0
    for _ in range(600):
        data = bytearray(GOLDEN)
        for at in rng.integers(0, len(data), int(rng.integers(1, 4))):
            data[at] = rng.integers(0, 256)
        path.write_bytes(bytes(data))
        try:
            load(path)
        except ArchiveError:
            refused += 1
    assert refused > 500
