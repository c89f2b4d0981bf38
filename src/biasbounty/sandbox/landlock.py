"""Landlock: the kernel's own refusal of every file, connection and signal beyond the worker.

There is no rule that allows anything; what is open already stays open. Newer kernels know more to refuse.
"""

import ctypes
import os

from biasbounty.sandbox.system import call

_CREATE, _RESTRICT = 444, 446
"""Numbers of the system calls: the same on every machine."""
_TELL_VERSION = 1

_FILES = {1: 13, 2: 14, 3: 15, 5: 16}
"""How many kinds of access to files a version knows."""
_CONNECTIONS = {4: 2}
_SCOPES = {6: 2}


def refuse_all() -> int:
    """Refuse everything that this kernel's Landlock can refuse; return its version."""
    version = call("syscall", _CREATE, None, 0, _TELL_VERSION)
    kinds = [_bits(known, version) for known in (_FILES, _CONNECTIONS, _SCOPES)]
    used = sum(1 for bits in kinds if bits)
    rules = (ctypes.c_uint64 * used)(*kinds[:used])
    ruleset = call("syscall", _CREATE, rules, ctypes.sizeof(rules), 0)
    try:
        call("syscall", _RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)
    return version


def _bits(known: dict[int, int], version: int) -> int:
    return (1 << max((bits for since, bits in known.items() if since <= version), default=0)) - 1
