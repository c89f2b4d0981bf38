"""What helps people without machine learning: models fitted to groups, groups learned from rows, finders that hunt."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from biasbounty import losses
from biasbounty.client import training
from biasbounty.client.handing import handed_group, handed_model
from biasbounty.client.rows import Part
from biasbounty.errors import GroupError, SettingsError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import parse
from biasbounty.exchange.schema import Schema
from biasbounty.finders import AlternatingFinder, ExamplesFinder, Finder, ResidualFinder, SliceFinder, TernaryFinder
from tests.client.stage import Stage, data, on_stage


@pytest.mark.parametrize("group", ["AGEP < 40", "job = 'judge'", lambda X: np.asarray(X["job"] == "judge")])
def test_a_model_fitted_to_a_group_does_on_public_rows_what_it_says(stage: Stage, group: Any) -> None:
    with stage.hunter() as bounty:
        told: list[str] = []
        trained = bounty.train_on(group, progress=told.append)
        assert len(told) == 7
        assert trained.expected_risk < 0.05
        assert trained.public.risk_after < trained.public.risk_before
        assert trained.name in str(trained)
        if isinstance(group, str):
            tried = bounty.preflight(group, trained.model)
            assert (tried.rows, tried.group) == (trained.public.rows, trained.public.group)
            assert tried.risk_before == pytest.approx(trained.public.risk_before)
            assert tried.contribution == pytest.approx(trained.public.contribution)


def test_text_columns_are_learned_from_in_pandas_and_polars_alike(stage: Stage) -> None:
    with stage.hunter() as bounty:
        part = bounty.data("pandas").train, bounty.data("polars").train
        fitted = [training.train(each, losses.get("zero_one")) for each in part]
        assert fitted[0][1:] == fitted[1][1:]
        assert fitted[0][2] < 0.05
        with pytest.raises(SettingsError, match="expected a frame of pandas or polars where columns hold text"):
            training.train(bounty.data("arrow").train, losses.get("zero_one"))


def test_a_model_of_one_s_own_is_fitted_in_place_of_the_candidates() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    fitted, name, _ = training.train(Part(X, (X[:, 0] > 0).astype(int)), losses.get("zero_one"), GaussianNB())
    assert name == "GaussianNB"
    assert (fitted.predict(X) == (X[:, 0] > 0)).mean() > 0.9


@pytest.mark.parametrize("loss", [losses.absolute(0, 2), losses.squared(0, 2)])
def test_numbers_are_learned_for_losses_of_a_regression(loss: losses.Loss) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((800, 3))
    fitted, _, risk = training.train(Part(X, X[:, 0] + X[:, 1]), loss)
    assert risk < loss(np.full(800, 1.0), X[:, 0] + X[:, 1]).mean() / 2
    assert np.abs(fitted.predict(X) - X[:, 0] - X[:, 1]).mean() < 0.2


def test_a_group_without_train_rows_is_told(stage: Stage) -> None:
    with stage.hunter() as bounty, pytest.raises(GroupError, match="group has no train rows"):
        bounty.train_on("AGEP < 0")


def test_a_group_is_learned_from_flagged_rows_said_in_words_and_handed_in(tmp_path: Path) -> None:
    with on_stage(tmp_path) as stage, stage.hunter() as bounty:
        X = bounty.data().train.X
        flagged = np.flatnonzero((X["AGEP"] < 38).to_numpy())[:200]
        group = bounty.group_from(flagged)
        assert "AGEP" in str(group)
        mask = group(X)
        assert mask[flagged].mean() > 0.95
        assert bounty.submit(group).accepted
        with pytest.raises(GroupError, match="examples make no group that a model does better on"):
            bounty.group_from(((X["AGEP"] > 60) & (X["job"] == "cook")).to_numpy())


@pytest.mark.parametrize(
    "finder",
    [
        SliceFinder(depth=2),
        ResidualFinder(),
        AlternatingFinder(),
        TernaryFinder(),
        ResidualFinder(base=GaussianNB()),
        ExamplesFinder(np.arange(300)),
    ],
    ids=lambda finder: f"{type(finder).__name__}-{finder.base}",
)
def test_what_a_finder_found_answers_every_row_as_onnx_as_it_does_itself(finder: Finder) -> None:
    train, public, kept = data().train, data().public, data().holdout
    found = finder.find(train.X, train.y, np.zeros(len(train), np.int64), np.random.default_rng(0))
    assert found is not None
    schema = Schema.of(public.X)
    group, model = handed_group(found.group, public.X, schema), OnnxModel(handed_model(found.model, public.X, schema))
    asked: Any = parse(group, schema) if isinstance(group, str) else OnnxModel(group)
    mask = np.asarray(found.group(kept.X)).astype(bool)  # type: ignore[operator]
    assert (asked(kept.X).astype(bool) == mask).all()
    assert mask.any()
    assert (model(kept.X) == found.model(kept.X)).all()  # type: ignore[operator]


def test_numbers_found_for_a_regression_stay_within_those_learned_from() -> None:
    train, public = data().train, data().public
    y = np.rint(np.nan_to_num(train.X["AGEP"].to_numpy(), nan=30.0)).astype(np.int64)
    found = ResidualFinder().find(
        train.X, y, np.full(len(train), 50), np.random.default_rng(0), loss=losses.absolute(0, 100)
    )
    assert found is not None
    model = OnnxModel(handed_model(found.model, public.X, Schema.of(public.X)))
    assert (model(public.X) == found.model(public.X)).all()  # type: ignore[operator]


def test_a_finder_hunts_until_nothing_is_found_and_hands_nothing_in_twice(tmp_path: Path) -> None:
    with on_stage(tmp_path) as stage, stage.hunter() as bounty:
        told: list[str] = []
        done = list(bounty.hunt(SliceFinder(), 5, progress=told.append))
        assert done[0].accepted
        assert len({(each.group_hash, each.model_hash) for each in done}) == len(done)
        assert bounty.refresh().received == len(done)
        assert bounty.info.round == sum(each.accepted for each in done)
        assert any("on public rows it contributes" in words for words in told)
