"""`biasbounty export`: what is left of a bounty in files: the patched model as ONNX, and the ledger."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biasbounty.cli.moving import Bounty
from biasbounty.cli.output import AsJson, console, say_json, telling
from biasbounty.cli.place import chosen_bounty, organizer, place_of

if TYPE_CHECKING:
    from biasbounty.service.service import Service

MODEL, LEDGER, SECRET = "model.onnx", "ledger.zip", "ledger-secret.zip"


def export(
    ctx: typer.Context,
    bounty: Bounty = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", file_okay=False, help="The folder to write to; made if it is not there.")
    ] = Path("biasbounty-export"),
    round: Annotated[int | None, typer.Option(help="The round of the model.", show_default="the newest")] = None,
    everything: Annotated[
        bool, typer.Option("--everything", help=f"Write {SECRET}, too, which holds the holdout: keep it secret.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the patched model and the ledger to files.

    The model is one ONNX file; the ledger comes with all that anyone needs to verify and replay it.
    """
    with telling(quiet=as_json) as tell, place_of(ctx).service() as service:
        chosen = chosen_bounty(service, bounty)
        files = write_files(service, chosen, out, tell, round, everything=everything)
    if as_json:
        say_json({"bounty": chosen, "files": [str((out / name).resolve()) for name in files]})
    else:
        console().print(f"In {out}: {', '.join(files)}.", soft_wrap=True, markup=False)


def write_files(
    service: "Service",
    bounty: str,
    out: Path,
    tell: Callable[[str], None],
    round: int | None = None,
    *,
    everything: bool = False,
) -> list[str]:
    """Write a bounty's files to a folder, and return their names."""
    out.mkdir(parents=True, exist_ok=True)
    tell("exporting the model")
    (out / MODEL).write_bytes(service.model(bounty, round))
    tell("writing the ledger")
    with (out / LEDGER).open("wb") as file:
        service.export(bounty, file)
    if not everything:
        return [MODEL, LEDGER]
    (out / SECRET).touch(mode=0o600)
    with (out / SECRET).open("wb") as file:
        service.export_everything(organizer(), bounty, file)
    return [MODEL, LEDGER, SECRET]
