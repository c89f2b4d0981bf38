"""Turns are served in the order of arrival, and whoever leaves early holds nobody up."""

import threading
import time
from typing import Any

import numpy as np
import pytest

import biasbounty as bb
from biasbounty.core.turns import Turns


def test_turns_are_served_in_the_order_in_which_they_were_taken() -> None:
    turns, served = Turns(), []
    taken = [threading.Event() for _ in range(4)]

    def visitor(number: int) -> None:
        with turns.take() as turn:
            taken[number].set()
            if number == 2:
                return  # leaves before its turn
            time.sleep(0.02 * (4 - number))
            turn.wait()
            served.append(number)

    visitors = [threading.Thread(target=visitor, args=(number,)) for number in range(4)]
    for number, thread in enumerate(visitors):
        thread.start()
        assert taken[number].wait(10)
    for thread in visitors:
        thread.join(10)
    assert served == [0, 1, 3]


def test_submissions_are_judged_in_the_order_of_arrival_however_slow_they_are_about_holdout_rows() -> None:
    rows, labels = np.arange(100), np.ones(100, np.int64)
    bounty = bb.Bounty(lambda X: np.zeros(len(X), np.int64), rows, labels, public=(rows[:10] + 1000, labels[:10]))
    scoring = threading.Event()

    def slow(X: Any) -> Any:
        if (X == 7).any():
            scoring.set()
            time.sleep(0.2)
        return np.zeros(len(X), np.int64)

    def everyone(X: Any) -> Any:
        return np.ones(len(X), np.bool_)

    first = threading.Thread(target=lambda: bounty.submit(everyone, slow, note="first"))
    first.start()
    assert scoring.wait(10)
    bounty.submit(everyone, lambda X: np.zeros(len(X), np.int64), note="second")
    first.join(10)
    assert [certificate.note for certificate in bounty.submissions] == ["first", "second"]


def test_a_submission_that_fails_gives_its_turn_up() -> None:
    bounty = bb.Bounty(lambda X: np.zeros(len(X), np.int64), np.arange(10), np.ones(10, np.int64))
    for _ in range(3):
        with pytest.raises(bb.SubmissionError):
            bounty.submit(lambda X: X, lambda X: X)
    assert not bounty.submit(lambda X: X < 0, lambda X: X).accepted


def test_a_submission_made_from_within_a_submission_is_refused_and_does_not_wait_for_itself() -> None:
    rows, labels = np.arange(10)[:, None], np.ones(10, np.int64)
    bounty = bb.Bounty(lambda X: np.zeros(len(X), np.int64), rows, labels)

    def greedy(X: Any) -> Any:
        bounty.submit(lambda X: X[:, 0] > 1, lambda X: np.ones(len(X)))
        return np.ones(len(X), np.bool_)

    with pytest.raises(bb.SubmissionError, match="from within a submission: expected groups and models that submit"):
        bounty.submit(greedy, lambda X: np.ones(len(X)))
    assert bounty.transcript == ()
    assert bounty.submit(lambda X: X[:, 0] >= 0, lambda X: np.ones(len(X), np.int64)).round == 1
