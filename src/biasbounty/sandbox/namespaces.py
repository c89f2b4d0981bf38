"""Namespaces: a machine of its own for the worker, with no network, no other process and no file.

The worker unshares them itself. bubblewrap would have to show the interpreter's files inside, since it starts its
command after it has changed the root; here everything is imported before, so the root can be empty.
"""

import os
from pathlib import Path

from biasbounty.sandbox.layers import EMPTY_ROOT, NAMESPACES, OWN_USER, USER_NAMESPACE, Record
from biasbounty.sandbox.privileges import NOBODY, drop_user
from biasbounty.sandbox.system import call

_USER = 0x10000000
_FLAGS = dict(zip(NAMESPACES, (0x00020000, 0x40000000, 0x20000000, 0x08000000, 0x04000000, 0x02000000), strict=True))

_MS_READ_ONLY, _MS_NO_SETUID, _MS_NO_DEVICES, _MS_NO_PROGRAMS = 1, 2, 4, 8
_MS_REMOUNT, _MS_RECURSIVE, _MS_PRIVATE = 32, 16384, 1 << 18
_DETACH = 2
_DUMPABLE = 4
_HARMLESS = _MS_NO_SETUID | _MS_NO_DEVICES | _MS_NO_PROGRAMS


def leave(record: Record) -> None:
    """Leave the namespaces of the machine; processes started from now on are in the new process namespace.

    One who may not do so becomes root of a new user namespace, where anyone may; who is root gives that up before.
    """
    if not _may_unshare():
        if os.geteuid() == 0:
            record.attempt(OWN_USER, drop_user)
        record.attempt(USER_NAMESPACE, _become_root_within)
    else:
        record.skip(USER_NAMESPACE, "not needed: root made the others")
    for name, flag in _FLAGS.items():
        record.attempt(name, lambda flag=flag: call("unshare", flag))  # type: ignore[misc]


def empty_root(record: Record) -> None:
    """Make an empty folder that cannot be written to the root of all files; in a mount namespace only."""
    if "mount namespace" in record.layers().active:
        record.attempt(EMPTY_ROOT, _empty_root)
    else:
        record.skip(EMPTY_ROOT, "no mount namespace")


def _may_unshare() -> bool:
    try:
        call("unshare", _FLAGS["UTS namespace"])
    except OSError:
        return False
    return True


def _become_root_within() -> None:
    user, group = os.geteuid(), os.getegid()
    call("prctl", _DUMPABLE, 1, 0, 0, 0)  # else what /proc tells of this process would be root's
    call("unshare", _USER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{NOBODY} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{NOBODY} {group} 1")


def _empty_root() -> None:
    """Mount an empty folder, turn to it, and let go of the old root, which ends up mounted over it."""
    call("mount", None, b"/", None, _MS_RECURSIVE | _MS_PRIVATE, None)
    call("mount", b"tmpfs", b"/tmp", b"tmpfs", _HARMLESS, b"size=4k,nr_inodes=1,mode=0")
    os.chdir("/tmp")  # noqa: S108
    call("pivot_root", b".", b".")
    call("umount2", b".", _DETACH)
    os.chdir("/")
    call("mount", None, b"/", None, _MS_REMOUNT | _MS_READ_ONLY | _HARMLESS, b"size=4k,nr_inodes=1,mode=0")
