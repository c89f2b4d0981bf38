"""The audit: what it takes, what it refuses and in which words, and that no bytes get the better of it."""

import struct
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper

from biasbounty.errors import RefusedError
from biasbounty.exchange.auditing.contents import ELEMENTS, MOST_LETTERS
from biasbounty.exchange.auditing.operators import ALLOWED
from biasbounty.exchange.auditing.reading import MOST_PARTS, read
from biasbounty.exchange.auditing.types import schema_of
from biasbounty.exchange.auditing.versions import OPERATORS
from biasbounty.exchange.auditing.walk import RANDOM, numbers_of
from biasbounty.exchange.onnx_audit import MOST_REASONS, audit
from biasbounty.exchange.schema import Schema
from tests.exchange.hostile import changed, harmless, model, node, tree
from tests.exchange.onnx_models import DOUBLE, FLOAT, INT64, TEXT, below, equal_to, matrix_below, model_of

FRAME = pd.DataFrame(
    {
        "AGEP": [20, 30],
        "job": ["cook", "judge"],
        "since": pd.to_datetime(["2020-01-01", "2021-01-01"]),
        "gone": [np.nan, np.nan],
        "pair": [(1, 2), (3, 4)],
    }
)
SCHEMA = Schema.of(FRAME)
NUMBERS = Schema.of(np.zeros((2, 3)))


def reasons_of(data: bytes, schema: Schema | None = None, **settings: Any) -> tuple[str, ...]:
    """Return why the audit refuses, and nothing if it does not."""
    try:
        audit(data, schema, **settings)
    except RefusedError as refused:
        return refused.reasons
    return ()


@pytest.mark.parametrize(
    ("data", "schema"),
    [
        (below("AGEP", 25), SCHEMA),
        (below("AGEP", 25, DOUBLE), SCHEMA),
        (below("AGEP", 25, INT64), None),
        (below("since", 0, DOUBLE), SCHEMA),
        (below("gone", 0), SCHEMA),
        (equal_to("job", "cook"), SCHEMA),
        (equal_to("gone", "cook"), SCHEMA),
        (matrix_below(0, 1, 3), NUMBERS),
        (below("x1", 1), NUMBERS),
        (tree(), None),
    ],
)
def test_a_model_of_columns_is_taken(data: bytes, schema: Schema | None) -> None:
    assert reasons_of(data, schema) == ()
    assert audit(memoryview(data), schema) is None  # type: ignore[func-returns-value, arg-type]


def test_parts_of_columns_go_in_by_name_whatever_their_order_and_shape() -> None:
    inputs: list[Any] = [("job", TEXT, ["N"]), ("AGEP", INT64, [None, 1])]
    nodes = [node("Cast", "AGEP", to=FLOAT)]
    assert reasons_of(model_of(nodes, inputs, ("answer", FLOAT, ["N", 1])), SCHEMA) == ()


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ([("AGE", FLOAT, ["N"])], "input 'AGE' names no column: expected a column of the rows, .*mean 'AGEP'?"),
        ([("agep", FLOAT, ["N", 1])], r"fits no column and no matrix: expected shape \[N, 5\], got \[N, 1\].*'AGEP'"),
        ([("zzzzz", FLOAT, ["N"])], "there are 'AGEP', 'gone', 'job', 'pair', 'since'"),
        (
            [("job", FLOAT, ["N"])],
            "'job' is of another type than column 'job', which holds text: expected string, got f",
        ),
        ([("AGEP", TEXT, ["N"])], "which holds numbers: expected float, double or int64, got string"),
        ([("pair", FLOAT, ["N"])], "which holds something else: expected no input, got float"),
        ([("AGEP", 6, ["N"])], "input 'AGEP' is of another type: expected float, double, int64 or string, got int32"),
        ([("AGEP", FLOAT, [7])], "fixed number of rows: expected a symbolic first axis, got 7"),
        ([("AGEP", FLOAT, ["N", 1, 1])], r"no column and no matrix: expected .*, got \[N, 1, 1\]"),
        ([("AGEP", FLOAT, [])], r"no column and no matrix: expected .*, got \[\]"),
        ([("AGEP", FLOAT, ["N", 2])], r"'AGEP' is no column: expected shape \[N, 1\] or \[N\]"),
        ([("AGEP", FLOAT, ["N"]), ("X", FLOAT, ["N", 3])], "input 'X' names no column"),
        ([("AGEP", FLOAT, ["N"]), ("AGEP", FLOAT, ["N"])], "inputs share a name"),
        ([("X", FLOAT, ["N", 5])], "than column 'job', which holds text: expected string, got float"),
    ],
)
def test_inputs_that_are_no_columns_are_refused_and_the_nearest_name_offered(inputs: Any, words: str) -> None:
    data = model_of([node("Cast", inputs[0][0], to=FLOAT)], inputs, ("answer", FLOAT, ["N"]))
    with pytest.raises(RefusedError, match=words):
        audit(data, SCHEMA)


def test_without_a_schema_several_inputs_are_columns_and_one_may_be_a_matrix() -> None:
    wide: list[Any] = [("a", FLOAT, ["N", 2]), ("b", FLOAT, ["N", 1])]
    assert reasons_of(model_of([node("Neg", "a")], wide[:1], ("answer", FLOAT, ["N"]))) == ()
    with pytest.raises(
        RefusedError, match=r"input 'a' is no column: expected .* for one of several inputs, got \[N, 2\]"
    ):
        audit(model_of([node("Add", "a b")], wide, ("answer", FLOAT, ["N"])))


def test_without_answers_tensors_of_any_shape_may_go_in_and_out() -> None:
    image: Any = [("image", 10, [2, 3, 28, 28])]
    data = model_of([node("Relu", "image")], image, ("answer", 10, [2, 3, 28, 28]))
    assert reasons_of(data, answers=False) == ()
    assert len(reasons_of(data)) == 4
    assert len(reasons_of(data, NUMBERS, answers=False)) == 2


def test_all_reasons_are_told_at_once_and_each_says_what_to_do() -> None:
    def change(proto: Any) -> None:
        proto.ir_version = 99
        proto.training_info.add()
        helper.set_model_props(proto, {"weights": "/etc/passwd"})
        proto.graph.input[0].type.tensor_type.elem_type = 6
        proto.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 4
        proto.graph.initializer[0].dims[0] = 7
        for place in range(50):
            proto.graph.node.append(helper.make_node(f"Nonsense{place}", ["X"], [f"y{place}"]))

    reasons = reasons_of(changed(harmless(), change))
    assert len(reasons) == MOST_REASONS
    assert all(": expected " in reason and ", got " in reason and "; " in reason for reason in reasons), reasons
    assert {words.split(" ")[0] for words in reasons} >= {"file", "metadata", "tensor", "operator"}
    assert str(RefusedError(reasons)) == "; ".join(reasons)


def test_random_operators_are_in_no_list_and_all_that_are_exist() -> None:
    for domain, names in ALLOWED.items():
        assert names.isdisjoint(RANDOM)
        for name in names:
            assert any(schema_of(name, version, domain) for version in range(1, OPERATORS[domain][1] + 1)), name


@pytest.mark.parametrize(
    ("operator", "element", "opset", "is_run"),
    [
        ("Relu", FLOAT, 18, True),
        ("Relu", TensorProto.UINT8, 18, False),
        ("Add", TensorProto.INT8, 14, True),
        ("Add", TensorProto.INT8, 13, False),
        ("Add", FLOAT, 6, False),
        ("Gelu", FLOAT, 20, True),
        ("Gelu", FLOAT, 19, False),
        ("ReduceMax", TensorProto.BOOL, 20, False),
        ("Sigmoid", TensorProto.FLOAT16, 18, True),
    ],
)
def test_an_operator_is_taken_for_the_types_and_versions_that_are_implemented(
    operator: str, element: int, opset: int, is_run: bool
) -> None:
    names = "X X" if operator == "Add" else "X"
    nodes = [node("Cast", "Y", "X", to=element), node(operator, names, "made"), node("Cast", "made", to=FLOAT)]
    data = changed(
        model_of(nodes, [("Y", FLOAT, ["N", 2])], ("answer", FLOAT, ["N", 1])),
        lambda proto: setattr(proto.opset_import[0], "version", opset),
    )
    reasons = reasons_of(data)
    assert (reasons == ()) == is_run, reasons
    assert is_run or "has no implementation" in reasons[0] or "is not of this version" in reasons[0]


def test_the_wrong_number_of_inputs_is_told() -> None:
    reasons = reasons_of(model(node("Gather", "X")))
    assert "has the wrong number of inputs or outputs: expected 2 to 2 and at most 1, got 1 and 1" in reasons[0]


def test_numbers_are_read_off_small_constants_only() -> None:
    packed = helper.make_tensor("a", INT64, [2], struct.pack("<2q", -1, 5), raw=True)
    assert numbers_of(packed) == (-1, 5)
    assert numbers_of(helper.make_tensor("a", TensorProto.INT32, [], [3])) == (3,)
    for other in (
        helper.make_tensor("a", FLOAT, [1], [1.0]),
        helper.make_tensor("a", INT64, [1, 1], [1]),
        helper.make_tensor("a", INT64, [2000], [1] * 2000),
    ):
        assert numbers_of(other) is None
    packed.dims[0] = 3
    assert numbers_of(packed) is None


def test_a_number_that_its_type_does_not_hold_is_not_read_for_the_runtime_reads_another() -> None:
    for element, number in ((TensorProto.BOOL, 2), (TensorProto.INT8, 200), (TensorProto.UINT8, -1)):
        held = TensorProto(data_type=element, dims=[1], int32_data=[number])
        assert numbers_of(held) is None
        held.int32_data[0] = 1
        assert numbers_of(held) == (1,)
    assert numbers_of(TensorProto(data_type=TensorProto.BOOL, dims=[1], raw_data=b"\2")) is None
    assert numbers_of(TensorProto(data_type=TensorProto.UINT32, dims=[1], uint64_data=[2**32 + 1])) is None


def test_a_size_that_is_too_long_to_write_down_is_refused_in_words() -> None:
    shape = helper.make_tensor("shape", INT64, [100], [2**62] * 100)
    reasons = reasons_of(model(node("ConstantOfShape", "shape"), constants=[shape]))
    assert "makes too large a tensor: expected at most 16,777,216 values" in reasons[0]


def test_only_as_many_reasons_are_looked_for_as_are_told() -> None:
    """Each takes milliseconds to find: all of them would take minutes."""
    wide = Schema.of(
        pd.DataFrame(np.zeros((1, 2_000)), columns=[f"column_number_{place:05}" for place in range(2_000)])
    )
    inputs: list[Any] = [(f"column_numbex_{place}", FLOAT, ["N"]) for place in range(9_000)]
    data = model_of([node("Neg", inputs[0][0])], inputs, ("answer", FLOAT, ["N"]))
    reasons = reasons_of(data, wide)
    assert len(reasons) == MOST_REASONS
    assert all("names no column" in reason for reason in reasons)


def test_much_text_is_refused_before_paths_are_looked_for_in_it() -> None:
    def add_words(proto: Any) -> None:
        helper.set_model_props(proto, {"words": "a" * (MOST_LETTERS + 1)})

    assert "too much text" in reasons_of(changed(harmless(), add_words))[0]
    long = node("LabelEncoder", "X", domain="ai.onnx.ml", default_string="a" * (MOST_LETTERS + 1))
    assert any("too much text" in reason for reason in reasons_of(model(long)))


def test_a_swarm_of_texts_without_letters_is_not_read() -> None:
    """Each takes two bytes, and 16 or more when it is read."""
    texts = TensorProto(name="texts", data_type=TEXT, dims=[MOST_PARTS], string_data=[b""] * MOST_PARTS)
    assert "too many parts" in reasons_of(changed(harmless(), lambda proto: proto.graph.initializer.append(texts)))[0]


def test_every_allowed_element_type_is_held_as_onnx_holds_it() -> None:
    for element, name in ELEMENTS.items():
        value: Any = b"a" if name == "string" else 1
        tensor = helper.make_tensor("held", element, [2], [value] * 2)
        data = model(node("Cast", "held", "cast", to=FLOAT), node("Add", "X cast"), constants=[tensor])
        assert reasons_of(data) == (), name
        if name != "string":
            dtype = helper.tensor_dtype_to_np_dtype(element)
            raw = helper.make_tensor("held", element, [2], np.ones(2, dtype).tobytes(), raw=True)
            data = model(node("Cast", "held", "cast", to=FLOAT), node("Add", "X cast"), constants=[raw])
            assert reasons_of(data) == (), name


def test_a_large_tree_is_read_and_a_swarm_of_nodes_is_not() -> None:
    count = 100_000
    large = tree(nodes_values=[0.5] * count, nodes_modes=["BRANCH_LEQ"] * count, nodes_truenodeids=[*range(count)])
    assert len(read(large).graph.node[0].attribute) == 12
    swarm = changed(harmless(), lambda proto: [proto.graph.node.add() for _ in range(MOST_PARTS)])
    assert "too many parts" in reasons_of(swarm)[0]


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_get_the_better_of_the_audit(data: bytes) -> None:
    assert reasons_of(data)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 10_000))
def test_nor_do_bytes_within_a_model(data: bytes, place: int) -> None:
    whole = harmless()
    place %= len(whole)
    reasons_of(whole[:place] + data + whole[place:])


@pytest.mark.parametrize("given", [None, "AGEP < 25", 5, ["a"]], ids=repr)
def test_what_is_no_bytes_is_refused(given: Any) -> None:
    with pytest.raises(RefusedError, match="file is none: expected bytes, got"):
        audit(given)


def test_what_is_read_is_what_was_written() -> None:
    assert read(harmless()) == ModelProto.FromString(harmless())
