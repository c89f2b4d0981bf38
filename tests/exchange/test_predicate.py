"""Predicates: what they mean, how they print, what they refuse, and what a schema may tell."""

import copy
import pickle
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasbounty as bb
from benchmarks.hostile import NONSENSE, ROWS, TOO_MUCH
from biasbounty.errors import GroupError, PredicateError, SettingsError
from biasbounty.exchange.predicate import parse
from biasbounty.exchange.predicate_tokens import MOST_DEPTH, MOST_TERMS
from biasbounty.exchange.predicate_words import number_words, quoted_name, quoted_text
from biasbounty.exchange.schema import MOST_CATEGORIES, Schema

SCHEMA = Schema.of(ROWS)
ISSUE = "AGEP < 25 AND RAC1P IN (1, 2) AND NOT (RAC1P = 2 OR SCHL BETWEEN 16 AND 20)"


def _rows_of(words: str, X: Any = ROWS) -> list[int]:
    return np.flatnonzero(parse(words, Schema.of(X))(X)).tolist()


@pytest.mark.parametrize(
    ("words", "rows"),
    [
        ("AGEP < 25", [0, 2]),
        ("AGEP >= 61 AND SCHL IN (16, 19, 21)", [3]),
        ("NOT (RAC1P = 2 OR SCHL BETWEEN 16 AND 20)", [3]),
        ("job IN ('a', 'b''c')", [0, 1]),
        ("job > 'a'", [1, 3]),
        ("SCHL IS NULL", [1]),
        ("SCHL IS NOT NULL", [0, 2, 3]),
        ("gone IS NULL", [0, 1, 2, 3]),
        ("EXTRACT(EPOCH FROM since) >= 1582200000", [2, 3]),
        ("since IS NULL", [1]),
    ],
)
def test_it_says_which_rows_are_in(words: str, rows: list[int]) -> None:
    assert _rows_of(words) == rows
    assert str(parse(words, SCHEMA)) == words


@pytest.mark.parametrize("words", ["SCHL = 16 OR SCHL <> 16", "NOT SCHL = 16 OR SCHL = 16", "SCHL NOT IN (1, 2)"])
def test_a_row_without_the_value_is_not_in_the_group_whatever_is_asked(words: str) -> None:
    assert 1 not in _rows_of(words)


@pytest.mark.parametrize(
    ("words", "canonical"),
    [
        ("AGEP<25", "AGEP < 25"),
        ("25 >= AGEP", "AGEP <= 25"),
        ("((AGEP != 25.0))", "AGEP <> 25"),
        ("not not AGEP == -1", "AGEP = -1"),
        ("AGEP in (3, 1, 2, 1.0)", "AGEP IN (1, 2, 3)"),
        ("AGEP in (3)", "AGEP = 3"),
        ("not AGEP in (3, 4)", "AGEP NOT IN (3, 4)"),
        ("not SCHL is null", "SCHL IS NOT NULL"),
        ("not SCHL between 1 and 2e0", "SCHL NOT BETWEEN 1 AND 2"),
        ("(AGEP = 1 and AGEP = 2) and AGEP = 3", "AGEP = 1 AND AGEP = 2 AND AGEP = 3"),
        ("AGEP = 1 or (AGEP = 2 and AGEP = 3)", "AGEP = 1 OR AGEP = 2 AND AGEP = 3"),
        ("(AGEP = 1 or AGEP = 2) and AGEP = 3", "(AGEP = 1 OR AGEP = 2) AND AGEP = 3"),
        ("not(AGEP = 1)", "NOT AGEP = 1"),
        ("AGEP = true", "AGEP = 1"),
        ("AGEP < 100000000000000000000", "AGEP < 1e+20"),
        ("AGEP < 0.1e-5", "AGEP < 1e-06"),
        ('"AGEP" = 1', "AGEP = 1"),
        ('extract ( epoch from "since" ) < 1', "EXTRACT(EPOCH FROM since) < 1"),
        (ISSUE.lower().replace("agep", "AGEP").replace("rac1p", "RAC1P").replace("schl", "SCHL"), ISSUE),
    ],
)
def test_there_is_one_way_to_write_it(words: str, canonical: str) -> None:
    predicate = parse(words, SCHEMA)
    assert str(predicate) == canonical
    assert parse(canonical, SCHEMA) == predicate
    assert hash(parse(canonical, SCHEMA)) == hash(predicate)


@pytest.mark.parametrize(
    ("words", "refusal"), NONSENSE.items(), ids=lambda text: text[:30].encode("unicode_escape").decode()
)
def test_what_is_no_predicate_is_refused_in_words(words: str, refusal: str) -> None:
    with pytest.raises(PredicateError, match=refusal) as caught:
        parse(words, SCHEMA)
    assert re.match(r".+: expected .+, (got|but) .+; .+", str(caught.value), re.DOTALL), caught.value


@pytest.mark.parametrize("words", TOO_MUCH, ids=lambda text: text[:12].encode("unicode_escape").decode())
def test_what_is_too_much_is_refused_in_few_words(words: str) -> None:
    with pytest.raises(PredicateError, match=TOO_MUCH[words]) as caught:
        parse(words, SCHEMA)
    assert len(str(caught.value)) < 1000


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)


@given(
    WORDS | st.text(st.sampled_from("'\"\\ -/*;\n\r{%#$e"), min_size=1), WORDS | st.sampled_from(["", "'", '"', "\\'"])
)
def test_any_name_and_any_text_can_be_written(name: str, text: str) -> None:
    X = pd.DataFrame({name: pd.Series([text, f"{text}!", None], dtype=object)})
    predicate = parse(f"{quoted_name(name)} = {quoted_text(text)}", Schema.of(X))
    assert predicate(X).tolist() == [True, False, False]
    assert parse(str(predicate), Schema.of(X)) == predicate


@given(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_can_be_written(number: float) -> None:
    X = np.zeros((1, 1))
    predicate = parse(f"x0 < {number_words(number)}", Schema.of(X))
    assert predicate(X).tolist() == [number > 0]
    assert parse(str(predicate), Schema.of(X)) == predicate


def test_as_much_as_is_allowed_is_read() -> None:
    terms = " OR ".join(f"AGEP = {value}" for value in range(MOST_TERMS))
    assert len(np.flatnonzero(parse(terms, SCHEMA)(ROWS))) == 4
    deep = "(" * MOST_DEPTH + "AGEP = 1" + ")" * MOST_DEPTH
    assert str(parse(deep, SCHEMA)) == "AGEP = 1"
    nested = "NOT (AGEP = 1 OR NOT (AGEP = 2 AND " * 4 + "AGEP = 3" + "))" * 4
    assert parse(str(parse(nested, SCHEMA)), SCHEMA) == parse(nested, SCHEMA)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_written_is_read_or_refused_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = ["AGEP < 1", "job = 'a'", "AGEP", "AND", "OR", "NOT", "(", ")", "IS", "NULL"] * 4 + [
        *"()=<>-;.,'\"!*/+%&|~@#$?:[]{}\\`\n\0é²𝒜",
        "AGEP",
        "job",
        "since",
        "'a'",
        '"AGEP"',
        "1",
        "2.5",
        "1e9",
    ]
    words += ["AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "TRUE", "EXTRACT(EPOCH FROM ", "SELECT", "CASE", "--"]
    words += [
        "/*",
        "INTERVAL",
        "COLLATE",
        "AT TIME ZONE",
        "OVER",
        "LIKE",
        "DATE",
        "ARRAY",
        "X'",
        "N'",
        "::",
        "<=",
        "<>",
    ]
    read = 0
    for _ in range(1500):
        kinds = rng.choice(words, int(rng.integers(1, 6))) if rng.random() < 0.5 else words  # few make long runs
        soup = " ".join(rng.choice(kinds, int(rng.integers(1, 20))))
        part = soup.replace(" ", "") if rng.random() < 0.3 else soup
        whole = f"AGEP = 1 {rng.choice(['AND', 'OR', 'AND NOT'])} {part}" if rng.random() < 0.5 else part
        try:
            predicate = parse(whole, SCHEMA)
        except PredicateError:
            continue
        read += 1
        assert parse(str(predicate), SCHEMA) == predicate
        assert predicate(ROWS).shape == (4,)
    assert read


@pytest.mark.parametrize("seed", range(4))
def test_a_predicate_with_a_slip_in_it_is_read_or_refused_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = f"{ISSUE} AND job IN ('a', 'b''c') OR EXTRACT(EPOCH FROM since) >= 1.5e9"
    letters = list("()'\"=<>!,.;-/* 0eENOT\0\u00e9")
    for _ in range(1000):
        text = list(whole)
        for place in rng.integers(len(text), size=int(rng.integers(1, 4))):
            text[int(place)] = str(rng.choice(letters)) if rng.random() < 0.6 else ""
        try:
            predicate = parse("".join(text), SCHEMA)
        except PredicateError:
            continue
        assert parse(str(predicate), SCHEMA) == predicate


@pytest.mark.parametrize(
    "make",
    [
        lambda X: X,
        pl.from_pandas,
        lambda X: pl.from_pandas(X).with_columns(pl.col("job").cast(pl.Categorical)),
        lambda X: pa.Table.from_pandas(X, preserve_index=False),
        lambda X: X.astype({"job": object}),
        lambda X: X.astype({"job": "category", "AGEP": "Int64"}),
        lambda X: X.convert_dtypes(dtype_backend="pyarrow"),
        lambda X: pa.concat_tables([pa.Table.from_pandas(X.iloc[:1]), pa.Table.from_pandas(X.iloc[1:])]),
        lambda X: X.assign(since=X["since"].dt.tz_localize("UTC")),
    ],
    ids=["pandas", "polars", "polars category", "arrow", "objects", "category", "arrow in pandas", "chunks", "zone"],
)
def test_rows_of_every_kind_are_asked_alike(make: Any) -> None:
    X = make(ROWS)
    for words in ("AGEP < 25", "job <> 'a'", "job IS NULL", "SCHL IS NULL", "EXTRACT(EPOCH FROM since) < 1.6e9"):
        assert (parse(words, Schema.of(X))(X) == parse(words, SCHEMA)(ROWS)).all(), words
        assert (parse(words, SCHEMA)(X) == parse(words, SCHEMA)(ROWS)).all(), words


def test_columns_of_an_array_are_known_by_their_places() -> None:
    X = np.array([[1.0, np.nan], [2, 5], [3, 6]])
    assert _rows_of("x0 >= 2 AND x1 < 6", X) == [1]
    assert _rows_of("x1 IS NULL", X) == [0]
    with pytest.raises(PredicateError, match="rows have other columns than the schema: expected 2, got 3"):
        parse("x0 > 1", Schema.of(X))(np.zeros((2, 3)))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u8", "f2", "f4", "f8", "?"])
@pytest.mark.parametrize("sign", ["=", "<>", "<", "<=", ">", ">="])
def test_numbers_of_every_type_are_compared_exactly(dtype: str, sign: str) -> None:
    values = np.array([0, 1, 0, 1]) if dtype == "?" else np.array([0, 1, 2, 100])
    X = values.astype(dtype).reshape(-1, 1)
    python = {"=": "==", "<>": "!="}.get(sign, sign)
    for bound in ("0", "1", "-1", "0.5", "0.1", "100.0", "1e300", "-1e300", "300", "18446744073709551616", "2049.5"):
        expected = [bool(eval(f"{value} {python} {bound}")) for value in X[:, 0].astype(float).tolist()]  # noqa: S307
        assert parse(f"x0 {sign} {bound}", Schema.of(X))(X).tolist() == expected, bound


ODD = [
    ([Decimal("1.5"), None, Decimal(3)], "x < 2", [0]),
    ([1, None, 2.5], "x > 1", [2]),
    ([2**70, None, -(2**70)], "x > 0", [0]),
    ([10**400, None, -(10**400)], "x < 0", [2]),
    ([True, None, False], "x = TRUE", [0]),
    ([True, 3, None], "x >= 1", [0, 1]),
    (["\ud800", None, "b"], "x = 'b'", [2]),
    (["\ud800", None, "b"], "x IS NULL", [1]),
    ([None, None, None], "x IS NULL", [0, 1, 2]),
    ([np.nan, "a", "b"], "NOT x = 'a'", [2]),
    ([pd.Timestamp("1970-01-02"), None, pd.NaT], "EXTRACT(EPOCH FROM x) = 86400", [0]),
    ([pd.Timedelta("1s"), None, pd.Timedelta("2s")], "EXTRACT(EPOCH FROM x) < 1.5", [0]),
]


@pytest.mark.parametrize(("values", "words", "rows"), ODD, ids=[str(number) for number in range(len(ODD))])
def test_python_objects_in_a_column_are_read_as_what_they_are(values: list[Any], words: str, rows: list[int]) -> None:
    column = pd.Series(values, dtype=object)
    assert _rows_of(words, pd.DataFrame({"x": column})) == rows
    assert _rows_of(words.replace("x", "x0"), column.to_numpy().reshape(-1, 1)) == rows


def test_a_column_that_mixes_text_and_numbers_cannot_be_compared() -> None:
    mixed = pd.DataFrame({"x": pd.Series([1, "a", None], dtype=object)})
    with pytest.raises(PredicateError, match="column x cannot be compared"):
        parse("x = 1", Schema.of(mixed))
    assert _rows_of("x IS NULL", mixed) == [2]


def test_a_frame_without_the_column_or_of_another_kind_is_refused() -> None:
    predicate = parse("AGEP < 25", SCHEMA)
    with pytest.raises(PredicateError, match="rows lack a column of the predicate 'AGEP < 25': expected AGEP"):
        predicate(ROWS.drop(columns="AGEP"))
    with pytest.raises(PredicateError, match="column AGEP is of another kind than in the schema: .* got text"):
        predicate(ROWS.astype({"AGEP": str}))
    assert predicate(ROWS[ROWS.columns[::-1]]).tolist() == [True, False, True, False]


def test_a_schema_is_a_value_and_knows_names_kinds_and_texts() -> None:
    assert Schema.of(ROWS) == SCHEMA
    assert [column.kind for column in SCHEMA.columns] == ["numbers"] * 3 + ["text", "moments", "nothing"]
    assert SCHEMA.columns[3].categories == ("a", "b'c", "z")
    assert Schema.of(ROWS, categories=False).columns[3].categories is None
    many = pd.DataFrame({"name": [str(number) for number in range(MOST_CATEGORIES + 1)]})
    assert Schema.of(many).columns[0].categories is None
    codes = pd.DataFrame({"name": pd.Categorical([f"{number:03}" for number in range(128)])})
    assert len(Schema.of(codes).columns[0].categories or ()) == 128
    strange = Schema.of(pl.DataFrame({"x": [[1], [2]]}))
    with pytest.raises(PredicateError, match="column x cannot be compared"):
        parse("x = 1", strange)
    with pytest.raises(SettingsError, match="columns share a name"):
        Schema.of(pd.DataFrame([[1, 2]], columns=["x", "x"]))
    with pytest.raises(SettingsError, match="rows have the wrong shape"):
        Schema.of(np.zeros(3))


@pytest.mark.parametrize(
    ("text", "schema", "words"), [(3, SCHEMA, "predicate is no text"), ("x = 1", ROWS, "schema is none")]
)
def test_only_text_and_a_schema_will_do(text: Any, schema: Any, words: str) -> None:
    with pytest.raises(PredicateError, match=words):
        parse(text, schema)


def test_predicate_errors_are_errors_of_a_group() -> None:
    assert issubclass(PredicateError, GroupError)
    assert bb.Schema is Schema


@pytest.mark.parametrize("text", ["job = 'a'", "job <> 'a'", "job IS NULL", "NOT job IN ('a')"])
def test_rows_without_any_value_are_of_no_other_kind(text: str) -> None:
    """A batch of one row may have nothing in a column, whatever type that takes then."""
    predicate = parse(text, Schema.of(pd.DataFrame({"job": ["a", "b", None], "x": [1.0, 2.0, 3.0]})))
    for nothing in (np.nan, None):
        rows = pd.DataFrame({"job": [nothing, nothing], "x": [1.0, 2.0]})
        assert predicate(rows).tolist() == [text == "job IS NULL"] * 2


def test_a_column_of_mixed_objects_can_be_asked_for_missing_values_in_any_batch() -> None:
    rows = pd.DataFrame({"m": pd.Series([1, "a", None] * 3, dtype=object)})
    predicate = parse("m IS NULL", Schema.of(rows))
    assert [predicate(rows[at : at + 1]).tolist() for at in range(3)] == [[False], [False], [True]]


def test_columns_that_cannot_be_asked_about_stop_no_other_column() -> None:
    sparse = pd.DataFrame({"s": pd.arrays.SparseArray([0, 0, 1]), "x": [1, 2, 3]})
    assert parse("s = 1 AND x = 3", Schema.of(sparse))(sparse).tolist() == [False, False, True]
    wide = pl.DataFrame({"w": pl.Series([1, 2, 3], dtype=pl.Int128), "x": [1, 2, 3]})
    assert parse("x = 3", Schema.of(wide))(wide).tolist() == [False, False, True]
    interval = pa.array([pa.MonthDayNano([1, 2, 3])] * 3, type=pa.month_day_nano_interval())
    table = pa.table({"i": interval, "x": [1, 2, 3]})
    assert parse("x = 3", Schema.of(table))(table).tolist() == [False, False, True]


def test_what_a_masked_array_hides_is_missing() -> None:
    X = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, True], [False, False]])
    schema = Schema.of(X)
    assert parse("x1 IS NULL", schema)(X).tolist() == [True, False]
    assert parse("x1 > 0", schema)(X).tolist() == [False, True]


def test_a_schema_that_was_used_can_be_copied_and_sent() -> None:
    schema = Schema.of(pd.DataFrame({"x": [1, 2]}))
    parse("x = 1", schema)
    assert copy.deepcopy(schema) == schema == pickle.loads(pickle.dumps(schema))  # noqa: S301, our own


@pytest.mark.parametrize(
    "text", ["(x IN (1)) NOT", "x NOT IS NULL", "x NOT NULL", "x = 1 NOT", "x = 1 NOT x = 2", "NOT"]
)
def test_a_not_that_belongs_to_nothing_is_refused(text: str) -> None:
    with pytest.raises(PredicateError, match="predicate cannot be read"):
        parse(text, Schema.of(pd.DataFrame({"x": [1, 2]})))
