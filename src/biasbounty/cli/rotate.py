"""`biasbounty rotate`: a new signing key for a bounty's ledger."""

import typer

from biasbounty.cli.moving import Bounty
from biasbounty.cli.output import AsJson, say_json
from biasbounty.cli.place import chosen_bounty, organizer, place_of


def rotate(ctx: typer.Context, bounty: Bounty = None, as_json: AsJson = False) -> None:
    """Sign a bounty's ledger by a new key.

    The old key signs an entry that names the new one, so that the ledger verifies as before.
    """
    with place_of(ctx).service() as service:
        chosen = chosen_bounty(service, bounty)
        key = service.rotate_keys(organizer(), chosen)
    if as_json:
        say_json({"bounty": chosen, "key": key})
    else:
        typer.echo(f"{chosen} signs by {key} from now on.")
