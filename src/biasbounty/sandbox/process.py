"""The worker as its parent sees it: started, asked, held to a deadline in every wait, killed and closed.

The parent trusts the worker's own messages, and not a byte of what jobs answer.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from biasbounty.errors import SettingsError
from biasbounty.sandbox.channel import receive, send
from biasbounty.sandbox.layers import Layers

START = "from biasbounty.sandbox.worker import main; main()"
_PATHS = "import sys; sys.path += [path for path in sys.argv[3:] if path not in sys.path]; "

_START_SECONDS = 60.0
_GRACE_SECONDS = 10.0
"""How long a worker may take beyond a job's own time before it is given up."""
_CHUNK = 1 << 20
_PIPE_BYTES = 1 << 20
_SET_PIPE_SIZE = 1031

_HEAP = {"hugetlb": 1, "top_pad": 1 << 24, "trim_threshold": 1 << 30, "mmap_threshold": 1 << 25}
"""A job's memory is new to it: taken in large pieces it cost 8 ms less, of 31, on 100,000 rows."""
_ENVIRONMENT = {
    "ORT_DISABLE_TELEMETRY": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "GLIBC_TUNABLES": ":".join(f"glibc.malloc.{name}={value}" for name, value in _HEAP.items()),
}


class WorkerLostError(Exception):
    """The worker has ended, or no longer says what it should."""


@dataclass(frozen=True)
class Outcome:
    """What became of a job: what it wrote, how it ended, and whether it took too long or wrote too much."""

    data: bytes
    code: int
    is_late: bool = False
    is_too_much: bool = False


@dataclass(frozen=True)
class Child:
    """A child of the worker, which waits for a job: the line to it, and the handle to kill it by."""

    number: int
    line: int
    handle: int

    def is_alive(self) -> bool:
        """Say whether it has not ended."""
        return not _is_ready(self.handle, 0.0)

    def start(self, message: int, output: int) -> None:
        """Hand over a job, and where its answer goes, which is closed here."""
        try:
            with suppress(OSError):
                _widen(output)
            with socket.socket(fileno=os.dup(self.line)) as line, suppress(OSError):
                send(line, {}, [message, output])
        finally:
            os.close(output)

    def kill(self) -> None:
        """Kill it."""
        with suppress(OSError):  # it has ended; or a limit of time ends it
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)

    def close(self) -> None:
        """Let go of it; nothing of it is wanted any more, so it is killed."""
        self.kill()
        self.forget()

    def forget(self) -> None:
        """Close what there is of it here."""
        os.close(self.line)
        os.close(self.handle)


class Process:
    """One worker process."""

    def __init__(self, start: str) -> None:
        self._ready: deque[Child] = deque()
        self._codes: dict[int, int] = {}
        parent = _handle_of_this()
        self._channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = _started(start, other.fileno(), parent)
        except BaseException:
            self._channel.close()
            raise
        finally:
            other.close()
            os.close(parent)

    def welcome(self, message: int) -> Layers:
        """Hand over the first message; return the worker's layers once it has locked itself in."""
        try:
            send(self._channel, {}, [message])
            told, _ = self._receive(time.monotonic() + _START_SECONDS)
        except (WorkerLostError, OSError) as error:
            raise SettingsError(
                f"sandbox does not start: expected a worker, got {self._last_words()}; see whether `python -I` can "
                "import biasbounty and onnxruntime here"
            ) from error
        self._close_errors()
        return Layers(tuple(told["active"]), told["inactive"])

    def take(self) -> "Child":
        """Return a child that is ready for a job; raise WorkerLostError if there is none to be had."""
        deadline = time.monotonic() + _GRACE_SECONDS
        while True:
            while not self._ready:
                self._hear(deadline)
            if time.monotonic() > deadline:
                raise WorkerLostError
            child = self._ready.popleft()
            if child.is_alive():
                return child
            child.close()

    def ask(self, child: "Child", message: int, most_bytes: int, seconds: float) -> Outcome:
        """Hand over a job and wait for its answer; raise WorkerLostError if the worker does not live to tell of it."""
        deadline = time.monotonic() + seconds
        self._codes.clear()
        output, other = os.pipe()
        try:
            child.start(message, other)
            data, is_late = _read(output, most_bytes, deadline)
            is_too_much = len(data) > most_bytes
            code = 0 if data or is_late else self._code_of(child, deadline)
            return Outcome(data, code, is_late, is_too_much)
        finally:
            os.close(output)
            child.close()

    def _code_of(self, child: "Child", deadline: float) -> int:
        """Return how a child ended; one that has closed its answer, but stays, is killed at the deadline."""
        if not _is_ready(child.handle, deadline):
            child.kill()
        while child.number not in self._codes:
            self._hear(time.monotonic() + _GRACE_SECONDS)
        return self._codes[child.number]

    def _hear(self, deadline: float) -> None:
        """Hear what the worker has to say: a child was started, or has ended."""
        told, descriptors = self._receive(deadline)
        if "started" in told:
            self._ready.append(Child(told["started"], *descriptors))
        elif "ended" in told:
            self._codes[told["ended"]] = told["code"]

    def _receive(self, deadline: float) -> tuple[dict[str, Any], tuple[int, ...]]:
        if self._channel.fileno() < 0 or not _is_ready(self._channel.fileno(), deadline):
            raise WorkerLostError
        try:
            return receive(self._channel)
        except (EOFError, OSError) as error:
            raise WorkerLostError from error

    def kill(self) -> None:
        """End the worker and all its jobs, and wait for that."""
        self._close_errors()
        self._end()
        deadline = time.monotonic() + _GRACE_SECONDS
        with suppress(WorkerLostError):  # which is what is waited for: the inner process has ended too
            while time.monotonic() < deadline:
                self._hear(deadline)
        self._let_go()

    def _end(self) -> None:
        """Have the outer process end the inner one and wait for it; if it does not, the kernel does."""
        self._process.terminate()
        try:
            self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Close what a fork has copied: the worker is another process's."""
        self._close_errors()
        self._let_go()
        self._process.returncode = 0

    def _let_go(self) -> None:
        while self._ready:
            self._ready.pop().forget()
        self._channel.close()

    def _close_errors(self) -> None:
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _last_words(self) -> str:
        """End the worker and return the last line of what it had to say."""
        self._end()
        errors = self._process.stderr
        said = errors.read().decode(errors="replace").strip().splitlines() if errors else []
        return said[-1] if said else f"none within {_START_SECONDS:g} s"


def _handle_of_this() -> int:
    """Return a handle by which the worker sees whether this process is there."""
    try:
        return os.pidfd_open(os.getpid())
    except OSError as error:
        raise SettingsError(
            f"sandbox does not run on this kernel: expected Linux 5.4 or later, got {error.strerror}; use a newer one"
        ) from error


def _started(start: str, control: int, parent: int) -> "subprocess.Popen[bytes]":
    paths = [os.path.abspath(path) for path in sys.path if path]  # noqa: PTH100
    library_path = os.environ.get("LD_LIBRARY_PATH")
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-I", "-c", _PATHS + start, str(control), str(parent), *paths],
        pass_fds=(control, parent),
        env=_ENVIRONMENT if library_path is None else {**_ENVIRONMENT, "LD_LIBRARY_PATH": library_path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd="/",
        start_new_session=True,
    )


def _read(output: int, most_bytes: int, deadline: float) -> tuple[bytes, bool]:
    """Read to the end, to one byte too many, or to the deadline; say whether it was that."""
    data = bytearray()
    while len(data) <= most_bytes:
        if not _is_ready(output, deadline):
            return bytes(data), True
        part = os.read(output, min(_CHUNK, most_bytes + 1 - len(data)))
        if not part:
            break
        data += part
    return bytes(data), False


def _is_ready(descriptor: int, deadline: float) -> bool:
    """Wait until something can be read, or the deadline."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))


def _widen(pipe: int) -> None:
    import fcntl

    fcntl.fcntl(pipe, _SET_PIPE_SIZE, _PIPE_BYTES)
