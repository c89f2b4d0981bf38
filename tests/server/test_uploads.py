"""What strangers send: too much, too slowly, packed, under strange names, in another form than asked for."""

import io
import json
import socket
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.exchange.onnx_models import always
from tests.server.worlds import (
    World,
    a_world,
    as_parquet,
    listening,
    opening_form,
    rows,
    settings_with,
    submission_form,
)

SMALL = settings_with(
    most_model_bytes=20_000,
    most_data_bytes=400_000,
    most_json_bytes=5000,
    pause_seconds=0.5,
    grace_seconds=1.0,
    head_seconds=0.5,
    most_uploads_each=2,
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with a_world(tmp_path_factory.mktemp("small"), SMALL, form=opening_form(100)) as made:
        yield made


def _path(world: World) -> str:
    return f"/api/v1/bounties/{world.bounty}/submissions"


@pytest.mark.parametrize("size", [20_001, 30_000, 200_000, 5_000_000])
def test_a_model_over_the_cap_is_refused(small: World, size: int) -> None:
    with small.client("hunter") as hunter:
        answer = hunter.post(_path(small), **submission_form(model=b"\0" * size))
    assert answer.status_code == 413
    assert "too large: expected at most" in answer.json()["detail"]


def test_a_body_without_a_length_is_counted_as_it_comes(small: World) -> None:
    def endless() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="model"; filename="m"\r\n\r\n'
        for _ in range(500):
            yield b"\0" * 10_000

    with small.client("hunter") as hunter:
        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = hunter.post(_path(small), content=endless(), headers=kind)
    assert answer.status_code == 413


def test_data_over_the_cap_is_refused(small: World) -> None:
    form = opening_form(100)
    form["files"]["holdout"] = ("h", b"x,y\n" + b"1,0\n" * 200_000)
    with small.client("organizer") as organizer:
        assert organizer.post("/api/v1/bounties", **form).status_code == 413


def test_json_over_the_cap_is_refused(small: World) -> None:
    with small.client("organizer") as organizer:
        answer = organizer.post("/api/v1/tokens", json={"scope": "observer", "label": "x" * 10_000})
    assert answer.status_code == 413


def test_text_over_the_cap_is_refused(small: World) -> None:
    with small.client("hunter") as hunter:
        answer = hunter.post(_path(small), **submission_form("x < 1 OR " * 1000 + "x < 1"))
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


def _raw(world: World, head: str, *parts: bytes, pause: float = 0.0) -> tuple[bytes, int]:
    """Send bytes as they are until something comes back; return that, up to the close, and how many parts were sent."""
    host, port = world.address.removeprefix("http://").split(":")
    said, sent = b"", 0
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(head.encode())
        for part in parts:
            if select([line], [], [], pause)[0]:
                break
            line.sendall(part)
            sent += 1
        with suppress(ConnectionError):
            while chunk := line.recv(65536):
                said += chunk
    return said, sent


def _head(world: World, length: int) -> str:
    return (
        f"POST {_path(world)} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer {world.secrets['hunter']}\r\n"
        f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    )


def test_a_body_that_stops_coming_is_given_up(small: World) -> None:
    said, _ = _raw(small, _head(small, 1000), b"--b\r\n")
    assert said.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in said


def test_a_body_that_trickles_is_given_up(small: World) -> None:
    said, sent = _raw(small, _head(small, 1000), b"--b\r\n", *[b"X"] * 60, pause=0.1)
    assert said.startswith(b"HTTP/1.1 408 ")
    assert sent < 60


def test_headers_that_never_end_are_given_up(small: World) -> None:
    assert _raw(small, "GET /healthz HTTP/1.1\r\nHost: test\r\n") == (b"", 0)
    said, sent = _raw(small, "GET /healthz HTTP/1.1\r\n", *[b"X-A: b\r\n"] * 60, pause=0.1)
    assert said == b""
    assert sent < 60


def test_a_connection_that_says_nothing_is_given_up(small: World) -> None:
    assert _raw(small, "") == (b"", 0)


def test_a_slow_sender_keeps_nobody_waiting(small: World) -> None:
    host, port = small.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(_head(small, 1000).encode())
        with small.client("other") as other:
            assert other.post(_path(small), **submission_form()).status_code == 201


def test_few_bodies_of_one_token_come_at_once(small: World) -> None:
    host, port = small.address.removeprefix("http://").split(":")
    lines = [socket.create_connection((host, int(port)), timeout=20) for _ in range(2)]
    try:
        for line in lines:
            line.sendall(_head(small, 1000).encode())
        time.sleep(0.2)
        with small.client("hunter") as hunter, small.client("other") as other:
            answer = hunter.post(_path(small), **submission_form())
            assert answer.status_code == 429
            assert int(answer.headers["retry-after"]) >= 1
            assert other.post(_path(small), **submission_form()).status_code == 201
    finally:
        for line in lines:
            line.close()


def test_packed_bodies_are_refused_unopened(small: World) -> None:
    with small.client("hunter") as hunter:
        for packing in ("gzip", "deflate", "br", "gzip, identity"):
            answer = hunter.post(_path(small), **submission_form(), headers={"Content-Encoding": packing})
            assert answer.status_code == 415


def test_a_zip_bomb_is_no_model_and_no_data(small: World) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("m", b"\0" * 10_000_000)
    with small.client("hunter") as hunter, small.client("organizer") as organizer:
        assert hunter.post(_path(small), **submission_form(model=packed.getvalue())).status_code == 422
        form = opening_form(100)
        form["files"]["holdout"] = ("h", packed.getvalue())
        assert organizer.post("/api/v1/bounties", **form).status_code == 422


def test_a_parquet_file_that_grows_is_refused_unopened(small: World) -> None:
    one, packed = pa.table({"x": np.zeros(10**7), "y": np.zeros(10**7, np.int8)}), io.BytesIO()
    with parquet.ParquetWriter(packed, one.schema, compression="zstd") as writer:
        for _ in range(3):
            writer.write_table(one, row_group_size=10**7)
    assert len(packed.getvalue()) < 300_000
    form = opening_form(100)
    form["files"]["holdout"] = ("h", packed.getvalue())
    with small.client("organizer") as organizer:
        answer = organizer.post("/api/v1/bounties", **form)
    assert answer.status_code == 422
    assert "too large" in answer.json()["detail"]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a\\b", "..", "\u202emodel", "x" * 2000, "con.onnx"]
)
def test_names_of_files_are_nothing(small: World, name: str, tmp_path: Path) -> None:
    form = submission_form()
    form["files"] = {"model": (name, always(1, "x"))}
    with small.client("hunter") as hunter:
        answer = hunter.post(_path(small), **form)
    assert answer.status_code == 201
    assert name.encode() not in answer.content


@pytest.mark.parametrize(
    ("data", "files"),
    [
        ({}, {}),
        ({"group": "x < 1"}, {}),
        ({"group": "x < 1", "model": "text"}, {}),
        ({}, {"model": b"m"}),
        ({"group": "x < 1", "other": "1"}, {"model": b"m"}),
        ({"group": ["x < 1", "x < 2"]}, {"model": b"m"}),
        ({"group": "x < 1"}, {"model": b"m", "note": b"a file"}),
        ({"group": ""}, {"model": b"m"}),
        ({"group": "x < 1"}, {"model": b""}),
    ],
)
def test_a_form_of_another_kind_is_refused_in_words(
    small: World, data: dict[str, Any], files: dict[str, bytes]
) -> None:
    with small.client("hunter") as hunter:
        given: Any = {name: ("f", content) for name, content in files.items()} or {"none": ("", b"")}
        answer = hunter.post(_path(small), data=data, files=given)
    assert answer.status_code == 422
    assert ": expected " in answer.json()["detail"]


@pytest.mark.parametrize("kind", ["", "text/plain", "application/json", "application/x-www-form-urlencoded"])
def test_a_body_of_another_kind_is_refused(small: World, kind: str) -> None:
    with small.client("hunter") as hunter:
        assert hunter.post(_path(small), content=b"{}", headers={"Content-Type": kind}).status_code == 415


@pytest.mark.parametrize(
    "terms", ["", "[]", "null", "{", "1e999", "[" * 4000, '{"name": "a"}', '{"name": 1, "label": 2}']
)
def test_terms_that_are_none_are_refused_in_words(small: World, terms: str) -> None:
    form = opening_form(100)
    form["data"]["terms"] = terms
    with small.client("organizer") as organizer:
        answer = organizer.post("/api/v1/bounties", **form)
    assert answer.status_code == 422
    assert ": expected " in answer.json()["detail"]


def test_one_file_is_split_and_three_are_taken_as_they_are(small: World) -> None:
    one = opening_form(100)
    whole = io.BytesIO()
    from pyarrow import csv

    csv.write_csv(rows(400, 5), whole)
    one["files"] = {"model": one["files"]["model"], "data": ("d.csv", whole.getvalue())}
    one["data"] |= {"seed": "3", "share_public": "0.25", "share_holdout": "0.5"}
    with small.client("organizer") as organizer:
        split = organizer.post("/api/v1/bounties", **one)
        assert split.status_code == 201, split.text
        bounty = f"/api/v1/bounties/{split.json()['bounty']['id']}"
        sizes = [
            parquet.read_table(io.BytesIO(organizer.get(f"{bounty}/files/{part}").content)).num_rows
            for part in ("train", "public")
        ]
        assert sizes == [100, 100]
        one["files"]["train"] = ("t", as_parquet(rows(10, 1)))
        assert organizer.post("/api/v1/bounties", **one).status_code == 422
        assert organizer.get(f"{bounty}/files/model").content == always(0, "x")


def test_the_same_key_twice_is_one_submission(small: World) -> None:
    with small.client("hunter") as hunter:
        key = {"Idempotency-Key": "once"}
        first = hunter.post(_path(small), **submission_form(), headers=key)
        assert hunter.post(_path(small), **submission_form(), headers=key).json() == first.json()
        other = hunter.post(_path(small), **submission_form("x < 41"), headers=key)
        assert other.status_code == 409
        assert other.json()["error"] == "ConflictError"


def test_a_refusal_says_all_its_reasons(small: World) -> None:
    with small.client("hunter") as hunter:
        answer = hunter.post(_path(small), **submission_form(model=always(1, "no such column")))
    assert answer.status_code == 422
    assert answer.json()["error"] == "RefusedError"
    assert answer.json()["reasons"]
    assert json.loads(answer.text)["status"] == 422


def test_an_upload_is_refused_before_it_is_read(small: World) -> None:
    """Whoever may not hand in anything is told so by the headers alone."""
    head = _head(small, 10_000_000).replace(str(small.secrets["hunter"]), "bb_nobody")
    assert _raw(small, head)[0].startswith(b"HTTP/1.1 401 ")
    head = _head(small, 10_000_000).replace(str(small.secrets["hunter"]), str(small.secrets["observer"]))
    assert _raw(small, head)[0].startswith(b"HTTP/1.1 403 ")


def test_two_servers_serve_one_service(small: World) -> None:
    with listening(small.app) as address:
        assert address != small.address
