"""Limits: how much memory, time, files and processes the worker and its jobs may have."""

import math
import os
import resource
from contextlib import suppress
from pathlib import Path

from biasbounty.sandbox.system import call

_OPEN_FILES = 64
_SPARE_SECONDS = 1


def used_memory() -> int:
    """Return the bytes of address space in use now."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def return_memory() -> None:
    """Give back the memory that is free: a job's own is all that it takes from now on."""
    with suppress(OSError):
        call("malloc_trim", 0)


def limit_worker() -> None:
    """Write no file and leave no core behind; few files are open at once, no message or locked memory is held."""
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_MEMLOCK, resource.RLIMIT_MSGQUEUE):
        _limit(kind, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)


def limit_job(memory: int, seconds: float) -> None:
    """Take no more address space and processor time than this, open no file and start no process."""
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_CPU, math.ceil(seconds) + _SPARE_SECONDS)
    _limit(resource.RLIMIT_NPROC, 0)
    _limit(resource.RLIMIT_NOFILE, 0)


def offer_to_be_killed_first() -> None:
    """Have the kernel end the worker before any other process where the machine runs out of memory."""
    Path("/proc/self/oom_score_adj").write_text("1000")


def _limit(kind: int, most: int) -> None:
    """Lower a limit; where it is lower already it stays."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
