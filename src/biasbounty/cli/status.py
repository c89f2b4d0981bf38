"""`biasbounty status`: how bounties stand, and what became of one's own submissions."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table

from biasbounty.cli.output import AsJson, as_plain, console, say_json, telling
from biasbounty.cli.place import chosen_bounty, organizer, place_of
from biasbounty.cli.remote import BountyId, Token, Url, connected
from biasbounty.errors import NotAllowedError, NotFoundError

if TYPE_CHECKING:
    from biasbounty.client import BountyInfo
    from biasbounty.service.service import Service

MOST = 15
"""So many submissions are shown; --json has all."""


@dataclass(frozen=True)
class _Status:
    """How a bounty stands."""

    bounty: Any
    submissions: list[Any]
    leaderboard: list[Any]
    before: int = 0
    """How many submissions there were before these."""


def status(
    ctx: typer.Context, bounty: BountyId = None, url: Url = None, token: Token = None, as_json: AsJson = False
) -> None:
    """Say how a bounty and its submissions stand.

    With --url of a server, by one's own token; without, of the installation on this machine, as its organizer.
    """
    if url:
        with connected(url, token) as client, telling(quiet=as_json) as tell:
            tell("asking the server")
            remote = client.bounty(bounty)
            mine = remote.submissions() if token and client.me()["scope"] != "observer" else []
            told = _Status(remote.info, list(mine), _or_none(remote.leaderboard))
    else:
        with place_of(ctx).service() as service:
            view = service.bounty(chosen_bounty(service, bounty))
            first = 0 if as_json else max(0, view.received - MOST)
            told = _Status(
                view, _every(service, view.id, first), list(service.leaderboard(organizer(), view.id)), first
            )
    if as_json:
        say_json(as_plain(told))
    else:
        _show(console(), told)


def _or_none(ask: Any) -> list[Any]:
    """Ask for what not every token may see."""
    try:
        return list(ask())
    except (NotAllowedError, NotFoundError):
        return []


def _every(service: "Service", bounty: str, first: int) -> list[Any]:
    entries: list[Any] = []
    start: int | None = first
    while start is not None:
        page = service.submissions(organizer(), bounty, start, 200)
        entries += page.entries
        start = page.next
    return entries


def _show(out: Console, told: _Status) -> None:
    _show_bounty(out, told.bounty)
    if told.submissions:
        left = told.before + len(told.submissions) - MOST
        out.print(f"\nSubmissions{f' (the last {MOST}; {left} more before)' if left > 0 else ''}")
        out.print(_submissions(told.submissions[-MOST:]), markup=False)
    if told.leaderboard:
        out.print("\nLeaderboard")
        out.print(_leaderboard(told.leaderboard), markup=False)


def _show_bounty(out: Console, info: "BountyInfo") -> None:
    out.print(f"{info.name} ({info.id}) is {info.state}, in round {info.round}.", markup=False)
    out.print(f"{info.judged} of {info.received} submissions are judged; {info.paid:,} of {info.pot:,} cents are paid.")
    out.print(info.guarantee, markup=False)
    if info.resolution is not None and info.state != "closed":
        out.print(
            "A submission that disagrees with the model on 2% of the rows passes now if it contributes "
            f"{info.resolution:.4f} on the holdout."
        )
    out.print(f"Ledger: {info.ledger_size}:{info.ledger_head}", markup=False, soft_wrap=True)


def _submissions(every: list[Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("no.", "id", "state", "round", "cents", "note"):
        table.add_column(heading, no_wrap=True, justify="right" if heading in ("no.", "round", "cents") else "left")
    for each in every:
        verdict = as_plain(each.verdict)
        state = each.state if verdict is None else "accepted" if verdict["accepted"] else "rejected"
        accepted = state == "accepted" and verdict is not None
        figures = (str(verdict["round"]), f"{verdict['payout']:,}") if accepted and verdict else ("", "")
        table.add_row(str(each.place + 1), each.id, state, *figures, (each.reason or each.note)[:30])
    return table


def _leaderboard(every: list[Any]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("hunter", "team", "accepted", "cents"):
        table.add_column(heading, justify="right" if heading in ("accepted", "cents") else "left")
    for each in every:
        table.add_row(each.name or each.hunter, each.team or "", str(each.accepted), f"{each.payout:,}")
    return table
