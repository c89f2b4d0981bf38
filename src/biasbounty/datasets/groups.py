"""The paper's eleven demographic groups: six of race, two of sex, three of age, as groups of PUMS-coded rows.

They are the groups of its experiments by what its code does, not by what its tables call them (section 5; the labels of
its race groups are permuted there). Each group is a value: two of the same column and codes are equal.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Among:
    """The rows that have one of some codes in a column."""

    column: int
    codes: tuple[int, ...]

    def __call__(self, X: Any) -> Mask:
        """Say of each row whether it is in the group."""
        return np.isin(X[:, self.column], self.codes)


@dataclass(frozen=True)
class Between:
    """The rows whose number in a column is at least `low` and less than `high`."""

    column: int
    low: float
    high: float

    def __call__(self, X: Any) -> Mask:
        """Say of each row whether it is in the group."""
        return np.asarray((X[:, self.column] >= self.low) & (X[:, self.column] < self.high))


@dataclass(frozen=True)
class NamedGroup:
    """A group, and what it is called."""

    name: str
    group: Among | Between


def demographic_groups(columns: tuple[str, ...]) -> tuple[NamedGroup, ...]:
    """Return the eleven groups of rows with these columns, in the order that a seed then shuffles."""
    race, sex, age = (columns.index(name) for name in ("RAC1P", "SEX", "AGEP"))
    return (
        NamedGroup("White", Among(race, (1,))),
        NamedGroup("Black", Among(race, (2,))),
        NamedGroup("Asian", Among(race, (6,))),
        NamedGroup("Native/Pacific", Among(race, (3, 4, 5, 7))),
        NamedGroup("other race", Among(race, (8,))),
        NamedGroup("2+ races", Among(race, (9,))),
        NamedGroup("male", Among(sex, (1,))),
        NamedGroup("female", Among(sex, (2,))),
        NamedGroup("under 30", Between(age, 0, 30)),
        NamedGroup("30 to 49", Between(age, 30, 50)),
        NamedGroup("50 and over", Between(age, 50, 1000)),
    )
