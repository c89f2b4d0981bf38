"""On machines that allow less the sandbox takes what it can get, and refuses to start where that is too little.

Before it locks itself in, the worker is put where such a machine would have it: without root, or with a filter that
refuses what a container's would.
"""

import os
import platform
import subprocess
import sys

import numpy as np
import pytest

from biasbounty.errors import SettingsError
from biasbounty.sandbox import Sandbox, layers
from tests.sandbox.probes import ROOT, asked, probed

ROWS = np.zeros((3, 2))

WITHOUT_ROOT = """
from biasbounty.exchange.onnx_run import runtime
import os
runtime()
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    from biasbounty.sandbox.system import call
    call("prctl", 4, 1, 0, 0, 0)  # as a program that nobody started would be
"""
REFUSING = """
import pyseccomp
rules = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
for name in {names!r}:
    rules.add_rule(pyseccomp.ERRNO({number}), name)
rules.load()
"""
NAMESPACES = ("unshare", "mount", "pivot_root", "umount2")
LANDLOCK = ("landlock_create_ruleset", "landlock_restrict_self")
NOT_PERMITTED, NOT_KNOWN = 1, 38


def refusing(names: tuple[str, ...], number: int = NOT_PERMITTED) -> str:
    return REFUSING.format(names=names, number=number)


def test_without_root_a_user_namespace_makes_the_others() -> None:
    with probed(WITHOUT_ROOT)(ROWS) as sandbox:
        assert {layers.USER_NAMESPACE, *layers.NAMESPACES, layers.EMPTY_ROOT} <= set(sandbox.layers.active)
        assert sandbox.layers.inactive == {layers.OWN_USER: "not root"}
        assert "PermissionError" in asked(sandbox, "read", "/etc/passwd")


AS_A_USER = """
import os
from pathlib import Path
import numpy as np
from biasbounty.errors import SubmissionFailedError
from biasbounty.sandbox.system import call
from tests.sandbox.probes import asked, probed

group, user = os.getegid(), os.geteuid()
call("unshare", 0x10000000)
Path("/proc/self/setgroups").write_text("deny")
Path("/proc/self/gid_map").write_text(f"1000 {group} 1")
Path("/proc/self/uid_map").write_text(f"1000 {user} 1")
call("capset", (__import__("ctypes").c_uint32 * 2)(0x20080522, 0), (__import__("ctypes").c_uint32 * 6)())
assert os.geteuid() == 1000
with probed()(np.zeros((3, 2)), seconds=2) as sandbox:
    assert sandbox.layers.inactive == {"own user": "not root"}, sandbox.layers
    assert "PermissionError" in asked(sandbox, "read", "/etc/passwd")
    try:
        asked(sandbox, "loop")
    except SubmissionFailedError as error:
        assert "runs too long" in str(error)
    assert asked(sandbox, "say", "here") == "here"
"""


def test_a_user_without_any_right_may_use_it() -> None:
    """The whole of it, parent and worker, is run by somebody who is not root, nor may become it."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # a process of one thread may enter a user namespace
    command = [sys.executable, "-c", AS_A_USER]
    done = subprocess.run(command, cwd=ROOT, env=alone, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_root_nothing_outside_is_seen_even_without_landlock_and_filter() -> None:
    left_out = (layers.LANDLOCK, layers.FILTER, layers.LIMITS)
    with probed(WITHOUT_ROOT, left_out)(ROWS, allow_weak=True) as sandbox:
        assert "Error: " in asked(sandbox, "read", "/etc/passwd")
        assert "PermissionError" in asked(sandbox, "list", "/")
        assert "Error: " in asked(sandbox, "write", "/written")


def test_in_a_container_without_namespaces_landlock_is_enough() -> None:
    with probed(refusing(NAMESPACES))(ROWS) as sandbox:
        assert not set(layers.NAMESPACES) & set(sandbox.layers.active)
        assert {layers.LANDLOCK, layers.FILTER, layers.LIMITS, layers.NO_CAPABILITIES} <= set(sandbox.layers.active)
        assert sandbox.layers.inactive[layers.EMPTY_ROOT] == "no mount namespace"
        assert "PermissionError" in asked(sandbox, "read", "/etc/passwd")


def test_on_a_kernel_without_landlock_namespaces_are_enough() -> None:
    with probed(refusing(LANDLOCK, NOT_KNOWN))(ROWS) as sandbox:
        assert sandbox.layers.inactive[layers.LANDLOCK] == "Function not implemented"


def test_without_both_it_does_not_start_and_says_what_is_missing() -> None:
    words = r"sandbox is weak on this machine: expected .*mount namespace.*empty root.*Landlock \(Function not impl"
    with pytest.raises(SettingsError, match=words):
        probed(refusing(NAMESPACES + LANDLOCK, NOT_KNOWN))(ROWS)


def test_without_a_filter_it_does_not_start() -> None:
    with pytest.raises(SettingsError, match=r"got none of system call filter \(left out\); have an administrator"):
        probed(without=(layers.FILTER,))(ROWS)


def test_a_weak_one_starts_if_told_and_still_holds_what_it_can() -> None:
    with probed(refusing(NAMESPACES + LANDLOCK, NOT_KNOWN))(ROWS, allow_weak=True) as sandbox:
        assert "Landlock (Function not implemented)" in str(sandbox.layers)
        assert "Error" in asked(sandbox, "read", "/etc/passwd")


def test_root_without_the_right_to_namespaces_turns_into_nobody_and_makes_a_user_namespace() -> None:
    without_system_rights = """
import ctypes
from biasbounty.sandbox.system import call
from biasbounty.exchange.onnx_run import runtime
runtime()
header, held = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
call("capget", header, held)
for place in range(6):
    held[place] &= ~(1 << 21) if place < 3 else 0xFFFFFFFF
call("capset", header, held)
"""
    with probed(without_system_rights)(ROWS) as sandbox:
        assert {layers.USER_NAMESPACE, layers.EMPTY_ROOT} <= set(sandbox.layers.active)
        assert "PermissionError" in asked(sandbox, "read", "/etc/passwd")


def test_on_another_system_it_says_that_it_needs_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    with pytest.raises(
        SettingsError, match=r"sandbox does not run here: expected Linux, got Darwin; run models in pro"
    ):
        Sandbox(ROWS)


def test_a_worker_that_cannot_start_says_why() -> None:
    broken = type("Broken", (Sandbox,), {"_start": "import no_such_part"})
    with pytest.raises(
        SettingsError, match=r"sandbox does not start: expected a worker, got ModuleNotFoundError: No mo"
    ):
        broken(ROWS)
