"""The bundled census sample: is a person in Massachusetts employed (2018)? Its source is in data/README.md."""

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import numpy.typing as npt


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
    import pyarrow.parquet as parquet

    path: Any = files("biasbounty.datasets") / "data" / "acs_employment_ma_2018.parquet"
    with path.open("rb") as file:
        table = parquet.read_table(file)
    numbers = {name: table[name].to_numpy().astype(np.int64) for name in table.column_names}
    labels = numbers.pop("employed")
    return Sample(
        X=np.column_stack(list(numbers.values())),
        y=labels,
        columns=tuple(numbers),
        source="American Community Survey 2018, Massachusetts (US Census Bureau)",
    )
