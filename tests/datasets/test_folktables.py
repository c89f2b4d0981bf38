"""Census files by way of the package folktables, on files in the Census's layout that these tests write themselves.

Nothing is downloaded here: that the live Census site still serves such files is not verified.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

from biasbounty.datasets import demographic_groups, load_folktables
from biasbounty.errors import MissingExtraError, SettingsError
from tests.datasets.person_files import people, write_person_file


def test_a_file_in_the_folder_is_read_and_nothing_is_downloaded(tmp_path: Path) -> None:
    rows = people(40)
    write_person_file(tmp_path, "NY", rows)
    sample = load_folktables("NY", folder=tmp_path, download=False)
    assert sample.X.shape == (40, 16)
    assert sample.columns[0] == "AGEP"
    assert sample.columns[-2:] == ("SEX", "RAC1P")
    assert sample.X[:, sample.column("AGEP")].tolist() == [row["AGEP"] for row in rows]
    assert sample.y.tolist() == [int(row["ESR"] == 1) for row in rows]
    assert "NY" in sample.source
    assert "2018" in sample.source


def test_what_is_missing_is_coded_0(tmp_path: Path) -> None:
    rows = [row | {"ESP": None, "MIL": None, "ESR": None} for row in people(3)]
    write_person_file(tmp_path, "OR", rows)
    sample = load_folktables("OR", folder=tmp_path, download=False)
    assert sample.X[:, [sample.column("ESP"), sample.column("MIL")]].tolist() == [[0, 0]] * 3
    assert sample.y.tolist() == [0, 0, 0]


@pytest.mark.parametrize("year", [2014, 2016, 2017, 2018])
def test_a_file_is_found_under_the_name_it_has_in_its_year(tmp_path: Path, year: int) -> None:
    write_person_file(tmp_path, "TX", people(5), year)
    assert len(load_folktables("TX", year, folder=tmp_path, download=False).y) == 5


def test_income_is_of_working_adults_and_above_50000_dollars(tmp_path: Path) -> None:
    base = people(1)[0] | {"AGEP": 40, "WKHP": 40, "PWGTP": 1, "PINCP": 50_000}
    child, idle = {"AGEP": 16}, {"WKHP": None}
    write_person_file(tmp_path, "OR", [base, base | {"PINCP": 50_001}, base | child, base | idle])
    sample = load_folktables("OR", task="income", folder=tmp_path, download=False)
    assert sample.y.tolist() == [0, 1]


def test_coverage_and_travel_have_rows_and_the_columns_of_the_eleven_groups(tmp_path: Path) -> None:
    write_person_file(tmp_path, "FL", people(60))
    for task in ("coverage", "travel"):
        sample = load_folktables("FL", task=task, folder=tmp_path, download=False)
        assert len(sample.y) > 0
        assert set(np.unique(sample.y)) <= {0, 1}
        assert len(demographic_groups(sample.columns)) == 11


def test_a_missing_file_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="census file of NY 2018 is missing.*put the person file into .*1-Year"):
        load_folktables("NY", folder=tmp_path, download=False)


@pytest.mark.parametrize(
    ("state", "year", "task", "words"),
    [
        ("ny", 2018, "employment", "state is unknown: expected the two letters of one, as in NY, got 'ny'"),
        ("NY", 2019, "employment", "year is out of range: expected 2014 to 2018, got 2019"),
        ("NY", 2018, "wages", "task is unknown: expected one of employment, income, coverage, travel, got 'wages'"),
    ],
)
def test_what_folktables_does_not_have_is_refused(tmp_path: Path, state: str, year: int, task: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        load_folktables(state, year, task, folder=tmp_path, download=False)


def test_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "folktables", None)
    with pytest.raises(MissingExtraError, match="census data of other states need folktables: install folktables"):
        load_folktables("NY", folder=tmp_path)
