"""An exported list answers in onnxruntime for Node as it does here, row by row.

npm installs what package-lock.json pins, without running any script of a package, in a copy of this folder.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasbounty as bb
from biasbounty.exchange.export import export
from biasbounty.exchange.parity import parity_rows, verify_parity
from tests.exchange.lists import KINDS, Lists, array_rows, frame_rows

HERE = Path(__file__).parent
FILES = ("package.json", "package-lock.json", ".npmrc", "parity.js")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install onnxruntime for Node in a folder of its own."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.fail("npm is missing: install nodejs and npm")
    folder = tmp_path_factory.mktemp("node")
    for name in FILES:
        shutil.copy(HERE / name, folder)
    done = subprocess.run(["npm", "ci", "--ignore-scripts"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def _said(folder: Path, data: bytes, parity: bytes) -> tuple[int, dict[str, Any]]:
    """Run the script on a file and its parity rows; return its exit code and what it says."""
    (folder / "list.onnx").write_bytes(data)
    (folder / "parity.json").write_bytes(parity)
    environment = os.environ | {"ORT_DISABLE_TELEMETRY": "1"}
    command = ["node", "parity.js", "list.onnx", "parity.json"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stdout, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, said


@pytest.mark.parametrize("make", [array_rows, frame_rows])
@pytest.mark.parametrize("kind", KINDS)
def test_node_answers_every_row_as_predict_does(folder: Path, kind: str, make: Any) -> None:
    rng = np.random.default_rng(len(kind))
    X = make(rng, 400)
    schema = bb.Schema.of(X, categories=False)
    decision_list = Lists(rng, X, kind).draw(15)
    data, parity = export(decision_list, schema=schema), parity_rows(decision_list, X, schema=schema)
    verify_parity(data, parity)
    code, said = _said(folder, data, parity)
    assert (code, said["rows"], said["different"]) == (0, 400, 0)
    pinned = json.loads((HERE / "package.json").read_text())["dependencies"]["onnxruntime-node"]
    assert said["onnxruntime"] == pinned


def test_node_tells_a_row_that_differs(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = array_rows(rng, 50)
    schema = bb.Schema.of(X)
    decision_list = Lists(rng, X, "classes").draw(4)
    parity = json.loads(parity_rows(decision_list, X, schema=schema))
    parity["expected"][7] = str(int(parity["expected"][7]) + 1)
    code, said = _said(folder, export(decision_list, schema=schema), json.dumps(parity).encode())
    assert (code, said["rows"], said["different"]) == (1, 50, 1)


def test_what_npm_installs_is_pinned_and_names_no_registry() -> None:
    lock = json.loads((HERE / "package-lock.json").read_text())
    packages = [held for name, held in lock["packages"].items() if name]
    assert packages
    assert all(held["integrity"].startswith("sha512-") for held in packages)
    assert not any("resolved" in held for held in packages)
    assert "omit-lockfile-registry-resolved=true" in (HERE / ".npmrc").read_text().splitlines()
