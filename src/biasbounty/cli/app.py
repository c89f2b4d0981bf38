"""The app that the commands hang on."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from biasbounty._version import __version__
from biasbounty.cli.backup import backup, restore
from biasbounty.cli.demo import demo
from biasbounty.cli.export import export
from biasbounty.cli.hunt import hunt
from biasbounty.cli.init import init
from biasbounty.cli.ledger import ledger
from biasbounty.cli.moving import close, pause, reopen, resume
from biasbounty.cli.open_bounty import open_bounty
from biasbounty.cli.output import Told
from biasbounty.cli.place import DEFAULT_HOME, Place
from biasbounty.cli.plan import plan
from biasbounty.cli.report import report
from biasbounty.cli.rotate import rotate
from biasbounty.cli.serve import serve, worker
from biasbounty.cli.status import status
from biasbounty.cli.submit import preflight, submit
from biasbounty.cli.token import token

HELP = """Run a bias bounty on any trained model.

Exit codes: 0 done, 1 a fault of ours, 2 a wrong command line, setting or file, 3 a submission refused, 4 not there or
not allowed, 5 a conflict with how things stand, 6 no server or database answers, 7 a ledger or replay does not verify.
"""

app = typer.Typer(
    name="biasbounty",
    cls=Told,
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"biasbounty {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    ctx: typer.Context,
    home: Annotated[
        Path,
        typer.Option(
            envvar="BIASBOUNTY_HOME", metavar="DIR", file_okay=False, help="The folder that an installation is in."
        ),
    ] = DEFAULT_HOME,
    database_url: Annotated[
        str | None,
        typer.Option(
            envvar="BIASBOUNTY_DATABASE_URL",
            metavar="URL",
            help="A PostgreSQL database in place of a folder.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    ctx.obj = Place(home.expanduser(), database_url)


first: tuple[Callable[..., None], ...] = (demo, plan, init)
of_organizers: tuple[Callable[..., None], ...] = (
    *(serve, worker, pause, resume, close, reopen, rotate),
    *(backup, restore, export, report),
)
of_hunters: tuple[Callable[..., None], ...] = (status, preflight, submit, hunt)
for command in first:
    app.command()(command)
app.command("open")(open_bounty)
for command in (*of_organizers, *of_hunters):
    app.command()(command)
app.add_typer(token, name="token")
app.add_typer(ledger, name="ledger")
