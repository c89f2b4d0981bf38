"""The bundled sample is the census data that it says it is."""

from importlib.resources import files

from biasbounty.datasets import load_census


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
