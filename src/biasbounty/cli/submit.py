"""`biasbounty submit` and `biasbounty preflight`: a group and a model that does better on it."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from biasbounty.cli.output import AsJson, as_plain, console, say_json, telling
from biasbounty.cli.remote import BountyId, GroupText, ModelFile, Token, Url, connected, read_group, read_model

if TYPE_CHECKING:
    from biasbounty.client import Preflight, Submission


def submit(
    group: GroupText,
    model: ModelFile = None,
    note: Annotated[str, typer.Option(help="What others may read once it is accepted.")] = "",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait for the verdict, or not.")] = True,
    key: Annotated[
        str | None,
        typer.Option(help="Handed in twice with one key, it is one submission.", show_default="drawn"),
    ] = None,
    bounty: BountyId = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Hand in a group and a model for it.

    A rejection is an answer: the exit code is 0.
    """
    with connected(url, token) as client, telling(quiet=as_json) as tell:
        chosen, read = client.bounty(bounty), read_group(group)
        handed, words = read_model(chosen, read, model, tell)
        done = chosen.submit(read, handed, note=note, wait=wait, key=key, progress=tell)
    if as_json:
        say_json({"trained": words or None, "accepted": done.accepted, **as_plain(done)})
    else:
        if words:
            console().print(f"Model: {words}.", markup=False)
        show_submission(done)


def preflight(
    group: GroupText,
    model: ModelFile = None,
    bounty: BountyId = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Try a group and a model on public rows.

    It is free, and tells nothing of the holdout.
    """
    with connected(url, token) as client, telling(quiet=as_json) as tell:
        chosen, read = client.bounty(bounty), read_group(group)
        handed, words = read_model(chosen, read, model, tell)
        shown = chosen.preflight(read, handed, progress=tell)
    if as_json:
        say_json({"trained": words or None, **as_plain(shown)})
    else:
        if words:
            console().print(f"Model: {words}.", markup=False)
        show_preflight(shown)


def show_preflight(shown: "Preflight") -> None:
    """Print what a submission does on public rows."""
    console().print(
        f"{shown.group:,} of {shown.rows:,} public rows are in the group; risk there goes from "
        f"{shown.risk_before:.4f} to {shown.risk_after:.4f}. Overall, it contributes {shown.contribution:+.4f}.",
        markup=False,
    )


def show_submission(done: "Submission", out: Console | None = None) -> None:
    """Print what became of a submission."""
    verdict, out = done.verdict, out or console()
    words = done.state if done.reason is None else f"{done.state}: {done.reason}"
    if verdict is not None:
        repairs = ", ".join(f"group {each.group + 1} back to round {each.pointer}" for each in verdict.repairs)
        repaired = f", with repairs: {repairs}" if repairs else ""
        paid = f", and is paid {verdict.payout:,} cents" if verdict.payout else ""
        words = f"accepted: it makes round {verdict.round}{repaired}{paid}" if verdict.accepted else "rejected"
    out.print(f"Submission {done.id} (number {done.place + 1}): {words}.", markup=False)
    receipt = done.receipt
    out.print(f"Receipt: {receipt.entry + 1}:{receipt.head}", markup=False, soft_wrap=True)
