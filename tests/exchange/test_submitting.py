"""Predicate text is submitted like any group, and is refused without a word about the holdout."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import biasbounty as bb
from biasbounty.errors import PredicateError, SettingsError
from biasbounty.exchange.predicate import Predicate, parse
from biasbounty.finders import SliceFinder


def _rows(size: int, seed: int, jobs: tuple[str, ...] = ("cook", "judge")) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"AGEP": rng.integers(18, 90, size), "job": rng.choice(jobs, size)})
    return X, (X["AGEP"] < 40).to_numpy().astype(int)


def _zeros(X: Any) -> Any:
    return np.zeros(len(X), int)


def _ones(X: Any) -> Any:
    return np.ones(len(X), int)


HOLDOUT = _rows(2_000, 0, ("cook", "judge", "hermit"))
PUBLIC = _rows(500, 1)


def _bounty(**settings: Any) -> bb.Bounty:
    return bb.Bounty(_zeros, *HOLDOUT, checker=bb.Plain(), **settings)


@pytest.mark.parametrize("settings", [{}, {"public": PUBLIC}, {"schema": bb.Schema.of(PUBLIC[0])}], ids=str)
def test_text_is_judged_as_the_group_it_says(settings: Any) -> None:
    bounty = _bounty(**settings)
    other = _bounty(**settings)
    assert bounty.submit("AGEP < 40", _ones) == other.submit(lambda X: X["AGEP"] < 40, _ones)
    assert bounty.transcript[0].accepted
    assert bounty.evidence == other.evidence
    assert isinstance(bounty.submissions[0].group, Predicate)
    assert str(bounty.protected[0].group) == "AGEP < 40"
    assert (bounty.model.predict(PUBLIC[0]) == PUBLIC[1]).all()
    assert bounty.replay().predict(PUBLIC[0]).tolist() == PUBLIC[1].tolist()


def test_what_is_wrong_with_text_is_said_and_changes_nothing() -> None:
    bounty = _bounty(public=PUBLIC)
    before = repr(bounty)
    for words in ("AGE < 40", "AGEP < ", "job = 'coook'", "AGEP < 40; DROP TABLE x", "(" * 99):
        with pytest.raises(PredicateError):
            bounty.submit(words, _ones)
    assert repr(bounty) == before
    assert bounty.submissions == ()
    assert bounty.nats_spent == 0


def test_no_error_tells_a_text_of_the_holdout() -> None:
    """The hermit is in the holdout alone: with public rows he is unknown, without them nobody is known."""
    with pytest.raises(PredicateError, match="no such category: .* got 'hermit'; did you mean|there are") as caught:
        _bounty(public=PUBLIC).submit("job = 'hermit'", _ones)
    with pytest.raises(PredicateError) as near:
        _bounty(public=PUBLIC).submit("job = 'hermitt'", _ones)
    assert "'hermit'" not in str(near.value)
    assert "judge" in str(caught.value) + str(near.value)
    alone = _bounty()
    assert not any(column.categories for column in alone.schema.columns)
    verdicts = [alone.submit(f"job = '{job}'", _zeros) for job in ("hermit", "nobody")]
    assert verdicts[0] == verdicts[1]


def test_a_schema_of_other_rows_says_the_same_whatever_the_holdout_holds() -> None:
    first = bb.Bounty(_zeros, *_rows(50, 2), public=PUBLIC).schema
    second = bb.Bounty(_zeros, *_rows(60, 3, ("pilot",)), public=PUBLIC).schema
    assert first == second == bb.Schema.of(PUBLIC[0])


def test_a_holdout_alone_has_no_schema_and_says_so() -> None:
    bounty = bb.Bounty(_zeros, holdout=bb.LocalHoldout(*HOLDOUT), checker=bb.Plain())
    with pytest.raises(PredicateError, match="without a schema: .* expected public rows.* hand in a callable"):
        bounty.submit("AGEP < 40", _ones)
    given = bb.Bounty(
        _zeros, holdout=bb.LocalHoldout(*HOLDOUT), checker=bb.Plain(), schema=bb.Schema.of(HOLDOUT[0], categories=False)
    )
    assert given.submit("AGEP < 40", _ones).accepted
    with pytest.raises(SettingsError, match="schema is none: expected a Schema, got DataFrame"):
        _bounty(schema=HOLDOUT[0])


def test_what_slices_print_is_read_and_means_the_same() -> None:
    rng = np.random.default_rng(0)
    size = 3_000
    X = pd.DataFrame(
        {
            "AGEP": np.where(rng.random(size) < 0.1, np.nan, rng.integers(18, 90, size)),
            "income": rng.lognormal(10, 1, size).astype(np.float32),
            "or der": rng.integers(1, 4, size),
            "date": rng.choice(np.array(["a", "b'c", "NULL", None], object), size),
            "select": rng.random(size) < 0.5,
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, size).astype("timedelta64[D]"),
            "for": rng.integers(0, 900, size).astype("timedelta64[h]"),
        }
    )
    y = rng.integers(0, 2, size)
    finder = SliceFinder(DecisionTreeClassifier(max_depth=1), depth=2, candidates=1000, smallest=10)
    found = finder.rank(X, y, _zeros(X), rng, most=10_000)
    schema = bb.Schema.of(X)
    named = set()
    for one in found:
        predicate = parse(one.group.words, schema)
        assert parse(str(predicate), schema) == predicate
        assert (predicate(X) == one.group(X)).all(), one.group.words
        named |= {asked.name for asked in predicate.columns}
    assert len(found) > 100
    assert named == set(X.columns)


def test_a_predicate_is_its_own_note_where_none_is_given() -> None:
    X = pd.DataFrame({"x": np.arange(40)})
    bounty = bb.Bounty(lambda X: np.zeros(len(X), int), X, np.ones(40, int), checker=bb.Plain())
    bounty.submit("x<20", lambda X: np.ones(len(X), int))
    bounty.submit("x >= 20", lambda X: np.ones(len(X), int), note="the others")
    assert [one.note for one in bounty.submissions] == ["x < 20", "the others"]
    assert "x &lt; 20" in bounty.model.draw()
