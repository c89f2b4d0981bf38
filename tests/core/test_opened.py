"""Opened: what was sealed is opened at close, once nothing more can be submitted, and agrees with the bounty's own."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

import biasbounty as bb
from biasbounty.core.opened import find_upper_bound
from biasbounty.errors import SettingsError
from biasbounty.statistics.bounds import upper_bound
from tests.worlds import lookup

ROWS = 1000


def _table(right: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the model that is right (1) where the rule says so, on holdout and public rows alike."""
    return lookup(np.asarray(right(np.arange(ROWS) / ROWS)).astype(int).tolist())


def _everyone(X: Any) -> Any:
    return np.ones(len(X), bool)


def _fails_late(X: Any) -> Any:
    if (X[:, 0] % 5 > 1).any():
        raise KeyError("a column of the holdout alone")
    return np.ones(len(X), int)


SUBMISSIONS = (
    (_table(lambda x: x < 0.3), _table(lambda x: x < 0.3)),
    (_table(lambda x: x < 0.9), _table(lambda x: x >= 0.3)),
    (_everyone, _table(lambda x: x > 2)),
    (_everyone, _fails_late),
    (_everyone, _table(lambda x: x < 0.899)),
)
"""Accepted, accepted with a repair, hopeless, failing on the holdout alone, and worse by a little."""


def _bounty(**given: Any) -> bb.Bounty:
    """Open a bounty on a model that is wrong about every row, and submit everything."""
    ids = np.arange(ROWS).reshape(-1, 1)
    public = ids[ids[:, 0] % 5 < 2]
    settings: Any = {"pot": 1000, "grid": 0.01, "public": (public, np.ones(len(public), int))} | given
    bounty = bb.Bounty(lambda X: np.zeros(len(X), int), ids, np.ones(ROWS, int), **settings)
    for group, model in SUBMISSIONS:
        bounty.submit(group, model)
    return bounty


@pytest.fixture
def bounty() -> bb.Bounty:
    """Run a bounty with every kind of verdict."""
    bounty = _bounty()
    assert [verdict.accepted for verdict in bounty.transcript] == [True, True, False, False, False]
    assert [len(verdict.repairs) for verdict in bounty.transcript] == [0, 1, 0, 0, 0]
    assert [bool(outcome.failure) for outcome in bounty.outcomes] == [False, False, False, True, False]
    return bounty


def test_nothing_is_opened_before_the_close(bounty: bb.Bounty) -> None:
    with pytest.raises(SettingsError, match=r"bounty is still open: expected it closed .*; close\(\) it"):
        bounty.opened()
    assert bounty.submit(_everyone, _table(lambda x: x < 2)).accepted
    bounty.close()
    assert len(bounty.opened().outcomes) == 6


def test_nothing_is_submitted_after_the_close(bounty: bb.Bounty) -> None:
    bounty.close()
    opened = bounty.opened()
    for model in (_table(lambda x: x < 2), _fails_late):
        with pytest.raises(bb.BountyStoppedError, match="bounty is closed; open a new bounty on a fresh holdout"):
            bounty.submit(_everyone, model)
    bounty.close()
    assert bounty.opened() == opened
    assert len(bounty.transcript) == 5


def test_a_submission_that_is_being_scored_at_the_close_is_not_judged(bounty: bb.Bounty) -> None:
    def closes(X: Any) -> Any:
        bounty.close()
        return np.ones(len(X), int)

    spent = bounty.nats_spent
    with pytest.raises(bb.BountyStoppedError, match="bounty is closed"):
        bounty.submit(_everyone, closes)
    assert (len(bounty.transcript), len(bounty.rounds), bounty.nats_spent) == (5, 3, spent)


@pytest.mark.parametrize("loss", ["zero_one", "absolute"])
@pytest.mark.parametrize("checker", [bb.Plain(), bb.Anytime()])
def test_what_is_opened_agrees_with_the_bounty_s_own(loss: str, checker: Any) -> None:
    bounty = _bounty(loss=loss, checker=checker)
    bounty.close()
    opened = bounty.opened()
    assert opened.risks == pytest.approx((1.0, 0.7, 0.1))
    assert opened.risks == tuple(bounty.risk(number) for number in range(3))
    assert opened.group_risks == pytest.approx(np.array([[1, 0, 0], [1, 2 / 3, 0]]))
    assert opened.group_risks == tuple(tuple(bounty.risk(number, group) for number in range(3)) for group in (0, 1))
    assert opened.outcomes == bounty.outcomes
    assert opened.upper_bounds == bounty.upper_bounds
    assert (opened.nats_spent, opened.guarantee) == (bounty.nats_spent, bounty.guarantee)
    assert opened.paid == bounty.paid == sum(verdict.payout for verdict in bounty.transcript) == 600


def test_what_is_opened_is_a_value_and_a_closed_bounty_still_replays(bounty: bb.Bounty) -> None:
    bounty.close()
    opened = bounty.opened()
    with pytest.raises(FrozenInstanceError):
        opened.paid = 0  # type: ignore[misc]
    assert bounty.replay().nodes == bounty.model.nodes
    assert bounty.opened() == opened


def test_a_rejection_has_an_upper_bound_and_an_acceptance_or_a_failure_has_none(bounty: bb.Bounty) -> None:
    bounty.close()
    first, second, hopeless, failed, little = bounty.opened().upper_bounds
    assert first is second is failed is None
    assert hopeless is not None
    assert little is not None
    for bound, outcome in ((hopeless, bounty.outcomes[2]), (little, bounty.outcomes[4])):
        assert outcome.log_bound_level is not None
        assert outcome.evidence.contribution < bound < 1
        assert bound == upper_bound(outcome.evidence, outcome.log_bound_level, zero_one=True)
    assert hopeless < little


def test_the_upper_bound_is_one_of_the_loss_that_was_judged() -> None:
    outcome = bb.Outcome(False, bb.Evidence(1000, 20, 60), log_bound_level=-10.0)
    bets, sums = (find_upper_bound(outcome, zero_one=zero_one) for zero_one in (True, False))
    assert bets is not None
    assert sums is not None
    assert 0.02 < bets < sums < 0.5


@pytest.mark.parametrize(
    "outcome",
    [
        bb.Outcome(True, bb.Evidence(1000, 20, 60), log_level=-10.0),
        bb.Outcome(False, bb.Evidence(1000, 20, 60)),
        bb.Outcome(False, bb.Evidence(1000, 0, 0), log_bound_level=-10.0, failure="model failed on 1000 rows"),
    ],
    ids=["accepted", "by a checker that promises none", "failed"],
)
def test_where_there_is_no_upper_bound_it_is_none(outcome: bb.Outcome) -> None:
    assert find_upper_bound(outcome, zero_one=True) is None


def test_a_checker_without_a_guarantee_bounds_nothing() -> None:
    bounty = _bounty(checker=bb.Plain())
    bounty.close()
    assert set(bounty.opened().upper_bounds) == {None}
    assert bounty.opened().nats_spent == 0
    assert bounty.opened().guarantee.startswith("No guarantee")
