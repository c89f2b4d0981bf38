"""From inside a job nothing is read, reached, started or harmed: with all layers, and with some of them alone."""

import json
import os
import platform
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from biasbounty.sandbox import Sandbox, layers
from tests.sandbox.probes import DONE, asked, probed

ROWS = np.zeros((3, 2))
CANARY_WORDS = "a secret that nobody inside may read"

ALL = (
    *layers.NAMESPACES,
    layers.EMPTY_ROOT,
    layers.OWN_USER,
    layers.NO_CAPABILITIES,
    layers.NO_NEW_PRIVILEGES,
    layers.LIMITS,
    layers.LANDLOCK,
    layers.FILTER,
)
APART = (*layers.NAMESPACES, layers.EMPTY_ROOT)
AS_NOBODY = (layers.OWN_USER, layers.NO_CAPABILITIES, layers.LIMITS)

CALLS = {
    "x86_64": {"ptrace": 101, "process_vm_readv": 310, "mount": 165, "unshare": 272, "clone3": 435, "bpf": 321}
    | {"io_uring_setup": 425, "userfaultfd": 323, "perf_event_open": 298, "keyctl": 250, "memfd_create": 319}
    | {"prctl": 157, "seccomp": 317, "setrlimit": 160, "open_by_handle_at": 304, "init_module": 175, "reboot": 169}
    | {"pidfd_getfd": 438, "inotify_init1": 294, "shmget": 29, "mq_open": 240, "setns": 308, "socketpair": 53},
    "aarch64": {"ptrace": 117, "process_vm_readv": 270, "mount": 40, "unshare": 97, "clone3": 435, "bpf": 280}
    | {"io_uring_setup": 425, "userfaultfd": 282, "perf_event_open": 241, "keyctl": 219, "memfd_create": 279}
    | {"prctl": 167, "seccomp": 277, "setrlimit": 164, "open_by_handle_at": 265, "init_module": 105, "reboot": 142}
    | {"pidfd_getfd": 438, "inotify_init1": 26, "shmget": 194, "mq_open": 180, "setns": 268, "socketpair": 199},
}[platform.machine()]


FILES = {"file", "folder", "root", "passwords", "processes", "device", "writing", "writing here", "program"}
NETWORK = {"tcp", "udp", "socket file", "abstract socket"}


class Canary:
    """A file, sockets and a process that nobody inside may reach."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "canary.txt"
        self.file.write_text(CANARY_WORDS)
        self.file.chmod(0o644)
        for above in folder.resolve().parents:
            if above != Path("/") and above.stat().st_uid == os.geteuid() and above.name.startswith("pytest"):
                above.chmod(0o755)
        folder.chmod(0o755)
        self.path = str(folder / "canary.socket")
        self.sockets = {
            "tcp": _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "file": _bound(socket.AF_UNIX, socket.SOCK_STREAM, self.path),
            "abstract": _bound(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.path}"),
        }
        Path(self.path).chmod(0o777)

    def port(self, name: str) -> int:
        return int(self.sockets[name].getsockname()[1])

    def reached(self) -> list[str]:
        """Say which sockets something has come to."""
        return [name for name, each in self.sockets.items() if _has_come(each)]

    def close(self) -> None:
        for each in self.sockets.values():
            each.close()


def _bound(family: int, kind: int, address: Any) -> socket.socket:
    made = socket.socket(family, kind)
    made.bind(address)
    if kind == socket.SOCK_STREAM:
        made.listen()
    made.setblocking(False)
    return made


def _has_come(held: socket.socket) -> bool:
    try:
        if held.type == socket.SOCK_DGRAM:
            return bool(held.recv(64))
        held.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.fixture
def canary(tmp_path: Path) -> Iterator[Canary]:
    made = Canary(tmp_path)
    yield made
    made.close()


def _attempts(canary: Canary) -> dict[str, tuple[Any, ...]]:
    """Return what would reach beyond the worker, by name."""
    return {
        "file": ("read", str(canary.file)),
        "folder": ("list", str(canary.file.parent)),
        "root": ("list", "/"),
        "passwords": ("read", "/etc/passwd"),
        "processes": ("read", "/proc/self/environ"),
        "device": ("read", "/dev/zero"),
        "writing": ("write", str(canary.file.parent / "written")),
        "writing here": ("write", "written"),
        "tcp": ("connect", canary.port("tcp")),
        "udp": ("send datagram", canary.port("udp")),
        "socket file": ("connect to file", canary.path),
        "abstract socket": ("connect to file", f"@{canary.path}"),
        "signal": ("kill", os.getpid(), 0),
        "signal to all": ("kill", -1, 0),
        "fork": ("fork",),
        "thread": ("thread",),
        "program": ("execute", "/bin/sh"),
        "root user": ("become root",),
        "new root": ("change root", "/"),
    }


def _refused(sandbox: Sandbox, canary: Canary, names: set[str]) -> set[str]:
    """Return which of the attempts were refused."""
    attempts = _attempts(canary)
    said = {name: asked(sandbox, *attempts[name]) for name in sorted(names)}
    refused = {name for name, words in said.items() if "Error: " in words}
    assert all(CANARY_WORDS not in said[name] for name in refused)
    return refused


def test_with_all_layers_every_attempt_is_refused(canary: Canary) -> None:
    names = set(_attempts(canary))
    with probed()(ROWS) as sandbox:
        assert _refused(sandbox, canary, names) == names
        assert asked(sandbox, "say", "still here") == "still here"
    assert canary.reached() == []
    assert not (canary.file.parent / "written").exists()


def test_without_any_layer_the_same_attempts_succeed(canary: Canary) -> None:
    names = {"file", "folder", "root", "passwords", "writing", "fork", "thread", "signal", *NETWORK}
    with probed(without=ALL)(ROWS, allow_weak=True) as sandbox:
        said = asked(sandbox, "read", str(canary.file))
        assert _refused(sandbox, canary, names) == set()
    assert said == CANARY_WORDS
    assert set(canary.reached()) == {"tcp", "udp", "file", "abstract"}


ALONE = {
    "Landlock": ((layers.LANDLOCK,), FILES | {"tcp", "abstract socket", "signal"}),
    "namespaces": (APART, (FILES - {"root"}) | NETWORK | {"signal"}),
    "filter": ((layers.FILTER,), set()),
    "own user and limits": (AS_NOBODY, {"root user", "new root", "signal", "fork", "thread"}),
    "all but the filter": (
        tuple(set(ALL) - {layers.FILTER}),
        FILES | NETWORK | {"signal", "fork", "thread", "root user"},
    ),
    "all but namespaces": (tuple(set(ALL) - set(APART)), set()),
    "all but Landlock": (tuple(set(ALL) - {layers.LANDLOCK}), set()),
}


@pytest.mark.parametrize("name", ALONE)
def test_a_layer_alone_refuses_what_is_its_to_refuse(canary: Canary, name: str) -> None:
    present, refused = ALONE[name]
    refused = refused or set(_attempts(canary))
    with probed(without=tuple(set(ALL) - set(present)))(ROWS, allow_weak=True) as sandbox:
        assert set(present) <= set(sandbox.layers.active)
        assert _refused(sandbox, canary, refused) == refused
    assert not set(canary.reached()) - ({"file", "udp"} if name == "Landlock" else set())


@pytest.mark.parametrize("name", CALLS)
def test_the_filter_alone_refuses_the_call(name: str) -> None:
    with probed(without=tuple(set(ALL) - {layers.FILTER}))(ROWS, allow_weak=True) as sandbox:
        assert "PermissionError" in asked(sandbox, "call", CALLS[name], 0, 0, 0, 0, 0)


def test_memory_may_not_hold_programs() -> None:
    with probed()(ROWS) as sandbox:
        number = {"x86_64": 9, "aarch64": 222}[platform.machine()]
        private, executable = 0x22, 7
        assert "PermissionError" in asked(sandbox, "call", number, 0, 4096, executable, private, -1, 0)


def test_a_job_is_nobody_has_no_environment_and_stands_in_an_empty_folder() -> None:
    with probed(without=(layers.FILTER,))(ROWS, allow_weak=True) as sandbox:
        who = json.loads(asked(sandbox, "who"))
        environment = asked(sandbox, "environment")
    assert who["cwd"] == "/"
    assert who["pid"] < 100, "it is in a process namespace of its own"
    assert 0 not in who["uid"]
    assert 0 not in who["gid"]
    assert environment == "environment: {'ORT_DISABLE_TELEMETRY': '1'}"


def test_no_memory_that_jobs_share_can_be_written_to() -> None:
    with probed(without=(layers.FILTER, layers.LIMITS))(ROWS, allow_weak=True) as sandbox:
        assert asked(sandbox, "find writable memory") == "found "


def test_a_thousand_processes_are_not_started_even_without_the_filter() -> None:
    with probed(without=(layers.FILTER,))(ROWS, allow_weak=True) as sandbox:
        assert asked(sandbox, "fork often", 1000) == "0 started, then BlockingIOError"


def test_no_file_descriptor_is_hoarded_even_without_the_filter() -> None:
    with probed(without=(layers.FILTER,))(ROWS, allow_weak=True) as sandbox:
        assert asked(sandbox, "hoard", 1000) == "0 copies, then Invalid argument"


def test_layers_are_told_in_words() -> None:
    with probed(without=(layers.LANDLOCK,))(ROWS) as sandbox:
        assert "system call filter" in str(sandbox.layers).split("not active")[0]
        assert "Landlock (left out)" in str(sandbox.layers)


def test_threads_of_the_parent_do_not_matter() -> None:
    done: list[str] = []

    def work() -> None:
        with probed()(ROWS) as sandbox:
            done.append(asked(sandbox, "say", "here"))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == ["here", "here"]
    assert DONE
