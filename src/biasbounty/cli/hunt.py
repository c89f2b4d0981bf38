"""`biasbounty hunt`: an algorithm searches, and hands in what it finds."""

from typing import Annotated, Any

import typer

from biasbounty.cli.output import AsJson, as_plain, console, say_json, telling
from biasbounty.cli.remote import BountyId, Token, Url, connected
from biasbounty.cli.submit import show_submission
from biasbounty.errors import SettingsError

FINDERS = {
    "slices": "SliceFinder",
    "residual": "ResidualFinder",
    "alternating": "AlternatingFinder",
    "ternary": "TernaryFinder",
}


def hunt(
    finder: Annotated[str, typer.Option(help=f"Which algorithm: {', '.join(FINDERS)}.")] = "slices",
    submissions: Annotated[int, typer.Option(min=1, help="How many to hand in at most.")] = 1,
    seed: Annotated[int, typer.Option(help="Where all chance comes from.")] = 0,
    bounty: BountyId = None,
    url: Url = None,
    token: Token = None,
    as_json: AsJson = False,
) -> None:
    """Let an algorithm search, and hand in its finds.

    It searches train rows for what the newest round does badly; what does better on public rows, too, is handed in.
    """
    done, out = [], console()
    with connected(url, token) as client, telling(quiet=as_json, out=out) as tell:
        for submission in client.bounty(bounty).hunt(_finder(finder), submissions, seed=seed, progress=tell):
            done.append(submission)
            if not as_json:
                out.print(f"Found {submission.note}", markup=False)
                show_submission(submission, out)
    if as_json:
        say_json({"submissions": [as_plain(each) for each in done]})
    elif not done:
        out.print("Nothing was found that does better on public rows; nothing was handed in.")


def _finder(name: str) -> Any:
    if name not in FINDERS:
        raise SettingsError(f"finder is unknown: expected one of {', '.join(FINDERS)}, got {name!r:.40}")
    from biasbounty import finders

    return getattr(finders, FINDERS[name])()
