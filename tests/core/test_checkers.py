"""Checkers decide by their rule, count by the transcript, and say what they guarantee."""

import math

import pytest

import biasbounty as bb
from biasbounty.core.transcript import Question
from biasbounty.errors import HoldoutTooSmallError, SettingsError

SUBMISSION = Question("submission")


def _accepts(checker: bb.Plain | bb.Paper, total: int, n: int = 100) -> bool:
    return checker.begin(n, repairs=True, zero_one=True).pose(SUBMISSION).passes(bb.Evidence(n, total, abs(total)))


def test_plain_accepts_any_positive_total_by_default() -> None:
    assert _accepts(bb.Plain(), 1)
    assert not _accepts(bb.Plain(), 0)
    assert not _accepts(bb.Plain(), -1)


def test_plain_accepts_at_its_threshold_exactly() -> None:
    assert _accepts(bb.Plain(0.1), 10)
    assert not _accepts(bb.Plain(0.1), 9)


@pytest.mark.parametrize("threshold", [-0.1, 1.0, math.nan])
def test_plain_refuses_a_threshold_that_is_none(threshold: float) -> None:
    with pytest.raises(SettingsError, match="threshold is out of range"):
        bb.Plain(threshold)


def test_paper_accepts_at_three_quarters_of_epsilon() -> None:
    paper = bb.Paper(0.4, 0.1, 10, allow_small_holdout=True)
    assert _accepts(paper, 30)
    assert not _accepts(paper, 29)


@pytest.mark.parametrize("repairs", [True, False])
def test_paper_needs_the_rows_of_its_formula(repairs: bool) -> None:
    accepted = 200
    queries = 1000 + (accepted**3 if repairs else 0)
    expected = 32 / 0.01**2 * (math.log(2 * queries / 0.05) + accepted * math.log(queries + 1))
    assert bb.Paper(0.01, 0.05, 1000).rows_needed(repairs=repairs) == math.ceil(expected)


def test_the_figure_in_the_docs_is_what_paper_needs() -> None:
    assert bb.Paper(0.01, 0.05, 1000).rows_needed() == 1_023_551_808


def test_on_the_paper_s_largest_holdout_its_theorem_sees_nothing_below_0_17() -> None:
    epsilon = bb.Paper(0.01, 0.05, 1000).supported_epsilon(39_393, repairs=False)
    assert epsilon is not None
    assert 0.17 < 3 * epsilon / 4 < 0.18


@pytest.mark.parametrize("size", [5_000, 39_393, 1_000_000])
def test_the_supported_epsilon_is_the_smallest_that_needs_no_more_rows(size: int) -> None:
    epsilon = bb.Paper(0.5, 0.05, 100).supported_epsilon(size)
    assert epsilon is not None
    assert bb.Paper(epsilon, 0.05, 100).rows_needed() <= size < bb.Paper(epsilon - 1e-4, 0.05, 100).rows_needed()


def test_paper_refuses_a_small_holdout_and_says_what_it_needs_and_what_it_supports() -> None:
    with pytest.raises(
        HoldoutTooSmallError, match=r"expected at least 1,023,551,808 rows .* got 39,393; .* epsilon = 0.2"
    ):
        bb.Paper(0.01, 0.05, 1000).begin(39_393, repairs=True, zero_one=True)
    with pytest.raises(HoldoutTooSmallError, match="so few rows support no epsilon at all"):
        bb.Paper(0.01, 0.05, 1000).begin(10, repairs=True, zero_one=True)


def test_paper_states_its_guarantee_only_where_it_holds() -> None:
    paper = bb.Paper(1, 0.05, 3)
    assert paper.begin(paper.rows_needed(), repairs=True, zero_one=True).guarantee.startswith(
        "With probability at least 0.95"
    )
    small = bb.Paper(1, 0.05, 3, allow_small_holdout=True).begin(10, repairs=True, zero_one=True)
    assert small.guarantee.startswith("No guarantee: the paper's theorem needs")
    assert bb.Plain().begin(10, repairs=True, zero_one=True).guarantee.startswith("No guarantee")


def test_paper_stops_after_its_submissions_and_repairs_do_not_count() -> None:
    examination = bb.Paper(0.1, 0.1, 2, allow_small_holdout=True).begin(100, repairs=True, zero_one=True)
    for question, response in ((SUBMISSION, None), (Question("repair", 9), 4), (Question("repair", 9), None)):
        examination = examination.pose(question).after(response)
    assert examination.stopped is None
    assert "all were judged" in (examination.pose(SUBMISSION).after(None).stopped or "")


def test_paper_lets_one_acceptance_beyond_2_over_epsilon_through_and_then_stops() -> None:
    examination = bb.Paper(0.5, 0.1, 100, allow_small_holdout=True).begin(100, repairs=True, zero_one=True)
    for _ in range(4):
        examination = examination.pose(SUBMISSION).after(0)
        assert examination.stopped is None
    assert "expected at most 4 acceptances, got 5" in (examination.pose(Question("repair", 3)).after(1).stopped or "")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ((0, 0.1, 10), "epsilon"),
        ((1.1, 0.1, 10), "epsilon"),
        ((0.1, 0, 10), "delta"),
        ((0.1, 1, 10), "delta"),
        ((0.1, 0.1, 0), "submissions"),
    ],
)
def test_paper_refuses_settings_out_of_range(settings: tuple[float, float, int], words: str) -> None:
    with pytest.raises(SettingsError, match=f"{words} is out of range"):
        bb.Paper(*settings)
