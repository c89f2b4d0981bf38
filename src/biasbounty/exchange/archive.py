"""Archive: a decision list as one file, and back. Reading one executes nothing and trusts nothing in it.

It is a zip: `manifest.json` has the nodes, predicates as text, and the schemas that these are bound to; each ONNX leaf
is there once, named by the SHA-256 of its bytes. The same list gives the same bytes. What is read is first held
against caps, then against its hashes, and each leaf is audited; an ArchiveError says what is wrong.
"""

import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from biasbounty.arrays import Array
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.errors import ArchiveError
from biasbounty.exchange.archiving.files import MANIFEST, read_files, written
from biasbounty.exchange.archiving.lists import Leaves, manifest_of, read_version_1
from biasbounty.exchange.archiving.manifest import Entry, json_of, manifest_in

VERSION = 1
"""The version that `save` writes. To raise it:

1. Let `archiving.lists` write the new manifest, and read it in a new `read_version_N`; leave the old readers alone.
2. Add the reader to `READERS`, and raise this number.
3. Add a golden file: `python -m tests.exchange.golden` writes tests/exchange/golden/list-vN.zip and never changes one
   that is there. Old ones stay: a test reads them all.
4. Say in the changelog which release reads what.
"""

READERS: Mapping[int, Callable[[Entry, Leaves], PointerDecisionList]] = {1: read_version_1}


def save(decision_list: PointerDecisionList, path: str | os.PathLike[str]) -> None:
    """Write a decision list to a file, whole or not at all; groups must be predicates or ONNX, models ONNX."""
    manifest, leaves = manifest_of(decision_list)
    data = written({MANIFEST: json_of({"version": VERSION, **manifest}), **leaves})
    _replace(Path(path), data)


def load(path: str | os.PathLike[str], *, run: Callable[[bytes, Any], Array] | None = None) -> PointerDecisionList:
    """Read a decision list that `save` wrote.

    Args:
        path: The file.
        run: Called with a leaf's bytes and rows, in place of running it in process: a Sandbox's `run`.
    """
    files = read_files(Path(path))
    manifest = manifest_in(files.pop(MANIFEST))
    version = manifest.whole("version")
    if version not in READERS:
        raise ArchiveError(
            f"archive is of another version: expected one of {', '.join(map(str, READERS))}, got {version}; read it "
            "with the release that wrote it, or a newer one"
        )
    return READERS[version](manifest, Leaves(files, run))


def _replace(path: Path, data: bytes) -> None:
    """Put bytes in a file's place at once, so that no reader meets half of them; nothing but a file is replaced."""
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise ArchiveError(f"archive cannot be written: expected the path of a file, got {path}; name a file")
    beside = path.with_name(f".{secrets.token_hex(8)}")
    try:
        try:
            with beside.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise ArchiveError(
            f"archive cannot be written: expected a folder that takes it, got {error.strerror}; look at the path"
        ) from error
