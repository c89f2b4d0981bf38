"""System call filters: what the worker, and more strictly its jobs, may ask of the kernel. All else is refused.

libseccomp makes the filters in the parent, as a program that the kernel takes; the worker only loads them. A job may
have memory, look at the clock, write to what is open, and end. It opens nothing, starts nothing, connects to nothing.
"""

import ctypes
import os
from contextlib import suppress
from functools import cache
from typing import Any, TypeAlias

from biasbounty.errors import MissingExtraError, SettingsError
from biasbounty.sandbox.system import call

Rules: TypeAlias = Any

_NOT_PERMITTED = 1
_EXECUTABLE = 4
_PARENT_DEATH_SIGNAL = 1
_SET_SECCOMP, _FILTER_MODE = 22, 2
_INSTRUCTION = 8
_UNIX = 1
_NAMESPACE_FLAGS = 0x7E020000 | 0x00000080
"""Flags of clone that make namespaces."""

_JOB = """
brk munmap mremap madvise futex sched_yield sched_getaffinity getcpu gettid getpid getrandom
clock_gettime clock_getres gettimeofday clock_nanosleep nanosleep
write writev close exit exit_group rt_sigreturn rt_sigprocmask restart_syscall
"""
_WORKER = """
read lseek fstat newfstatat fcntl poll ppoll recvmsg sendmsg wait4 pidfd_open getppid rt_sigaction sigaltstack
set_robust_list rseq seccomp prlimit64 setrlimit getrlimit close_range
"""


@cache
def job_filter() -> bytes:
    """Return the filter of jobs."""
    return _exported(_started(_JOB))


@cache
def worker_filter() -> bytes:
    """Return the filter of the worker, which starts jobs and makes their filter stricter."""
    pyseccomp = _library()
    rules = _started(_JOB + _WORKER)
    rules.add_rule(pyseccomp.ALLOW, "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _NAMESPACE_FLAGS, 0))
    rules.add_rule(pyseccomp.ALLOW, "socketpair", pyseccomp.Arg(0, pyseccomp.EQ, _UNIX))
    for option in (_PARENT_DEATH_SIGNAL, _SET_SECCOMP):
        rules.add_rule(pyseccomp.ALLOW, "prctl", pyseccomp.Arg(0, pyseccomp.EQ, option))
    return _exported(rules)


def load(program: bytes) -> None:
    """Have the kernel hold this process, and all that it starts, to a filter."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    call("prctl", _SET_SECCOMP, _FILTER_MODE, ctypes.byref(Program(len(program) // _INSTRUCTION, program)), 0, 0)


def _started(names: str) -> Rules:
    """Allow these calls, and memory that holds no program."""
    pyseccomp = _library()
    rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(_NOT_PERMITTED))
    for name in names.split():
        with suppress(OSError):  # an old libseccomp does not know every name: then that call is refused
            rules.add_rule(pyseccomp.ALLOW, name)
    for name in ("mmap", "mprotect"):
        rules.add_rule(pyseccomp.ALLOW, name, pyseccomp.Arg(2, pyseccomp.MASKED_EQ, _EXECUTABLE, 0))
    return rules


def _exported(rules: Rules) -> bytes:
    with open(os.memfd_create("filter"), "w+b") as file:  # noqa: PTH123
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


@cache
def _library() -> Any:
    try:
        import pyseccomp
    except ImportError as error:
        raise MissingExtraError("the sandbox needs pyseccomp: install biasbounty[sandbox]") from error
    except RuntimeError as error:
        raise SettingsError(
            "sandbox has no system call filter: expected the library libseccomp, got none; install "
            "libseccomp2, or pass allow_weak=True where no stranger submits"
        ) from error
    return pyseccomp
