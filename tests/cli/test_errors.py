"""Whatever goes wrong ends in one line that says what to do, and in an exit code that scripts can tell apart."""

import signal
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from biasbounty import errors
from biasbounty.cli.output import CODES, AsJson, ExitCode, Told, exit_code

RAISED: dict[str, BaseException] = {
    "fault": ZeroDivisionError("division by zero"),
    "disk": OSError(28, "No space left on device"),
    "refused": errors.RefusedError(["graph is empty: expected a node, got none", "opset is old: expected 13, got 1"]),
    "keyboard": KeyboardInterrupt(),
}


def _app() -> typer.Typer:
    app = typer.Typer(cls=Told, pretty_exceptions_enable=False)

    @app.callback()
    def _root() -> None:
        pass

    @app.command()
    def fail(what: str, as_json: AsJson = False) -> None:
        raise RAISED[what]

    return app


@pytest.mark.parametrize(
    ("what", "code", "words"),
    [
        ("fault", 1, "Error: this is a fault of biasbounty: expected no ZeroDivisionError, got one: division by zero"),
        ("disk", 1, "Error: file or network does not do it: expected it to, got [Errno 28] No space left on device"),
        ("refused", 3, "Error: graph is empty: expected a node, got none; opset is old: expected 13, got 1"),
        ("keyboard", 130, "Error: interrupted"),
    ],
)
def test_errors_are_one_line_without_a_traceback(what: str, code: int, words: str) -> None:
    done = CliRunner().invoke(_app(), ["fail", what])
    assert done.exit_code == code
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(words)


def test_as_json_they_name_the_exception_and_every_reason() -> None:
    done = CliRunner().invoke(_app(), ["fail", "refused", "--json"])
    assert done.stdout == ""
    assert '"error": "RefusedError"' in done.stderr
    assert '"exit_code": 3' in done.stderr
    assert '"reasons": ["graph is empty' in done.stderr


def test_every_exception_of_ours_has_an_exit_code_of_its_kind() -> None:
    every = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    ours = [each for each in every if issubclass(each, errors.BiasBountyError)]
    codes = {each.__name__: exit_code(each(["x"]) if each is errors.RefusedError else each("x")) for each in ours}
    assert ExitCode.FAILED not in codes.values()
    assert codes["PredicateError"] is codes["ConversionError"] is ExitCode.REFUSED
    assert codes["QuotaError"] is codes["BountyStoppedError"] is ExitCode.CONFLICT
    assert codes["HoldoutTooSmallError"] is codes["MissingExtraError"] is ExitCode.WRONG
    assert codes["LedgerError"] is codes["ReplayError"] is ExitCode.NOT_VERIFIED
    assert len(CODES) >= 10


def test_an_interruption_from_the_keyboard_ends_a_command_with_130() -> None:
    words = ["-m", "biasbounty", "status", "--url", "http://127.0.0.1:9", "--token", "bb_x"]
    with subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)  # it tries for about nine seconds
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr is not None
        assert process.stderr.read().strip() == "Error: interrupted"
