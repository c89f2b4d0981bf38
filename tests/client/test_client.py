"""A hunter's whole way by the SDK, on a real server: look, fit, try, hand in, wait, check."""

import subprocess
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from biasbounty.arrays import Mask
from biasbounty.cli.place import organizer
from biasbounty.client import Client, Event, RemoteBounty
from biasbounty.errors import (
    ConflictError,
    GroupError,
    LedgerError,
    ModelError,
    NotAllowedError,
    NotFoundError,
    PredicateError,
    QuotaError,
    RefusedError,
    SettingsError,
    SubmissionFailedError,
)
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import parse
from biasbounty.ledger.chain import Head, verified
from biasbounty.service.context import Limits
from tests.client.stage import Stage, data, on_stage
from tests.exchange.onnx_models import always, below


def _young(X: Any) -> Mask:
    return np.asarray(X["AGEP"].to_numpy() < 40)


def _tree(bounty: RemoteBounty) -> Any:
    return bounty.train_on("AGEP < 40").model


def test_hunters_get_train_and_public_rows_as_frames_and_no_others(stage: Stage) -> None:
    with stage.hunter() as bounty:
        given = data()
        for kind, module in (("pandas", "pandas"), ("polars", "polars"), ("arrow", "pyarrow")):
            got = bounty.data(kind)  # type: ignore[arg-type]
            assert type(got.train.X).__module__.startswith(module)
            assert (len(got.train), len(got.public)) == (len(given.train), len(given.public))
            assert (got.public.y == given.public.y).all()
            assert list(got.train.X["id"]) == list(got.train.X["id"])
        assert np.asarray(bounty.data().public.X["id"]).tolist() == given.public.X["id"].to_pylist()
        with pytest.raises(SettingsError, match="expected pandas, polars or arrow, got 'lists'"):
            bounty.data("lists")  # type: ignore[arg-type]


def test_rounds_are_models_that_answer_as_the_service_says(tmp_path: Path) -> None:
    with on_stage(tmp_path) as stage, stage.hunter() as bounty:
        X = bounty.data().public.X
        assert not bounty.model()(X).any()
        assert bounty.submit("AGEP < 40", always(1, "AGEP")).accepted
        first, newest = bounty.model(0)(X), bounty.model()(X)
        assert not first.any()
        assert (newest == _young(X)).all()
        assert (newest == OnnxModel(stage.service.model(stage.bounty))(X)).all()
        with pytest.raises(NotFoundError, match="round does not exist: expected a number from 0 to 1, got 7"):
            bounty.model(7)


def test_one_call_converts_hands_in_waits_and_brings_the_verdict(tmp_path: Path) -> None:
    told: list[str] = []
    with on_stage(tmp_path) as stage, stage.hunter() as bounty:
        done = bounty.submit("AGEP < 40", _tree(bounty), note="the young", progress=told.append)
        assert done.accepted
        assert done.verdict is not None
        assert done.verdict.round == 1
        assert done.verdict.payout > 0
        assert done.note == "the young"
        assert told[0] == "converting and comparing on public rows"
        assert told[-1] == "judged"
        again = bounty.submit("AGEP < 40", always(1, "AGEP"))
        assert again.verdict is not None
        assert not again.accepted
        waiting = bounty.submit("AGEP < 30", always(1, "AGEP"), wait=False)
        assert bounty.wait(waiting).done
        assert [each.id for each in bounty.submissions()] == [done.id, again.id, waiting.id]
        assert [each.payout for each in bounty.leaderboard()] == [done.verdict.payout]
        assert bounty.refresh().judged == 3


def test_fitted_groups_and_onnx_groups_are_handed_in_too(stage: Stage) -> None:
    with stage.hunter() as bounty:
        train = bounty.data().train
        group = DecisionTreeClassifier(max_depth=2).fit(train.X[["AGEP"]], _young(train.X).astype(int))
        with pytest.raises(Exception, match="rows have other columns than those of fit"):
            bounty.preflight(group, always(1, "AGEP"))
        numeric = train.X[["AGEP", "id"]].fillna(99.0).to_numpy()
        with pytest.raises(Exception, match="other columns"):
            bounty.preflight(DecisionTreeClassifier().fit(numeric, train.y), always(1, "AGEP"))
        shown = bounty.preflight(below("AGEP", 40), always(1, "AGEP"))
        assert shown == bounty.preflight("AGEP < 40", OnnxModel(always(1, "AGEP")))
        assert shown.group == _young(bounty.data().public.X).sum()
        assert shown.risk_after == 0
        assert shown.contribution == pytest.approx(shown.risk_before * shown.group / shown.rows)


@pytest.mark.parametrize(
    ("group", "model", "kind", "words"),
    [
        ("AGEP <", always(1, "AGEP"), PredicateError, "predicate"),
        ("wage < 3", always(1, "AGEP"), PredicateError, "wage"),
        (_young, always(1, "AGEP"), GroupError, "group is code: expected predicate text or a fitted estimator"),
        ("AGEP < 40", _young, ModelError, "model is code: expected ONNX bytes or a fitted estimator"),
        ("AGEP < 40", b"no model", RefusedError, "ONNX"),
        ("AGEP < 40", always(1, "wage"), RefusedError, "wage"),
        ("AGEP < 40", None, SubmissionFailedError, "model is missing"),
    ],
)
def test_what_cannot_be_handed_in_is_told_before_anything_is_sent(
    stage: Stage, group: Any, model: Any, kind: type[Exception], words: str
) -> None:
    with stage.hunter() as bounty:
        before = bounty.refresh().received
        with pytest.raises(kind, match=words):
            bounty.submit(group, model)
        assert bounty.refresh().received == before


def test_what_the_server_refuses_is_raised_as_the_service_raises_it(tmp_path: Path) -> None:
    with on_stage(tmp_path, {"quota": 2}) as stage, stage.hunter(tries=1) as bounty:
        model = always(1, "AGEP")
        bounty.submit("AGEP < 40", model, key="one")
        with pytest.raises(ConflictError, match="key was used before for another submission"):
            bounty.submit("AGEP < 41", model, key="one")
        bounty.submit("AGEP < 30", model)
        with pytest.raises(QuotaError, match="quota is used up: expected at most 2"):
            bounty.submit("AGEP < 35", model)
        stage.service.move_bounty(organizer(), stage.bounty, "pause")
        with stage.hunter() as other, pytest.raises(ConflictError, match="bounty is paused"):
            other.submit("AGEP < 35", model)


def test_a_token_that_is_none_is_refused_and_never_told(stage: Stage) -> None:
    with Client(stage.url, "bb_nobody") as client:
        with pytest.raises(NotAllowedError, match="token") as caught:
            client.me()
        assert "bb_nobody" not in str(caught.value) + repr(client)
    with pytest.raises(SettingsError, match="token is none: expected the text that") as refused:
        Client(stage.url, "two words")
    assert "two words" not in str(refused.value)


def test_anyone_may_read_without_a_token_and_verify_the_ledger(stage: Stage) -> None:
    with Client(stage.url) as client:
        assert [each.id for each in client.bounties()] == [stage.bounty]
        bounty = client.bounty()
        assert bounty.verify_ledger() == bounty.refresh().ledger_size
        with pytest.raises(NotAllowedError):
            bounty.data()
        for name in ("0123456789abcdef", "../tokens", ""):
            with pytest.raises(NotFoundError, match="bounty does not exist"):
                client.bounty(name)


def test_receipts_catch_a_ledger_that_was_rewritten(tmp_path: Path) -> None:
    with on_stage(tmp_path) as stage, stage.hunter() as bounty:
        done = bounty.submit("AGEP < 40", always(1, "AGEP"))
        assert bounty.verify_ledger([done.receipt]) == 3
        with (
            on_stage(tmp_path / "other") as rewritten,
            Client(rewritten.url) as other,
            pytest.raises(LedgerError, match="shorter than a receipt"),
        ):
            other.bounty().verify_ledger([done.receipt])
        lines = list(bounty.ledger())
        with pytest.raises(LedgerError, match="rewritten"):
            list(verified(lines, [Head(done.receipt.entry + 1, "0" * 64)]))
        assert list(bounty.ledger(start=2)) == lines[2:]


def test_events_come_as_they_happen_and_from_where_one_was(tmp_path: Path) -> None:
    with on_stage(tmp_path) as stage, stage.hunter() as bounty:
        bounty.submit("AGEP < 40", always(1, "AGEP"))
        stream = bounty.events()
        first = next(stream)
        assert first.body["accepted"] is True
        bounty.submit("AGEP < 30", always(1, "AGEP"))
        second = next(stream)
        assert second.number > first.number
        assert second.body["accepted"] is False
        stream.close()  # type: ignore[attr-defined]
        assert _numbers(bounty.events(follow=False)) == [first.number, second.number]
        assert _numbers(bounty.events(first.number, follow=False)) == [second.number]


def _numbers(events: Iterable[Event]) -> list[int]:
    return [each.number for each in events]


def test_a_submission_can_be_withdrawn_until_its_turn_and_waiting_ends_then(tmp_path: Path) -> None:
    with on_stage(tmp_path, limits=Limits(hold=60)) as stage, stage.hunter() as bounty:
        waiting = bounty.submit("AGEP < 40", always(1, "AGEP"), patience=0.3)
        assert not waiting.done
        assert bounty.withdraw(waiting).state == "withdrawn"
        assert bounty.wait(waiting).verdict is None
        with pytest.raises(ConflictError):
            bounty.withdraw(waiting)


def test_parity_is_checked_before_anything_is_sent(stage: Stage) -> None:
    with stage.hunter() as bounty, warnings.catch_warnings():
        warnings.simplefilter("error")
        train = bounty.data().train
        numbers = train.X.assign(job=0.0, city=0.0, AGEP=train.X["AGEP"].fillna(50.0))
        fitted = LogisticRegression(max_iter=500).fit(numbers, train.y)
        before = bounty.refresh().received
        with pytest.raises(Exception, match="text"):
            bounty.submit("AGEP < 40", fitted)
        assert bounty.refresh().received == before


def test_the_client_needs_neither_server_nor_database_nor_the_service() -> None:
    code = "import sys, biasbounty.client; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    strangers = {"sqlalchemy", "fastapi", "uvicorn", "onnxruntime", "sklearn", "pandas", "cryptography", "pyarrow"}
    assert strangers.isdisjoint(loaded)
    assert not [name for name in loaded if name.startswith(("biasbounty.server", "biasbounty.service"))]


def test_predicates_are_bound_to_what_the_server_shows(stage: Stage) -> None:
    with stage.hunter() as bounty:
        assert str(parse("job in ('judge')", bounty.schema)) == "job = 'judge'"
        assert bounty.schema.places["AGEP"] == 0
