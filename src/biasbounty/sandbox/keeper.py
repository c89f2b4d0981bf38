"""The keeper of a worker: one job at a time, a new worker where the last was lost, and none left behind.

A process that is forked from ours starts a worker of its own; it never touches its parent's.
"""

import os
import threading
import weakref
from contextlib import suppress
from typing import Any

from biasbounty.errors import SettingsError, SubmissionFailedError
from biasbounty.sandbox.layers import Layers
from biasbounty.sandbox.messages import Message
from biasbounty.sandbox.process import Child, Outcome, Process, WorkerLostError


class Keeper:
    """Keeps one worker alive.

    Args:
        start: The Python that a worker starts with.
        allow_weak: Whether a worker that lacks layers will do.
    """

    def __init__(self, start: str, allow_weak: bool) -> None:
        self._start, self._allow_weak = start, allow_weak
        self._lock = _lock()
        self._held = _Held()
        self._release = weakref.finalize(self, self._held.release)
        self._held.process = Process(start)
        self._is_welcome = False
        self._layers: Layers | None = None

    def welcome(self, first: Message) -> None:
        """Hand the worker its first message, which every later worker will get as well."""
        self._held.message = first.pack()
        self._ready()

    @property
    def layers(self) -> Layers:
        """What protects the machine from jobs."""
        if self._layers is None:
            raise _closed()
        return self._layers

    def ask(self, message: Message, most_bytes: int, seconds: float) -> Outcome:
        """Have a job done; raise SubmissionFailedError if the worker is lost with it."""
        self._be_its_own()
        memory = message.pack()
        try:
            with self._lock:
                return self._asked(memory, most_bytes, seconds)
        finally:
            os.close(memory)

    def close(self) -> None:
        """End the worker."""
        self._be_its_own()
        with self._lock:
            self._release()
            self._layers = None

    def _asked(self, memory: int, most_bytes: int, seconds: float) -> Outcome:
        process, child = self._taken()
        try:
            return process.ask(child, memory, most_bytes, seconds)
        except WorkerLostError as error:
            self._lose()
            if self._held.message is None:
                raise _closed() from error
            raise SubmissionFailedError(
                "model took the sandbox down: expected an answer, got none; submit one that needs less"
            ) from error

    def _taken(self) -> tuple[Process, Child]:
        """Return a child that is ready for a job; of a new worker, if the last one has ended since."""
        process = self._ready()
        try:
            return process, process.take()
        except WorkerLostError:
            self._lose()
        process = self._ready()
        try:
            return process, process.take()
        except WorkerLostError as error:
            self._lose()
            raise SettingsError(
                "sandbox does not stay up: expected a worker that waits for jobs, got one that ends; see whether the "
                "machine is out of memory"
            ) from error

    def _ready(self) -> Process:
        """Return a worker that is locked in, a new one if need be."""
        if self._held.message is None:
            raise _closed()
        if self._held.process is None:
            self._held.process, self._is_welcome = Process(self._start), False
        if not self._is_welcome:
            self._greet(self._held.process, self._held.message)
        return self._held.process

    def _greet(self, process: Process, message: int) -> None:
        try:
            self._layers = process.welcome(message)
            self._require_strong(self._layers)
        except BaseException:
            self._lose()
            raise
        self._is_welcome = True

    def _require_strong(self, layers: Layers) -> None:
        if layers.lacking and not self._allow_weak:
            raise SettingsError(
                f"sandbox is weak on this machine: expected namespaces or Landlock, and a system call filter, got none "
                f"of {layers.lacking}; have an administrator allow them, or pass allow_weak=True where no stranger "
                "submits"
            )

    def _lose(self) -> None:
        process, self._held.process = self._held.process, None
        if process is not None:
            process.kill()

    def _be_its_own(self) -> None:
        if self._held.owner != os.getpid():
            self._lock = _lock()
            self._held.forget()


class _Held:
    """What must not be left behind: a worker and its first message."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process: Process | None = None
        self.message: int | None = None

    def release(self) -> None:
        """End the worker, if it is ours."""
        if self.owner != os.getpid():
            self.forget()
        process, self.process = self.process, None
        if process is not None:
            process.kill()
        message, self.message = self.message, None
        if message is not None:
            with suppress(OSError):
                os.close(message)

    def forget(self) -> None:
        """Leave the worker of another process alone."""
        process, self.process = self.process, None
        self.owner = os.getpid()
        if process is not None:
            process.forget()


def _lock() -> Any:
    """Return a lock that lets its own thread through: a handler of a signal may close what it has interrupted."""
    return threading.RLock()


def _closed() -> SettingsError:
    return SettingsError("sandbox is closed: expected an open one, got a closed one; make a new one")
