"""`biasbounty demo`: a whole bounty as a service, from the opening to the patched model, on a folder of its own.

Organizer, server, sandbox, judge and ledger are the real ones; the five hunters are scripts that come in over HTTP, as
anybody would. With --paper it is the paper's first experiment instead.
"""

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from biasbounty.cli.output import AsJson, as_plain, console, is_terminal, say_json, telling
from biasbounty.cli.paper import paper
from biasbounty.cli.serve import Weak

if TYPE_CHECKING:
    from biasbounty.cli.demo_hunters import Hunted
    from biasbounty.cli.demo_service import Stage
    from biasbounty.cli.ending import Ending
    from biasbounty.service.data import Data

DEFAULT_OUT = Path("biasbounty-demo")
HEADINGS = ("hunter", "its group", "risk, public rows", "verdict", "paid")
ROW = "{:<20}  {:<24}  {:<17} {:<8} {:>4}"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", file_okay=False, help="The folder to write ledger, model and report to.")
    ] = DEFAULT_OUT,
    serve: Annotated[
        bool | None,
        typer.Option("--serve/--no-serve", help="Keep serving at the end, or not.", show_default="if a terminal"),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The server's port; 0 for any that is free.")] = 0,
    the_paper: Annotated[
        bool, typer.Option("--paper", help="Do the paper's first experiment instead, in process; writes its report.")
    ] = False,
    allow_weak: Weak = False,
    as_json: AsJson = False,
) -> None:
    """Run a whole bounty on the bundled census sample.

    It is opened, hunted on over HTTP by five scripts, closed, verified, replayed and exported, on a folder of its own.
    """
    shown = console(quiet=as_json)
    out.mkdir(parents=True, exist_ok=True)
    if the_paper:
        paper(shown, out / "report.html")
        return
    from biasbounty.cli.demo_service import on_stage

    with tempfile.TemporaryDirectory(prefix="biasbounty-demo-") as folder:
        with telling(quiet=as_json, out=shown) as tell:
            tell("starting the service")
            stage = on_stage(Path(folder), port, allow_weak=allow_weak)
            running = stage.__enter__()
        try:
            _play(running, out, shown, allow_weak=allow_weak, as_json=as_json)
            if is_terminal() and not as_json if serve is None else serve:
                _wait(shown, running)
        finally:
            stage.__exit__(None, None, None)


def _play(stage: "Stage", out: Path, shown: Console, *, allow_weak: bool, as_json: bool) -> None:
    """Run the bounty from its opening to its end."""
    from biasbounty.cli.demo_service import census, crude_model, holdout_risk, opened
    from biasbounty.cli.ending import end

    with telling(quiet=as_json, out=shown) as tell:
        tell("opening the bounty")
        data = census()
        model = crude_model(data)
        bounty = opened(stage.service, data, model).bounty
    before = holdout_risk(data, model)
    _print_story(shown, data, before, bounty.guarantee)
    if allow_weak:
        _print_sandbox(shown)
    hunted = _hunts(stage, bounty.id, shown, as_json=as_json)
    with telling(quiet=as_json, out=shown) as tell:
        ending = end(stage, bounty.id, data, [each.submission.receipt for each in hunted], out, tell)
    if as_json:
        say_json(
            {"url": stage.url, "bounty": bounty.id, "hunted": _plain(hunted), "before": before, **as_plain(ending)}
        )
    _print_ending(shown, hunted, before, ending, out)


def _print_sandbox(shown: Console) -> None:
    """Say what a weak sandbox would be, and whether this is one."""
    import numpy as np

    from biasbounty.sandbox import Sandbox

    with Sandbox(np.zeros((1, 1)), allow_weak=True) as sandbox:
        lacking = sandbox.layers.lacking
    here = (
        f"this machine lacks {lacking}, so models are locked in weakly" if lacking else "this machine has all of them"
    )
    shown.print(
        "[dim]Models run in a sandbox, and with --allow-weak-sandbox even where some of its layers are not to be had: "
        f"{here}.[/dim]\n"
    )


def _plain(hunted: "list[Hunted]") -> list[object]:
    return [
        {"hunter": each.hunter.way, **as_plain(each.submission), "public": as_plain(each.public)} for each in hunted
    ]


def _print_story(shown: Console, data: "Data", before: float, guarantee: str) -> None:
    shown.print("[b]A bias bounty on census data[/b] (Massachusetts, 2018)\n")
    shown.print(
        f"A crude model says who is employed. The service holds {len(data.holdout):,} people back, whom only its judge "
        f"sees; the model is wrong about {before:.2%} of them: its risk. Hunters see {len(data.train):,} others to "
        f"learn from and {len(data.public):,} to try on. Five come in over HTTP, each with a group and a model.\n"
    )
    shown.print(f"[dim]{guarantee}[/dim]\n")


def _hunts(stage: "Stage", bounty: str, shown: Console, *, as_json: bool) -> "list[Hunted]":
    """Let the hunters come in one after another, and say of each what became of it."""
    from biasbounty.cli.demo_hunters import HUNTERS, hunt
    from biasbounty.cli.place import organizer
    from biasbounty.client import Client

    done: list[Hunted] = []
    shown.print(f"[dim]{ROW.format(*HEADINGS)}[/dim]", soft_wrap=True)
    with telling(quiet=as_json, out=shown) as tell:
        for hunter in HUNTERS:
            _, secret = stage.service.create_token(organizer(), "hunter", hunter.way)
            with Client(stage.url, secret) as client:
                done.append(hunt(hunter, client.bounty(bounty), tell))
            _print_hunted(shown, done)
    return done


def _print_hunted(shown: Console, done: "list[Hunted]") -> None:
    last = done[-1]
    verdict, public = last.submission.verdict, last.public
    accepted = verdict is not None and verdict.accepted
    paid = f"${verdict.payout // 100}" if accepted and verdict is not None else ""
    change = f"{public.risk_before:.4f} -> {public.risk_after:.4f}"
    said = "accepted" if accepted else last.submission.state if verdict is None else "rejected"
    line = ROW.format(last.hunter.way, last.hunter.group, change, said, paid).rstrip()
    shown.print(line if accepted else f"[dim]{line}[/dim]", soft_wrap=True)
    groups = [each.hunter.group for each in done if each.submission.accepted]
    for repair in verdict.repairs if verdict is not None else ():
        words = f"repair: {groups[repair.group]} go back to round {repair.pointer}"
        shown.print(f"{'':<20}  {words}", soft_wrap=True)


def _print_ending(shown: Console, hunted: "list[Hunted]", before: float, ending: "Ending", out: Path) -> None:
    verdicts = [each.submission.verdict for each in hunted if each.submission.verdict is not None]
    accepted, repairs = sum(each.accepted for each in verdicts), sum(len(each.repairs) for each in verdicts)
    shown.print(
        f"\n{accepted} accepted, {len(hunted) - accepted} rejected, {repairs} "
        f"{'repair' if repairs == 1 else 'repairs'}; holdout risk [b]{before:.4f} -> {ending.risk:.4f}[/b]. A repair "
        "keeps a group that was fixed once from getting worse. Who learned public rows by heart did well there alone.\n"
    )
    shown.print(
        f"Closed. All {ending.entries} entries of the ledger verify, and go through the hunters' {len(hunted)} "
        f"receipts; replayed with the holdout, all {ending.replayed} verdicts come out the same. The exported model's "
        f"risk on the holdout is {ending.risk:.4f}, the judge's figure {ending.judged_risk:.4f}.\n"
    )
    shown.print(f"In {out}: {', '.join(ending.files)}.", soft_wrap=True, markup=False)


def _wait(shown: Console, stage: "Stage") -> None:
    shown.print(f"\nServing at {stage.url} (try {stage.url}/api/v1/bounties); Ctrl-C ends it.", soft_wrap=True)
    try:
        while True:
            time.sleep(1)
    except KeyboardInterrupt:
        shown.print("Ended; the service's folder is gone.")
