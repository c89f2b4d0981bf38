"""`biasbounty pause`, `resume`, `close` and `reopen`: the states of a bounty."""

from typing import Annotated

import typer

from biasbounty.cli.output import AsJson, say_json
from biasbounty.cli.place import chosen_bounty, organizer, place_of

Bounty = Annotated[
    str | None, typer.Argument(help="The bounty's id; not needed where there is only one.", show_default=False)
]


def pause(ctx: typer.Context, bounty: Bounty = None, as_json: AsJson = False) -> None:
    """Take no submissions for a while.

    Those that wait are judged.
    """
    _move(ctx, bounty, "pause", as_json)


def resume(ctx: typer.Context, bounty: Bounty = None, as_json: AsJson = False) -> None:
    """Take submissions again."""
    _move(ctx, bounty, "resume", as_json)


def reopen(ctx: typer.Context, bounty: Bounty = None, as_json: AsJson = False) -> None:
    """Take submissions again, while closing.

    Only as long as some wait to be judged.
    """
    _move(ctx, bounty, "reopen", as_json)


def close(ctx: typer.Context, bounty: Bounty = None, as_json: AsJson = False) -> None:
    """End a bounty, and open what was sealed.

    It takes no more submissions, and is closed once all that wait are judged. Then what depends on the holdout is open
    to all, so a closed bounty stays closed.
    """
    _move(ctx, bounty, "close", as_json)


def _move(ctx: typer.Context, bounty: str | None, verb: str, as_json: bool) -> None:
    with place_of(ctx).service() as service:
        view = service.move_bounty(organizer(), chosen_bounty(service, bounty), verb)
    if as_json:
        say_json(view)
        return
    left = view.received - view.judged
    waits = f" once {left} more {'is' if left == 1 else 'are'} judged" if view.state == "closing" and left else ""
    typer.echo(f"{view.id} ({view.name}) is {'closed' if waits else view.state}{waits}.")
