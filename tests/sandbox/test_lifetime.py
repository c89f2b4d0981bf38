"""Nothing is left behind: no process, no file descriptor; not by closing, failing, forking or dying."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from biasbounty.errors import SettingsError, SubmissionFailedError
from biasbounty.sandbox import Sandbox, layers
from tests.sandbox.probes import ROOT, asked, probed

ROWS = np.zeros((3, 2))
PATIENCE = 60
"""Seconds after which a test gives up waiting for what happens at once."""


def _below(process: int) -> set[int]:
    """Return the processes that a process has started, and those that they have."""
    parents = dict(_parents())
    found = {process}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {process}


def _parents() -> Iterator[tuple[int, int]]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            yield int(path.parent.name), int(path.read_text().rsplit(")", 1)[1].split()[1])


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _gone(processes: set[int]) -> bool:
    """Wait until these processes are no more."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not any(Path(f"/proc/{process}").exists() for process in processes):
            return True
        time.sleep(0.01)
    return False


def _use(sandbox: Sandbox) -> None:
    assert asked(sandbox, "say", "here") == "here"
    for attempt in ("crash", "loop"):
        with pytest.raises(SubmissionFailedError):
            asked(sandbox, attempt)


def test_closing_leaves_no_process_and_no_descriptor() -> None:
    kind = probed()
    with kind(ROWS, seconds=1) as sandbox:
        _use(sandbox)
    before, processes = _descriptors(), _below(os.getpid())
    for _ in range(3):
        with kind(ROWS, seconds=1) as sandbox:
            _use(sandbox)
            started = _below(os.getpid()) - processes
            assert started
        assert _gone(started)
    assert _descriptors() == before


def test_a_job_leaves_no_descriptor() -> None:
    with probed()(ROWS, seconds=1) as sandbox:
        _use(sandbox)
        before, processes = _descriptors(), len(_below(os.getpid()))
        for _ in range(20):
            asked(sandbox, "say", "here")
        _use(sandbox)
        assert _descriptors() <= before + 4, "the line and the handle of each child that waits"
        assert len(_below(os.getpid())) <= processes + 2, "children that have just ended"


def test_one_that_is_forgotten_is_closed() -> None:
    before = _descriptors(), _below(os.getpid())
    sandbox = probed()(ROWS)
    assert (_descriptors(), _below(os.getpid())) != before
    del sandbox
    gc.collect()
    assert (_descriptors(), _below(os.getpid())) == before


def test_one_that_does_not_start_leaves_nothing() -> None:
    broken = type("Broken", (Sandbox,), {"_start": "raise SystemExit('not today')"})
    before = _descriptors(), _below(os.getpid())
    for rows in (ROWS, [[1.0, 2.0]], np.zeros(3)):
        with pytest.raises((SettingsError, TypeError)):
            broken(rows)
    assert (_descriptors(), _below(os.getpid())) == before


def test_a_closed_one_says_so() -> None:
    sandbox = probed()(ROWS)
    sandbox.close()
    sandbox.close()
    for use in (lambda: asked(sandbox, "say", "here"), lambda: sandbox.layers):
        with pytest.raises(SettingsError, match=r"sandbox is closed: expected an open one"):
            use()


SCRIPT = """
import os, sys, threading, time
import numpy as np
from tests.sandbox.probes import asked, probed
sandbox = probed()(np.zeros((3, 2)), seconds=1000)
"""
DIES = """
def work():
    try:
        asked(sandbox, "loop")
    except Exception:
        pass
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("ready", flush=True)
time.sleep(1000)
"""
FORKS = """
before = asked(sandbox, "say", "parent")
child = os.fork()
if child == 0:
    ok = asked(sandbox, "say", "child") == "child"
    del sandbox
    os._exit(0 if ok else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert asked(sandbox, "say", "parent again") == "parent again"
child = os.fork()
if child == 0:
    sandbox.close()
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert asked(sandbox, "say", "parent still") == "parent still"
sandbox.close()
"""


def test_when_the_parent_is_killed_worker_and_job_end_too() -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT + DIES], cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        said, family = parent.stdout.readline(), _below(parent.pid)
        parent.kill()
    assert said == b"ready\n"
    assert len(family) == 4, "the two processes of the worker, a job, and a child that waits for one"
    assert _gone(family)


@pytest.mark.parametrize("without", [(), (*layers.NAMESPACES, layers.EMPTY_ROOT)], ids=["namespaces", "none"])
def test_when_the_outer_process_is_killed_the_inner_one_and_jobs_end_too(without: tuple[str, ...]) -> None:
    before = _below(os.getpid())
    with probed(without=without)(ROWS) as sandbox:
        assert asked(sandbox, "say", "here") == "here"
        family = _below(os.getpid()) - before
        outer = {child for child, parent in _parents() if parent == os.getpid()} & family
        assert len(outer) == 1
        os.kill(min(outer), signal.SIGKILL)
        assert _gone(family - outer)
        assert asked(sandbox, "say", "here again") == "here again"


def test_a_fork_of_the_parent_has_a_worker_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT + FORKS], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_jobs_of_many_threads_are_done_one_by_one() -> None:
    said: list[str] = []
    with probed()(ROWS) as sandbox:
        work = [threading.Thread(target=lambda n=n: said.append(asked(sandbox, "say", str(n)))) for n in range(16)]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()
    assert sorted(said, key=int) == [str(number) for number in range(16)]


def test_a_handler_of_a_signal_may_close_the_sandbox_that_it_interrupts() -> None:
    others = _below(os.getpid())
    with probed()(ROWS, seconds=PATIENCE) as sandbox:
        family = _below(os.getpid()) - others
        kept = signal.signal(signal.SIGALRM, lambda *_: sandbox.close())
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            with pytest.raises(SettingsError, match="sandbox is closed"):
                asked(sandbox, "loop")
        finally:
            signal.signal(signal.SIGALRM, kept)
        assert family
        assert not family & _below(os.getpid())


def test_an_interrupted_job_is_not_taken_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with probed()(ROWS) as sandbox:
        with monkeypatch.context() as patched:
            patched.setattr("biasbounty.sandbox.process._read", interrupted)
            with pytest.raises(KeyboardInterrupt):
                asked(sandbox, "say", "first")
        assert asked(sandbox, "say", "second") == "second"
