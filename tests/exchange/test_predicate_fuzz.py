"""Predicates written at random mean what a database says they mean; nonsense is refused in words, whatever it is."""

import numpy as np
import pytest

from biasbounty.exchange.predicate import parse
from biasbounty.exchange.schema import Schema
from tests.exchange.databases import Writer, table

TABLES, CASES = 20, 500


@pytest.mark.parametrize("seed", range(TABLES))
def test_ten_thousand_predicates_mean_what_a_database_says(seed: int) -> None:
    rows = table(seed)
    rng = np.random.default_rng([seed, 1])
    writer = Writer(rng, rows)
    schema = Schema.of(rows.frames[0], categories=False)
    for case in range(CASES):
        words = writer.condition(int(rng.integers(0, 4)))
        predicate = parse(words, schema)
        found = np.flatnonzero(predicate(rows.frames[case % 3])).tolist()
        assert found == rows.where(words), words
        assert found == rows.where(str(predicate)), words
        again = parse(str(predicate), schema)
        assert again == predicate, words
        assert str(again) == str(predicate), words
