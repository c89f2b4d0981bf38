"""`biasbounty backup` and `biasbounty restore`: a SQLite installation as one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from biasbounty.cli.output import AsJson, say_json
from biasbounty.cli.place import organizer, place_of
from biasbounty.errors import SettingsError

NewFile = Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False, help="The file to write; it must be new.")]
OldFile = Annotated[
    Path, typer.Argument(metavar="FILE", dir_okay=False, exists=True, help="A file that `biasbounty backup` wrote.")
]


def backup(ctx: typer.Context, file: NewFile, as_json: AsJson = False) -> None:
    """Write the whole installation to one file.

    It may be made while the service runs. It holds all keys and every holdout: keep it as safe as the installation.
    For a PostgreSQL database use pg_dump.
    """
    with place_of(ctx).service() as service:
        service.back_up(organizer(), file)
    if as_json:
        say_json({"file": str(file), "bytes": file.stat().st_size})
    else:
        typer.echo(f"Written to {file}: {file.stat().st_size / 1e6:.1f} MB. Keep it as safe as the installation.")


def restore(ctx: typer.Context, file: OldFile, as_json: AsJson = False) -> None:
    """Put a backup back into a folder that is empty.

    The folder is named by --home or BIASBOUNTY_HOME; an installation that is there is never replaced.
    """
    from biasbounty.store.backups import restore as put_back

    place = place_of(ctx)
    if place.database_url is not None:
        raise SettingsError("backup is put back into a folder: expected --home, got --database-url; use pg_restore")
    put_back(file, place.home).close()
    if as_json:
        say_json({"home": str(place.home)})
    else:
        typer.echo(f"Put back into {place.home}.")
