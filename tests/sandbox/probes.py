"""Probes: what a stranger would try who runs code of their own inside a job. Each says what came of it.

A worker is started with `probe` as what its children do, and everything else as it is.
"""

import ctypes
import encodings.idna  # noqa: F401 - what a job imports must be there before
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from biasbounty.sandbox import Sandbox

START = """
sys.path.insert(0, {root!r})
from tests.sandbox import probes
from biasbounty.sandbox import filters, layers, privileges, worker
{before}
worker.main(probes.probe, frozenset({without!r}))
"""
ROOT = str(Path(__file__).parents[2])
DONE = "done"
MOST_DESCRIPTORS = 64


def probed(before: str = "", without: tuple[str, ...] = ()) -> type[Sandbox]:
    """Return a sandbox whose jobs are probes, and whose worker does something first, or lacks layers."""
    start = f"import sys; {START.format(root=ROOT, before=before, without=without)}"
    return type("Probed", (Sandbox,), {"_start": start})


def asked(sandbox: Sandbox, name: str, *arguments: Any) -> str:
    """Have a probe done; return what it says."""
    said = sandbox.execute(json.dumps([name, *arguments]).encode(), {}, ["said"])["said"]
    return str(said)


def probe(resident: object, message: Any) -> list[npt.NDArray[Any]]:
    """Do the probe that a message names."""
    name, *arguments = json.loads(message.arrays[0].tobytes())
    try:
        said = PROBES[name](*arguments)
    except (OSError, RuntimeError) as error:
        said = f"{type(error).__name__}: {error}"
    return [np.array(said if isinstance(said, str) else DONE)]


def _read_file(path: str) -> str:
    with open(path) as file:  # noqa: PTH123
        return file.read()


def _list_folder(path: str) -> str:
    return " ".join(os.listdir(path))  # noqa: PTH208


def _write_file(path: str) -> None:
    with open(path, "w") as file:  # noqa: PTH123
        file.write("written")


def _connect(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"reached")


def _connect_to_file(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path.replace("@", "\0"))
        connection.sendall(b"reached")


def _send_datagram(port: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as connection:
        connection.sendto(b"reached", ("127.0.0.1", port))


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def _fork_often(times: int) -> str:
    started = 0
    for _ in range(times):
        try:
            child = os.fork()
        except OSError as error:
            return f"{started} started, then {type(error).__name__}"
        if child == 0:
            signal.pause()
        started += 1
    return f"{started} started"


def _start_thread() -> None:
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()


def _call(number: int, *arguments: int) -> None:
    """Call the kernel by number."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, *(ctypes.c_long(argument) for argument in arguments)) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _hoard(times: int) -> str:
    """Copy a file descriptor as often as that works."""
    copies = 0
    for _ in range(times):
        try:
            os.dup(1)
        except OSError as error:
            return f"{copies} copies, then {error.strerror}"
        copies += 1
    return f"{copies} copies"


def _take_memory(megabytes: int) -> str:
    return f"{len(bytearray(megabytes << 20))} bytes"


def _take_memory_by_pages(megabytes: int) -> str:
    held = [bytearray(1 << 20) for _ in range(megabytes)]
    return f"{len(held)} MB"


def _crash() -> None:
    ctypes.string_at(0)


def _exit(code: int) -> None:
    os._exit(code)


def _loop() -> None:
    while True:
        pass


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


def _flood_outputs(megabytes: int) -> None:
    """Write to both output pipes."""
    for _ in range(megabytes):
        sys.stdout.write("x" * (1 << 20))
        os.write(1, b"x" * (1 << 20))
        os.write(2, b"x" * (1 << 20))


def _answer_with(text: str) -> None:
    """Write bytes of one's own as the answer, then end."""
    _write_everywhere(text.encode("latin1"))
    os._exit(0)


def _answer_without_end() -> None:
    while True:
        _write_everywhere(bytes(1 << 20))


def _write_everywhere(data: bytes) -> None:
    for descriptor in range(3, MOST_DESCRIPTORS):
        with suppress(OSError):
            os.write(descriptor, data)


def _answer_and_stay(text: str) -> None:
    _write_everywhere(text.encode("latin1"))
    _loop()


def _find_writable_memory() -> str:
    """Say which open descriptors can be written to at their beginning: files or memory, not pipes."""
    found = []
    for descriptor in range(3, MOST_DESCRIPTORS):
        try:
            os.pwrite(descriptor, b"x", 0)
        except OSError:
            continue
        found.append(str(descriptor))
    return f"found {' '.join(found)}"


def _environment() -> str:
    return f"environment: {dict(os.environ)}"


def _who() -> str:
    return json.dumps({"uid": os.getresuid(), "gid": os.getresgid(), "pid": os.getpid(), "cwd": str(Path.cwd())})


PROBES: dict[str, Callable[..., Any]] = {
    "read": _read_file,
    "list": _list_folder,
    "write": _write_file,
    "connect": _connect,
    "connect to file": _connect_to_file,
    "send datagram": _send_datagram,
    "fork": _fork,
    "fork often": _fork_often,
    "thread": _start_thread,
    "execute": lambda path: os.execv(path, [path]),  # noqa: S606
    "kill": os.kill,
    "become root": lambda: os.setresuid(0, 0, 0),
    "change root": os.chroot,
    "call": _call,
    "hoard": _hoard,
    "take memory": _take_memory,
    "take memory by pages": _take_memory_by_pages,
    "crash": _crash,
    "exit": _exit,
    "loop": _loop,
    "sleep": _sleep,
    "flood outputs": _flood_outputs,
    "answer with": _answer_with,
    "answer without end": _answer_without_end,
    "answer and stay": _answer_and_stay,
    "find writable memory": _find_writable_memory,
    "environment": _environment,
    "who": _who,
    "say": lambda words: words,
}
