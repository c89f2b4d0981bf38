"""`biasbounty report`: what became of a bounty, as one HTML file, for its organizer."""

from pathlib import Path
from typing import Annotated

import typer

from biasbounty.cli.moving import Bounty
from biasbounty.cli.output import AsJson, console, say_json, telling
from biasbounty.cli.place import chosen_bounty, organizer, place_of
from biasbounty.errors import SettingsError


def report(
    ctx: typer.Context,
    bounty: Bounty = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to write it.")] = Path("biasbounty-report.html"),
    as_json: AsJson = False,
) -> None:
    """Write a report for the organizer, as HTML.

    Risks on the holdout by round, the patched model, every submission.
    """
    from biasbounty.reporting import write_report
    from biasbounty.service.reportable import reportable

    require_file(out)
    with telling(quiet=as_json) as tell, place_of(ctx).service() as service:
        chosen = chosen_bounty(service, bounty)
        tell("reading the bounty")
        found = reportable(service.context, organizer(), chosen)
        view = service.bounty(chosen)
        tell("drawing")
        write_report(found, out, title=view.name, words=f"Bounty {view.id}, opened {view.opened[:10]}, {view.state}.")
    if as_json:
        say_json({"bounty": chosen, "report": str(out.resolve())})
    else:
        console().print(f"Report: {out.resolve()} (it tells of the holdout: for the organizer)", soft_wrap=True)


def require_file(out: Path) -> Path:
    """Raise unless a file can be written there, before there is anything to write."""
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise SettingsError(f"cannot write there: expected a file in an existing folder, got {out}")
    return out
