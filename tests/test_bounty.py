"""The Bounty judges in order, survives bad input unchanged, replays, and may be shared between threads."""

import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import biasbounty as bb
from biasbounty import losses
from biasbounty.errors import GroupError, HoldoutError, HoldoutTooSmallError, ModelError, ReplayError, SettingsError

N = 12
X = np.arange(N, dtype=np.float64).reshape(-1, 1)
Y = np.ones(N, dtype=np.int64)


def _const(value: Any) -> Callable[[Any], Any]:
    return lambda X: np.full(len(X), value)


def _below(high: float) -> Callable[[Any], Any]:
    return lambda X: X[:, 0] < high


def _above_half(column: int) -> Callable[[Any], Any]:
    return lambda X: X[:, column] > 0.5


def _lookup(table: Any) -> Callable[[Any], Any]:
    return lambda X: table[X[:, 0]]


def _state(bounty: bb.Bounty) -> tuple[Any, ...]:
    return (
        bounty.model.nodes,
        bounty.model.heads,
        bounty.rounds,
        bounty.transcript,
        bounty.submissions,
        bounty.evidence,
        bounty.protected,
        bounty.risk(),
    )


@pytest.fixture
def bounty() -> bb.Bounty:
    """Open a bounty and publish one round, so that there is something to lose."""
    bounty = bb.Bounty(_const(0), X, Y, checker=bb.Plain())
    assert bounty.submit(_below(3), _const(1), hunter="team-1", note="the first three").accepted
    return bounty


def _raises_on_rows(X: Any) -> Any:
    raise KeyError("no such column")


@pytest.mark.parametrize(
    ("group", "error", "words"),
    [
        (
            lambda X: np.ones(len(X) - 1),
            GroupError,
            r"group has the wrong length: expected 12 answers.* got shape \(11,\)",
        ),
        (lambda X: np.ones((len(X), 1)), GroupError, r"group has the wrong length: .* got shape \(12, 1\)"),
        (lambda X: True, GroupError, r"group has the wrong length: .* got shape \(\)"),
        (lambda X: np.where(X[:, 0] == 5, np.nan, 1), GroupError, "expected True, False, 0 or 1, got nan at row 5"),
        (lambda X: X[:, 0].astype(int), GroupError, "expected True, False, 0 or 1, got 2 at row 2"),
        (lambda X: X[:, 0] - 1, GroupError, "expected True, False, 0 or 1, got -1.0 at row 0"),
        (lambda X: np.array(["yes"] * len(X)), GroupError, "expected True, False, 0 or 1, got 'yes' at row 0"),
        (lambda X: [None] * len(X), GroupError, "expected True, False, 0 or 1, got None at row 0"),
        (lambda X: pd.array([pd.NA] * len(X), dtype="boolean"), GroupError, "expected True, False, 0 or 1, got <NA>"),
        (_raises_on_rows, GroupError, "group failed on 12 rows: expected answers, got KeyError"),
        (lambda X: X[:, 0] > X[:, 0].mean(), GroupError, "group depends on more than its row"),
        ("AGEP < 25", GroupError, "predicate names an unknown column: .* got 'AGEP'; there are x0"),
        (b"AGEP < 25", bb.RefusedError, "is no ONNX model"),
        (None, GroupError, "group cannot be called: expected a callable on rows or a fitted estimator, got NoneType"),
    ],
)
def test_a_group_that_is_none_is_refused_and_changes_nothing(
    bounty: bb.Bounty, group: Any, error: type[Exception], words: str
) -> None:
    before = _state(bounty)
    with pytest.raises(error, match=words):
        bounty.submit(group, _const(1))
    assert _state(bounty) == before


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda X: np.ones(len(X) + 1), r"model has the wrong length: expected 6 answers.* got shape \(7,\)"),
        (
            lambda X: np.where(X[:, 0] == 4, np.nan, 1),
            "expected a value of the initial model's type int64, got nan at row 4",
        ),
        (lambda X: np.full(len(X), 0.5), "expected a value of the initial model's type int64, got 0.5"),
        (lambda X: np.array(["1"] * len(X)), "expected a value of the initial model's type int64, got '1'"),
        (lambda X: [None] * len(X), "expected a value of the initial model's type int64, got None"),
        (_raises_on_rows, "model failed on 6 rows: expected answers, got KeyError: 'no such column'"),
        (lambda X: np.arange(len(X)) % 2, "model depends on more than its row"),
        ("onnx", "model cannot be called: expected a callable on rows or a fitted estimator, got str"),
        (LogisticRegression, "got the class LogisticRegression; make one, fit it, and hand that in"),
        (np.ones(6), "got ndarray; write lambda X"),
        (LogisticRegression(), "model failed on 6 rows: expected answers, got NotFittedError"),
    ],
)
def test_a_model_that_is_none_is_refused_and_changes_nothing(bounty: bb.Bounty, model: Any, words: str) -> None:
    before = _state(bounty)
    with pytest.raises(ModelError, match=words):
        bounty.submit(_below(6), model)
    assert _state(bounty) == before


def test_an_answer_without_a_loss_is_refused_with_its_row_and_changes_nothing() -> None:
    bounty = bb.Bounty(_const(0.0), X, Y, loss=losses.absolute(0, 1), checker=bb.Plain())
    before = _state(bounty)
    with pytest.raises(ModelError, match="model has an answer without a loss: absolute is outside its range at row 3"):
        bounty.submit(lambda X: X[:, 0] >= 3, _const(5.0))
    assert _state(bounty) == before


def test_a_group_that_is_empty_on_the_holdout_is_plainly_rejected_and_its_model_never_called(bounty: bb.Bounty) -> None:
    verdict = bounty.submit(_below(-1), _raises_on_rows)
    assert verdict == bb.Verdict(accepted=False, round=1)
    assert bounty.evidence[-1] == bb.Evidence(N, 0, 0)
    assert len(bounty.transcript) == 2


def _open(model: Any, X: Any = X, y: Any = Y, **settings: Any) -> Callable[[], bb.Bounty]:
    return lambda: bb.Bounty(model, X, y, **settings)


_NAN_AT_2, _COSTS = np.where(X[:, 0] == 2, np.nan, 1), losses.cost_matrix([[0]])


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (_open(_const(0), X, Y[:-1]), HoldoutError, "expected 12 labels, one for each row of X, got 11"),
        (_open(_const(0), X[:0], Y[:0]), HoldoutError, "holdout is empty: expected at least one row, got 0"),
        (_open(_const(0), X, Y.reshape(-1, 1)), HoldoutError, r"labels have the wrong shape: .* got shape \(12, 1\)"),
        (_open(_const(0), X, _NAN_AT_2), HoldoutError, "expected a value, got nan at row 2"),
        (_open(_const(0), X, [None] * N), HoldoutError, "labels for zero_one are missing"),
        (_open(_const(0.0), X, Y * 3, loss="absolute"), HoldoutError, "expected 0 to 1, got 3 at row 0"),
        (_open(_const(0), loss=_COSTS), HoldoutError, "labels for cost_matrix are of no class"),
        (_open(_const(0), X, Y / 2, loss="absolute"), HoldoutError, "do not fit the initial model's .* got 0.5"),
        (_open(_const(0), X, Y.astype(str)), HoldoutError, "do not fit .* expected values of its type int64"),
        (_open(_const(np.nan)), SettingsError, "got nan at row 0"),
        (_open(lambda X: np.zeros(3)), SettingsError, "initial model has the wrong length"),
        (_open(_const(1j)), SettingsError, "initial model has answers of an unknown type"),
        (_open(3), SettingsError, "initial model cannot be called"),
        (_open(_const(0), X.tolist()), SettingsError, "rows have the wrong type"),
        (_open(_const(0), None, None), SettingsError, "expected either X and y, or holdout="),
        (_open(_const(0), X, None), SettingsError, "expected either X and y, or holdout=, and y is missing"),
        (_open(_const(0), loss=losses.absolute), SettingsError, "loss cannot be used"),
        (_open(_const(0), checker="plain"), SettingsError, "checker is none: expected a checker such as Anytime"),
        (_open(_const(0), checker=bb.Paper), SettingsError, "checker is none"),
        (_open(_const(0), public=X), SettingsError, r"expected public=\(X, y\), got ndarray"),
        (_open(_const(0), public=(X, Y[1:])), HoldoutError, "public rows cannot be used: rows and labels have"),
        (_open(_const("a"), X, ["a"] * 11 + [float("nan")]), HoldoutError, "got nan at row 11; drop or fill"),
        (_open(_const(0), X, [[1], [1, 2]] * 6), HoldoutError, "labels"),
        (_open(_const(0.0), X, Y.astype("S")), HoldoutError, "labels have an unknown type"),
        (_open(_const(np.float32(16777216)), X, Y + 16777216), HoldoutError, "labels do not fit"),
        (_open(_const(0), X, Y, holdout=bb.LocalHoldout(X, Y)), SettingsError, "holdout is given twice"),
        (_open(_const(0), X, None, holdout=bb.LocalHoldout(X, Y)), SettingsError, "holdout is given twice"),
        (_open(_const(0), loss="hinge"), SettingsError, "loss cannot be used"),
        (_open(_const(0), sandbox=1), SettingsError, "sandbox is none: expected a biasbounty.sandbox.Sandbox, got int"),
        (_open(_const(0), pot=-1), SettingsError, "pot is out of range: expected whole cents from 0, got -1"),
        (_open(_const(0), pot=1.5), SettingsError, "pot is out of range: expected whole cents from 0, got 1.5"),
        (_open(_const(0), pot=1, grid=0), SettingsError, "grid is out of range: expected a step"),
        (_open(_const(0), pot=1, rate=-1), SettingsError, "rate is out of range: expected cents from 0, got -1"),
        (_open(_const(0), checker=bb.Paper(0.1, 0.1, 5)), HoldoutTooSmallError, "expected at least"),
    ],
)
def test_an_unusable_bounty_is_refused_when_it_is_opened(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()


def test_a_verdict_and_a_round_are_frozen_and_carry_nothing_of_the_holdout(bounty: bb.Bounty) -> None:
    verdict = bounty.transcript[0]
    with pytest.raises(FrozenInstanceError):
        verdict.accepted = False  # type: ignore[misc]
    assert verdict == bb.Verdict(accepted=True, round=1, repairs=(), payout=0)
    assert bounty.rounds == (bb.Round(0, 0), bb.Round(1, 1, "team-1", "the first three"))


def test_risk_is_overall_or_of_a_protected_group_in_any_round(bounty: bb.Bounty) -> None:
    assert (bounty.risk(0), bounty.risk(), bounty.risk(1)) == (1.0, 0.75, 0.75)
    assert (bounty.risk(0, group=0), bounty.risk(group=0)) == (1.0, 0.0)
    with pytest.raises(SettingsError, match="round does not exist: expected a number from 0 to 1, got 2"):
        bounty.risk(2)
    with pytest.raises(
        SettingsError, match="group does not exist: expected the index of one of 1 protected groups, got 1"
    ):
        bounty.risk(group=1)


def test_without_repairs_a_protected_group_may_get_worse_and_with_them_it_does_not() -> None:
    def worse_below_3(X: Any) -> Any:
        return (X[:, 0] >= 3).astype(int)

    risks = []
    for repairs in (False, True):
        bounty = bb.Bounty(_const(0), X, Y, repairs=repairs, checker=bb.Plain())
        bounty.submit(_below(3), _const(1))
        verdict = bounty.submit(_below(9), worse_below_3)
        assert verdict.repairs == ((bb.Repair(0, 1),) if repairs else ())
        risks.append((bounty.risk(), bounty.risk(group=0)))
    assert risks == [(0.5, 1.0), (0.25, 0.0)]


@pytest.mark.parametrize(
    "loss", ["zero_one", losses.absolute(0, 20), losses.squared(-5, 25), losses.cost_matrix(1 - np.eye(20))]
)
def test_every_loss_runs_a_whole_bounty_and_replays(loss: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.random((500, 3))
    labels = (rows[:, 0] * 10).astype(int)
    bounty = bb.Bounty(_const(0), rows, labels, loss=loss, checker=bb.Plain())
    for column in range(3):
        tree = DecisionTreeClassifier(max_depth=4).fit(rows, labels)
        bounty.submit(_above_half(column), tree)
    again = bounty.replay()
    assert again.heads == bounty.model.heads
    assert len(bounty.rounds) > 1
    assert bounty.risk() < bounty.risk(0)


@pytest.mark.parametrize(
    "convert",
    [lambda X: X, lambda X: pd.DataFrame(X, columns=["a", "b"]), lambda X: pl.DataFrame(X, schema=["a", "b"])],
)
def test_estimators_are_groups_and_models_on_every_kind_of_rows(convert: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(1)
    plain = rng.random((2000, 2))
    rows, labels = convert(plain), plain[:, 0] * plain[:, 1]
    base = DecisionTreeRegressor(max_depth=1).fit(rows, labels)
    bounty = bb.Bounty(base, rows, labels, loss="squared", public=(rows[:100], labels[:100]), checker=bb.Plain())
    group = DecisionTreeClassifier(max_depth=2).fit(rows, plain[:, 0] > 0.5)
    verdict = bounty.submit(group, DecisionTreeRegressor(max_depth=6).fit(rows, labels))
    assert verdict.accepted
    assert bounty.submissions[0].group is group
    assert np.isclose(((bounty.model.predict(rows) - labels) ** 2).mean(), bounty.risk(), atol=1e-5)


def test_text_labels_run_a_whole_bounty() -> None:
    labels = np.where(X[:, 0] < 6, "young", "not so young")
    bounty = bb.Bounty(_const("old"), X, labels, checker=bb.Plain())
    assert bounty.submit(_below(6), _const("young")).accepted
    assert bounty.model.predict(X).tolist() == ["young"] * 6 + ["old"] * 6


def test_a_paper_that_has_stopped_makes_submit_raise_and_nothing_changes() -> None:
    bounty = bb.Bounty(_const(0), X, Y, checker=bb.Paper(0.3, 0.1, 2, allow_small_holdout=True))
    bounty.submit(_below(3), _const(1))
    bounty.submit(_below(3), _const(1))
    before = _state(bounty)
    with pytest.raises(
        bb.BountyStoppedError, match="expected at most 2 submissions, and all were judged; open a new bounty"
    ):
        bounty.submit(_below(6), _raises_on_rows)
    assert _state(bounty) == before


def test_paper_judges_with_its_guarantee_where_the_holdout_is_large_enough() -> None:
    paper = bb.Paper(1.0, 0.5, 2)
    rows = np.zeros((paper.rows_needed(), 1))
    bounty = bb.Bounty(_const(0), rows, np.ones(len(rows), int), checker=paper)
    assert bounty.guarantee.startswith("With probability at least 0.5, every accepted update and repair")
    assert bounty.submit(_below(1), _const(1)).accepted


def test_the_guarantee_in_force_is_in_the_bounty_s_own_words() -> None:
    assert "No guarantee: Plain accepts by the point estimate" in repr(bb.Bounty(_const(0), X, Y, checker=bb.Plain()))
    small = bb.Bounty(_const(0), X, Y, checker=bb.Paper(0.1, 0.1, 5, allow_small_holdout=True))
    assert small.guarantee.startswith("No guarantee: the paper's theorem needs")


def test_errors_speak_of_public_rows_where_there_are_any() -> None:
    bounty = bb.Bounty(_const(0), X, Y, public=(X[:4], Y[:4]), checker=bb.Plain())
    with pytest.raises(ModelError, match="on the public rows, model failed on 2 rows"):
        bounty.submit(_below(2), _raises_on_rows)
    assert bounty.transcript == ()


def test_a_submission_that_fails_on_the_holdout_alone_is_answered_like_any_rejection() -> None:
    def fails_late(X: Any) -> Any:
        return _raises_on_rows(X) if (X[:, 0] > 8).any() else np.ones(len(X))

    bounty = bb.Bounty(_const(0), X, Y, public=(X[:4], Y[:4]), checker=bb.Plain())
    refused = bounty.submit(_below(20), fails_late)
    assert refused == bounty.submit(_below(20), _const(0)) == bb.Verdict(accepted=False, round=0)
    assert bounty.submit(_below(4), _const(1)).accepted
    assert bounty.replay().heads == bounty.model.heads


def test_a_replay_that_differs_is_an_error_that_names_the_submission(bounty: bb.Bounty) -> None:
    moods = [1]
    bounty.submit(_below(6), lambda X: np.full(len(X), moods[0]))
    bounty.replay()
    moods[0] = 0
    with pytest.raises(ReplayError, match="replay differs at submission 1"):
        bounty.replay()


def test_a_replay_notices_other_groups_and_another_initial_model() -> None:
    other = [False]
    shifty = bb.Bounty(_const(0), X, Y, checker=bb.Plain())
    shifty.submit(lambda X: X[:, 0] >= 9 if other[0] else X[:, 0] < 3, lambda X: np.ones(len(X)))
    shifty.submit(_below(2), _const(1))
    moody = bb.Bounty(lambda X: np.where(other[0], X[:, 0] >= 6, X[:, 0] < 7).astype(int), X, Y, checker=bb.Plain())
    other[0] = True
    with pytest.raises(ReplayError, match="replay differs in the initial model"):
        moody.replay()
    with pytest.raises(ReplayError, match="replay differs at submission 1"):
        shifty.replay()


def test_a_replay_that_fails_is_a_replay_error(bounty: bb.Bounty) -> None:
    broken = [False]
    bounty.submit(lambda X: _raises_on_rows(X) if broken[0] else X[:, 0] < 5, _const(1))
    broken[0] = True
    with pytest.raises(ReplayError, match="replay fails at submission 1: group failed"):
        bounty.replay()


def test_a_submission_cannot_change_the_rows_that_judge(bounty: bb.Bounty) -> None:
    def vandal(X: Any) -> Any:
        X[:, 0] += 100
        return np.ones(len(X))

    with pytest.raises(GroupError, match="read-only"):
        bounty.submit(vandal, _const(1))
    assert X[0, 0] == 0
    bounty.replay()


def test_labels_are_the_bounty_s_own() -> None:
    labels = Y.copy()
    bounty = bb.Bounty(_const(0), X, labels, checker=bb.Plain())
    labels[:] = 0
    assert bounty.submit(_below(3), _const(1)).accepted


def _loss_that_talks(answers: Any, labels: Any) -> Any:
    if (answers == 3).any():
        raise KeyError(f"3 where the label is {labels[answers == 3]}")
    return answers != labels


def _ragged(X: Any) -> Any:
    answers = np.empty(len(X), object)
    answers[:] = [[1, 2] if x > 8 else 1 for x in X[:, 0]]
    return answers


@pytest.mark.parametrize("model", [lambda X: np.where(X[:, 0] > 8, 3, 1), _ragged])
def test_whatever_goes_wrong_on_the_holdout_alone_tells_nothing(model: Any) -> None:
    bounty = bb.Bounty(_const(0), X, Y, loss=_loss_that_talks, public=(X[:3], Y[:3]))
    assert bounty.submit(_below(99), model) == bb.Verdict(accepted=False, round=0)
    assert len(bounty.transcript) == 1


def test_an_interrupted_append_is_noticed_before_the_next_judgement() -> None:
    class Interrupted(bb.LocalHoldout):
        def append(self, candidate: Any) -> None:
            super().append(candidate)
            raise KeyboardInterrupt

    bounty = bb.Bounty(_const(0), holdout=Interrupted(X, Y), checker=bb.Plain())
    with pytest.raises(KeyboardInterrupt):
        bounty.submit(_below(3), _const(1))
    assert len(bounty.rounds) == 1
    with pytest.raises(HoldoutError, match="holdout is out of step: expected 1 rounds, got 2"):
        bounty.submit(_below(3), _const(1))


def test_a_model_that_depends_a_little_on_its_batch_is_refused_whatever_the_size_of_its_answers() -> None:
    rows = np.arange(1000.0).reshape(-1, 1)

    def shifty(base: float, step: float) -> Any:
        return lambda X: np.full(len(X), base + step * (len(X) <= 64))

    timestamps = bb.Bounty(
        _const(1.7e9), rows, np.full(1000, 1.7e9), loss=losses.absolute(1.7e9, 1.7e9 + 86400), checker=bb.Plain()
    )
    with pytest.raises(ModelError, match="model depends on more than its row"):
        timestamps.submit(_below(500), shifty(1.7e9, 9000))
    exact = bb.Bounty(_const(0.0), rows, np.full(1000, 100001.0), checker=bb.Plain())
    with pytest.raises(ModelError, match="model depends on more than its row"):
        exact.submit(_below(500), shifty(100001.0, 1e-6))


def test_the_label_type_shows_nothing_of_the_holdout() -> None:
    def rarely_long(X: Any) -> Any:
        return np.array(["no", "certainly"])[(X[:, 0] == 7).astype(int)]

    bounty = bb.Bounty(rarely_long, X, ["no"] * N, public=(X[:3], ["no"] * 3))
    assert bounty.model.predict(X[:3]).dtype == "<U9" or bounty.model.predict(X[:3]).dtype == "<U2"
    assert bounty.model._labels == bb.Bounty(_const("no"), X, ["no"] * N).model._labels


def test_float32_labels_at_the_end_of_their_range_are_within_it() -> None:
    bounty = bb.Bounty(_const(np.float32(0)), X, np.full(N, 0.1), loss=losses.absolute(0, 0.1))
    assert bounty.risk() == 1.0


def test_a_failed_opening_leaves_the_holdout_to_another_try() -> None:
    holdout = bb.LocalHoldout(X, Y)
    with pytest.raises(HoldoutError):
        bb.Bounty(_const(0), holdout=holdout, public=(X, Y[1:]))
    assert bb.Bounty(_const(0), holdout=holdout, public=(X, Y)).risk() == 1.0


@pytest.mark.parametrize(("hunter", "note"), [(7, ""), ("team-1", None), ("team-1", 5)])
def test_words_that_are_no_text_are_refused(bounty: bb.Bounty, hunter: Any, note: Any) -> None:
    with pytest.raises(SettingsError, match="is no text: expected a str, got"):
        bounty.submit(_below(3), _const(1), hunter=hunter, note=note)


def test_a_replay_tells_its_progress(bounty: bb.Bounty) -> None:
    bounty.submit(_below(1), _const(0))
    told: list[tuple[int, int]] = []
    bounty.replay(progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)]


def test_a_bounty_takes_any_holdout_in_place_of_rows_and_labels() -> None:
    holdout = bb.LocalHoldout(X, Y)
    bounty = bb.Bounty(_const(0), holdout=holdout, checker=bb.Plain())
    assert bounty.submit(_below(3), _const(1)).accepted
    with pytest.raises(SettingsError, match="holdout is already open: expected a fresh one for each bounty"):
        bb.Bounty(_const(0), holdout=holdout)


def test_an_interrupted_judgement_leaves_nothing_behind(bounty: bb.Bounty, monkeypatch: pytest.MonkeyPatch) -> None:
    before, examination = _state(bounty), bounty._record.examination

    def interrupt(self: Any, candidate: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(bb.LocalHoldout, "regressions", interrupt)
        with pytest.raises(KeyboardInterrupt):
            bounty.submit(_below(6), _const(1))
    assert _state(bounty) == before
    assert bounty._record.examination is examination
    assert bounty.submit(_below(6), _const(1)).accepted


def test_threads_sharing_a_bounty_are_judged_one_at_a_time_and_the_whole_replays() -> None:
    rng = np.random.default_rng(0)
    rows = np.arange(3000).reshape(-1, 1)
    labels = rng.integers(0, 2, 3000)
    bounty = bb.Bounty(_const(0), rows, labels, checker=bb.Plain())
    certificates = [(rng.random(3000) < 0.3, np.where(rng.random(3000) < 0.6, labels, 1 - labels)) for _ in range(60)]
    torn: list[str] = []
    done = threading.Event()

    def hunt(at: int) -> None:
        for group, model in certificates[at::4]:
            bounty.submit(_lookup(group), _lookup(model))

    def watch() -> None:
        while not done.is_set():
            model, rounds = bounty.model, bounty.rounds
            if len(model.nodes) != model.heads[-1] or bounty.risk(len(rounds) - 1) > bounty.risk(0):
                torn.append("a reader saw half a round")

    hunters = [threading.Thread(target=hunt, args=(at,)) for at in range(4)]
    watcher = threading.Thread(target=watch)
    for thread in [watcher, *hunters]:
        thread.start()
    for thread in hunters:
        thread.join()
    done.set()
    watcher.join()
    assert torn == []
    assert len(bounty.transcript) == len(bounty.evidence) == 60
    assert [verdict.round for verdict in bounty.transcript if verdict.accepted] == list(range(1, len(bounty.rounds)))
    assert bounty.replay().nodes == bounty.model.nodes


def test_verdicts_are_values() -> None:
    verdict = bb.Verdict(True, 3, (bb.Repair(0, 1),), 250)
    assert replace(verdict) == verdict
    assert hash(verdict) == hash(replace(verdict))


class _AlwaysRight(str):
    """Text that says it differs from nothing."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __ne__(self, other: object) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return True


def test_an_answer_s_own_methods_are_never_asked_whether_it_is_right() -> None:
    labels = np.array(["a", "b"] * 6, object)
    bounty = bb.Bounty(_const("c"), X, labels, checker=bb.Plain())
    liar = [_AlwaysRight("c")]
    assert not bounty.submit(_below(N), lambda X: np.array(liar * len(X), object)).accepted


def _no_loss_of_nothing(predictions: Any, labels: Any) -> Any:
    if not len(labels):
        raise ValueError("no rows")
    return predictions != labels


def test_a_group_that_is_empty_is_plainly_rejected_even_where_the_loss_takes_no_empty_arrays() -> None:
    bounty = bb.Bounty(_const(0), X, Y, loss=_no_loss_of_nothing, public=(X + 100, Y), checker=bb.Plain())
    assert bounty.submit(_below(-1), _const(1)) == bb.Verdict(accepted=False, round=0)
    fails_on_the_holdout = bounty.submit(lambda X: X[:, 0] >= 0, lambda X: _raises_on_rows(X) if X[0] < 50 else X[:, 0])
    assert fails_on_the_holdout == bb.Verdict(accepted=False, round=0)
    assert bounty.outcomes[-1].failure is not None
