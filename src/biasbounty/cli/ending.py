"""The end of the demo: the bounty is closed, its ledger verified and replayed, its files written."""

import io
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from biasbounty.cli.demo_service import Stage, holdout_risk
from biasbounty.cli.export import LEDGER, MODEL, write_files
from biasbounty.cli.place import organizer

if TYPE_CHECKING:
    from biasbounty.client import Receipt
    from biasbounty.service.data import Data

POLL_SECONDS = 0.05
REPORT = "report.html"


@dataclass(frozen=True)
class Ending:
    """What came of it."""

    entries: int
    """Of the ledger."""
    replayed: int
    """How many verdicts were reached again from the ledger and the holdout."""
    judged_risk: float
    """Of the newest round on the holdout, as the judge has it."""
    risk: float
    """Of the exported ONNX file, asked about the holdout."""
    files: tuple[str, ...]


def end(
    stage: Stage,
    bounty: str,
    data: "Data",
    receipts: "Sequence[Receipt]",
    out: Path,
    tell: Callable[[str], None],
) -> Ending:
    """Close a bounty, verify its ledger as anybody can, replay it, and write its files."""
    from biasbounty.client import Client
    from biasbounty.ledger.exported import Exported
    from biasbounty.ledger.replay import replay_ledger
    from biasbounty.reporting import write_report
    from biasbounty.service.replaying import replay_judgements
    from biasbounty.service.reportable import reportable

    tell("closing the bounty")
    stage.service.move_bounty(organizer(), bounty, "close")
    while stage.service.bounty(bounty).state != "closed":
        time.sleep(POLL_SECONDS)
    tell("verifying the ledger")
    with Client(stage.url) as anybody:
        entries = anybody.bounty(bounty).verify_ledger(receipts)
    files = write_files(stage.service, bounty, out, tell)
    tell("replaying the ledger")
    replay_ledger(Exported.read(out / LEDGER))
    tell("judging everything anew")
    whole = io.BytesIO()
    stage.service.export_everything(organizer(), bounty, whole)
    replayed = replay_judgements(Exported.read(whole.getvalue()), stage.service.context.limits)
    tell("writing the report")
    found = reportable(stage.service.context, organizer(), bounty)
    write_report(found, out / REPORT, title=stage.service.bounty(bounty).name, words="The demo's bounty.")
    risk = holdout_risk(data, (out / MODEL).read_bytes())
    return Ending(entries, replayed.verdicts, found.risk(), risk, (*files, REPORT))
