"""`biasbounty init`: a new installation, and the token of its first organizer."""

import typer

from biasbounty.cli.output import AsJson, say_json
from biasbounty.cli.place import place_of


def init(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Make a new installation, and print its token.

    The token is the organizer's, and printed once: it is kept as a hash only. The installation is in the folder of
    --home, or in the PostgreSQL database of --database-url, which must exist.
    """
    place = place_of(ctx)
    with place.service(create=True) as service:
        token = service.init()
    if as_json:
        say_json({"token": token, "home": None if place.database_url else str(place.home)})
        return
    typer.echo(token)
    typer.echo(f"This is the organizer's token, shown once; the installation is {place.words}.", err=True)
    typer.echo("Next: biasbounty open --help, biasbounty serve", err=True)
