"""Codes are probabilities, and cost about what counting costs."""

from itertools import product
from math import comb, exp, log

import pytest

from biasbounty.statistics.surprise import Binomial, log_share


def _log_probability(answers: tuple[bool, ...]) -> float:
    code, total = Binomial(), 0.0
    for accepted in answers:
        total += code.log_probability(accepted)
        code = code.after(accepted)
    return total


@pytest.mark.parametrize("length", [1, 2, 5, 9])
def test_the_binomial_code_s_probabilities_of_all_transcripts_add_up_to_one(length: int) -> None:
    assert sum(exp(_log_probability(answers)) for answers in product([False, True], repeat=length)) == pytest.approx(1)


@pytest.mark.parametrize(("asked", "accepted"), [(1000, 0), (1000, 5), (2000, 40), (500, 250)])
def test_it_costs_what_counting_costs_and_little_more(asked: int, accepted: int) -> None:
    answers = tuple(at < accepted for at in range(asked))
    nats = -_log_probability(answers)
    assert nats == pytest.approx(-_log_probability(answers[::-1]))
    rate = accepted / asked
    entropy = -asked * sum(p * log(p) for p in (rate, 1 - rate) if p)
    assert log(comb(asked, accepted)) < nats < entropy + 0.5 * log(asked) + log(2)


def test_the_shares_of_rejected_queries_add_up_to_less_than_one() -> None:
    shares = [exp(log_share(rejected)) for rejected in range(10_000)]
    assert 0.999 < sum(shares) < 1
    promises = [1.0, 0.1, 0.001, 0.5] * 100
    assert sum(exp(log_share(sum(promises[:at]), promise)) for at, promise in enumerate(promises)) < 1
    assert exp(log_share(3.0)) == pytest.approx(1 / 4 - 1 / 5)
