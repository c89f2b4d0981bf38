"""The bundled census sample: is a person in Massachusetts employed (2018)? Its source is in data/README.md."""

from collections.abc import Container
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from biasbounty.errors import SettingsError

PLACE = "American Community Survey {when}, Massachusetts (US Census Bureau)"


@dataclass(frozen=True)
class Sample:
    """Rows, labels, and the names of the columns."""

    X: npt.NDArray[np.int64]
    y: npt.NDArray[np.int64]
    columns: tuple[str, ...]
    source: str

    def column(self, name: str) -> int:
        """Return the number of the column of this name."""
        return self.columns.index(name)


def load_census() -> Sample:
    """Load the sample: 70,131 people, sixteen integer features in PUMS codes, and whether each is employed."""
    path: Any = files("biasbounty.datasets") / "data" / "acs_employment_ma_2018.parquet"
    with path.open("rb") as file:
        return _sample(file, PLACE.format(when=2018))


def load_census_years(path: Path, years: Container[int]) -> Sample:
    """Load the people of some years from the file that the sample is a part of (Massachusetts, 2015 to 2018)."""
    if not path.is_file():
        raise SettingsError(f"census file is missing: expected the parquet file of all years, got {path}")
    everyone = _sample(path, PLACE.format(when="2015 to 2018"))
    place = everyone.column("year")
    own = np.array([year in years for year in everyone.X[:, place].tolist()], np.bool_)
    return Sample(
        X=np.delete(everyone.X, place, axis=1)[own],
        y=everyone.y[own],
        columns=tuple(name for name in everyone.columns if name != "year"),
        source=everyone.source,
    )


def _sample(file: Any, source: str) -> Sample:
    import pyarrow.parquet as parquet

    table = parquet.read_table(file)
    numbers = {name: table[name].to_numpy().astype(np.int64) for name in table.column_names}
    labels = numbers.pop("employed")
    return Sample(X=np.column_stack(list(numbers.values())), y=labels, columns=tuple(numbers), source=source)
