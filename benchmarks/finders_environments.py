"""Environments for peers: one each, made once under benchmarks/out/envs from the pins in benchmarks/peers.

A peer that cannot be installed is a `Missing` with the reason, so that a table can say so.
"""

import os
import resource
import signal
import subprocess
import sys
import venv
from dataclasses import dataclass
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parents[1]
PEERS, ENVIRONMENTS = ROOT / "benchmarks" / "peers", ROOT / "benchmarks" / "out" / "envs"
LONGEST = 600.0
"""How many seconds of processor a worker may take."""
MOST_BYTES = 18 * 2**30
"""How much address space it may take: one that wants all there is would end others too."""
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
"""All are given one thread, so that seconds compare."""


@dataclass(frozen=True)
class Missing:
    """What cannot be measured, and why."""

    reason: str


def environment(peer: str) -> Path | Missing:
    """Return the interpreter of a peer's environment, which is made if it is not there or its pins have changed."""
    folder, pins = ENVIRONMENTS / peer, PEERS / f"{peer}.txt"
    python, made = folder / "bin" / "python", folder / "pins.txt"
    if made.exists() and made.read_text() == pins.read_text():
        return python
    ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
    (ENVIRONMENTS / ".gitignore").write_text("*\n")
    venv.create(folder, clear=True, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "-r", str(pins)]
    installed = subprocess.run(command, capture_output=True, text=True, check=False)
    if installed.returncode:
        return Missing(f"cannot be installed: {_last_line(installed.stderr)}")
    made.write_text(pins.read_text())
    return python


def work(python: Path | Missing, module: str, *arguments: str, longest: float = LONGEST) -> Missing | None:
    """Run a worker; return what went wrong, if anything did."""
    if isinstance(python, Missing):
        return python
    command = [str(python), "-W", "ignore", "-m", module, *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **ONE_THREAD, "ORT_DISABLE_TELEMETRY": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=partial(_bound, int(longest)),
    )
    if not done.returncode:
        return None
    if done.returncode == -signal.SIGXCPU:
        return Missing(f"took more than {longest:g} seconds of processor")
    if "MemoryError" in done.stderr or done.returncode < 0:
        return Missing(f"needs more than {MOST_BYTES / 2**30:.0f} GB: {_last_line(done.stderr)}")
    return Missing(f"failed: {_last_line(done.stderr)}")


def _bound(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))


def own() -> Path:
    """Return the interpreter that this package runs in."""
    return Path(sys.executable)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"
