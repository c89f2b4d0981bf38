"""Honest streams: foretelling spares most of what counting costs, and so more of what is really better is accepted."""

from dataclasses import replace
from functools import cache
from math import log

import pytest

from benchmarks.honest import CODES, SETTINGS, Run, Submission, judge, stream
from biasbounty.statistics.surprise import Asked, Mixture, Response

SUBMISSIONS, SEEDS = 2_000, range(5)


@cache
def _run(code: str, seed: int) -> Run:
    return judge(CODES[code], stream(seed, SUBMISSIONS))


@pytest.mark.parametrize("seed", SEEDS)
def test_foretelling_spends_less_than_a_fifth_of_what_counting_spends_on_the_same_answers(seed: int) -> None:
    run = _run("predictive", seed)
    assert run.accepted > 20
    assert run.nats(CODES["predictive"]) == pytest.approx(run.examination.nats_spent)
    assert run.examination.nats_spent < run.nats(CODES["binomial"]) / 5


@pytest.mark.parametrize("seed", SEEDS)
def test_with_foretelling_at_least_half_as_many_more_are_rightly_accepted(seed: int) -> None:
    counting, foretelling = _run("binomial", seed), _run("mixture", seed)
    assert foretelling.accepted - foretelling.false >= 1.5 * (counting.accepted - counting.false)


def test_the_share_of_false_acceptances_in_honest_streams_is_far_below_delta() -> None:
    assert sum(_run(code, seed).false for code in CODES for seed in SEEDS) == 0
    assert SETTINGS.delta == 0.05


def _misled(submission: Submission, sign: int) -> Submission:
    public = replace(submission.public, mean=sign * submission.public.mean)
    return replace(submission, public=public)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["useless", "adversarial"])
def test_where_public_rows_mislead_the_mixture_spends_at_most_ln_2_more_than_counting(kind: str, seed: int) -> None:
    submissions = list(stream(seed, SUBMISSIONS))
    if kind == "adversarial":
        misled = [_misled(submission, -1) for submission in submissions]
    else:
        others = stream(seed + 1000, SUBMISSIONS)
        misled = [replace(one, public=other.public) for one, other in zip(submissions, others, strict=True)]
    run = judge(Mixture(CODES["binomial"], CODES["predictive"]), iter(misled))
    assert run.examination.nats_spent <= run.nats(CODES["binomial"]) + log(2) + 0.01


def test_whatever_public_rows_say_and_whatever_is_answered_the_mixture_spends_at_most_ln_2_more() -> None:
    """The worst there is: every answer is the one that public rows are surest it will not be."""
    answers: list[tuple[Asked, Response]] = [
        (Asked("submission", 1, 40.0 if at % 2 else -40.0), None if at % 2 else 0) for at in range(SUBMISSIONS)
    ]
    spent = {}
    for name, code in CODES.items():
        spent[name] = 0.0
        for asked, response in answers:
            spent[name] -= code.log_probability(asked, response)
            code = code.after(asked, response)
    assert spent["predictive"] > 3 * spent["binomial"]
    assert spent["mixture"] <= spent["binomial"] + log(2) + 0.01
