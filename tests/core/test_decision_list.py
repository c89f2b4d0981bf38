"""The decision list predicts what its definition says, whatever the frame, and keeps nothing."""

import threading
from collections.abc import Callable
from html import escape
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.tree import DecisionTreeClassifier

import biasbounty as bb
from biasbounty.core.answers import LabelType
from biasbounty.core.decision_list import Node
from biasbounty.errors import GroupError, ModelError, SettingsError


def _const(value: Any) -> Callable[[Any], Any]:
    return lambda X: np.full(len(X), value)


def _at_least(low: float) -> Callable[[Any], Any]:
    return lambda X: (X[:, 0] if isinstance(X, np.ndarray) else X["a"]) >= low


def _as_objects(values: Any) -> Any:
    return np.array(values, object)


def _as_strings(values: Any) -> Any:
    return np.array(values, np.dtypes.StringDType())


def _random_list(rng: np.random.Generator, nodes: int, *, estimators: bool = False) -> bb.PointerDecisionList:
    """Make a list of thresholds on three columns, a third of them repairs."""
    made: list[Node] = []
    heads = [0]
    for number in range(1, nodes + 1):
        column, low = int(rng.integers(3)), rng.random() * 0.9
        group: Any = _Between(column, low, low + rng.choice([0.02, 0.1, 0.9]))
        if not estimators:
            group = group.predict
        if rng.random() < 0.35:
            made.append(bb.RepairNode(group, int(rng.integers(len(heads)))))
        else:
            made.append(bb.UpdateNode(group, _const(number)))
        if rng.random() < 0.5 or number == nodes:
            heads.append(number)
    return bb.PointerDecisionList(_const(0), tuple(made), tuple(heads))


class _Between:
    def __init__(self, column: int, low: float, high: float) -> None:
        self.column, self.low, self.high = column, low, high

    def predict(self, X: Any) -> Any:
        values = X[:, self.column] if isinstance(X, np.ndarray) else X["abc"[self.column]].to_numpy()
        return (values >= self.low) & (values < self.high)


def _literal(model: bb.PointerDecisionList, X: Any, round: int) -> list[int]:
    """Walk each row by itself."""
    answers = []
    for row in range(len(X)):
        one, node = X[row : row + 1], model.heads[round]
        while node:
            at: Any = model.nodes[node - 1]
            if not getattr(at.group, "predict", at.group)(one)[0]:
                node -= 1
            elif isinstance(at, bb.UpdateNode):
                break
            else:
                node = model.heads[at.pointer]
        answers.append(node)
    return answers


@pytest.mark.parametrize("estimators", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_prediction_is_the_walk_of_each_row_by_itself(seed: int, estimators: bool) -> None:
    rng = np.random.default_rng(seed)
    model, X = _random_list(rng, 40, estimators=estimators), rng.random((150, 3))
    for round in (0, len(model.heads) // 2, len(model.heads) - 1):
        assert model.predict(X, round=round).tolist() == _literal(model, X, round)


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: pd.DataFrame(X, columns=list("abc")),
        lambda X: pd.DataFrame(X, columns=list("abc"), index=np.arange(len(X))[::-1] * 3),
        lambda X: pl.DataFrame(X, schema=list("abc")),
        lambda X: pa.table({name: X[:, at] for at, name in enumerate("abc")}),
    ],
    ids=["pandas", "pandas with an odd index", "polars", "pyarrow"],
)
def test_frames_of_every_kind_give_the_same_answers(convert: Callable[[Any], Any]) -> None:
    rng = np.random.default_rng(3)
    model, X = _random_list(rng, 40), rng.random((500, 3))
    assert model.predict(convert(X)).tolist() == model.predict(X).tolist()
    assert model.explain(convert(X)) == model.explain(X)


def test_each_group_and_model_is_called_once_and_each_model_on_exactly_the_rows_it_answers() -> None:
    calls: list[tuple[str, list[float]]] = []

    def spy(name: str, answer: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(X: Any) -> Any:
            calls.append((name, X[:, 0].tolist()))
            return answer(X)

        return call

    nodes = (
        bb.UpdateNode(spy("g1", _at_least(2)), spy("h1", _const(1))),
        bb.UpdateNode(spy("g2", _at_least(3)), spy("h2", _const(2))),
        bb.RepairNode(spy("g3", _at_least(4)), 1),
    )
    model = bb.PointerDecisionList(spy("f0", _const(0)), nodes, (0, 1, 3))
    assert model.predict(np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])).tolist() == [0, 0, 1, 2, 1]
    asked = [(name, rows) for name, rows in calls if name[0] == "h"]
    assert asked == [("h2", [3.0]), ("h1", [2.0, 4.0])]
    assert calls[-1] == ("f0", [0.0, 1.0])
    assert [name for name, _ in calls].count("g1") == 1


def test_a_list_of_5000_nodes_predicts() -> None:
    nodes = tuple(bb.UpdateNode(_at_least(number), _const(number)) for number in range(1, 5001))
    model = bb.PointerDecisionList(_const(0), nodes, tuple(range(5001)))
    X = np.array([[0.0], [1.5], [2500.0], [9999.0]])
    assert model.predict(X).tolist() == [0, 1, 2500, 5000]
    assert [explanation.node for explanation in model.explain(X)] == [0, 1, 2500, 5000]
    assert "4,960 older nodes" in model.draw()


def test_a_chain_of_2500_pointers_is_followed() -> None:
    nodes: list[Node] = []
    for number in range(1, 2501):
        nodes += [bb.UpdateNode(_at_least(1), _const(number)), bb.RepairNode(_at_least(2), number - 1)]
    model = bb.PointerDecisionList(_const(0), tuple(nodes), tuple(range(0, 5001, 2)))
    assert model.predict(np.array([[0.0], [1.0], [2.0]])).tolist() == [0, 2500, 0]
    assert model.explain(np.array([[2.0]]))[0].pointers == tuple(range(2499, -1, -1))


def test_two_threads_predicting_different_batches_get_the_answers_of_two_calls_in_turn() -> None:
    rng = np.random.default_rng(0)
    model, batches = _random_list(rng, 60), [rng.random((20_000, 3)) for _ in range(2)]
    expected = [model.predict(batch).tolist() for batch in batches]
    start, wrong = threading.Barrier(2), list[int]()

    def predict(at: int) -> None:
        start.wait()
        wrong.extend(turn for turn in range(20) if model.predict(batches[at]).tolist() != expected[at])

    threads = [threading.Thread(target=predict, args=(at,)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize(
    ("initial", "patch", "expected"),
    [
        (0, 1.0, np.int64),
        (0.5, 1, np.float64),
        (np.float32(0.5), 0.25, np.float32),
        (False, 1, np.bool_),
        (np.int8(0), True, np.int8),
        ("no", "certainly", "<U9"),
    ],
)
def test_answers_come_in_the_initial_model_s_own_label_type(initial: Any, patch: Any, expected: Any) -> None:
    model = bb.PointerDecisionList(_const(initial), (bb.UpdateNode(_at_least(1), _const(patch)),), (0, 1))
    answers = model.predict(np.array([[0.0], [1.0]]))
    assert answers.dtype == np.dtype(expected)
    assert answers.tolist() == [initial, patch]
    assert model.predict(np.array([[1.0]])).tolist() == [patch]


def test_text_in_an_array_of_objects_stays_there() -> None:
    model = bb.PointerDecisionList(
        lambda X: np.array(["no"] * len(X), object), (bb.UpdateNode(_at_least(1), _const("certainly")),), (0, 1)
    )
    answers = model.predict(np.array([[0.0], [1.0]]))
    assert (answers.dtype, answers.tolist()) == (np.dtype(object), ["no", "certainly"])


@pytest.mark.parametrize("patch", [0.5, np.nan, "yes", 2**40, 1 + 5j, b"1", np.timedelta64(1, "D"), None])
def test_an_answer_that_the_label_type_cannot_hold_is_refused(patch: Any) -> None:
    model = bb.PointerDecisionList(_const(np.int32(0)), (bb.UpdateNode(_at_least(1), _const(patch)),), (0, 1))
    with pytest.raises(ModelError, match="expected a value of the initial model's type int32, got"):
        model.predict(np.array([[0.0], [1.0]]))


@pytest.mark.parametrize("patch", [1 + 5j, b"0.5", np.datetime64("2020-01-01"), 2**53 + 1, np.inf, "1", None])
def test_a_float_label_type_takes_only_numbers_that_it_can_hold(patch: Any) -> None:
    model = bb.PointerDecisionList(_const(0.0), (bb.UpdateNode(_at_least(1), _const(patch)),), (0, 1))
    with pytest.raises(ModelError, match="expected a value of the initial model's type float64, got"):
        model.predict(np.array([[0.0], [1.0]]))


@pytest.mark.parametrize(
    "kind",
    [
        np.asarray,
        list,
        pd.Series,
        pd.Categorical,
        pl.Series,
        _as_objects,
        _as_strings,
    ],
)
def test_text_of_every_kind_is_answered_in_one_type(kind: Callable[[Any], Any]) -> None:
    patch = bb.UpdateNode(_at_least(1), lambda X: kind(["certainly"] * len(X)))
    model = bb.PointerDecisionList(lambda X: np.array(["no"] * len(X)), (patch,), (0, 1))
    for rows in ([[0.0], [1.0]], [[1.0]]):
        answers = model.predict(np.array(rows))
        assert answers.dtype.kind == "U"
        assert answers[-1] == "certainly"


@pytest.mark.parametrize(
    "answers",
    [
        ["yes", None],
        ["yes", np.nan],
        np.ma.array(["yes", "no"], mask=[False, True]),
        np.array(["yes", 1], object),
    ],
)
def test_missing_text_is_no_label(answers: Any) -> None:
    model = bb.PointerDecisionList(_const("no"), (bb.UpdateNode(_at_least(0), lambda X: answers),), (0, 1))
    with pytest.raises(ModelError, match="expected a value of the initial model's type text, got .* at row 1"):
        model.predict(np.array([[0.0], [1.0]]))


@pytest.mark.parametrize("kind", [list, _as_objects, pd.Series, lambda a: pd.Series(a, dtype="Int64")])
def test_numbers_in_disguise_are_numbers(kind: Callable[[Any], Any]) -> None:
    model = bb.PointerDecisionList(
        lambda X: kind([0] * len(X)), (bb.UpdateNode(_at_least(1), lambda X: kind([1] * len(X))),), (0, 1)
    )
    answers = model.predict(np.array([[0.0], [1.0]]))
    assert (answers.dtype.kind, answers.tolist()) == ("i", [0, 1])


def test_estimators_answer_through_predict_on_frames_with_names() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((300, 3)), columns=list("abc"))
    y = (frame["b"] > 0.5).astype(int)
    group = DecisionTreeClassifier(max_depth=1).fit(frame, frame["a"] > 0.5)
    model = bb.PointerDecisionList(_const(0), (bb.UpdateNode(group, DecisionTreeClassifier().fit(frame, y)),), (0, 1))
    assert model.predict(frame).tolist() == np.where(group.predict(frame), y, 0).tolist()


def test_an_explanation_names_the_deciding_node_its_round_the_pointers_and_whose_it_is() -> None:
    nodes = (
        bb.UpdateNode(_at_least(1), _const(1), "team-1", "one and more"),
        bb.UpdateNode(_at_least(2), _const(2), "team-2", "two and more"),
        bb.RepairNode(_at_least(3), 1, "team-1", "one and more"),
    )
    model = bb.PointerDecisionList(_const(0), nodes, (0, 1, 3))
    assert model.explain(np.array([[0.0], [1.0], [2.0], [3.0]])) == [
        bb.Explanation(0, 0),
        bb.Explanation(1, 1, (), "team-1", "one and more"),
        bb.Explanation(2, 2, (), "team-2", "two and more"),
        bb.Explanation(1, 1, (1,), "team-1", "one and more"),
    ]
    assert model.explain(np.array([[3.0]]), round=0) == [bb.Explanation(0, 0)]


def test_no_rows_get_no_answers() -> None:
    bounty = bb.Bounty(_const(0), np.zeros((2, 1)), [0, 1])
    bounty.submit(_at_least(0), _const(1))
    assert bounty.model.predict(np.zeros((0, 1))).tolist() == []
    assert bounty.model.explain(np.zeros((0, 1))) == []


@pytest.mark.parametrize(
    ("nodes", "heads", "words"),
    [
        ((), (0, 0), "heads do not fit"),
        ((), (1,), "heads do not fit"),
        ((bb.UpdateNode(_at_least(0), _const(0)),), (0,), "heads do not fit"),
        ((bb.RepairNode(_at_least(0), 1),), (0, 1), "pointer of node 1 does not lead down"),
        ((bb.RepairNode(_at_least(0), -1),), (0, 1), "pointer of node 1 does not lead down"),
    ],
)
def test_a_list_that_is_none_is_refused(nodes: tuple[Node, ...], heads: tuple[int, ...], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        bb.PointerDecisionList(_const(0), nodes, heads)


def test_what_cannot_be_asked_is_refused() -> None:
    with pytest.raises(GroupError, match="group of node 1 cannot be called: .* got str; a Bounty reads ONNX bytes"):
        bb.PointerDecisionList(_const(0), (bb.UpdateNode("AGEP < 25", _const(1)),), (0, 1))  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="initial model cannot be called: expected a callable on rows or a fitted"):
        bb.PointerDecisionList(3)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="round does not exist: expected a number from 0 to 0, got 1"):
        bb.PointerDecisionList(_const(0)).predict(np.zeros((1, 1)), round=1)
    with pytest.raises(SettingsError, match="rows have the wrong type: expected a numpy array, a pandas or a polars"):
        bb.PointerDecisionList(_const(0)).predict([[1]])


def test_an_error_while_predicting_names_the_node_and_the_row() -> None:
    def fails(X: Any) -> Any:
        raise KeyError("no such column")

    for node, words in (
        (bb.UpdateNode(fails, _const(1)), "group of node 1 failed on 2 rows: expected answers, got KeyError"),
        (bb.UpdateNode(_at_least(1), fails), "model of node 1 failed on 1 rows"),
        (bb.UpdateNode(_at_least(1), _const(0.5)), "model of node 1 has an answer that is no label: .* at row 1"),
    ):
        model = bb.PointerDecisionList(_const(0), (node,), (0, 1))
        with pytest.raises((GroupError, ModelError), match=words):
            model.predict(np.array([[0.0], [1.0]]))


def test_a_list_that_was_told_nothing_answers_no_rows_with_no_answers() -> None:
    model = bb.PointerDecisionList(DecisionTreeClassifier().fit([[0], [1]], [0, 1]))
    assert model.predict(np.zeros((0, 1))).tolist() == []


@pytest.mark.parametrize(
    "convert", [lambda X: X, lambda X: pd.DataFrame(X, columns=["a"]), lambda X: pl.DataFrame(X, schema=["a"])]
)
def test_a_group_cannot_change_the_caller_s_rows(convert: Callable[[Any], Any]) -> None:
    def adds_a_column(X: Any) -> Any:
        if isinstance(X, np.ndarray):
            return X[:, 0] > 0
        if isinstance(X, pd.DataFrame):
            X["young"] = X["a"] > 0
            return X["young"]
        X.insert_column(1, (X["a"] > 0).alias("young"))
        return X["young"]

    X = convert(np.array([[0.0], [1.0]]))
    model = bb.PointerDecisionList(_const(0), (bb.UpdateNode(adds_a_column, _const(1)),), (0, 1))
    assert model.predict(X).tolist() == [0, 1]
    assert np.asarray(X).tolist() == [[0.0], [1.0]]
    assert len(getattr(X, "columns", ["a"])) == 1


def test_the_drawing_shows_every_node_newest_first_and_an_arrow_for_each_repair() -> None:
    model = _random_list(np.random.default_rng(1), 12)
    root = ElementTree.fromstring(model.draw())  # noqa: S314  (made here)
    words = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [word for word in words if word and word.startswith("node ")] == [f"node {n}" for n in range(12, -1, -1)]
    repairs = sum(isinstance(node, bb.RepairNode) for node in model.nodes)
    arrows = [
        path for path in root.iter("{http://www.w3.org/2000/svg}path") if path.get("marker-end") == "url(#pointer)"
    ]
    assert len(arrows) == repairs > 0
    assert model._repr_html_().count("repair: as round") >= repairs


def test_the_drawing_escapes_the_words_of_strangers() -> None:
    attack = "<script>alert(1)</script>&"
    model = bb.PointerDecisionList(_const(0), (bb.UpdateNode(_at_least(0), _const(1), attack, attack),), (0, 1))
    assert "<script" not in model._repr_html_()
    assert escape(attack) in model.draw()


def test_an_empty_list_is_its_initial_model() -> None:
    model = bb.PointerDecisionList(_const(7))
    assert (len(model), model.nodes, model.heads) == (0, (), (0,))
    assert model.predict(np.zeros((3, 1))).tolist() == [7, 7, 7]
    assert "initial model" in model.draw()
    assert repr(model) == "PointerDecisionList(rounds=1, updates=0, repairs=0)"


def test_a_list_as_it_was_in_a_round_answers_as_that_round_does() -> None:
    made = _random_list(np.random.default_rng(5), 12)
    X = np.random.default_rng(6).random((200, 3))
    for round in range(len(made.heads)):
        then = made.at(round)
        assert then.heads == made.heads[: round + 1]
        assert then.nodes == made.nodes[: made.heads[round]]
        assert (then.predict(X) == made.predict(X, round)).all()
    assert made.at(None).nodes == made.nodes
    with pytest.raises(SettingsError, match="round does not exist"):
        made.at(len(made.heads))


def test_a_list_tells_the_type_of_its_answers_if_it_was_told() -> None:
    assert bb.PointerDecisionList(_const(0)).labels is None
    told = LabelType(np.dtype(np.float32))
    assert bb.PointerDecisionList(_const(0), labels=told).at(0).labels == told
