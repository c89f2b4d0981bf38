"""`biasbounty token`: tokens are created, listed and revoked by the organizer, at the database."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from biasbounty.cli.output import AsJson, console, say_json
from biasbounty.cli.place import organizer, place_of
from biasbounty.errors import SettingsError

if TYPE_CHECKING:
    from biasbounty.service.people import Token

token = typer.Typer(help="Create, list and revoke tokens.", no_args_is_help=True, rich_markup_mode=None)


@token.command()
def create(
    ctx: typer.Context,
    label: Annotated[str, typer.Option(help="What it is for, for the organizer to know it by.")],
    scope: Annotated[str, typer.Option(help="organizer, hunter or observer.")] = "hunter",
    name: Annotated[str | None, typer.Option(help="The hunter's name on the leaderboard.", show_default=False)] = None,
    team: Annotated[str | None, typer.Option(help="The hunter's team; it shares a quota.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Make a token, and print it, once."""
    from biasbounty.service.people import SCOPES

    chosen = next((each for each in SCOPES if each == scope), None)
    if chosen is None:
        raise SettingsError(f"scope is unknown: expected one of {', '.join(SCOPES)}, got {scope!r:.40}")
    with place_of(ctx).service() as service:
        made, secret = service.create_token(organizer(), chosen, label, name, team)
    _say(made, secret, as_json=as_json)


def _say(made: "Token", secret: str, *, as_json: bool) -> None:
    if as_json:
        say_json({"token": secret, "id": made.id, "scope": made.scope, "hunter": made.hunter})
        return
    typer.echo(secret)
    typer.echo(f"This is {made.id} ({made.scope}, {made.label}), shown once.", err=True)


@token.command("list")
def list_tokens(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List all tokens, without their secrets."""
    with place_of(ctx).service() as service:
        every = service.tokens(organizer())
    if as_json:
        say_json(every)
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("id", "scope", "label", "hunter", "created", ""):
        table.add_column(heading, no_wrap=heading != "label")
    for each in every:
        hunter = each.name or each.hunter or ""
        table.add_row(each.id, each.scope, each.label, hunter, each.created[:10], "revoked" if each.revoked else "")
    console().print(table, markup=False)


@token.command()
def renew(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(help="The token's id, as `biasbounty token list` shows it.")],  # noqa: A002
    as_json: AsJson = False,
) -> None:
    """Make a token anew, for the same person."""
    with place_of(ctx).service() as service:
        made, secret = service.renew_token(organizer(), id)
    _say(made, secret, as_json=as_json)


@token.command()
def revoke(
    ctx: typer.Context,
    id: Annotated[str, typer.Argument(help="The token's id, as `biasbounty token list` shows it.")],  # noqa: A002
    as_json: AsJson = False,
) -> None:
    """Let a token be none from now on."""
    with place_of(ctx).service() as service:
        service.revoke_token(organizer(), id)
    if as_json:
        say_json({"revoked": id})
    else:
        typer.echo(f"{id} is revoked.")
