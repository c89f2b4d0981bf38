"""Replay of a ledger: every round, verdict, repair and payout again, from the file alone.

What anyone can do without the holdout: submissions are judged once each, in order of receipt; rounds follow one another
and repairs point back; payouts add up and stay within the pot; each round's hash is that of the list so far. Where what
was sealed is open, the payouts are those that the evidence earns, and what was judged is what was handed in. To judge
anew takes the holdout: `service.replaying`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from biasbounty.core.payouts import Payouts
from biasbounty.errors import BiasBountyError, LedgerError, ReplayError
from biasbounty.ledger.chain import Head, head_after, verified
from biasbounty.ledger.entries import Line
from biasbounty.ledger.exported import Exported
from biasbounty.ledger.lists import initial_hash, round_hash
from biasbounty.ledger.verification import text_of
from biasbounty.statistics import Evidence

MOVES = {"paused": ("open",), "open": ("paused", "closing"), "closing": ("open", "paused"), "closed": ("closing",)}
"""Which states a bounty comes from, by the state it enters."""
OVER = ("refused", "failed")


@dataclass
class Replayed:
    """What becomes of a bounty by its ledger, so far."""

    head: Head = field(default_factory=Head)
    terms: Mapping[str, Any] = field(default_factory=dict)
    state: str = ""
    submissions: list[str] = field(default_factory=list)
    """Their ids, in order of receipt."""
    withdrawn: set[int] = field(default_factory=set)
    """The places that were taken back."""
    over: int = 0
    """How many places are judged or passed over."""
    verdicts: int = 0
    """How many were judged."""
    lists: list[str] = field(default_factory=list)
    """The hash of each round."""
    paid: int = 0

    @property
    def newest(self) -> int:
        """The number of the newest round."""
        return len(self.lists) - 1


def replay_ledger(exported: Exported) -> Replayed:
    """Return what becomes of a bounty by its ledger; raise ReplayError where the ledger says otherwise."""
    replay = _Replay({opening.number: opening.value for opening in exported.openings})
    return replay.of(verified(exported.lines))


class _Replay:
    def __init__(self, opened: Mapping[int, Any]) -> None:
        self._opened, self._so_far = opened, Replayed()
        self._payouts: Payouts | None = None
        self._handed_in: dict[int, Any] = {}

    def of(self, lines: Iterable[Line]) -> Replayed:
        """Take one line after another."""
        """Take the lines one by one, and return where they lead."""
        for line in lines:
            try:
                self._take(line)
            except (KeyError, TypeError, ValueError) as error:
                raise ReplayError(
                    f"replay fails at entry {line.entry.number}: {type(error).__name__} {error}"
                ) from error
            except LedgerError as error:
                raise ReplayError(f"replay fails at entry {line.entry.number}: {error}") from error
            self._so_far.head = head_after(line)
        return self._so_far

    def _take(self, line: Line) -> None:
        kind, at = line.entry.kind, self._so_far
        if (kind == "opened") != (not at.state):
            raise LedgerError(f"a bounty is opened by its first entry: expected that once, got {kind!r:.40}")
        if kind == "opened":
            self._open(line.entry.body)
        elif kind in MOVES:
            self._move(kind)
        elif kind == "received":
            self._receive(line)
        elif kind == "judged":
            self._judge(line)
        elif kind in OVER:
            self._require_turn(line)
        elif kind == "withdrawn":
            self._withdraw(line)
        elif kind not in ("note", "key"):
            raise LedgerError(f"entry is of an unknown kind: expected one of this version's, got {kind!r:.40}")

    def _open(self, body: Mapping[str, Any]) -> None:
        terms, at = body["terms"], self._so_far
        rate = terms["rate"]
        try:
            self._payouts = Payouts(terms["pot"], float(terms["grid"]), None if rate is None else float(rate))
        except BiasBountyError as error:
            raise LedgerError(f"terms cannot be: {error}") from error
        at.terms, at.state = terms, "open"
        at.lists.append(initial_hash(text_of(body, "model")))

    def _move(self, state: str) -> None:
        at = self._so_far
        _expect("state before", " or ".join(MOVES[state]), at.state, at.state in MOVES[state])
        self._pass_withdrawn()
        if state == "closed":
            _expect("number of places over at the close", len(at.submissions), at.over)
        at.state = state

    def _receive(self, line: Line) -> None:
        at, body = self._so_far, line.entry.body
        _expect("state at receipt", "open", at.state)
        _expect("place", len(at.submissions), body["place"])
        if line.entry.number in self._opened:
            self._handed_in[body["place"]] = self._opened[line.entry.number]
        at.submissions.append(text_of(body, "submission"))

    def _withdraw(self, line: Line) -> None:
        at, body = self._so_far, line.entry.body
        self._pass_withdrawn()
        place = body["place"]
        waits = at.over <= place < len(at.submissions) and place not in at.withdrawn
        _expect("withdrawn place", "one that waits", place, waits)
        _expect("submission", at.submissions[place], body["submission"])
        at.withdrawn.add(place)

    def _pass_withdrawn(self) -> None:
        while self._so_far.over in self._so_far.withdrawn:
            self._so_far.over += 1

    def _require_turn(self, line: Line) -> None:
        """Take the place whose turn it is."""
        at, body = self._so_far, line.entry.body
        self._pass_withdrawn()
        _expect("place in turn", at.over, body["place"])
        _expect("a place that was received", f"less than {len(at.submissions)}", at.over, at.over < len(at.submissions))
        _expect("submission", at.submissions[at.over], body["submission"])
        _expect("state when judged", "open, paused or closing", at.state, at.state in ("open", "paused", "closing"))
        at.over += 1

    def _judge(self, line: Line) -> None:
        self._require_turn(line)
        body, sealed = line.entry.body, self._opened.get(line.entry.number)
        self._so_far.verdicts += 1
        if sealed is not None:
            self._require_earned(body, sealed)
        if body["accepted"] is True:
            self._accept(body)
        else:
            rejected = {"accepted": False, "payout": 0, "repairs": [], "round": self._so_far.newest}
            _expect("rejection", rejected, {name: body[name] for name in rejected})

    def _accept(self, body: Mapping[str, Any]) -> None:
        at = self._so_far
        assert self._payouts is not None  # noqa: S101
        self._require_handed_in(body)
        _expect("round", at.newest + 1, body["round"])
        for group, pointer in body["repairs"]:
            back = 0 <= group <= at.newest and 0 <= pointer <= at.newest
            _expect("repair", "a protected group and an earlier round", (group, pointer), back)
        paid = at.paid + body["payout"]
        _expect("payouts so far", f"0 to {self._payouts.pot}", paid, body["payout"] >= 0 and paid <= self._payouts.pot)
        kind, group, model = (text_of(body, name) for name in ("group_kind", "group", "model"))
        digest = round_hash(at.lists[-1], kind, group, model, body["repairs"])
        _expect("hash of the list", digest, body["list"])
        at.lists.append(digest)
        at.paid = paid

    def _require_handed_in(self, body: Mapping[str, Any]) -> None:
        """Raise unless the group and model that were accepted are those that were received."""
        handed_in = self._handed_in.get(body["place"])
        if handed_in is not None:
            for name in ("group_kind", "group", "model"):
                _expect(f"{name} that was handed in", handed_in[name], body[name])

    def _require_earned(self, body: Mapping[str, Any], sealed: Mapping[str, Any]) -> None:
        """Raise unless the payout is what the evidence earns, and there is a repair for each evidence of one."""
        assert self._payouts is not None  # noqa: S101
        evidence = Evidence(*(int(part) for part in sealed["evidence"]))
        earned = self._payouts.cents(self._payouts.level(evidence), self._so_far.paid) if body["accepted"] else 0
        _expect("payout for the evidence", earned, body["payout"])
        _expect("number of repairs", len(sealed["repairs"]), len(body["repairs"]))
        if body["accepted"]:
            _expect("evidence of an accepted one", "a positive total", evidence.total, evidence.total > 0)


def _expect(what: str, expected: object, got: object, good: bool | None = None) -> None:
    if not (expected == got if good is None else good):
        raise LedgerError(f"{what} differs: expected {expected}, got {got!r:.200}")
