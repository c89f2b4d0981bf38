"""The command line, run as a person would run it: in process, or as a server of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from biasbounty.cli.app import app


def run(*words: str, **environment: str) -> Result:
    """Run a command."""
    return CliRunner().invoke(app, list(words), env=environment)


def run_json(*words: str, **environment: str) -> Any:
    """Run a command that must succeed, and return what it says as JSON."""
    done = run(*words, "--json", **environment)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@contextmanager
def serving(home: Path, *options: str, place: tuple[str, ...] = ()) -> Iterator[str]:
    """Serve an installation in a process of its own, and return the address that it prints."""
    where = place or ("--home", str(home))
    words = [sys.executable, "-m", "biasbounty", *where, "serve", "--port", "0", "--hold", "0", "--json"]
    with (home / "serve.log").open("w") as log:
        process = subprocess.Popen(
            [*words, *options], stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, "COLUMNS": "79"}
        )
        out = process.stdout
        assert out is not None
        try:
            yield json.loads(out.readline())["url"]
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
            out.close()
