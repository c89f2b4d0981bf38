"""Privileges: the worker gives up its user, its capabilities, and any way to get them back."""

import ctypes
import os
import signal

from biasbounty.sandbox.system import call

NOBODY = 65534
_LEAST_USER, _MOST_USER = 0x70000000, 0x7FFF0000
"""Users that nobody is: so no file is theirs, and no other process."""

_PARENT_DEATH_SIGNAL, _DUMPABLE, _DROP_FROM_BOUNDING_SET, _CHILD_SUBREAPER, _NO_NEW_PRIVILEGES, _AMBIENT = (
    1,
    4,
    24,
    36,
    38,
    47,
)
_CLEAR_ALL = 4
_CAPABILITIES = 64
_VERSION_3 = 0x20080522


def drop_user() -> None:
    """Turn from root to a user that nobody else is; raise OSError where one is not root."""
    if os.geteuid() != 0:
        raise OSError(0, "not root")
    _shrink_bounding_set()
    stranger = _LEAST_USER + int.from_bytes(os.urandom(4)) % (_MOST_USER - _LEAST_USER)
    os.setgroups([])
    try:
        _become(stranger)
    except OSError:
        _become(NOBODY)  # some user namespaces know small numbers only


def drop_capabilities() -> None:
    """Give up all capabilities, and the right to any."""
    _shrink_bounding_set()
    call("prctl", _AMBIENT, _CLEAR_ALL, 0, 0, 0)
    header, none = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    call("capset", header, none)


def forbid_new_privileges() -> None:
    """Never gain a privilege again, by no program; and let no process of the same user look into this one."""
    call("prctl", _NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    call("prctl", _DUMPABLE, 0, 0, 0, 0)


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent ends; to be called after the last change of user."""
    call("prctl", _PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)


def adopt_orphans() -> None:
    """Have what is left of this process's descendants come to it, to be waited for."""
    call("prctl", _CHILD_SUBREAPER, 1, 0, 0, 0)


def _shrink_bounding_set() -> None:
    for capability in range(_CAPABILITIES):
        try:
            call("prctl", _DROP_FROM_BOUNDING_SET, capability, 0, 0, 0)
        except OSError:
            break  # no more of them, or no right to drop them: then there are none to be had either


def _become(user: int) -> None:
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
