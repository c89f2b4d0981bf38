"""Tokens are shown once, renewed and revoked; what is personal can be erased, and the ledger still verifies."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest

from biasbounty.errors import BiasBountyError, ConflictError, NotAllowedError, NotFoundError, SettingsError
from biasbounty.ledger.exported import Exported
from biasbounty.ledger.replay import replay_ledger
from biasbounty.ledger.verification import verify_ledger
from biasbounty.service.service import Service
from biasbounty.service.submitting import Handed
from biasbounty.store import Database
from tests.exchange.onnx_models import always
from tests.service.worlds import context_of, stream, world


def test_the_first_organizer_s_token_is_given_once_however_many_ask(database: Database) -> None:
    def ask(_: int) -> str | None:
        try:
            return Service(context_of(database)).init()
        except ConflictError:
            return None

    with ThreadPoolExecutor(6) as pool:
        tokens = [token for token in pool.map(ask, range(6)) if token]
    assert len(tokens) == 1
    assert Service(context_of(database)).identify(tokens[0]).scope == "organizer"


def test_no_secret_is_kept(database: Database) -> None:
    made = world(database)
    token, secret = made.service.create_token(made.organizer, "observer", "press")
    assert secret not in repr(made.service.tokens(made.organizer))
    from sqlalchemy import select

    from biasbounty.store.tables import tokens

    with database.read() as connection:
        assert not any(secret in str(row) for row in connection.execute(select(tokens)))
    assert made.service.identify(secret).token == token.id


def test_a_renewed_token_is_the_same_hunter_s_and_the_old_one_is_none(database: Database) -> None:
    made = world(database)
    (mine,) = made.submit(stream(1)[0])
    token, secret = made.service.renew_token(made.ann, made.ann.token)
    again = made.service.identify(secret)
    assert again.hunter == made.ann.hunter
    assert token.id != made.ann.token
    assert made.service.submission(again, mine).id == mine
    with pytest.raises(ConflictError, match="token is revoked"):
        made.service.renew_token(made.organizer, made.ann.token)
    with pytest.raises(NotAllowedError):
        made.service.renew_token(made.bob, token.id)


def test_a_revoked_token_is_none_and_the_last_organizer_is_not_locked_out(database: Database) -> None:
    made = world(database)
    _, secret = made.service.create_token(made.organizer, "observer", "press")
    made.service.revoke_token(made.organizer, made.service.identify(secret).token)
    for nobody in (secret, "bb_nobody", "", "\x00", "\udcff"):
        with pytest.raises(NotAllowedError, match="token is none"):
            made.service.identify(nobody)
    with pytest.raises(ConflictError, match="token is the last of an organizer"):
        made.service.revoke_token(made.organizer, made.organizer.token)
    _, other = made.service.create_token(made.organizer, "organizer", "second")
    made.service.revoke_token(made.service.identify(other), made.organizer.token)
    for name in ("nobody", "\x00"):
        with pytest.raises(NotFoundError, match="token does not exist"):
            made.service.revoke_token(made.service.identify(other), name)


@pytest.mark.parametrize("scope", ["king", ""])
def test_strange_scopes_and_names_are_refused(database: Database, scope: str) -> None:
    made = world(database)
    with pytest.raises(SettingsError, match="scope is unknown"):
        made.service.create_token(made.organizer, scope, "x")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="name cannot be shown"):
        made.service.create_token(made.organizer, "hunter", "x", "\x00")
    for who in (made.ann, made.observer):
        with pytest.raises(NotAllowedError):
            made.service.create_token(who, "hunter", "x")


def test_an_erased_hunter_leaves_no_word_and_the_ledger_still_verifies(database: Database) -> None:
    made = world(database)
    note = "my name is Ann Andersen"
    (mine,) = made.submit(Handed("AGEP < 40", always(1, "AGEP"), note, "Ann Andersen's key"))
    made.finish()
    made.service.annotate(made.ann, made.bounty, "Ann Andersen objects", mine)
    before = list(made.service.ledger(made.bounty))
    assert made.service.events(made.bounty).entries[0]["words"] == note
    assert not any(b"Andersen" in line for line in before)
    assert made.service.decision_list(made.bounty).nodes[0].note == note
    assert made.ann.hunter is not None
    made.service.erase_hunter(made.ann, made.ann.hunter)
    whole = io.BytesIO()
    made.service.export_everything(made.organizer, made.bounty, whole)
    shown = repr(
        (
            made.service.events(made.bounty),
            made.service.submission(made.organizer, mine),
            made.service.leaderboard(made.organizer, made.bounty),
            made.service.tokens(made.organizer),
            made.service.decision_list(made.bounty),
        )
    )
    assert "Ann" not in shown
    assert b"Andersen" not in whole.getvalue() + made.service.model(made.bounty)
    assert list(made.service.ledger(made.bounty)) == before
    exported = Exported.read(whole.getvalue())
    verify_ledger(exported)
    assert exported.words == ()
    assert replay_ledger(exported).newest == 1
    with database.read() as connection:
        kept = [bytes(row[0]) if isinstance(row[0], memoryview) else row[0] for row in _everything(connection)]
    assert not any("Andersen" in str(each) for each in kept)
    with pytest.raises(NotAllowedError):
        made.service.submit(made.service.identify("bb_" + made.ann.token), made.bounty, stream(1)[0])


def _everything(connection: object) -> list[tuple[object]]:
    from sqlalchemy import Connection, select

    from biasbounty.store.tables import metadata

    assert isinstance(connection, Connection)
    return [(str(tuple(row)),) for table in metadata.sorted_tables for row in connection.execute(select(table))]


def test_only_the_hunter_and_the_organizer_erase(database: Database) -> None:
    made = world(database)
    assert made.ann.hunter is not None
    with pytest.raises(NotAllowedError):
        made.service.erase_hunter(made.bob, made.ann.hunter)
    for name in ("nobody", "\x00"):
        with pytest.raises(NotFoundError, match="hunter does not exist"):
            made.service.erase_hunter(made.organizer, name)
    made.service.erase_hunter(made.organizer, made.ann.hunter)


def test_what_somebody_says_is_in_the_ledger_as_a_commitment_only(database: Database) -> None:
    made = world(database)
    (mine,) = made.submit(stream(1)[0])
    made.service.annotate(made.organizer, made.bounty, "the holdout is from May")
    with pytest.raises(NotFoundError):
        made.service.annotate(made.bob, made.bounty, "not mine", mine)
    with pytest.raises(BiasBountyError):
        made.service.annotate(made.observer, made.bounty, "I only watch")
    assert made.kinds() == ["opened", "received", "note"]
    assert made.service.events(made.bounty).entries[-1]["words"] == "the holdout is from May"
    file = io.BytesIO()
    made.service.export(made.bounty, file)
    (said,) = Exported.read(file.getvalue()).words
    assert (said.number, said.value) == (2, "the holdout is from May")
