"""The slices that an analyst is shown are where the model errs more, and their intervals hold all at once."""

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binomtest

import biasbounty as bb
from biasbounty import losses
from biasbounty.errors import ModelError, SettingsError
from biasbounty.finders import Disparities, SliceFinder, find_disparities
from biasbounty.reporting import charts

SMALL = SliceFinder(bins=4, candidates=10)
COLUMNS = ["group", "rows", "weight"] + [
    f"{name}{end}" for name in ("risk", "elsewhere", "contribution") for end in ("", "_low", "_high")
]


def _drawn(rng: np.random.Generator, size: int) -> tuple[Any, Any]:
    X = rng.integers(0, 4, (size, 3)).astype(float)
    chance = np.where(X[:, 0] == 1, 0.35, np.where(X[:, 1] == 2, 0.2, 0.05))
    return X, (rng.random(size) < chance).astype(int)


def _model(X: Any) -> Any:
    return np.where(np.asarray(X)[:, 2] == 3, 1, 0)


X, Y = _drawn(np.random.default_rng(0), 12_000)


def test_where_a_model_is_wrong_comes_first_and_what_can_be_done_is_said() -> None:
    found = find_disparities(_model, X, Y)
    first = found[0]
    assert first.words == "x2 = 3"
    assert first.risk.low > 0.7 > 0.4 > first.elsewhere.high
    assert first.contribution.low > 0.12
    assert found.risk == pytest.approx(float((_model(X) != Y).mean()), abs=0.02)
    assert (found.searched, found.tested) == (6_000, 6_000)
    assert "x2 = 3: 1," in str(found)


def test_by_contribution_the_slice_of_most_to_be_gained_comes_first() -> None:
    found = find_disparities(_model, X, Y, by="contribution")
    values = [one.contribution.value for one in found.found]
    assert values == sorted(values, reverse=True)
    assert found[0].contribution.low > 0.12


def test_what_is_found_can_be_submitted() -> None:
    certificate = find_disparities(_model, X, Y)[0].certificate
    fresh = _drawn(np.random.default_rng(9), 20_000)
    verdict = bb.Bounty(_model, *fresh).submit(certificate.group, certificate.model, note=certificate.note)
    assert verdict.accepted


def test_all_intervals_hold_at_once_as_often_as_they_say() -> None:
    """The truth of each slice found is taken from a great many fresh rows."""
    rng, delta, runs, wrong = np.random.default_rng(5), 0.5, 40, 0
    fresh, labels = _drawn(rng, 100_000)
    answers = _model(fresh)
    for seed in range(runs):
        found = find_disparities(_model, *_drawn(rng, 500), finder=SMALL, delta=delta, seed=seed)
        wrong += any(not _holds(one, fresh, labels, answers) for one in found.found)
    assert binomtest(wrong, runs, delta, alternative="greater").pvalue > 1e-3


def _holds(one: Any, fresh: Any, labels: Any, answers: Any) -> bool:
    mask, missed = one.certificate.group(fresh), answers != labels
    after = np.zeros(len(mask))
    after[mask] = one.certificate.model(fresh[mask]) != labels[mask]
    truths = ((one.risk, missed[mask]), (one.elsewhere, missed[~mask]), (one.contribution, missed * mask - after))
    return all(interval.low <= truth.mean() <= interval.high for interval, truth in truths)


def test_a_good_model_has_no_certain_contribution_anywhere() -> None:
    found = find_disparities(lambda X: np.zeros(len(X), int), X, Y)
    assert len(found) > 0
    assert all(one.contribution.low <= 0 for one in found.found)


def test_numbers_are_judged_by_their_distance() -> None:
    y = X[:, 0] / 4
    found = find_disparities(lambda X: np.where(X[:, 1] == 2, 1.0, X[:, 0] / 4), X, y, loss=losses.absolute(0, 1))
    assert found[0].words == "x1 = 2"
    assert found[0].risk.low > 0.5 > 0.01 > found[0].elsewhere.value


@pytest.mark.parametrize(
    ("made", "kind"),
    [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (np.asarray, pd.DataFrame)],
    ids=["pandas", "polars", "numpy"],
)
def test_the_frame_is_of_the_kind_that_the_rows_came_in(made: Any, kind: Any) -> None:
    rows = made(X) if made is not pd.DataFrame else pd.DataFrame(X, columns=["a", "b", "c"])
    frame = find_disparities(_model, rows, Y, finder=SMALL, most=3).frame
    assert isinstance(frame, kind)
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 3


def test_without_pandas_and_polars_the_frame_is_of_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasbounty.finders.disparities.find_spec", lambda name: None)
    assert isinstance(find_disparities(_model, X, Y, finder=SMALL).frame, pa.Table)


def test_a_model_without_errors_has_no_disparities_and_says_so() -> None:
    found = find_disparities(lambda X: X[:, 0], X, X[:, 0])
    assert len(found) == 0
    assert str(found) == "No slice found on the 6,000 rows searched."
    assert found.frame.shape == (0, 12)


def test_a_chart_of_them_can_be_drawn_and_a_notebook_shows_a_table() -> None:
    found = find_disparities(_model, X, Y, finder=SMALL)
    svg = charts.to_svg(charts.disparities(found))
    assert svg.startswith("<svg")
    assert "x2 = 3" in svg
    assert "x2 = 3" in found._repr_html_()
    assert repr(found).startswith(f"Disparities({len(found)} slices")
    assert charts.to_svg(charts.disparities(find_disparities(lambda X: X[:, 0], X, X[:, 0]))).startswith("<svg")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"seed": -1}, "seed cannot be used: expected a whole number from 0, got -1"),
        ({"most": 0}, "most is out of range: expected a whole number from 1 to 1000, got 0"),
        ({"delta": 1}, "delta is out of range: expected 0 < delta < 1, got 1"),
        ({"by": "size"}, "by is unknown: expected one of contribution, relabelling, excess, got 'size'"),
        ({"model": "model"}, "model cannot be called"),
        ({"X": X[:1], "y": Y[:1]}, "rows are too few: expected two at least"),
        ({"y": Y[1:]}, "labels have the wrong length: expected 12000"),
        ({"finder": bb.TernaryFinder()}, "finder ranks no slices: expected a SliceFinder, got TernaryFinder"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(given: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        find_disparities(**({"model": _model, "X": X, "y": Y} | given))


def test_a_model_that_writes_into_its_rows_changes_nothing_and_is_told_if_it_fails() -> None:
    def vandal(rows: Any) -> Any:
        answers = _model(rows)
        rows[:, 2] = 0
        return answers

    before = X.copy()
    with pytest.raises(ModelError, match="model failed on 12000 rows: expected answers, got ValueError"):
        find_disparities(vandal, X, Y)
    assert (before == X).all()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])

    def careless(rows: Any) -> Any:
        answers = (rows["c"] == 3).to_numpy().astype(int)
        rows["c"] = 0
        return answers

    assert find_disparities(careless, frame, Y)[0].words == "c = 3"
    assert (frame.to_numpy() == before).all()


def test_a_slice_of_long_words_can_still_be_submitted() -> None:
    texts = np.array([f"{letter * 400}" for letter in "abcd"])
    frame = pd.DataFrame({"long": texts[X[:, 2].astype(int)], "other": X[:, 1]})
    found = find_disparities(lambda rows: (rows["long"] == texts[3]).astype(int), frame, Y)
    assert max(len(one.words) for one in found.found) > 500
    for one in found.found:
        bounty = bb.Bounty(lambda rows: np.zeros(len(rows), int), frame, Y)
        bounty.submit(one.certificate.group, one.certificate.model, note=one.certificate.note)


def test_the_same_seed_finds_the_same() -> None:
    one, other = (find_disparities(_model, X, Y, finder=SMALL, seed=3) for _ in range(2))
    assert str(one) == str(other)
    assert isinstance(one, Disparities)


def test_the_finders_are_imported_only_when_asked_for() -> None:
    code = "import sys, biasbounty as bb; it = 'sklearn'; print(it in sys.modules); bb.Finder; print(it in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
    with pytest.raises(AttributeError, match="has no attribute 'SegmentFinder'"):
        _ = bb.SegmentFinder
