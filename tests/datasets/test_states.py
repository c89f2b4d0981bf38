"""The all-state files become samples in the Census's own codes; what is missing in them is said by name.

The files themselves are not part of the project: these tests write small ones in the same layout.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from biasbounty.datasets import demographic_groups, load_states
from biasbounty.datasets.states import AllStates, Task
from biasbounty.errors import SettingsError

PRIVATE = "Employee of a private for-profit company or business, or of an individual, for wages, salary, or commissions"
NUMBERS = {"Income", "Age", "Travel time to work"}
DIFFICULTIES = ("Self-care", "Hearing", "Vision", "Independent living", "Ambulatory", "Cognitive")
PERSON: dict[str, Any] = {
    "State": "New York/NY",
    "Income": 50_000.0,
    "Age": 30.0,
    "Workclass": PRIVATE,
    "Education": "Associate's degree",
    "Marital Status": "Married",
    "Occupation": "MGR-Financial Managers",
    "Place of birth": "New York/NY",
    "Gender": "Female",
    "Race": "White alone",
    "Citizenship status": "Born in the U.S.",
    **{f"{what} difficulty": "No" for what in DIFFICULTIES},
    "Travel time to work": 60.0,
    "Means of transportation to work": "Car, truck, or van",
    "Mobility status": "Yes, same house (nonmovers)",
    "Employment status of parents": "N/A (not own child of householder, and not child in subfamily)",
}
"""One row in the layout of the file of workers."""
PEOPLE = [
    PERSON,
    PERSON
    | {
        "State": "Oregon/OR",
        "Income": 50_001.0,
        "Age": 53.0,
        "Occupation": "FFF-Other Agricultural Workers",
        "Gender": "Male",
        "Race": "Two or More Races",
        "Citizenship status": "Not a citizen of the U.S.",
        "Vision difficulty": "Yes",
        "Travel time to work": 20.0,
        "Means of transportation to work": "Worked at home",
        "Employment status of parents": "Mother not in labor force",
    },
    PERSON | {"State": "Oregon/OR", "Income": 90_000.0, "Travel time to work": None, "Race": "Asian alone"},
]


def _written(folder: Path, people: list[dict[str, Any]], name: str = "workers.parquet") -> Path:
    """Write people as the files have them: numbers as they are, texts as a dictionary's."""
    columns = {name: [person[name] for person in people] for name in people[0]}
    table = {
        name: pa.array(values, pa.float64()) if name in NUMBERS else pa.array(values).dictionary_encode()
        for name, values in columns.items()
    }
    parquet.write_table(pa.table(table), folder / name)
    return folder / name


def _column(states: AllStates, name: str) -> list[int]:
    values: list[int] = states.sample.X[:, states.sample.column(name)].tolist()
    return values


def test_texts_become_the_census_s_codes(tmp_path: Path) -> None:
    states = load_states(_written(tmp_path, PEOPLE))
    assert states.sample.columns == ("AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "SEX", "RAC1P")
    assert _column(states, "AGEP") == [30, 53, 30]
    assert _column(states, "COW") == [1, 1, 1]
    assert _column(states, "SCHL") == [20, 20, 20]
    assert _column(states, "SEX") == [2, 1, 2]
    assert _column(states, "RAC1P") == [1, 9, 6]


def test_occupations_are_numbered_in_alphabetical_order_and_keep_their_texts(tmp_path: Path) -> None:
    states = load_states(_written(tmp_path, PEOPLE))
    assert _column(states, "OCCP") == [2, 1, 2]
    assert states.texts["OCCP"] == ("FFF-Other Agricultural Workers", "MGR-Financial Managers")


@pytest.mark.parametrize(("task", "labels"), [("income", [0, 1, 1]), ("travel", [1, 0, 0])])
def test_labels_are_above_50000_dollars_and_above_20_minutes_with_no_way_to_work_as_none(
    tmp_path: Path, task: Task, labels: list[int]
) -> None:
    assert load_states(_written(tmp_path, PEOPLE), task).sample.y.tolist() == labels


def test_the_travel_task_has_its_own_columns_one_of_them_derived(tmp_path: Path) -> None:
    states = load_states(_written(tmp_path, PEOPLE), "travel")
    assert _column(states, "DIS") == [2, 1, 2]
    assert _column(states, "CIT") == [1, 5, 1]
    assert _column(states, "JWTR") == [1, 11, 1]
    assert _column(states, "ESP") == [0, 8, 0]


def test_the_file_of_incomes_has_hours_and_its_own_label(tmp_path: Path) -> None:
    left_out = ("Income", "Travel time to work")
    person = {name: value for name, value in PERSON.items() if name not in left_out}
    people = [
        person | {"State": "OK", "Age": 26, "Hours per Week": 50.0, "Income50k": label} for label in (False, True)
    ]
    table = pa.table({name: [one[name] for one in people] for name in people[0]})
    parquet.write_table(table, tmp_path / "incomes.parquet")
    states = load_states(tmp_path / "incomes.parquet")
    assert _column(states, "WKHP") == [50, 50]
    assert states.sample.y.tolist() == [0, 1]
    assert states.largest(5) == ["OK"]


def test_a_state_is_had_by_its_two_letters_and_the_largest_come_first(tmp_path: Path) -> None:
    states = load_states(_written(tmp_path, PEOPLE))
    oregon = states.of("OR")
    assert oregon.X.tolist() == states.sample.X[1:].tolist()
    assert oregon.y.tolist() == [1, 1]
    assert "OR" in oregon.source
    assert states.largest(2) == ["OR", "NY"]
    assert states.largest(1) == ["OR"]


def test_the_eleven_groups_apply_to_a_state_s_rows(tmp_path: Path) -> None:
    states = load_states(_written(tmp_path, PEOPLE))
    groups = {one.name: one.group(states.sample.X).tolist() for one in demographic_groups(states.sample.columns)}
    assert groups["2+ races"] == [False, True, False]
    assert groups["female"] == [True, False, True]
    assert groups["50 and over"] == [False, True, False]


def test_a_state_without_rows_is_refused_and_the_others_are_named(tmp_path: Path) -> None:
    states = load_states(_written(tmp_path, PEOPLE))
    with pytest.raises(SettingsError, match="state has no rows: expected one of NY, OR, got 'TX'"):
        states.of("TX")


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="census file is missing: expected a parquet file of workers"):
        load_states(tmp_path / "nothing.parquet")


@pytest.mark.parametrize("column", ["Race", "Age", "Income", "State"])
def test_a_missing_column_is_named(tmp_path: Path, column: str) -> None:
    people = [{name: value for name, value in person.items() if name != column} for person in PEOPLE]
    with pytest.raises(SettingsError, match=f"census file lacks a column: expected '{column}' among its columns"):
        load_states(_written(tmp_path, people))
