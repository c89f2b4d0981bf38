"""A bounty opens, pauses, closes; at the close everything that was sealed is opened, and the ledger replays."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from biasbounty.errors import ConflictError, LedgerError, NotAllowedError, NotFoundError, ReplayError
from biasbounty.ledger.canonical import canonical
from biasbounty.ledger.chain import Head, extend, head_after, verified
from biasbounty.ledger.exported import LEDGER, Exported
from biasbounty.ledger.keys import SigningKey
from biasbounty.ledger.replay import replay_ledger
from biasbounty.ledger.verification import verify_ledger
from biasbounty.service.replaying import replay_judgements
from biasbounty.service.submitting import Handed
from biasbounty.store import Database
from biasbounty.store.books import pen_for
from tests.exchange.onnx_models import always
from tests.service.worlds import NearLimits, World, broken_above, stream, world


def _export(made: World, *, everything: bool = False) -> Exported:
    file = io.BytesIO()
    if everything:
        made.service.export_everything(made.organizer, made.bounty, file)
    else:
        made.service.export(made.bounty, file)
    return Exported.read(file.getvalue())


def _busy(database: Database) -> World:
    """Return a bounty in which everything has happened."""
    made = world(database)
    mine = made.submit(*stream(20), Handed("AGEP > 0", broken_above("AGEP", 0)), stream(21)[20])
    made.service.withdraw(made.ann, mine[5])
    made.service.rotate_keys(made.organizer, made.bounty)
    made.service.annotate(made.ann, made.bounty, "this is not fair", mine[0])
    made.finish()
    made.service.move_bounty(made.organizer, made.bounty, "pause")
    made.service.move_bounty(made.organizer, made.bounty, "resume")
    made.submit(*stream(24)[21:], who=made.bob)
    return made


def test_states_follow_one_another_and_the_ledger_has_them(database: Database) -> None:
    made = world(database)
    made.submit(stream(1)[0])
    move = made.service.move_bounty
    assert move(made.organizer, made.bounty, "pause").state == "paused"
    with pytest.raises(ConflictError, match="bounty is paused: expected it open to pause it"):
        move(made.organizer, made.bounty, "pause")
    assert move(made.organizer, made.bounty, "resume").state == "open"
    assert move(made.organizer, made.bounty, "close").state == "closing"
    assert move(made.organizer, made.bounty, "reopen").state == "open"
    move(made.organizer, made.bounty, "close")
    made.finish()
    assert made.service.bounty(made.bounty).state == "closed"
    with pytest.raises(ConflictError, match="bounty is closed: expected it closing to reopen it"):
        move(made.organizer, made.bounty, "reopen")
    for who in (made.ann, made.observer):
        with pytest.raises(NotAllowedError):
            move(who, made.bounty, "pause")
    with pytest.raises(NotFoundError, match="verb is unknown"):
        move(made.organizer, made.bounty, "sell")
    states = ["paused", "open", "closing", "open", "closing"]
    assert made.kinds() == ["opened", "received", *states, "judged", "closed"]


def test_what_was_sealed_opens_at_the_close_and_not_before(database: Database) -> None:
    made = _busy(database)
    with pytest.raises(NotFoundError, match="bounty has no file 'openings'"):
        made.service.file(made.bounty, "openings")
    assert _export(made).openings == ()
    made.finish()
    made.service.move_bounty(made.organizer, made.bounty, "close")
    exported = _export(made)
    verify_ledger(exported)
    assert b"\n".join(opening.as_text() for opening in exported.openings) == made.service.file(made.bounty, "openings")
    assert len(exported.openings) == 1 + made.kinds().count("judged")


def test_what_was_handed_in_and_not_accepted_stays_sealed_after_the_close(database: Database) -> None:
    made = _busy(database)
    made.finish()
    made.service.move_bounty(made.organizer, made.bounty, "close")
    file = io.BytesIO()
    made.service.export(made.bounty, file)
    with zipfile.ZipFile(file) as archive:
        said = b"".join(archive.read(name) for name in archive.namelist())
    views = made.service.submissions(made.organizer, made.bounty, most=200).entries
    accepted = [view for view in views if view.verdict is not None and view.verdict["accepted"]]
    shown = {digest for view in accepted for digest in (view.group_hash, view.model_hash)}
    others = {view.group_hash for view in views} - shown
    assert accepted
    assert others
    assert all(each.encode() in said for each in shown)
    assert not any(each.encode() in said for each in others)


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("closed", [False, True])
def test_a_bounty_in_which_everything_happened_verifies_and_replays(
    database: Database, everything: bool, closed: bool
) -> None:
    made = _busy(database)
    if closed:
        made.finish()
        made.service.move_bounty(made.organizer, made.bounty, "close")
    exported, view = _export(made, everything=everything), made.service.bounty(made.bounty)
    verify_ledger(exported)
    replayed = replay_ledger(exported)
    assert replayed.head == Head(view.ledger_size, view.ledger_head)
    assert (replayed.newest, replayed.paid, replayed.state) == (view.round, view.paid, view.state)
    assert len(replayed.submissions) == view.received
    assert replayed.verdicts == made.kinds().count("judged")
    if everything:
        assert replay_judgements(exported, NearLimits()) == replayed


def test_the_lines_alone_are_an_export(database: Database, tmp_path: Path) -> None:
    made = _busy(database)
    file = tmp_path / "ledger.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in made.service.ledger(made.bounty)))
    verify_ledger(Exported.read(file))
    assert replay_ledger(Exported.read(file)).newest == made.service.bounty(made.bounty).round
    with pytest.raises(LedgerError, match="export has no holdout"):
        replay_judgements(Exported.read(file), NearLimits())


def test_the_same_export_twice_is_the_same_file(database: Database) -> None:
    made = _busy(database)
    files = [io.BytesIO(), io.BytesIO()]
    for file in files:
        made.service.export(made.bounty, file)
    assert files[0].getvalue() == files[1].getvalue()


def _rewritten(made: World, number: int, **body: object) -> Exported:
    """Return an export in which the organizer, who has the key, changed an entry and all after it."""
    with made.service.context.database.read() as connection:
        key = pen_for(connection, made.bounty, "").key
    head, lines = Head(), []
    for line in verified(made.service.ledger(made.bounty)):
        entry = line.entry
        changed = {**entry.body, **body} if entry.number == number else entry.body
        again = extend(head, entry.kind, entry.time, changed, key)
        head = head_after(again)
        lines.append(again.as_text())
    return Exported(tuple(lines))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"payout": 99_999_999}, "payouts so far differs: expected 0 to 100000"),
        ({"round": 7}, "round differs: expected 1, got 7"),
        ({"repairs": [[0, 3]]}, "repair differs"),
        ({"list": "00"}, "hash of the list differs"),
        ({"group": "00" * 32}, "hash of the list differs"),
        ({"place": 2}, "place in turn differs: expected 1, got 2"),
        ({"accepted": False}, "rejection differs"),
        ({"submission": "other"}, "submission differs"),
        ({"payout": "1"}, "replay fails at entry 5"),
    ],
)
def test_a_ledger_that_does_not_add_up_is_found_though_it_is_signed(body: dict[str, object], words: str) -> None:
    with pytest.raises(ReplayError, match=words):
        replay_ledger(_rewritten(_small(), 5, **body))


def test_an_organizer_who_rewrote_the_chain_is_caught_by_a_receipt() -> None:
    made = _small()
    receipt = made.service.submissions(made.ann, made.bounty).entries[2].receipt
    forged = _rewritten(made, 1, hunter="somebody else")
    verify_ledger(forged)
    verify_ledger(Exported(tuple(made.service.ledger(made.bounty))), [Head(receipt.entry + 1, receipt.head)])
    with pytest.raises(LedgerError, match="ledger was rewritten"):
        verify_ledger(forged, [Head(receipt.entry + 1, receipt.head)])


_made: list[World] = []


def _small() -> World:
    """Return a bounty of three submissions, the second of which is accepted; the same each time."""
    import tempfile

    if not _made:
        database = Database.in_folder(Path(tempfile.mkdtemp()))
        database.migrate()
        made = world(database)
        made.submit(*stream(3))
        made.finish()
        assert made.kinds() == ["opened", "received", "received", "received", "judged", "judged", "judged"]
        _made.append(made)
    return _made[0]


def test_an_export_whose_files_were_changed_is_found(tmp_path: Path) -> None:
    import zipfile

    made, file = _small(), io.BytesIO()
    made.service.export_everything(made.organizer, made.bounty, file)
    whole = {name: zipfile.ZipFile(file).read(name) for name in zipfile.ZipFile(file).namelist()}
    verify_ledger(Exported.read(file.getvalue()))

    def changed(name: str, data: bytes | None) -> Exported:
        again = io.BytesIO()
        with zipfile.ZipFile(again, "w") as archive:
            for each, kept in {**whole, name: data}.items():
                if kept is not None:
                    archive.writestr(each, kept)
        return Exported.read(again.getvalue())

    artifact = next(name for name in whole if name.startswith("artifacts/"))
    with pytest.raises(LedgerError, match="artifact was changed: expected the hash"):
        verify_ledger(changed(artifact, b"other"))
    with pytest.raises(LedgerError, match="export lacks an artifact"):
        verify_ledger(changed(artifact, None))
    opening = json.loads(whole["openings.jsonl"].split(b"\n")[-2])
    for value, words in ((["other"], "was sealed with another value"), (opening["value"], "open what was not sealed")):
        line = canonical({**opening, "value": value})
        with pytest.raises(LedgerError, match=words):
            verify_ledger(changed("openings.jsonl", line + b"\n" + line))
    for text, words in ((b"{}", "opening is none"), (b'{"number":1,"salt":"x","value":1}', "opening is none")):
        with pytest.raises(LedgerError, match=words):
            verify_ledger(changed("openings.jsonl", text))
    with pytest.raises(LedgerError, match="export has no ledger"):
        changed(LEDGER, None)
    for data in (b"", b"nothing", b"PK\x03\x04nothing"):
        with pytest.raises(LedgerError):
            verify_ledger(Exported.read(data))
    with pytest.raises(LedgerError, match="export cannot be read"):
        Exported.read(tmp_path / "missing")


def test_a_rotated_key_signs_from_then_on_and_old_seals_still_open(database: Database) -> None:
    made = world(database)
    first = next(verified(made.service.ledger(made.bounty))).entry.body["key"]
    made.submit(*stream(3))
    new = made.service.rotate_keys(made.organizer, made.bounty)
    assert SigningKey.of(b"1" * 32).public != new != first
    made.submit(stream(4)[3])
    made.finish()
    made.service.move_bounty(made.organizer, made.bounty, "close")
    exported = _export(made)
    verify_ledger(exported, key=first)
    with pytest.raises(LedgerError, match="not signed by the bounty's key"):
        verify_ledger(exported, key=new)
    with pytest.raises(NotAllowedError):
        made.service.rotate_keys(made.ann, made.bounty)


def test_the_same_submissions_give_the_same_ledger(database: Database, tmp_path: Path) -> None:
    other = Database.in_folder(tmp_path / "other")
    other.migrate()
    views = [made.service.bounty(made.bounty) for made in (_busy(database), _busy(other))]
    other.close()
    assert views[0] == views[1]


def test_what_is_needed_by_everyone_is_in_an_export_and_what_is_secret_is_not(database: Database) -> None:
    made = _busy(database)
    shown, whole = _export(made), _export(made, everything=True)
    assert shown.hashes < whole.hashes
    rejected = next(
        each
        for each in made.service.submissions(made.organizer, made.bounty).entries
        if each.verdict is not None and not each.verdict["accepted"]
    )
    assert rejected.group_hash in whole.hashes
    for digest in whole.hashes - shown.hashes:
        with pytest.raises(NotFoundError, match="artifact does not exist"):
            made.service.artifact(made.bounty, digest)
    for digest in shown.hashes:
        assert made.service.artifact(made.bounty, digest) == shown.artifact(digest)
    with pytest.raises(NotAllowedError):
        made.service.export_everything(made.ann, made.bounty, io.BytesIO())


def test_a_submission_that_was_never_handed_in_cannot_be_accepted() -> None:
    made = _small()
    exported = _export(made, everything=True)
    forged = tuple(
        opening if opening.number != 2 else type(opening)(2, opening.salt, {**opening.value, "model": "00" * 32})
        for opening in exported.openings
    )
    with pytest.raises(ReplayError, match="model that was handed in differs"):
        replay_ledger(Exported(exported.lines, exported.words, forged))


def test_a_model_that_answers_otherwise_is_found_by_judging_anew() -> None:
    made = _small()
    exported = _export(made, everything=True)

    class Other(NearLimits):
        def sandbox(self, X: Any) -> Any:
            made = super().sandbox(X)
            answers = made.predict
            made.predict = lambda model, rows=None: answers(always(0, "AGEP") if rows is not None else model, rows)
            return made

    with pytest.raises(ReplayError, match="replay fails at entry"):
        replay_judgements(exported, Other())
