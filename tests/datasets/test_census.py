"""The bundled sample is the census data that it says it is."""

from importlib.resources import files
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from biasbounty.datasets import load_census
from biasbounty.datasets.census import load_census_years
from biasbounty.errors import SettingsError


def test_the_bundled_sample_has_the_massachusetts_rows_of_2018() -> None:
    sample = load_census()
    assert sample.X.shape == (70_131, 16)
    assert len(sample.columns) == 16
    assert int(sample.y.sum()) == 35_422
    assert sample.X[:, sample.column("AGEP")].max() == 95
    assert set(sample.X[:, sample.column("RAC1P")].tolist()) == set(range(1, 10))


def test_the_bundled_file_is_small_and_its_source_is_stated_beside_it() -> None:
    data = files("biasbounty.datasets") / "data"
    content = (data / "acs_employment_ma_2018.parquet").read_bytes()
    assert len(content) < 320_000
    assert "Census Bureau" in (data / "README.md").read_text()


def test_people_of_some_years_are_had_without_their_year_in_the_columns_of_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "years.parquet"
    columns = {
        "AGEP": pa.array([30, 40, 50]),
        "SEX": pa.array(["1", "2", "1"]).dictionary_encode(),
        "employed": pa.array([1, 0, 1]),
        "year": pa.array([2015, 2018, 2017]),
    }
    parquet.write_table(pa.table(columns), path)
    others = load_census_years(path, range(2015, 2018))
    assert others.columns == ("AGEP", "SEX")
    assert others.X.tolist() == [[30, 1], [50, 1]]
    assert others.y.tolist() == [1, 1]


def test_a_missing_file_of_years_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="census file is missing: expected the parquet file of all years"):
        load_census_years(tmp_path / "years.parquet", (2015,))
