"""P5: the charges of what is not better never exceed the budget, whatever the hunters do."""

from collections.abc import Callable
from functools import cache
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

import biasbounty as bb
from biasbounty import checks
from biasbounty.core.anytime import AnytimeExamination
from biasbounty.core.checkers import Question
from biasbounty.errors import SettingsError

DELTA = 0.05
QUESTIONS = [Question("submission"), Question("repair", 1), Question("repair", 3)]


def _begin(**settings: float) -> AnytimeExamination:
    examination = bb.Anytime(**{"delta": DELTA, **settings}).begin(39_393, repairs=True, zero_one=True)
    assert isinstance(examination, AnytimeExamination)
    return examination


def _responses(question: Question) -> list[int | None]:
    return [None, *range(question.alternatives)]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_the_weights_of_all_responses_to_a_question_add_up_to_the_weight_before(question: Question) -> None:
    examination = _begin()
    for step in range(12):
        after = [exp(examination.after(question, response).log_weight) for response in _responses(question)]
        assert sum(after) == pytest.approx(exp(examination.log_weight))
        examination = examination.after(question, 0 if step % 3 == 1 else None)


@cache
def _most_charged(examination: AnytimeExamination, depth: int) -> float:
    """Return the largest sum, over all trees of this depth, of the charges of live nulls, in units of delta.

    Whoever asks chooses the next question after every response, and which of its alternatives are null. A branch on
    which a null was accepted is no longer live.
    """
    if depth == 0:
        return 0.0
    best = 0.0
    for question in QUESTIONS:
        charge = exp(examination.log_level(question)) / DELTA
        rejected = _most_charged(examination.after(question, None), depth - 1)
        accepted = _most_charged(examination.after(question, 0), depth - 1)
        for nulls in range(question.alternatives + 1):
            best = max(best, nulls * charge + rejected + (question.alternatives - nulls) * accepted)
    return best


@pytest.mark.parametrize("depth", [1, 3, 7])
def test_p5_over_every_tree_the_charges_of_live_nulls_add_up_to_at_most_one(depth: int) -> None:
    most = _most_charged(_begin(), depth)
    assert most <= 1 + 1e-12
    assert most >= 0.5


def test_a_level_depends_on_the_transcript_alone_and_is_fixed_before_the_evidence() -> None:
    examination = _begin()
    assert examination.log_level(QUESTIONS[0]) == pytest.approx(log(DELTA / 2))
    assert examination.log_level(Question("repair", 8)) == pytest.approx(log(DELTA / 2 / 8))
    accepted, rejected = examination.after(QUESTIONS[0], 0), examination.after(QUESTIONS[0], None)
    assert accepted.log_level(QUESTIONS[0]) == pytest.approx(log(DELTA / 2 / 2)), "its share given back"
    assert rejected.log_level(QUESTIONS[0]) == pytest.approx(log(DELTA / 6 / 2)), "the next share"
    assert examination == _begin()


def test_it_keeps_the_contract_of_checker_and_refuses_settings_out_of_range() -> None:
    checks.verify_checker(bb.Anytime())
    for settings in ({"epsilon": -0.1}, {"epsilon": 2}, {"delta": 0}, {"delta": 1}, {"epsilon": None}):
        with pytest.raises(SettingsError, match="is out of range"):
            bb.Anytime(**settings)


def test_the_resolution_is_the_smallest_contribution_that_passes_and_gets_worse_with_every_nat() -> None:
    examination = _begin(epsilon=0.005)
    first = examination.resolution()
    assert first is not None
    test, squares = examination.pose(QUESTIONS[0]), round(39_393 * 0.02)
    assert test(bb.Evidence(39_393, round(first * 39_393), squares), 0)
    assert not test(bb.Evidence(39_393, round(first * 39_393) - 2, squares), 0)
    for _ in range(20):
        examination = examination.after(QUESTIONS[0], 0).after(QUESTIONS[0], None)
    later = examination.resolution()
    assert later is not None
    assert examination.nats_spent > 20
    assert later > first
    assert examination.resolution(0.0) is None


def test_at_real_sizes_it_sees_what_the_paper_s_bound_cannot() -> None:
    assert round(_begin(epsilon=0.005).resolution() or 1, 4) == 0.0042
    supported = bb.Paper(0.01, DELTA, 1000).supported_epsilon(39_393)
    assert supported is not None
    assert 3 * supported / 4 > 0.17


def _lookup(table: Any) -> Callable[[Any], Any]:
    return lambda X: table[X[:, 0]]


def _accepted_on_noise(checker: Any, seed: int, submissions: int = 60, n: int = 400) -> int:
    """Count the acceptances of random submissions where the labels are fair coins: none of them is better."""
    rng = np.random.default_rng(seed)
    bounty = bb.Bounty(
        _lookup(rng.integers(0, 2, n)), np.arange(n).reshape(-1, 1), rng.integers(0, 2, n), checker=checker
    )
    for _ in range(submissions):
        bounty.submit(_lookup(rng.random(n) < 0.5), _lookup(rng.integers(0, 2, n)))
    return len(bounty.rounds) - 1


def test_on_pure_noise_it_almost_never_accepts_and_plain_almost_always_does() -> None:
    runs = 60
    fooled = sum(_accepted_on_noise(bb.Anytime(0.0, 0.2), seed) > 0 for seed in range(runs))
    assert binomtest(fooled, runs, 0.2, alternative="greater").pvalue > 1e-4
    assert sum(_accepted_on_noise(bb.Plain(), seed) > 0 for seed in range(5)) == 5


@pytest.mark.parametrize("loss", ["zero_one", "absolute"])
def test_what_is_really_better_is_accepted_repaired_charged_and_replayed(loss: str) -> None:
    rng, n = np.random.default_rng(0), 4000
    labels = rng.integers(0, 2, n).astype(float)
    rows = np.arange(n).reshape(-1, 1)
    bounty = bb.Bounty(_lookup(1 - labels), rows, labels, loss=loss, checker=bb.Anytime(0.02, 0.05))
    first, second = rows[:, 0] < n // 2, rows[:, 0] >= n // 4
    assert bounty.submit(_lookup(first), _lookup(labels)).accepted
    verdict = bounty.submit(_lookup(second), _lookup(np.where(first, 1 - labels, labels)))
    assert verdict.repairs == (bb.Repair(0, 1),)
    assert not bounty.submit(_lookup(first), _lookup(rng.permutation(labels))).accepted
    assert bounty.risk() == 0
    assert bounty.nats_spent > 0
    assert bounty.replay().nodes == bounty.model.nodes
    assert bounty.guarantee.startswith("With probability at least 0.95, every accepted update and repair")
    assert bounty.resolution(0.2) is not None
