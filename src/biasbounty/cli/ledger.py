"""`biasbounty ledger verify` and `ledger replay`: what a bounty says of itself, checked by anyone, offline."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biasbounty.cli.output import AsJson, as_plain, console, counting, say_json, telling
from biasbounty.cli.serve import Weak
from biasbounty.errors import SettingsError

if TYPE_CHECKING:
    from biasbounty.ledger.chain import Head

ledger = typer.Typer(help="Verify and replay ledgers, offline.", no_args_is_help=True, rich_markup_mode=None)

LedgerFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", exists=True, dir_okay=False, help="What `biasbounty export` wrote, or the lines of a ledger."
    ),
]


@ledger.command()
def verify(
    file: LedgerFile,
    receipt: Annotated[
        list[str] | None,
        typer.Option(metavar="N:HASH", help="What a hunter was given, or a file of it; may be given many times."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="The bounty's first public key, if it is known from elsewhere.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Verify a ledger as its bounty signed it.

    Every hash, signature, artifact and opened seal, and that it goes through the receipts.
    """
    from biasbounty.ledger.chain import head_after
    from biasbounty.ledger.entries import read_line
    from biasbounty.ledger.exported import Exported
    from biasbounty.ledger.verification import verify_ledger

    heads = [read_receipt(each) for each in receipt or ()]
    with telling(quiet=as_json) as tell:
        tell("verifying")
        exported = Exported.read(file)
        verify_ledger(exported, heads, key)
    head = head_after(read_line(exported.lines[-1]))
    if as_json:
        counted = {"artifacts": len(exported.hashes), "openings": len(exported.openings), "receipts": len(heads)}
        say_json({"entries": head.size, "hash": head.hash, **counted})
        return
    out = console()
    out.print(
        f"Verified: {head.size:,} entries, {len(exported.hashes)} artifacts, {len(exported.openings)} opened seals, "
        f"{len(heads)} receipts."
    )
    out.print(f"Head: {head.size}:{head.hash}", soft_wrap=True)


@ledger.command()
def replay(
    file: LedgerFile,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="Score and judge everything anew; takes what `export --everything` wrote."),
    ] = False,
    allow_weak: Weak = False,
    as_json: AsJson = False,
) -> None:
    """Rebuild everything from a ledger, and compare.

    Every round, verdict, repair and payout. Without the holdout that shows that it all adds up; with --judge, which
    needs it, that it was judged rightly.
    """
    from biasbounty.ledger.exported import Exported
    from biasbounty.ledger.replay import replay_ledger
    from biasbounty.service.context import Limits
    from biasbounty.service.replaying import replay_judgements

    exported = Exported.read(file)
    if judge:
        with counting("judging anew", quiet=as_json) as tell:
            replayed = replay_judgements(exported, Limits(allow_weak=allow_weak), tell)
    else:
        with telling(quiet=as_json) as tell_words:
            tell_words("replaying")
            replayed = replay_ledger(exported)
    if as_json:
        say_json({"judged_anew": judge, "newest": replayed.newest, **as_plain(replayed)})
        return
    out = console()
    out.print(
        f"Replayed{', and judged anew' if judge else ''}: {len(replayed.submissions)} submissions, {replayed.verdicts} "
        f"verdicts, {replayed.newest} rounds, {replayed.paid:,} cents paid; all as the ledger says."
    )
    out.print(f"Head: {replayed.head.size}:{replayed.head.hash}", soft_wrap=True)


def read_receipt(given: str) -> "Head":
    """Read a receipt: N:HASH, a receipt as JSON, or a file of either."""
    from biasbounty.ledger.chain import Head

    words = given
    if not re.fullmatch(r"\d+:[0-9a-f]{64}", words):
        words = _text_of(Path(given)).strip()
    plain = re.fullmatch(r"(\d+):([0-9a-f]{64})", words)
    if plain:
        return Head(int(plain[1]), plain[2])
    told = _json(words, given)
    told = told.get("receipt", told)
    try:
        return Head(int(told["entry"]) + 1, str(told["head"]))
    except (KeyError, TypeError, ValueError) as error:
        raise _no_receipt(given) from error


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _no_receipt(str(file)) from error


def _json(words: str, given: str) -> dict[str, Any]:
    try:
        told = json.loads(words)
    except ValueError as error:
        raise _no_receipt(given) from error
    if not isinstance(told, dict):
        raise _no_receipt(given)
    return told


def _no_receipt(given: str) -> SettingsError:
    return SettingsError(
        f"receipt is none: expected N:HASH, or a file that holds it or what `biasbounty submit --json` printed, got "
        f"{given!r:.100}"
    )
