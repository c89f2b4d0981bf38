"""Bad data is refused in words that say where it is, and what is only strange is said."""

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from biasbounty.errors import RefusedError, SettingsError
from biasbounty.service.context import Context
from biasbounty.service.data import Data, Part, in_three, read_rows, verify_alike, with_label
from biasbounty.service.opening import Prepared, prepare
from biasbounty.service.slips import find_slips
from biasbounty.service.terms import Terms
from biasbounty.store import Database
from tests.exchange.onnx_models import INT64, always, below, equal_to
from tests.service.worlds import NearLimits, broken_above, data

HEADER = "age,job,y\n"
GOOD = HEADER + "30,cook,1\n31,judge,0\n"


def _parquet(table: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ((HEADER + "30,cook,1\n31,judge\n").encode(), "rows cannot be read: .*Expected 3 columns, got 2"),
        ((HEADER + "30,cook,1,4\n").encode(), "rows cannot be read: .*Expected 3 columns, got 4"),
        ((HEADER + "30,cöok,1\n").encode("latin-1"), "column 'job' that is no text: expected UTF-8"),
        ("äge,job,y\n30,cook,1\n".encode("latin-1"), "rows cannot be read|no text"),
        (GOOD.encode("utf-16"), "rows cannot be read|columns of one name|no text"),
        (b"age,age,y\n1,2,3\n", "rows have columns of one name: expected distinct names, got age twice"),
        (HEADER.encode(), "rows are empty"),
        (b"", "rows cannot be read"),
        (b"PAR1 nothing", "rows cannot be read: expected Parquet"),
        (_parquet(pa.table({"a": [[1, 2]], "y": [1]})), "column 'a' of several values a row"),
        (_parquet(pa.table({"a": [b"\xff"], "y": [1]})), "column 'a' that is no text"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        read_rows(data)


def test_csv_with_a_mark_of_utf_8_is_read_as_without_it() -> None:
    assert read_rows(b"\xef\xbb\xbf" + GOOD.encode()).equals(read_rows(GOOD.encode()))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.0, float("nan"), 0.0], "rows without a label: expected one in each, got 1 without, the first at row 1"),
        ([1, 0, None], "got 1 without, the first at row 2"),
        (["yes", None, None], "got 2 without, the first at row 1"),
    ],
)  # fmt: skip
def test_rows_without_a_label_are_refused_and_counted(y: list[Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        with_label(pa.table({"age": [1, 2, 3], "y": y}), "y")


def test_a_label_that_is_not_there_is_refused() -> None:
    with pytest.raises(SettingsError, match="rows have no label: expected a column 'z', got age, job, y"):
        with_label(read_rows(GOOD.encode()), "z")


def _part(seed: int, rows: int = 400, **more: Any) -> Part:
    rng = np.random.default_rng(seed)
    columns = {"age": rng.normal(40, 10, rows), "job": rng.choice(["cook", "judge"], rows), **more}
    return Part(pa.table(columns), (rng.random(rows) < 0.4).astype(int))


def _slips(train: Part, holdout: Part) -> list[str]:
    return find_slips(Data(train, _part(7), holdout), 0.1, (0.2, 1))


def test_holdout_rows_that_stand_in_train_are_counted() -> None:
    train, holdout = _part(0), _part(1)
    assert _slips(train, holdout) == []
    both = Part(pa.concat_tables([holdout.X.slice(13), train.X.slice(0, 13)]), np.r_[holdout.y[13:], train.y[:13]])
    (said,) = _slips(train, both)
    assert said.startswith("13 of 400 holdout rows also stand in the train rows, where chance explains some 0")


def test_rows_of_few_columns_that_are_alike_by_chance_are_called_so() -> None:
    few = [Part(part.X.select(["job"]), part.y) for part in (_part(0), _part(7), _part(1))]
    said = find_slips(Data(*few), 0.1, (0.2, 1))
    assert len(said) == 2
    assert all("as many as chance explains" in each for each in said)


def test_rows_that_differ_in_their_label_are_not_the_same() -> None:
    train = _part(0)
    assert _slips(train, Part(train.X, 1 - train.y)) == []


@pytest.mark.parametrize("kind", [int, str, float, bool])
def test_a_feature_that_tells_the_label_is_named(kind: type) -> None:
    parts = [_part(seed) for seed in (0, 7, 1)]
    told = [
        Part(part.X.append_column("result", pa.array([kind(y) for y in part.y.tolist()])), part.y) for part in parts
    ]
    (said,) = find_slips(Data(*told), 0.1, (0.2, 1))
    assert said.startswith("column 'result' tells the label: expected a feature")


def test_the_label_of_a_regression_among_the_features_is_named() -> None:
    y = np.random.default_rng(0).random(400)
    train = Part(pa.table({"again": y, "other": y[::-1].copy()}), y)
    assert [each for each in find_slips(Data(train, train, train), 0, (1, 1)) if "tells" in each] == [
        "column 'again' tells the label: expected a feature, got the label under another name, it seems"
    ]


def test_a_rare_label_is_not_told_by_every_feature() -> None:
    plain = _part(0, 5000)
    rare = np.zeros(5000, int)
    rare[:3] = 1
    assert _slips(Part(plain.X, rare), _part(1)) == []


def _prepare(model: bytes, rows: Data | None = None, expected: Any = None, **terms: Any) -> Prepared:
    context = Context(Database("sqlite:///nowhere"), limits=NearLimits())
    return prepare(context, Terms("test", "y", **terms), model, rows or data(), expected)


@pytest.mark.parametrize(
    ("model", "error", "words"),
    [
        (broken_above("AGEP", 80), SettingsError, "initial model cannot be used: model failed"),
        (b"nothing", RefusedError, "expected"),
        (always(1, "height"), RefusedError, "height"),
    ],
)
def test_an_initial_model_that_fails_is_refused_in_words(model: bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        _prepare(model)


def test_labels_that_do_not_fit_the_model_s_answers_are_refused_in_words() -> None:
    rows = data()
    text = Data(*(Part(part.X, np.where(part.y, "yes", "no")) for part in (rows.train, rows.public, rows.holdout)))
    with pytest.raises(
        SettingsError, match="labels do not fit the initial model's answers: expected values of its type"
    ):
        _prepare(always(0, "AGEP"), text)


def test_a_model_that_means_other_labels_is_said_to_be_worse_than_none() -> None:
    upside_down = below("AGEP", 40.0, answer=INT64)
    rows = data()
    other = Data(*(Part(part.X, 1 - part.y) for part in (rows.train, rows.public, rows.holdout)))
    assert not any("worse than no model" in each for each in _prepare(upside_down).warnings)
    assert any("initial model is worse than no model" in each for each in _prepare(upside_down, other).warnings)


def test_a_model_that_disagrees_with_its_own_answers_is_refused() -> None:
    expected = np.array(data().public.X["job"].to_pylist()) == "judge"
    _prepare(equal_to("job", "judge"), expected=expected.astype(int))
    expected[17] = not expected[17]
    with pytest.raises(
        SettingsError, match="initial model disagrees with its own answers: .* on 1, the first at row 17"
    ):
        _prepare(equal_to("job", "judge"), expected=expected.astype(int))
    with pytest.raises(SettingsError, match="expected answers have the wrong length: expected 1000"):
        _prepare(equal_to("job", "judge"), expected=expected[:5])


def test_parts_with_other_columns_are_refused_in_words() -> None:
    rows = data()
    other = Data(rows.train, rows.public, Part(rows.holdout.X.drop_columns(["job"]), rows.holdout.y))
    with pytest.raises(SettingsError, match="holdout rows have other columns than train rows"):
        verify_alike(other)


@pytest.mark.parametrize(("public", "holdout"), [(0, 0.5), (0.5, 0.5), (0.9, 0.2), (float("nan"), 0.5)])
def test_shares_that_leave_nothing_are_refused(public: float, holdout: float) -> None:
    with pytest.raises(SettingsError, match="shares are out of range"):
        in_three(_part(0), 0, public, holdout)
    with pytest.raises(SettingsError, match="rows are too few"):
        in_three(_part(0, 2), 0)
