"""Output: how commands speak: to people in at most 80 columns, to programs as JSON, of errors in one line.

Exit codes are a promise; `docs/cli.md` lists them.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from enum import IntEnum
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from biasbounty import errors
from biasbounty.errors import BiasBountyError, RefusedError

WIDTH = 79


class ExitCode(IntEnum):
    """What a command ended with."""

    DONE = 0
    """It did what it was asked to; a rejected submission is an answer, too."""
    FAILED = 1
    """It failed for a reason that is ours."""
    WRONG = 2
    """The command line, a setting, or a file of the organizer is wrong."""
    REFUSED = 3
    """The submission is malformed, cannot be converted, or failed while it ran."""
    NOT_ALLOWED = 4
    """There is no such thing, or the token does not allow it."""
    CONFLICT = 5
    """It does not fit how things stand: a bounty that is closed, a quota that is used up."""
    UNREACHABLE = 6
    """No server, or no database, answers."""
    NOT_VERIFIED = 7
    """A ledger is not what it was, or a replay comes out differently."""
    INTERRUPTED = 130
    """It was interrupted from the keyboard."""


CODES: tuple[tuple[type[BiasBountyError], ExitCode], ...] = (
    (errors.NotFoundError, ExitCode.NOT_ALLOWED),
    (errors.NotAllowedError, ExitCode.NOT_ALLOWED),
    (errors.UnreachableError, ExitCode.UNREACHABLE),
    (errors.StoreError, ExitCode.UNREACHABLE),
    (errors.BountyStoppedError, ExitCode.CONFLICT),
    (errors.ServiceError, ExitCode.CONFLICT),
    (errors.SubmissionError, ExitCode.REFUSED),
    (errors.ConversionError, ExitCode.REFUSED),
    (errors.LedgerError, ExitCode.NOT_VERIFIED),
    (errors.ReplayError, ExitCode.NOT_VERIFIED),
    (BiasBountyError, ExitCode.WRONG),
)


def exit_code(error: BaseException) -> ExitCode:
    """Return what a command that raised this ends with."""
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    return next((code for kind, code in CODES if isinstance(error, kind)), ExitCode.FAILED)


class Told(TyperGroup):
    """A group of commands whose errors are told in one line, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; end with the exit code of what it raised."""
        try:
            return super().invoke(ctx)
        except (typer.Exit, typer.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if hasattr(error, "show"):  # what is wrong with a command line, typer says itself
                raise
            tell_error(error, as_json=bool(ctx.find_root().meta.get("json")))
            raise typer.Exit(exit_code(error)) from error


def tell_error(error: BaseException, *, as_json: bool) -> None:
    """Say what went wrong, on stderr."""
    if as_json:
        told = {"error": type(error).__name__, "detail": _words(error), "exit_code": int(exit_code(error))}
        if isinstance(error, RefusedError):
            told["reasons"] = list(error.reasons)
        typer.echo(json.dumps(told), err=True)
    else:
        typer.echo(f"Error: {_words(error)}", err=True)


def _words(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, BiasBountyError):
        return str(error)
    words = " ".join(str(error).split())
    if isinstance(error, OSError):
        return f"file or network does not do it: expected it to, got {words}"
    return f"this is a fault of biasbounty: expected no {type(error).__name__}, got one: {words}; please report it"


def _remember(ctx: typer.Context, wanted: bool) -> bool:
    ctx.find_root().meta["json"] = wanted
    return wanted


AsJson = Annotated[
    bool, typer.Option("--json", callback=_remember, help="Print the outcome as JSON, and nothing else.")
]
"""The option that every command has."""


def console(*, quiet: bool = False) -> Console:
    """Return where to print to: 79 columns unless a terminal says otherwise; nowhere if quiet."""
    made = Console(highlight=False, quiet=quiet)
    return made if made.is_terminal else Console(width=WIDTH, highlight=False, quiet=quiet)


def say_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(as_plain(value), indent=2, ensure_ascii=False))


def as_plain(value: Any) -> Any:
    """Return a value as JSON holds it: dataclasses become objects, sets lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return as_plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): as_plain(each) for key, each in value.items()}
    return [as_plain(each) for each in value] if isinstance(value, (list, tuple, set)) else value


@contextmanager
def telling(*, quiet: bool, out: Console | None = None) -> Iterator[Callable[[str], None]]:
    """Show what is being done, on a terminal: a spinner, words and the time it takes; print to `out` meanwhile."""
    columns = (TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with _progress(*columns, quiet=quiet, out=out) as progress:
        task = progress.add_task("")

        def tell(words: str) -> None:
            progress.update(task, description=words if len(words) < 60 else f"{words[:57]}...")

        yield tell


@contextmanager
def counting(words: str, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """Show how many of something are done, of how many."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with _progress(*columns, quiet=quiet) as progress:
        task = progress.add_task(words, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _progress(*columns: Any, quiet: bool, out: Console | None = None) -> Progress:
    shown = out or Console(stderr=True)
    return Progress(SpinnerColumn(), *columns, console=shown, transient=True, disable=quiet or not shown.is_terminal)


def is_terminal() -> bool:
    """Say whether a person is at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()
