"""Client: a server of biasbounty, as one token sees it."""

from typing import Any

from biasbounty.client.bounty import RemoteBounty
from biasbounty.client.http import Http
from biasbounty.client.values import BountyInfo, read
from biasbounty.errors import NotFoundError


class Client:
    """A server of biasbounty.

    Args:
        url: Its address, as `biasbounty serve` prints it.
        token: A hunter's token, as the organizer hands it out; without one, only what anyone may see is to be had.
        options: Settings of the connection: `transport`, `tries` and `sleep` of `biasbounty.client.http.Http`.
    """

    def __init__(self, url: str, token: str | None = None, **options: Any) -> None:
        self._http = Http(url, token, **options)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self._http.url!r})"

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def bounties(self) -> list[BountyInfo]:
        """Return all bounties, the newest first."""
        return [read(BountyInfo, each) for each in self._http.entries("/bounties")]

    def bounty(self, id: str | None = None) -> RemoteBounty:  # noqa: A002
        """Return a bounty; without an id, the one that is there."""
        if id is not None:
            return RemoteBounty(self._http, read(BountyInfo, self._http.json("GET", f"/bounties/{named(id)}")))
        every = self.bounties()
        chosen = [each for each in every if each.state == "open"] or every
        if len(chosen) != 1:
            known = ", ".join(f"{each.id} ({each.name})" for each in chosen[:5]) or "none"
            raise NotFoundError(f"bounty is not named: expected the id of one, got none, and there are: {known}")
        return RemoteBounty(self._http, chosen[0])

    def me(self) -> dict[str, Any]:
        """Return whose token this is."""
        told: dict[str, Any] = self._http.json("GET", "/me")
        return told


def named(id: str) -> str:  # noqa: A002
    """Return an id as a part of a path; raise NotFoundError for what is no id."""
    if not isinstance(id, str) or not id.isalnum() or not id.isascii():
        raise NotFoundError(f"bounty does not exist: expected the id of one, got {id!r:.80}")
    return id
