"""Place: where an installation is: a folder with SQLite in it, or a PostgreSQL database."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from biasbounty.errors import NotFoundError, SettingsError

if TYPE_CHECKING:
    from biasbounty.service.context import Limits
    from biasbounty.service.people import Identity
    from biasbounty.service.service import Service
    from biasbounty.store import Database

DEFAULT_HOME = Path("~/.biasbounty")
FILE = "biasbounty.db"


@dataclass(frozen=True)
class Place:
    """Where an installation is."""

    home: Path
    database_url: str | None = None

    @property
    def words(self) -> str:
        """Where it is, in words without a password."""
        return str(self.home) if self.database_url is None else "the database of --database-url"

    def database(self, *, create: bool = False) -> "Database":
        """Return the database; raise if there is none, unless one is to be made."""
        from biasbounty.store import Database

        if self.database_url is not None:
            database = Database(self.database_url)
        elif create or (self.home / FILE).is_file():
            database = Database.in_folder(self.home)
        else:
            raise SettingsError(
                f"there is no installation: expected one in {self.home}, got none; run `biasbounty init`, or name "
                "another by --home or BIASBOUNTY_HOME"
            )
        database.migrate()
        return database

    @contextmanager
    def service(self, limits: "Limits | None" = None, *, create: bool = False) -> Iterator["Service"]:
        """Open the service on it, in this process."""
        from biasbounty.service.context import Context, Limits
        from biasbounty.service.service import Service

        with Service(Context(self.database(create=create), limits=limits or Limits())) as service:
            yield service


def place_of(ctx: typer.Context) -> Place:
    """Return where the command line says that the installation is."""
    place = ctx.find_root().obj
    assert isinstance(place, Place)  # noqa: S101
    return place


def organizer() -> "Identity":
    """Return who whoever has the database at hand is."""
    from biasbounty.service.people import Identity

    return Identity("at the database", "organizer")


def chosen_bounty(service: "Service", bounty: str | None) -> str:
    """Return the id of the bounty that is meant: the one named, or the only one."""
    if bounty is not None:
        return service.bounty(bounty).id
    every = service.bounties()
    left = [each for each in every if each.state != "closed"] or every
    if len(left) != 1:
        known = ", ".join(f"{each.id} ({each.name})" for each in left[:5]) or "none"
        raise NotFoundError(f"bounty is not named: expected the id of one, got none, and there are: {known}")
    return left[0].id
