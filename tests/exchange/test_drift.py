"""Rows drawn alike are said to drift no oftener than stated; a column that changed is named, and how it changed."""

from math import comb
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbounty.errors import SettingsError
from biasbounty.exchange.drift import Summary, check_drift, summarize
from tests.exchange.lists import array_rows, frame_rows


def _rows(rng: np.random.Generator, size: int, older: float = 0.0) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, size) + older,
            "income": np.where(rng.random(size) < 0.1, np.nan, rng.lognormal(10, 1, size)),
            "sex": rng.integers(1, 3, size),
            "job": rng.choice(np.array(["cook", "judge", "nurse", None], object), size, p=[0.6, 0.2, 0.15, 0.05]),
            "since": np.datetime64("2020-01-01") + rng.integers(0, 900, size).astype("timedelta64[D]"),
        }
    )


def _at_least(count: int, trials: int, rate: float) -> float:
    """Return how probable so many successes or more are."""
    return sum(comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(count, trials + 1))


@pytest.mark.parametrize(("then", "now"), [(300, 200), (5_000, 400), (2_000, 2_000)])
def test_rows_drawn_alike_are_said_to_drift_no_oftener_than_stated(then: int, now: int) -> None:
    rng, trials, delta = np.random.default_rng(then), 300, 0.2
    false_alarms = sum(
        bool(check_drift(summarize(_rows(rng, then)), _rows(rng, now), tolerance=0, delta=delta).drifted)
        for _ in range(trials)
    )
    assert _at_least(false_alarms, trials, delta) > 1e-4, false_alarms


def test_a_change_that_matters_is_found_and_named() -> None:
    rng = np.random.default_rng(0)
    summary = summarize(_rows(rng, 5_000))
    assert check_drift(summary, _rows(rng, 2_000)).drifted == ()
    assert str(check_drift(summary, _rows(rng, 2_000))) == "none of 5 columns has drifted"
    drift = check_drift(summary, _rows(rng, 2_000, older=20))
    assert drift.drifted == ("age",)
    assert drift.columns[0].distance == pytest.approx(20 / 72, abs=0.05)
    assert drift.columns[0].unseen == pytest.approx(20 / 72, abs=0.05)
    assert "age has drifted: values up to" in str(drift)
    changed = _rows(rng, 2_000)
    changed.loc[:500, "job"] = "pilot"
    changed.loc[:300, "income"] = np.nan
    drift = check_drift(summary, changed)
    assert drift.drifted == ("income", "job")
    assert drift.columns[3].new == ("pilot",)
    assert drift.columns[3].unseen == pytest.approx(0.25, abs=0.03)
    assert "values missing: 10" in drift.columns[1].what


def test_more_rows_see_smaller_changes_but_none_within_the_tolerance() -> None:
    rng = np.random.default_rng(0)

    def ones(size: int, share: float) -> Any:
        return (rng.random((size, 1)) < share).astype(float)

    few, many = summarize(ones(200, 0.5)), summarize(ones(100_000, 0.5))
    assert check_drift(few, ones(200, 0.58)).drifted == ()
    assert check_drift(many, ones(100_000, 0.58)).drifted == ("x0",)
    assert check_drift(many, ones(100_000, 0.515)).drifted == ()
    assert check_drift(many, ones(100_000, 0.515), tolerance=0).drifted == ("x0",)


@settings(deadline=None, max_examples=25, derandomize=True)
@given(seed=st.integers(0, 2**32), framed=st.booleans(), size=st.integers(0, 60))
def test_a_summary_is_written_and_read_back_the_same_and_rows_are_like_themselves(
    seed: int, framed: bool, size: int
) -> None:
    X = (frame_rows if framed else array_rows)(np.random.default_rng(seed), size)
    summary = summarize(X)
    assert Summary.from_json(summary.to_json()) == summary
    assert check_drift(summary, X).drifted == ()
    assert check_drift(summary, X, tolerance=0).drifted == ()


def test_frames_of_all_kinds_are_summarized_alike() -> None:
    frame = _rows(np.random.default_rng(0), 300)
    given = summarize(frame)
    assert summarize(pl.from_pandas(frame)) == given
    assert check_drift(given, pl.from_pandas(frame)[:, ::-1]).drifted == ()
    X = frame[["age", "sex"]].to_numpy()
    assert check_drift(summarize(X), X.astype(np.float32)).drifted == ()


def test_a_column_that_holds_something_else_or_is_gone_is_told() -> None:
    rng = np.random.default_rng(0)
    summary = summarize(_rows(rng, 500))
    drift = check_drift(summary, _rows(rng, 500).assign(sex="m"))
    assert drift.drifted == ("sex",)
    assert "it holds text where it held numbers" in str(drift)
    assert check_drift(summary, _rows(rng, 500).assign(job=None)).drifted == ("job",)
    with pytest.raises(SettingsError, match="rows lack a column of the summary: expected 'job', got none; hand in"):
        check_drift(summary, _rows(rng, 500).drop(columns="job"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', '{"version": 1, "rows": 1}', "[" * 100_000])
def test_a_summary_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="summary cannot be read: expected what to_json wrote, got"):
        Summary.from_json(text)


def test_settings_out_of_range_are_refused() -> None:
    X = np.zeros((3, 1))
    for wrong in ({"tolerance": -1}, {"tolerance": 1}, {"delta": 0}, {"delta": 1}, {"delta": "x"}):
        with pytest.raises(SettingsError, match=f"{next(iter(wrong))} is out of range"):
            check_drift(summarize(X), X, **wrong)
