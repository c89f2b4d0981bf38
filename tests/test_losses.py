"""Losses are row-wise, in [0, 1], and name the first row that is not."""

from typing import Any

import numpy as np
import pytest

from biasbounty import losses
from biasbounty.errors import HoldoutError, LossError, SettingsError


def test_zero_one_is_1_where_the_answer_is_wrong() -> None:
    assert losses.zero_one(np.array(["a", "b"]), np.array(["a", "c"])).tolist() == [0, 1]


def test_absolute_and_squared_are_fractions_of_the_declared_range() -> None:
    answers, labels = np.array([10, 20, 30]), np.array([10.0, 10.0, 10.0])
    assert losses.absolute(10, 30)(answers, labels).tolist() == [0, 0.5, 1]
    assert losses.squared(10, 30)(answers, labels).tolist() == [0, 0.25, 1]


def test_a_cost_matrix_costs_by_label_and_answer() -> None:
    loss = losses.cost_matrix([[0, 0.5, 1], [0.25, 0, 0.75], [1, 1, 0]])
    assert loss(np.array([0, 1, 2, 0]), np.array([0, 0, 1, 2])).tolist() == [0, 0.5, 0.75, 1]
    assert not loss.zero_one


def test_a_cost_matrix_takes_classes_in_any_order() -> None:
    loss = losses.cost_matrix([[0, 1], [0.5, 0]], classes=["yes", "no"])
    assert loss(np.array(["no", "yes", "no"]), np.array(["yes", "no", "no"])).tolist() == [1, 0.5, 0]


def test_a_cost_matrix_of_zeros_and_ones_is_stored_as_bits() -> None:
    assert losses.cost_matrix([[0, 1], [1, 0]]).zero_one


def test_a_function_of_ones_own_is_checked_like_any_loss() -> None:
    half = losses.function(lambda answers, labels: 0.5 * (answers != labels), name="half")
    assert half(np.array([1, 2]), np.array([1, 1])).tolist() == [0, 0.5]
    with pytest.raises(LossError, match=r"far is outside its range at row 1: expected a value in \[0, 1\], got 1.5"):
        losses.function(lambda answers, labels: answers * 1.5, name="far")(np.array([0, 1]), np.array([0, 0]))


@pytest.mark.parametrize(
    ("loss", "answers", "words"),
    [
        (losses.absolute(0, 1), [0.5, 3.0], "absolute is outside its range at row 1"),
        (losses.squared(0, 1), [0.5, np.nan], "squared is outside its range at row 1"),
        (
            losses.cost_matrix([[0, 1], [1, 0]]),
            [0, 7],
            r"cost_matrix has an answer of no class at row 1: expected one of \[0, 1\], got 7",
        ),
        (losses.function(lambda a, y: a - y, zero_one=True), [0.5, 1], "expected 0 or 1, got 0.5"),
        (losses.function(lambda a, y: 0.5, name="one"), [0, 1], "one has the wrong shape or type: expected 2 numbers"),
        (losses.function(lambda a, y: ["x", "y"]), [0, 1], "has the wrong shape or type"),
    ],
)
def test_a_value_outside_is_refused_with_its_row(loss: losses.Loss, answers: list[Any], words: str) -> None:
    with pytest.raises(LossError, match=words):
        loss(np.array(answers), np.array([0, 1]))


def test_the_row_named_is_the_caller_s_where_given() -> None:
    with pytest.raises(LossError, match="at row 40"):
        losses.absolute(0, 1)(np.array([0.0, 9.0]), np.array([0.0, 0.0]), rows=np.array([7, 40]))


@pytest.mark.parametrize(
    ("loss", "labels", "words"),
    [
        (losses.zero_one, [0.0, np.nan], "labels for zero_one are missing: expected a value, got nan at row 1"),
        (losses.zero_one, np.array(["a", None], object), "got None at row 1"),
        (
            losses.absolute(0, 1),
            [0.0, 2.0],
            "labels for absolute are outside its range: expected 0 to 1, got 2.0 at row 1",
        ),
        (losses.absolute(0, 1), ["a", "b"], "expected numbers"),
        (losses.cost_matrix([[0, 1], [1, 0]]), [0, 2], "labels for cost_matrix are of no class"),
        (losses.cost_matrix([[0, 1], [1, 0]]), ["0", "1"], "labels for cost_matrix have the wrong type"),
    ],
)
def test_labels_that_a_loss_cannot_take_are_refused(loss: losses.Loss, labels: Any, words: str) -> None:
    with pytest.raises(HoldoutError, match=words):
        loss.check_labels(np.asarray(labels))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: losses.absolute(1, 1), "range of absolute is empty"),
        (lambda: losses.squared(0, np.inf), "range of squared is empty"),
        (lambda: losses.cost_matrix([[0, 1]]), "not square"),
        (lambda: losses.cost_matrix([[0, 2], [1, 0]]), "outside"),
        (lambda: losses.cost_matrix([[0, 1], [1, 0]], classes=["a", "a"]), "2 distinct classes"),
        (lambda: losses.get("hinge"), r"loss cannot be used: expected one of \['absolute', 'squared', 'zero_one'\]"),
    ],
)
def test_settings_that_make_no_loss_are_refused(make: Any, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        make()


def test_get_finds_by_name_passes_a_loss_and_wraps_a_function() -> None:
    loss = losses.absolute(0, 5)
    assert losses.get("zero_one").zero_one
    assert losses.get(loss) is loss
    assert losses.get(lambda answers, labels: answers == labels).name == "<lambda>"
    assert repr(loss) == "losses.absolute(low=0, high=5)"
    assert repr(losses.zero_one) == "losses.zero_one"
