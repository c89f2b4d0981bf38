"""A decision list as one ONNX file: it answers every row as `predict` does, to the last bit, whatever it is made of."""

import json
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMRegressor
from onnx import helper
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xgboost import XGBRegressor

import biasbounty as bb
from biasbounty.core.answers import LabelType
from biasbounty.core.decision_list import PointerDecisionList, RepairNode, UpdateNode
from biasbounty.datasets import load_census
from biasbounty.errors import ConversionError, ModelError, SettingsError
from biasbounty.exchange.convert import convert
from biasbounty.exchange.export import export
from biasbounty.exchange.exporting.check import answers_of_file, verify_export
from biasbounty.exchange.exporting.texts import pattern_below
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.onnx_run import open_session, runtime
from biasbounty.exchange.parity import parity_rows, verify_parity
from biasbounty.exchange.predicate import parse
from biasbounty.finders import SliceFinder
from tests.exchange import leaves
from tests.exchange.lists import KINDS, WIDTH, Lists, array_rows, frame_rows


def _bits(answers: Any) -> list[Any]:
    bits: list[Any] = answers.tolist() if answers.dtype.kind in "OU" else answers.view(np.uint8).tolist()
    return bits


def _expect_same(decision_list: PointerDecisionList, X: Any, data: bytes, round: int | None = None) -> None:
    """Compare type, number and bits of the answers: on all rows, on one, and on none."""
    schema = bb.Schema.of(X, categories=False)
    session = open_session(data)
    for rows in (X, X[:1]):
        expected, got = decision_list.predict(rows, round), answers_of_file(session, rows, schema)
        assert _bits(got) == _bits(expected)
        assert got.dtype == expected.dtype or expected.dtype.kind == "U"
    assert answers_of_file(session, X[:0], schema).shape == (0,)


def _onnx(data: bytes) -> OnnxModel:
    return OnnxModel(data)


@settings(deadline=None, max_examples=60, derandomize=True)
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), framed=st.booleans(), nodes=st.integers(0, 8))
def test_a_file_answers_as_predict_does_in_every_round(seed: int, kind: str, framed: bool, nodes: int) -> None:
    rng = np.random.default_rng(seed)
    X = (frame_rows if framed else array_rows)(rng, 200)
    decision_list = Lists(rng, X, kind).draw(nodes)
    schema = bb.Schema.of(X, categories=False)
    for round in range(len(decision_list.heads)):
        data = export(decision_list, round, schema=schema)
        _expect_same(decision_list, X, data, round)
        assert data == export(decision_list.at(round), schema=schema)


@pytest.mark.parametrize("make", [array_rows, frame_rows])
def test_a_long_list_nests_nothing_and_answers_as_predict_does(make: Any) -> None:
    rng = np.random.default_rng(5)
    X = make(rng, 400)
    decision_list = Lists(rng, X, "classes").draw(300)
    data = export(decision_list, schema=bb.Schema.of(X, categories=False))
    _expect_same(decision_list, X, data)
    assert _depth(onnx.ModelProto.FromString(data).graph) <= 2


def _depth(graph: Any) -> int:
    inner = [attribute.g for node in graph.node for attribute in node.attribute if attribute.HasField("g")]
    return max((1 + _depth(one) for one in inner), default=0)


@pytest.fixture(scope="module")
def census() -> tuple[Any, PointerDecisionList]:
    """Hold a bounty on the census sample: small trees of hunters on groups that a finder found, some of which hurt."""
    sample, rng = load_census(), np.random.default_rng(0)
    X, y = sample.X[:12_000], sample.y[:12_000]
    train, holdout, schema = slice(0, 4_000), slice(4_000, 8_000), bb.Schema.of(X)
    first = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[train], 1 - y[train])
    finder = SliceFinder(DecisionTreeClassifier(max_depth=3, random_state=0), depth=2, smallest=100)
    found = finder.rank(X[train], y[train], first.predict(X[train]), rng, most=200)
    bounty = bb.Bounty(_onnx(convert(first, X[:500])), X[holdout], y[holdout], checker=bb.Plain())
    for number, one in enumerate(reversed([*found, *found])):
        group = parse(one.group.words, schema)
        some = rng.choice(np.flatnonzero(group(X[train])), 60)
        tree = DecisionTreeClassifier(max_depth=1 + number % 3, random_state=number).fit(X[some], y[some])
        bounty.submit(group, _onnx(convert(tree, X[:200])), hunter=f"team-{number}")
    return X, bounty.model


def test_the_census_list_is_the_same_in_one_file_in_every_round(census: tuple[Any, PointerDecisionList]) -> None:
    X, model = census
    repairs = sum(isinstance(node, RepairNode) for node in model.nodes)
    assert len(model) - repairs >= 10
    assert repairs >= 5
    for round in range(len(model.heads)):
        data = bb.to_onnx(model, round=round)
        _expect_same(model, X, data, round)
    shape = onnx.ModelProto.FromString(bb.to_onnx(model)).graph.input[0].type.tensor_type.shape
    assert [axis.dim_param or axis.dim_value for axis in shape.dim] == ["N", 16]


def test_the_same_list_gives_the_same_bytes(census: tuple[Any, PointerDecisionList]) -> None:
    X, model = census
    again = PointerDecisionList(model.initial, model.nodes, model.heads, labels=model.labels)
    assert bb.to_onnx(model) == bb.to_onnx(again) == bb.to_onnx(model, X=X)


def test_a_file_says_what_it_is() -> None:
    X = pd.DataFrame({"age": [1.0, 2.0], "job": ["cook", None]})
    schema = bb.Schema.of(X)
    model = _onnx(leaves.word("job", "cook"))
    nodes = (UpdateNode(parse("age < 2", schema), model, "team-é", "the young"),)
    decision_list = PointerDecisionList(model, nodes, (0, 1))
    data = export(decision_list, schema=schema, ledger_hash="abc")
    said = {
        entry.key.removeprefix("biasbounty."): entry.value for entry in onnx.ModelProto.FromString(data).metadata_props
    }
    assert json.loads(said.pop("schema")) == {
        "named": True,
        "columns": [
            {"name": "age", "kind": "numbers"},
            {"name": "job", "kind": "text", "categories": ["cook"]},
        ],
    }
    assert said.pop("missing_text") == "\ufdd0"
    assert {
        name: json.loads(value) if name != "version" and name != "ledger_hash" else value
        for name, value in said.items()
    } == {
        "format": 1,
        "version": bb.__version__,
        "round": 1,
        "heads": [0, 1],
        "nodes": 1,
        "hunters": ["team-é"],
        "notes": ["the young"],
        "ledger_hash": "abc",
    }
    onnx.checker.check_model(onnx.ModelProto.FromString(data), full_check=True)


def test_the_schema_is_put_together_from_the_leaves_where_these_tell_it() -> None:
    X = pd.DataFrame(
        {"a": [1.0, 2.0, np.nan], "job": ["cook", None, "judge"], "b": [0, 1, 2], "answer": [1.0, 2.0, 3.0]}
    )
    schema = bb.Schema.of(X)
    nodes = (UpdateNode(parse("b > 0 AND answer < 3", schema), _onnx(leaves.same("a", leaves.DOUBLE, leaves.INT64))),)
    decision_list = PointerDecisionList(_onnx(leaves.word("job", "cook")), nodes, (0, 1))
    graph = onnx.ModelProto.FromString(export(decision_list)).graph
    assert [value.name for value in graph.input] == ["b", "answer", "job", "a"]
    assert graph.output[0].name == "answer_"
    assert [value.name for value in onnx.ModelProto.FromString(export(decision_list, X=X)).graph.input] == list(
        X.columns
    )
    matrix = PointerDecisionList(_onnx(leaves.classes(np.random.default_rng(0), 4, 2)), nodes, (0, 1))
    with pytest.raises(
        ConversionError, match="schema is not known: expected the names of all columns, .* pass schema="
    ):
        export(matrix)


def test_a_column_of_nothing_is_one_of_text_where_text_is_asked_of_it() -> None:
    """Rows in which a column of text holds nothing at all have no text by which to know it."""
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "job": ["cook", None, "judge"]})
    blank = X.assign(job=None)
    number = _onnx(leaves.same("a", leaves.DOUBLE, leaves.INT64))
    for group in (
        parse("job < 'joiner' OR job IS NULL", bb.Schema.of(X, categories=False)),
        _onnx(leaves.word("job", "cook")),
    ):
        decision_list = PointerDecisionList(number, (UpdateNode(group, _onnx(leaves.above("a", 1))),), (0, 1))
        data = export(decision_list, X=blank)
        assert data == export(decision_list, schema=bb.Schema.of(blank))
        verify_parity(data, parity_rows(decision_list, blank))
        verify_parity(data, parity_rows(decision_list, X))


@pytest.mark.parametrize("columns", [1, 40])
def test_narrow_and_wide_matrices_are_read_alike(columns: int) -> None:
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(100, columns))
    place = columns - 1
    group = parse(f"x{place} > 0.5 OR x{place // 2} < -1", bb.Schema.of(X))
    nodes = (UpdateNode(group, _onnx(leaves.classes(rng, columns, 3))),)
    decision_list = PointerDecisionList(_onnx(leaves.classes(rng, columns, 3)), nodes, (0, 1))
    _expect_same(decision_list, X, export(decision_list))


def test_leaves_of_several_opsets_and_nested_graphs_live_in_one_file() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, WIDTH))
    schema = bb.Schema.of(X)
    models = [_onnx(leaves.softmax(rng, WIDTH, opset)) for opset in (9, 11, 13, 17, 21)]
    models += [_onnx(leaves.branching(WIDTH, opset)) for opset in (13, 17)]
    nodes = tuple(
        UpdateNode(parse(f"x0 > {number / 4 - 1}", schema), model) for number, model in enumerate(models, start=1)
    )
    decision_list = PointerDecisionList(models[0], nodes, tuple(range(len(nodes) + 1)))
    data = export(decision_list)
    assert {entry.domain: entry.version for entry in onnx.ModelProto.FromString(data).opset_import}[""] == 21
    _expect_same(decision_list, X, data)


def test_estimators_are_converted_where_rows_are_given() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.integers(0, 50, 400).astype(float), "b": rng.integers(0, 9, 400)})
    y = (X["a"] > 20).to_numpy().astype(int)
    initial = DummyClassifier(strategy="constant", constant=0).fit(X, y)
    group = DecisionTreeClassifier(max_depth=1).fit(X, X["b"] > 4)
    nodes = (
        UpdateNode(group, DecisionTreeClassifier(max_depth=3).fit(X, y)),
        RepairNode(parse("a < 9", bb.Schema.of(X)), 0),
    )
    decision_list = PointerDecisionList(initial, nodes, (0, 2))
    _expect_same(decision_list, X, export(decision_list, X=X))
    with pytest.raises(ConversionError, match="initial model is a fitted estimator: expected rows .* pass X="):
        export(decision_list)


def test_a_regression_list_is_the_same_to_the_last_bit() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    y = X @ np.array([1.0, 2.0, 3.0]) + rng.normal(size=500)
    group = parse("x0 > 0", bb.Schema.of(X))
    initial = _onnx(convert(LinearRegression().fit(X, y), X))
    tree = _onnx(convert(DecisionTreeRegressor(max_depth=6).fit(X, y), X))
    decision_list = PointerDecisionList(initial, (UpdateNode(group, tree),), (0, 1))
    _expect_same(decision_list, X, export(decision_list))


def test_code_is_not_exported_and_the_node_is_named() -> None:
    X = np.zeros((3, WIDTH))
    model, group = _onnx(leaves.constant(1, WIDTH, leaves.INT64)), parse("x0 > 0", bb.Schema.of(X))
    for nodes, words in (
        ((UpdateNode(lambda X: X[:, 0] > 0, model),), "group of node 1 is code: .* got function; write a group as a"),
        ((UpdateNode(group, lambda X: np.ones(len(X))),), "model of node 1 is code: .* fit a model"),
        ((UpdateNode(group, model), RepairNode(lambda X: X[:, 0] > 0, 0)), "group of node 2 is code"),
        ((UpdateNode(group, group),), "model of node 1 is a predicate: expected a model, got x0 > 0"),
    ):
        decision_list = PointerDecisionList(model, nodes, (0, len(nodes)))
        with pytest.raises(ConversionError, match=words):
            export(decision_list, X=X)
        assert export(decision_list, 0)
    with pytest.raises(SettingsError, match="round does not exist: expected a number from 0 to 1, got 7"):
        export(PointerDecisionList(model, nodes, (0, 1)), 7)


def test_what_fits_no_column_of_the_schema_is_refused_in_words() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0], "job": ["cook", "judge"], "odd": [b"x", b"y"]})
    schema = bb.Schema.of(X[["a", "job"]])
    number, text = _onnx(leaves.same("a", leaves.DOUBLE, leaves.INT64)), _onnx(leaves.word("job", "cook"))
    other = bb.Schema.of(pd.DataFrame({"age": [1.0], "job": [2.0]}))
    for model, group, held, words in (
        (
            number,
            parse("a > 1", schema),
            other,
            "initial model takes in 'a': expected a column of the schema, got none",
        ),
        (text, parse("a > 1", schema), other, "initial model takes in 'job' as string: expected numbers"),
        (
            _onnx(leaves.above("age", 1)),
            parse("a > 1", schema),
            other,
            "group of node 1 asks for 'a': expected a column",
        ),
        (
            _onnx(leaves.above("age", 1)),
            parse("job = 'cook'", schema),
            other,
            "asks for 'job': expected text, got numbers",
        ),
        (
            _onnx(leaves.linear(np.random.default_rng(0), 3)),
            parse("age > 1", other),
            other,
            "a matrix of 3 columns: expected 2",
        ),
        (number, parse("a > 1", schema), bb.Schema.of(X), "column 'odd' has no place in ONNX: .* got something else"),
    ):
        with pytest.raises(ConversionError, match=words):
            export(PointerDecisionList(model, (UpdateNode(group, model),), (0, 1)), schema=held)


def test_answers_that_are_no_labels_are_refused_as_predict_refuses_them() -> None:
    """The file fails on just those rows on which `predict` does, and says which node it was."""
    X = np.array([[0.0], [1.0], [0.5], [np.nan], [np.inf], [300.0], [-1.0], [2.0**63], [2.0**53 + 2]])
    elements = {
        leaves.INT64: "int64",
        3: "int8",
        2: "uint8",
        13: "uint64",
        leaves.BOOL: "bool",
        leaves.FLOAT: "float32",
    }
    group = parse("x0 > -5 OR x0 IS NULL", bb.Schema.of(X))
    for read, answered in ((leaves.DOUBLE, leaves.DOUBLE), (leaves.FLOAT, leaves.FLOAT), (leaves.INT64, leaves.INT64)):
        model = _onnx(leaves.same("x0", read, answered))
        for element, dtype in elements.items():
            decision_list = PointerDecisionList(
                _onnx(leaves.same("x0", leaves.DOUBLE, element)),
                (UpdateNode(group, model),),
                (0, 1),
                labels=LabelType(np.dtype(dtype)),
            )
            session = open_session(export(decision_list))
            for row in X:
                expected = _answer_or_words(decision_list.predict, row[np.newaxis])
                got = _answer_or_words(lambda rows, asked=session: asked.run(None, {"X": rows})[0], row[np.newaxis])
                assert (expected in got) if isinstance(expected, str) else _bits(got) == _bits(expected), (dtype, row)


def test_labels_of_16_bits_are_finite_and_rounded_once() -> None:
    X = np.array([[1.0], [2048.0], [2049.0], [65504.0], [65520.0], [-(2.0**31)], [np.nan]])
    labels = LabelType(np.dtype(np.float16))
    for element in (leaves.INT64, 6, leaves.FLOAT):
        decision_list = PointerDecisionList(_onnx(leaves.same("x0", leaves.DOUBLE, element)), labels=labels)
        session = open_session(export(decision_list))
        for row in X:
            expected = _answer_or_words(decision_list.predict, row[np.newaxis])
            got = _answer_or_words(lambda rows, asked=session: asked.run(None, {"x0": rows})[0], row[np.newaxis])
            assert (expected in got) if isinstance(expected, str) else _bits(got) == _bits(expected), (element, row)
    twice = PointerDecisionList(_onnx(leaves.same("x0", leaves.DOUBLE, leaves.DOUBLE)), labels=labels)
    with pytest.raises(
        ConversionError, match="initial model answers in another type: expected float32 or less .* twice"
    ):
        export(twice)


def _answer_or_words(ask: Any, rows: Any) -> Any:
    """Ask; a refusal is told by its first words."""
    try:
        return ask(rows)
    except Exception as error:
        return str(error).split(":")[0] if isinstance(error, ModelError) else str(error)


def test_a_group_that_answers_neither_0_nor_1_is_refused_where_it_does() -> None:
    X = np.array([[0.0], [1.0], [2.0]])
    model = _onnx(leaves.same("x0", leaves.DOUBLE, leaves.FLOAT))
    decision_list = PointerDecisionList(model, (UpdateNode(model, model),), (0, 1))
    session = open_session(export(decision_list))
    assert session.run(None, {"x0": X[:2]})[0].tolist() == [0, 1]
    with pytest.raises(Exception, match="group of node 1 has a value that is no membership"):
        session.run(None, {"x0": X})


def test_text_never_becomes_a_number_nor_a_number_text() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0], "job": ["cook", "judge"]})
    number, text = (
        _onnx(leaves.same("a", leaves.DOUBLE, leaves.INT64)),
        _onnx(leaves.same("job", leaves.STRING, leaves.STRING)),
    )
    group = parse("a > 1", bb.Schema.of(X))
    for initial, model, words in (
        (number, text, "expected int64, .* got text"),
        (text, number, "expected text, .* got int64"),
    ):
        with pytest.raises(ConversionError, match=f"model of node 1 answers in another type: {words}"):
            export(PointerDecisionList(initial, (UpdateNode(group, model),), (0, 1)))
    with pytest.raises(ConversionError, match="group of node 1 answers text: expected True and False"):
        export(PointerDecisionList(number, (UpdateNode(text, number),), (0, 1)))


def test_texts_come_in_order_by_their_code_points() -> None:
    rng = np.random.default_rng(0)
    letters = [*"ab z'\\]^-.\0\n", "é", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"]

    def word(most: int) -> str:
        return "".join(rng.choice(letters, int(rng.integers(0, most))))

    for text in ["", "a", "\0", *(word(4) for _ in range(20)), word(100), "".join(rng.choice(letters, 100))]:
        near = [
            text[:-1],
            text + "\0",
            *(text[:place] + word(3) + text[place + 1 :] for place in range(0, len(text), 7)),
        ]
        texts = np.array([text, *near, *(word(4) for _ in range(60))], object)
        assert _matches(pattern_below(text), texts) == [one < text for one in texts.tolist()]
    with pytest.raises(
        ConversionError, match="text is too long to be put in order: expected at most 100 letters, got 101"
    ):
        pattern_below("a" * 101)


def _matches(pattern: str, texts: Any) -> list[bool]:
    node = helper.make_node("RegexFullMatch", ["s"], ["o"], pattern=pattern)
    inputs = [helper.make_tensor_value_info("s", leaves.STRING, ["N"])]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("o", leaves.BOOL, ["N"])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)
    matches: list[bool] = open_session(model.SerializeToString()).run(None, {"s": texts})[0].tolist()
    return matches


def test_a_file_that_answers_otherwise_is_not_handed_out() -> None:
    X = np.arange(8.0).reshape(4, 2)
    schema = bb.Schema.of(X)
    data = export(PointerDecisionList(_onnx(leaves.constant(1, 2, leaves.INT64))))
    other = PointerDecisionList(_onnx(leaves.constant(2, 2, leaves.INT64)))
    with pytest.raises(ConversionError, match="answers otherwise: expected 2 at row 0, got 1, and 4 rows differ"):
        verify_export(data, other, schema, X)
    with pytest.raises(ConversionError, match="exported list does not open"):
        verify_export(data[:-9], other, schema, None)


def test_a_file_runs_on_any_number_of_threads_and_without_optimizations() -> None:
    rng = np.random.default_rng(7)
    X = array_rows(rng, 3_000)
    schema = bb.Schema.of(X)
    decision_list = Lists(rng, X, "classes").draw(12)
    data, ort = export(decision_list, schema=schema), runtime()
    for level in (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL):
        options = ort.SessionOptions()
        options.graph_optimization_level, options.intra_op_num_threads = level, 2
        session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        assert _bits(answers_of_file(session, X, schema)) == _bits(decision_list.predict(X))


def test_parity_rows_read_back_as_they_are_and_tell_what_differs() -> None:
    rng = np.random.default_rng(3)
    for make in (array_rows, frame_rows):
        for kind in KINDS:
            X = make(rng, 80)
            schema = bb.Schema.of(X, categories=False)
            decision_list = Lists(rng, X, kind).draw(5)
            round = len(decision_list.heads) // 2
            parity = parity_rows(decision_list, X, round, schema=schema)
            verify_parity(export(decision_list, round, schema=schema), parity)
            said = json.loads(parity)
            assert (said["rows"], said["round"], len(said["expected"])) == (80, round, 80)
            said["expected"] = said["expected"][::-1]
            with pytest.raises(ConversionError, match="exported list answers otherwise: expected"):
                verify_parity(export(decision_list, round, schema=schema), json.dumps(said).encode())


def test_parity_says_what_is_missing_or_without_end_in_words_that_json_has() -> None:
    X = pd.DataFrame({"a": [np.nan, np.inf, -np.inf, -0.0], "job": ["cook", None, "NaN", ""]})
    decision_list = PointerDecisionList(_onnx(leaves.word("job", "cook")))
    said = json.loads(parity_rows(decision_list, X), parse_constant=lambda word: pytest.fail(word))
    assert [each["values"] for each in said["inputs"]] == [
        ["NaN", "Infinity", "-Infinity", -0.0],
        ["cook", None, "NaN", ""],
    ]
    assert said["expected"] == ["1", "0", "0", "0"]
    data = export(decision_list, X=X)
    with pytest.raises(ConversionError, match="wrong length: expected 3 answers, got 4"):
        verify_parity(data, json.dumps(said | {"expected": ["1", "0", "0"]}).encode())
    with pytest.raises(ConversionError, match="answers in another type: expected double, got int64"):
        verify_parity(data, json.dumps(said | {"type": "double"}).encode())


def test_leaves_of_many_libraries_are_the_same_in_one_file() -> None:
    """Trees, sums of trees, weights and products: regression is compared to the last bit."""
    rng = np.random.default_rng(2)
    X = np.column_stack(
        [rng.integers(0, 90, 1_500), rng.normal(size=1_500).astype(np.float32), rng.integers(0, 3, 1_500)]
    )
    y = X[:, 0] / 10 + X[:, 1] * X[:, 2]
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
    models = [
        LinearRegression().fit(X, y),
        make_pipeline(StandardScaler(), Ridge()).fit(X, y),
        RandomForestRegressor(10, max_depth=5, random_state=0).fit(X, y),
        GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y),
        HistGradientBoostingRegressor(max_iter=20, random_state=0).fit(X, y),
        LGBMRegressor(n_estimators=20, n_jobs=1, verbose=-1).fit(X, y),
        XGBRegressor(n_estimators=20, n_jobs=1).fit(X, y),
        network.eval(),
    ]
    schema = bb.Schema.of(X)
    leaf_models = [_onnx(convert(model, X)) for model in models]
    nodes = tuple(
        UpdateNode(parse(f"x0 < {10 * (9 - number)} AND x2 <> 1", schema), model)
        for number, model in enumerate(leaf_models)
    )
    decision_list = PointerDecisionList(leaf_models[0], nodes, (0, len(nodes)))
    _expect_same(decision_list, X, export(decision_list, schema=schema))
