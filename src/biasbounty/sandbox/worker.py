"""The worker: imports everything once, locks itself in, and has a child ready for each job.

Two processes. The outer one only waits: it ends when the parent has ended, and with it, by the kernel's hand, the
inner one and all jobs. The inner one is the first process of its namespace; it opens no session itself. Its children
do one job each, and are started before it comes. Nothing is executed after locking in: so no file of the interpreter
need be there any more.
"""

import gc
import os
import select
import signal
import socket
import sys
from collections.abc import Set
from contextlib import suppress
from typing import NoReturn

from biasbounty.exchange.onnx_run import runtime
from biasbounty.sandbox import filters, landlock, limits, namespaces, privileges
from biasbounty.sandbox.channel import receive, send
from biasbounty.sandbox.jobs import Job, run_model, told, warm_up
from biasbounty.sandbox.layers import (
    FILTER,
    LANDLOCK,
    LIMITS,
    NO_CAPABILITIES,
    NO_NEW_PRIVILEGES,
    OWN_USER,
    Record,
)
from biasbounty.sandbox.messages import Message
from biasbounty.sandbox.tables import Resident, unpacked

_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2
_READY = 2
"""How many children wait for a job: one starts while another works."""


def main(job: Job = run_model, without: Set[str] = frozenset()) -> NoReturn:
    """Serve the parent, of which the command line tells the socket and the process.

    Args:
        job: What each child does.
        without: Layers to leave out; tests show by it what each of the others stops alone.
    """
    control, parent = (int(word) for word in sys.argv[1:3])
    runtime()
    with socket.socket(fileno=control) as channel:
        _, (memory,) = receive(channel)
        start = Message.unpack(memory)
        os.close(memory)
        worker = Worker(channel, job, start)
        record = Record(without)
        namespaces.leave(record)
        privileges.adopt_orphans()
        inner = os.fork()
        if inner == 0:
            _close(parent)
            worker.lock_in(record)
            worker.serve()
    _wait(inner, parent)


class Worker:
    """The inner process: the rows, the strict filter, and what jobs may use."""

    def __init__(self, channel: socket.socket, job: Job, start: Message) -> None:
        self._channel, self._job = channel, job
        self._resident = Resident(unpacked(start.header["table"], start.arrays[2:]))
        self._worker_filter, self._job_filter = (array.tobytes() for array in start.arrays[:2])
        self._memory, self._seconds = start.header["memory"], start.header["seconds"]
        self._used = 0
        self._is_limited = self._is_filtered = False

    def lock_in(self, record: Record) -> None:
        """Put on every layer that can be had, and tell the parent which."""
        with suppress(OSError):
            limits.offer_to_be_killed_first()
        limits.return_memory()
        self._used = limits.used_memory()
        os.environ.clear()
        namespaces.empty_root(record)
        self._is_limited = record.attempt(LIMITS, limits.limit_worker)
        if OWN_USER not in record.layers().active:
            record.attempt(OWN_USER, privileges.drop_user)
        record.attempt(NO_CAPABILITIES, privileges.drop_capabilities)
        record.attempt(NO_NEW_PRIVILEGES, privileges.forbid_new_privileges)
        privileges.die_with_parent()
        record.attempt(LANDLOCK, landlock.refuse_all)
        os.dup2(_STANDARD_OUTPUT, _STANDARD_ERROR)
        if not self._worker_filter:
            record.skip(FILTER, "no libseccomp")
        else:
            self._is_filtered = record.attempt(FILTER, lambda: filters.load(self._worker_filter))
        layers = record.layers()
        send(self._channel, {"active": layers.active, "inactive": dict(layers.inactive)})

    def serve(self) -> NoReturn:
        """Keep children ready for the parent's next jobs, and tell how each ended; end when the parent is gone."""
        gc.collect()
        gc.freeze()
        try:
            for _ in range(_READY):
                self._start_child()
            while True:
                child, status = os.wait()
                send(self._channel, {"ended": child, "code": os.waitstatus_to_exitcode(status)})
                self._start_child()
        finally:
            os._exit(0)

    def _start_child(self) -> None:
        """Start a child, and send the parent a line to it and what is needed to kill it."""
        line, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own = os.getpid()
        child = os.fork()
        if child == 0:
            line.close()
            self._channel.close()
            self._do(other, own)
        other.close()
        handle = os.pidfd_open(child)
        send(self._channel, {"started": child}, [line.fileno(), handle])
        os.close(handle)
        line.close()

    def _do(self, line: socket.socket, parent: int) -> NoReturn:
        """Wait for a job and do it, held to it by limits and the stricter filter; then end at once."""
        try:
            gc.disable()
            privileges.die_with_parent()
            if os.getppid() == parent:
                self._do_next(line)
        finally:
            os._exit(0)

    def _do_next(self, line: socket.socket) -> None:
        warm_up()
        limits.return_memory()
        message, output = self._received(line)
        for part in told(self._job, self._resident, message):
            _write(output, part)
        os.close(output)

    def _received(self, line: socket.socket) -> tuple[Message, int]:
        """Return the job and where its answer goes, locked in for good and with nothing else at hand."""
        _, (memory, output) = receive(line)
        line.close()
        message, mapped = Message.unpack(memory), os.fstat(memory).st_size
        os.close(memory)
        if self._is_limited:
            limits.limit_job(self._used + mapped + self._memory, self._seconds)
        if self._is_filtered:
            filters.load(self._job_filter)
        return message, output


def _write(output: int, part: bytes | memoryview) -> None:
    rest = memoryview(part).cast("B") if len(part) else memoryview(b"")
    while rest:
        rest = rest[os.write(output, rest) :]


def _wait(inner: int, parent: int) -> NoReturn:
    """Wait until the parent says so or ends, or the inner process does; then nothing is left, not even to bury."""
    poll = select.poll()
    poll.register(os.pidfd_open(inner), select.POLLIN)
    poll.register(parent, select.POLLIN)
    with suppress(SystemExit):
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        poll.poll()
    with suppress(OSError):
        os.kill(inner, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    os._exit(0)


def _close(descriptor: int) -> None:
    with suppress(OSError):
        os.close(descriptor)
