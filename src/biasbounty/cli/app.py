"""The app that the commands hang on."""

import typer

from biasbounty._version import __version__
from biasbounty.cli.demo import demo
from biasbounty.cli.plan import plan

app = typer.Typer(
    name="biasbounty",
    help="Run a bias bounty on any trained model.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"biasbounty {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


app.command()(demo)
app.command()(plan)
