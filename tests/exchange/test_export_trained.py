"""A list that algorithms trained leaves as one file, like any other."""

from typing import Any

import pytest

import biasbounty as bb
from biasbounty.datasets import load_census
from biasbounty.finders import SliceFinder, TernaryFinder

SAMPLE = load_census()
TRAIN, NEW = slice(0, 6_000), slice(6_000, 12_000)


@pytest.mark.parametrize(
    ("finder", "checker"),
    [(TernaryFinder(), bb.Anytime(0.02)), (SliceFinder(depth=1), bb.Plain())],
    ids=["TernaryFinder", "SliceFinder"],
)
def test_a_trained_list_answers_in_onnx_as_it_does_here(finder: Any, checker: Any) -> None:
    trained = bb.BountyClassifier(finder=finder, checker=checker, random_state=0).fit(SAMPLE.X[TRAIN], SAMPLE.y[TRAIN])
    assert len(trained.decision_list_) > 0
    data = bb.to_onnx(trained.decision_list_, SAMPLE.X[NEW])
    assert (bb.OnnxModel(data)(SAMPLE.X[NEW]) == trained.decision_list_.predict(SAMPLE.X[NEW])).all()
