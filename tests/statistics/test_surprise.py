"""Codes are probabilities, cost about what counting costs or what was foretold, and never see the holdout."""

import ast
from itertools import product
from math import comb, exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbounty.statistics import surprise
from biasbounty.statistics.surprise import Asked, Binomial, Code, Mixture, Predictive, Response, log_share

YES_NO = Asked("submission", 1)
CODES = [
    Binomial(),
    Predictive(),
    Mixture(Binomial(), Predictive()),
    Mixture(Predictive(), Mixture(Binomial(), Predictive())),
]


def _log_probability(code: Code, answers: list[tuple[Asked, Response]]) -> float:
    total = 0.0
    for asked, response in answers:
        total += code.log_probability(asked, response)
        code = code.after(asked, response)
    return total


def _asked(kind: surprise.Kind, alternatives: int, standing: float | None, seed: int) -> Asked:
    order = None if standing is None else np.random.default_rng(seed).permutation(alternatives)
    return Asked(kind, alternatives, standing, order)


QUESTIONS = st.builds(
    _asked,
    st.sampled_from(["submission", "repair"]),
    st.integers(1, 40),
    st.none() | st.floats(-40, 40),
    st.integers(0, 5),
)


@pytest.mark.parametrize("code", CODES, ids=lambda code: type(code).__name__)
@given(st.lists(st.tuples(QUESTIONS, st.integers(-1, 39)), max_size=6), QUESTIONS)
def test_after_any_transcript_the_probabilities_of_all_answers_add_up_to_one(
    code: Code, transcript: list[tuple[Asked, int]], asked: Asked
) -> None:
    for before, answer in transcript:
        code = code.after(before, answer if 0 <= answer < before.alternatives else None)
    probabilities = [exp(code.log_probability(asked, response)) for response in (None, *range(asked.alternatives))]
    assert sum(probabilities) == pytest.approx(1)
    assert exp(code.log_yes(asked)) + exp(code.log_no(asked)) == pytest.approx(1)
    assert sum(exp(code.log_alternative(asked, each)) for each in range(asked.alternatives)) == pytest.approx(1)


@pytest.mark.parametrize("length", [1, 2, 5, 9])
def test_the_binomial_code_s_probabilities_of_all_transcripts_add_up_to_one(length: int) -> None:
    total = sum(
        exp(_log_probability(Binomial(), [(YES_NO, answer) for answer in answers]))
        for answers in product([None, 0], repeat=length)
    )
    assert total == pytest.approx(1)


@pytest.mark.parametrize(("asked", "accepted"), [(1000, 0), (1000, 5), (2000, 40), (500, 250)])
def test_it_costs_what_counting_costs_and_little_more(asked: int, accepted: int) -> None:
    answers: list[tuple[Asked, Response]] = [(YES_NO, 0 if at < accepted else None) for at in range(asked)]
    nats = -_log_probability(Binomial(), answers)
    assert nats == pytest.approx(-_log_probability(Binomial(), answers[::-1]))
    rate = accepted / asked
    entropy = -asked * sum(p * log(p) for p in (rate, 1 - rate) if p)
    assert log(comb(asked, accepted)) < nats < entropy + 0.5 * log(asked) + log(2)


@given(st.lists(st.tuples(QUESTIONS, st.booleans()), max_size=60))
def test_a_mixture_costs_at_most_ln_2_more_than_either(transcript: list[tuple[Asked, bool]]) -> None:
    answers: list[tuple[Asked, Response]] = [(asked, 0 if yes else None) for asked, yes in transcript]
    mixed = -_log_probability(Mixture(Binomial(), Predictive()), answers)
    for code in (Binomial(), Predictive()):
        assert mixed <= -_log_probability(code, answers) + log(2) + 1e-9


def test_answers_that_were_foreseen_cost_almost_nothing_and_surprises_are_bounded() -> None:
    foreseen: list[tuple[Asked, Response]] = [
        (Asked("submission", 1, 9.0 if at % 3 else -9.0), 0 if at % 3 else None) for at in range(1000)
    ]
    counting = -_log_probability(Binomial(), foreseen)
    assert counting > 600
    assert -_log_probability(Predictive(), foreseen) < 10
    surprising = (Asked("submission", 1, 40.0), None)
    code: Code = Predictive()
    for _ in range(99):
        code = code.after(Asked("submission", 1, 40.0), 0)
    assert code.log_probability(*surprising) == pytest.approx(log(1 / 200))


def test_a_forecast_that_is_always_too_hopeful_is_soon_recalibrated() -> None:
    rng = np.random.default_rng(0)
    standings = rng.normal(0, 3, 800)
    answers: list[tuple[Asked, Response]] = [(Asked("submission", 1, z + 4), 0 if z > 0 else None) for z in standings]
    code: Code = Predictive()
    for answer in answers[:400]:
        code = code.after(*answer)
    assert -_log_probability(code, answers[400:]) < 0.15 * 400


def test_an_alternative_that_ranks_high_is_cheap_and_none_costs_more_than_twice_uniform() -> None:
    order = np.random.default_rng(0).permutation(1000)
    asked = Asked("repair", 1000, 0.0, order)
    costs = [-Predictive().log_alternative(asked, int(pair)) for pair in order]
    assert costs[0] < log(2)
    assert costs == sorted(costs)
    assert costs[-1] < 2 * log(1001)


def test_the_shares_of_rejected_queries_add_up_to_less_than_one() -> None:
    shares = [exp(log_share(rejected)) for rejected in range(10_000)]
    assert 0.999 < sum(shares) < 1
    promises = [1.0, 0.1, 0.001, 0.5] * 100
    assert sum(exp(log_share(sum(promises[:at]), promise)) for at, promise in enumerate(promises)) < 1
    assert exp(log_share(3.0)) == pytest.approx(1 / 4 - 1 / 5)


def test_nothing_that_prices_answers_imports_anything_with_evidence_of_a_holdout() -> None:
    room = Path(surprise.__file__).parent
    for name in ("surprise", "forecast"):
        tree = ast.parse((room / f"{name}.py").read_text())
        imported = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        ours = {module for module in imported if module.startswith("biasbounty")}
        assert ours <= {"biasbounty.statistics.forecast"}
