"""Service: every use case, and who may ask for it. The server goes through here and nowhere else.

What needs a file and no service (reading rows, judging an export anew, restoring a backup) stands in rooms of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Row

from biasbounty.arrays import Array
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.errors import NotFoundError
from biasbounty.exchange.to_onnx import to_onnx
from biasbounty.given import require_words
from biasbounty.ledger.entries import read_line
from biasbounty.service import exporting, lifecycle, opening, people, published, submitting, views
from biasbounty.service.context import Context
from biasbounty.service.data import Data
from biasbounty.service.judging import Judging
from biasbounty.service.people import Identity, Scope, Token
from biasbounty.service.preflight import Preflight, Preflights
from biasbounty.service.recent import Recent
from biasbounty.service.rotating import rotate_keys
from biasbounty.service.rows import SHOWN, read_schema
from biasbounty.service.scoring import Worker
from biasbounty.service.submitting import Handed, Receipt
from biasbounty.service.terms import Terms
from biasbounty.service.views import BountyView, Page, Standing, SubmissionView
from biasbounty.service.withdrawing import withdraw
from biasbounty.store.artifacts import get, get_file
from biasbounty.store.backups import back_up
from biasbounty.store.books import Words, read_lines

LINES = 1000
"""So many lines of a ledger are read at a time."""
MODELS = 8
"""So many rounds are kept as ONNX, and as lists."""


@dataclass(frozen=True)
class OpenedBounty:
    """A bounty that was just opened, and what its organizer should look at."""

    bounty: BountyView
    warnings: tuple[str, ...]


class Service:
    """Every use case. The first argument is who asks, where it matters."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._preflights = Preflights(context)
        self._judges: dict[str, Judging] = {}
        self._models: Recent[bytes] = Recent(MODELS)
        self._lists: Recent[PointerDecisionList] = Recent(MODELS)

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of sandboxes and connections."""
        self._preflights.close()
        self.context.database.close()

    # Tokens and people

    def init(self) -> str:
        """Return the first organizer's token, once."""
        return people.init(self.context)

    def identify(self, secret: str) -> Identity:
        """Return whose token this is."""
        return people.identify(self.context, secret)

    def create_token(
        self, who: Identity, scope: Scope, label: str, name: str | None = None, team: str | None = None
    ) -> tuple[Token, str]:
        """Make a token; return it with its secret, which is shown once."""
        who.require("organizer")
        return people.create_token(self.context, scope, label, name, team)

    def renew_token(self, who: Identity, token: str) -> tuple[Token, str]:
        """Make a token that takes another's place: by the organizer, or by whoever has it."""
        if who.token != token:
            who.require("organizer")
        return people.renew_token(self.context, token)

    def tokens(self, who: Identity) -> list[Token]:
        """Return all tokens, without their secrets."""
        who.require("organizer")
        return people.list_tokens(self.context)

    def revoke_token(self, who: Identity, token: str) -> None:
        """Let a token be none from now on."""
        who.require("organizer")
        people.revoke_token(self.context, token)

    def erase_hunter(self, who: Identity, hunter: str) -> None:
        """Forget a hunter's personal data: by the organizer, or the hunter."""
        if who.hunter != hunter:
            who.require("organizer")
        people.erase_hunter(self.context, hunter)
        for kept in (self._models, self._lists):  # which have the hunter's notes
            kept.clear()

    # Bounties

    def open_bounty(
        self, who: Identity, terms: Terms, model: bytes, data: Data, expected: Array | None = None
    ) -> OpenedBounty:
        """Open a bounty; the model's file is refused if it does not answer as expected on public rows."""
        who.require("organizer")
        prepared = opening.prepare(self.context, terms, model, data, expected)
        bounty = opening.open_bounty(self.context, prepared)
        return OpenedBounty(views.view_bounty(self.context, bounty), prepared.warnings)

    def bounties(self) -> list[BountyView]:
        """Return all bounties, the newest first."""
        return views.list_bounties(self.context)

    def bounty(self, bounty: str) -> BountyView:
        """Return a bounty."""
        return views.view_bounty(self.context, bounty)

    def move_bounty(self, who: Identity, bounty: str, verb: str) -> BountyView:
        """Pause, resume, close or reopen a bounty."""
        who.require("organizer")
        if verb not in lifecycle.MOVES:
            raise NotFoundError(f"verb is unknown: expected one of {', '.join(lifecycle.MOVES)}, got {verb!r:.40}")
        lifecycle.move(self.context, bounty, verb)
        return self.bounty(bounty)

    def annotate(self, who: Identity, bounty: str, text: str, submission: str | None = None) -> int:
        """Write a note in the ledger, or a hunter's dispute of a verdict; return its entry's number."""
        who.require("organizer", "hunter")
        if submission is not None:
            self.submission(who, submission)
        body = {"by": who.scope, "hunter": who.hunter, "submission": submission}
        said = Words(require_words(text, "text"), who.hunter)
        return lifecycle.annotate(self.context, bounty, body, said)

    def file(self, bounty: str, role: str) -> bytes:
        """Return a file that may be shown: train, public or initial model; of a closed bounty, the openings."""
        row = views.bounty_row(self.context, bounty)
        if role not in SHOWN and not (role == lifecycle.OPENINGS and row.state == "closed"):
            raise NotFoundError(f"bounty has no file {role!r:.40}: expected one of {', '.join(sorted(SHOWN))}")
        with self.context.database.read() as connection:
            return get_file(connection, bounty, role)

    def decision_list(self, bounty: str, round: int | None = None) -> PointerDecisionList:
        """Return the patched model, with all rounds up to one."""
        row = views.bounty_row(self.context, bounty)
        number = published.require_round(row, round)
        key = (bounty, number, published.is_hidden(row))
        return self._lists.get(key, lambda: published.decision_list(self.context, bounty, number))

    def model(self, bounty: str, round: int | None = None) -> bytes:
        """Return a round as one ONNX file, which names the line of the ledger that published it."""
        row = views.bounty_row(self.context, bounty)
        number = published.require_round(row, round)
        key = (bounty, number, published.is_hidden(row))
        return self._models.get(key, lambda: self._exported(row, number))

    def _exported(self, row: Row[Any], round: int) -> bytes:
        line = read_line(published.entry_of_round(self.context, row.id, round))
        return to_onnx(self.decision_list(row.id, round), schema=read_schema(row.schema), ledger_hash=line.hash)

    # Submissions

    def submit(self, who: Identity, bounty: str, handed: Handed) -> Receipt:
        """Take a submission; it will be judged in its place."""
        who.require("hunter")
        assert who.hunter is not None  # noqa: S101
        return submitting.submit(self.context, bounty, who.hunter, handed)

    def preflight(self, who: Identity, bounty: str, handed: Handed) -> Preflight:
        """Return what a submission does on public rows."""
        who.require("hunter", "organizer")
        return self._preflights.check(bounty, handed)

    def submission(self, who: Identity, submission: str) -> SubmissionView:
        """Return a submission to its hunter or to the organizer."""
        return views.view_submission(self.context, who, submission)

    def submissions(self, who: Identity, bounty: str, start: int = 0, most: int = 50) -> Page:
        """Return a page of own submissions, or for the organizer of all."""
        return views.list_submissions(self.context, who, bounty, start, most)

    def withdraw(self, who: Identity, submission: str) -> SubmissionView:
        """Take back a submission whose turn has not come."""
        who.require("hunter")
        self.submission(who, submission)
        withdraw(self.context, submission)
        return self.submission(who, submission)

    def leaderboard(self, who: Identity, bounty: str) -> list[Standing]:
        """Return who was paid, and how much."""
        return views.leaderboard(self.context, who, bounty)

    def events(self, bounty: str, after: int = 0, most: int = 100) -> Page:
        """Return what was announced since an event."""
        return views.list_events(self.context, bounty, after, most)

    def ledger(self, bounty: str, start: int = 0, most: int | None = None) -> Iterator[bytes]:
        """Yield the lines of a ledger, some at a time: whoever reads slowly keeps nobody waiting."""
        size = views.bounty_row(self.context, bounty).size
        end = size if most is None else min(size, max(start, 0) + max(most, 0))
        for first in range(max(start, 0), end, LINES):
            with self.context.database.read() as connection:
                lines = list(read_lines(connection, bounty, first, min(LINES, end - first)))
            yield from lines

    def artifact(self, bounty: str, digest: str) -> bytes:
        """Return a file that everyone may have, by its hash: of the opening, or of an accepted submission."""
        views.bounty_row(self.context, bounty)
        with self.context.database.read() as connection:
            if not published.is_shown(connection, bounty, digest):
                raise NotFoundError(f"artifact does not exist: expected the hash of one, got {digest!r:.80}")
            return get(connection, digest)

    def export(self, bounty: str, file: BinaryIO) -> None:
        """Write all of a bounty that everyone may have as one file, which can be verified and replayed."""
        exporting.export(self.context, bounty, file)

    def export_everything(self, who: Identity, bounty: str, file: BinaryIO) -> None:
        """Write all of a bounty as one file, from which its organizer can judge everything anew. It is secret."""
        who.require("organizer")
        exporting.export(self.context, bounty, file, everything=True)

    def rotate_keys(self, who: Identity, bounty: str) -> str:
        """Change the key that signs a bounty's ledger, and the secret of its seals; return the new public key."""
        who.require("organizer")
        return rotate_keys(self.context, bounty)

    def back_up(self, who: Identity, file: Path) -> None:
        """Write a backup of everything to a new file, while the service runs. It holds all keys and holdouts."""
        who.require("organizer")
        back_up(self.context.database, file)

    # Work

    def worker(self, name: str) -> Worker:
        """Return a worker, who scores submissions."""
        return Worker(self.context, name)

    def judge(self, bounty: str) -> int:
        """Judge what can be judged now, in order, close what is over, and return how many were judged."""
        lifecycle.close_in_time(self.context, views.bounty_row(self.context, bounty))
        judging, judged = self._judges.setdefault(bounty, Judging(self.context, bounty)), 0
        while judging.judge_next() is not None:
            judged += 1
        if lifecycle.finish(self.context, bounty):
            self._judges.pop(bounty, None)
        return judged

    def judge_all(self) -> int:
        """Judge every bounty that is not closed."""
        return sum(self.judge(view.id) for view in self.bounties() if view.state != "closed")

    def counts(self) -> dict[str, Any]:
        """Count submissions by state."""
        return views.count_bounties(self.context)
