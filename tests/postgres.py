"""A PostgreSQL of the tests' own: started once, in a folder that is thrown away, on a socket in it."""

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import count
from pathlib import Path

import psycopg
import pytest

_PORT = 5432
_numbers = count()


class Postgres:
    """A running server."""

    def __init__(self, programs: Path) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="biasbounty-postgres-"))
        self._programs = programs
        if os.getuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        data = str(self._folder / "data")
        self._run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-k {self._folder} -p {_PORT} -c listen_addresses= -c fsync=off -c max_connections=100"
        self._run("pg_ctl", "-D", data, "-w", "-l", str(self._folder / "log"), "-o", options, "start")
        self.pid = int((self._folder / "data" / "postmaster.pid").read_text().split()[0])
        atexit.register(self.stop)

    def limit_files(self, size: int | None) -> None:
        """Let no file grow beyond so many bytes, for connections made from now on: as if the disk were full."""
        self._run("prlimit", f"--fsize={'unlimited' if size is None else size}:", "--pid", str(self.pid))

    def _run(self, program: str, *arguments: str) -> None:
        found = self._programs / program
        asked: Sequence[str] = [str(found) if found.exists() else program, *arguments]
        as_postgres = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        done = subprocess.run([*as_postgres, *asked], capture_output=True, text=True, check=False, cwd="/")
        assert done.returncode == 0, done.stderr

    def admin(self, command: str) -> None:
        """Run a command as the server's owner."""
        with psycopg.connect(f"host={self._folder} port={_PORT} user=postgres", autocommit=True) as connection:
            connection.execute(command.encode())

    def new_url(self) -> str:
        """Make an empty database, and return its URL."""
        name = f"bounty{next(_numbers)}"
        self.admin(f"CREATE DATABASE {name}")
        return f"postgresql+psycopg://postgres@/{name}?host={self._folder}&port={_PORT}"

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)


@cache
def postgres() -> Postgres:
    """Return the one server of this test run."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    initdb = str(found[-1]) if found else shutil.which("initdb")
    if initdb is None or (os.getuid() == 0 and shutil.which("runuser") is None):
        pytest.fail("PostgreSQL is missing: install Debian's postgresql", pytrace=False)
    return Postgres(Path(initdb).parent)
