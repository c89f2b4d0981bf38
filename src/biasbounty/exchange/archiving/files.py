"""Files in an archive: a zip read with caps and without trust, and written so that the same files give the same bytes.

What a zip says of itself is looked at before anything is unpacked: how many files, which names, how large; then each
is unpacked up to the size it gave, and held against the hash that is its name.
"""

import io
import re
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import IO

from biasbounty.arrays import shown
from biasbounty.errors import ArchiveError

MANIFEST = "manifest.json"
MOST_FILES = 20_000
MOST_MANIFEST = 64 * 2**20
MOST_LEAF = 64 * 2**20
"""As much as the audit takes."""
MOST_BYTES = 2**31
"""Of all files together."""

_LEAF = re.compile(r"onnx/([0-9a-f]{64})\.onnx")
_LONGEST_ENTRY = 1024
"""How many bytes a zip may spend on saying what a file is; ours have under 150."""
_END = 22
_LOCATOR = 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)


def leaf_name(digest: str) -> str:
    """Return the name under which a leaf is kept."""
    return f"onnx/{digest}.onnx"


def written(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of these files: the manifest, then leaves by name; stored, since packers differ in their bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED, allowZip64=False) as archive:
        for name in sorted(files, key=lambda name: (name != MANIFEST, name)):
            entry = zipfile.ZipInfo(name, _FIRST_DAY)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            archive.writestr(entry, files[name])
    return buffer.getvalue()


def read_files(path: Path) -> dict[str, bytes]:
    """Return the files in a zip, by name; raise ArchiveError for whatever is wrong with them."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise ArchiveError(
            f"archive cannot be opened: expected a file, got {error.strerror}; look at the path"
        ) from error
    with file:
        try:
            return _read_all(file)
        except ArchiveError:
            raise
        except Exception as error:  # whatever a zip reader makes of strange bytes is no archive
            raise _no_archive(shown(error, str)) from error


def _read_all(file: IO[bytes]) -> dict[str, bytes]:
    _verify_end(file)
    with zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        _verify_entries(entries)
        return {entry.filename: _read(archive, entry) for entry in entries}


def _no_archive(got: str) -> ArchiveError:
    return ArchiveError(f"archive cannot be read: expected a file that bb.save wrote, got {got}; save the list anew")


def _verify_end(file: IO[bytes]) -> None:
    """Refuse, by the record at its end, a zip of too many files, before any of the others is read."""
    size = file.seek(0, io.SEEK_END)
    if size > MOST_BYTES:
        raise _too_large("archive", MOST_BYTES, size)
    file.seek(max(0, size - _END - _LOCATOR))
    tail = file.read()
    end, before = tail[-_END:], tail[:-_END]
    if len(end) < _END or end[:4] != b"PK\5\6" or end[-2:] != b"\0\0":
        raise _no_archive("one that does not end as it should")
    count, length = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    if before[:4] == b"PK\6\7" or count > MOST_FILES or length > count * _LONGEST_ENTRY:
        raise ArchiveError(f"archive has too many files: expected at most {MOST_FILES}, got {count}; save fewer nodes")
    file.seek(0)


def _too_large(what: str, most: int, got: int) -> ArchiveError:
    return ArchiveError(f"{what} is too large: expected at most {most} bytes, got {got}; use smaller models")


def _verify_entries(entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    if len(set(names)) != len(names) or MANIFEST not in names:
        raise _no_archive("one without a manifest, or with two files of one name")
    total = sum(entry.file_size for entry in entries)
    if total > MOST_BYTES:
        raise _too_large("archive, unpacked,", MOST_BYTES, total)
    for entry in entries:
        _verify_entry(entry)


def _verify_entry(entry: zipfile.ZipInfo) -> None:
    name = entry.orig_filename
    if name != entry.filename or not (name == MANIFEST or _LEAF.fullmatch(name)):
        raise _no_archive(f"a file named {shown(name)}")
    if entry.flag_bits & ~0x808 or entry.compress_type not in _METHODS:
        raise _no_archive(f"{name} encrypted or packed in another way")
    most = MOST_MANIFEST if name == MANIFEST else MOST_LEAF
    if entry.file_size > most:
        raise _too_large(name, most, entry.file_size)


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Unpack one file, up to the size it gave, and hold it against its hash."""
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise _no_archive(f"{entry.filename} of another size than it gave")
    leaf = _LEAF.fullmatch(entry.filename)
    if leaf is not None and sha256(data).hexdigest() != leaf[1]:
        raise ArchiveError(
            f"archive was changed: expected the bytes that {entry.filename} is named by, got others; save the list anew"
        )
    return data
