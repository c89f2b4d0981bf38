"""Every command, option and exit code is documented: in its own help, and in docs/cli.md."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from biasbounty.cli.app import app
from biasbounty.cli.output import ExitCode
from tests.cli.running import run

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()


def _commands(command: Any, *names: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield " ".join(names), command
    else:
        for name, each in inner.items():
            yield from _commands(each, *names, name)


COMMANDS = dict(_commands(typer.main.get_command(app)))


def _section(name: str) -> str:
    """Return what the page says of a command."""
    found = re.search(rf"^### `biasbounty {name}`\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, f"docs/cli.md has no section on {name}"
    return found[1]


def test_all_commands_that_were_promised_are_there() -> None:
    promised = {"demo", "init", "serve", "worker", "open", "close", "pause", "resume", "submit", "preflight", "hunt"}
    promised |= {"status", "plan", "export", "report", "ledger verify", "ledger replay", "token create"}
    assert promised <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_and_all_its_options_are_documented(name: str) -> None:
    command, section = COMMANDS[name], _section(name)
    assert command.help
    assert len(command.help.splitlines()[0]) <= 55
    for option in command.params:
        if option.name == "help":
            continue
        words = option.opts[0] if option.param_type_name == "option" else (option.metavar or option.name.upper())
        assert f"`{words}" in section, (name, words)
        assert option.help, (name, words)
    for said in re.findall(r"`(--[a-z-]+)", section):
        known = {each for option in command.params for each in (*option.opts, *option.secondary_opts)}
        assert said in known, (name, said)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_prints_json_if_asked_and_helps_in_80_columns(name: str) -> None:
    assert any("--json" in option.opts for option in COMMANDS[name].params), name
    done = run(*name.split(), "--help")
    assert done.exit_code == 0
    assert all(len(line) <= 80 for line in done.output.splitlines())


def test_every_exit_code_is_documented() -> None:
    for code in ExitCode:
        assert re.search(rf"^\| {int(code)} \| ", PAGE, re.MULTILINE), code
        assert ExitCode.__members__[code.name] is code
    listed = " ".join(run("--help").output.split()).split("Exit codes: ")[1].split(". ")[0]
    assert re.findall(r"(\d) ", listed) == [str(int(code)) for code in list(ExitCode)[:-1]]


def test_every_global_option_and_variable_is_documented() -> None:
    for words in ("--home", "--database-url", "--version", "BIASBOUNTY_HOME", "BIASBOUNTY_DATABASE_URL"):
        assert f"`{words}" in PAGE
    assert "`BIASBOUNTY_URL`" in PAGE
    assert "`BIASBOUNTY_TOKEN`" in PAGE
