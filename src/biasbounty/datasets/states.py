"""The all-state census files as samples: workers of 2018, their text answers turned back into PUMS codes.

Occupation and place of birth have hundreds of codes that the files do not give: there the code is the place of the text
in alphabetical order, which keeps fields of occupation together. Other columns have the Census's own codes, so that
groups and models of the bundled sample's kind apply. The files are not part of the package (data/README.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty.datasets.census import Sample
from biasbounty.errors import SettingsError

Task: TypeAlias = Literal["income", "travel"]
Codes: TypeAlias = npt.NDArray[np.int64]
SOURCE = "American Community Survey 2018, {where} (US Census Bureau), a sample of workers aged 17 and over"

_GRADES = tuple(f"Grade {number}" for number in range(1, 12))
_CODES: dict[str, tuple[str, ...]] = {
    "COW": (
        "Employee of a private for-profit company or business, or of an individual, for wages, salary, or commissions",
        "Employee of a private not-for-profit, tax-exempt, or charitable organization",
        "Local government employee (city, county, etc.)",
        "State government employee",
        "Federal government employee",
        "Self-employed in own not incorporated business, professional practice, or farm",
        "Self-employed in own incorporated business, professional practice or farm",
        "Working without pay in family business or farm",
    ),
    "SCHL": (
        "No schooling completed",
        "Nursery school, preschool",
        "Kindergarten",
        *_GRADES,
        "12th grade - no diploma",
        "Regular high school diploma",
        "GED or alternative credential",
        "Some college, but less than 1 year",
        "1 or more years of college credit, no degree",
        "Associate's degree",
        "Bachelor's degree",
        "Master's degree",
        "Professional degree beyond a bachelor's degree",
        "Doctorate degree",
    ),
    "MAR": ("Married", "Widowed", "Divorced", "Separated", "Never married or under 15 years old"),
    "SEX": ("Male", "Female"),
    "RAC1P": (
        "White alone",
        "Black or African American alone",
        "American Indian alone",
        "Alaska Native alone",
        "American Indian and Alaska Native tribes specified; or American Indian or Alaska Native, not specified and no "
        "other races",
        "Asian alone",
        "Native Hawaiian and Other Pacific Islander alone",
        "Some Other Race alone",
        "Two or More Races",
    ),
    "CIT": (
        "Born in the U.S.",
        "Born in Puerto Rico, Guam, the U.S. Virgin Islands, or the Northern Marianas",
        "Born abroad of American parent(s)",
        "U.S. citizen by naturalization",
        "Not a citizen of the U.S.",
    ),
    "MIG": (
        "Yes, same house (nonmovers)",
        "No, outside US and Puerto Rico",
        "No, different house in US or Puerto Rico",
    ),
    "ESP": (
        "Both parents in labor force",
        "Father only in labor force",
        "Mother only in labor force",
        "Neither parent in labor force living with one parent: Living with father:",
        "Father in the labor force",
        "Father not in labor force living with mother:",
        "Mother in the labor force",
        "Mother not in labor force",
    ),
    "JWTR": (
        "Car, truck, or van",
        "Bus or trolley bus",
        "Streetcar or trolley car (carro publico in Puerto Rico)",
        "Subway or elevated",
        "Railroad",
        "Ferryboat",
        "Taxicab",
        "Motorcycle",
        "Bicycle",
        "Walked",
        "Worked at home",
        "Other method",
    ),
}
"""The text of each code, from code 1; what is not listed is coded 0."""
_TEXTS = {
    "COW": "Workclass",
    "SCHL": "Education",
    "MAR": "Marital Status",
    "SEX": "Gender",
    "RAC1P": "Race",
    "CIT": "Citizenship status",
    "MIG": "Mobility status",
    "ESP": "Employment status of parents",
    "JWTR": "Means of transportation to work",
    "OCCP": "Occupation",
    "POBP": "Place of birth",
    "AGEP": "Age",
    "WKHP": "Hours per Week",
}
"""What the files call the columns."""
_DISABILITIES = tuple(
    f"{what} difficulty" for what in ("Self-care", "Hearing", "Vision", "Independent living", "Ambulatory", "Cognitive")
)
_FEATURES: dict[Task, tuple[str, ...]] = {
    "income": ("AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "WKHP", "SEX", "RAC1P"),
    "travel": ("AGEP", "SCHL", "MAR", "SEX", "DIS", "ESP", "MIG", "RAC1P", "CIT", "OCCP", "JWTR"),
}
"""Of the features that folktables has for each task, those that a file has; WKHP where the file knows hours."""


@dataclass(frozen=True, eq=False)
class AllStates:
    """The rows of all states, the state of each, and the texts behind its codes."""

    sample: Sample
    states: npt.NDArray[np.str_]
    texts: dict[str, tuple[str, ...]]
    """By column: what each code stands for, from code 1."""

    def of(self, state: str) -> Sample:
        """Return the rows of one state, by its two letters."""
        own = self.states == state
        if not own.any():
            known = ", ".join(sorted(set(self.states.tolist())))
            raise SettingsError(f"state has no rows: expected one of {known}, got {state!r}")
        return Sample(self.sample.X[own], self.sample.y[own], self.sample.columns, SOURCE.format(where=state))

    def largest(self, count: int) -> list[str]:
        """Return the states with the most rows, the largest first."""
        names, sizes = np.unique(self.states, return_counts=True)
        return [str(name) for name in names[np.argsort(-sizes, kind="stable")][:count]]


def load_states(path: Path, task: Task = "income") -> AllStates:
    """Load an all-state file for a task: income above $50,000, or more than 20 minutes on the way to work."""
    import pyarrow.parquet as parquet

    if not path.is_file():
        raise SettingsError(f"census file is missing: expected a parquet file of workers of all states, got {path}")
    table = parquet.read_table(path)
    columns = [name for name in _FEATURES[task] if name != "WKHP" or _TEXTS[name] in table.column_names]
    texts = {name: _codes(table, name) for name in columns if name not in ("AGEP", "WKHP", "DIS")}
    X = np.column_stack([_encoded(table, name, texts) for name in columns])
    sample = Sample(X, _label(table, task), tuple(columns), SOURCE.format(where="all states"))
    states = np.array([name[-2:] for name in _texts(table, "State")])
    return AllStates(sample, states, texts)


def _column(table: Any, column: str) -> Any:
    if column not in table.column_names:
        raise SettingsError(
            f"census file lacks a column: expected {column!r} among its columns, got {', '.join(table.column_names)}"
        )
    return table[column]


def _texts(table: Any, column: str) -> list[str]:
    answers: list[str] = _column(table, column).cast("string").to_pylist()
    return answers


def _codes(table: Any, name: str) -> tuple[str, ...]:
    """Return the texts that have codes: the Census's, or all there are in alphabetical order."""
    return _CODES.get(name) or tuple(sorted(set(_texts(table, _TEXTS[name]))))


def _encoded(table: Any, name: str, texts: dict[str, tuple[str, ...]]) -> Codes:
    if name in _DERIVED:
        return _DERIVED[name](table)
    code = {text: number for number, text in enumerate(texts[name], start=1)}
    return np.array([code.get(text, 0) for text in _texts(table, _TEXTS[name])], np.int64)


def _number(name: str) -> Callable[[Any], Codes]:
    return lambda table: np.asarray(_column(table, _TEXTS[name]).to_numpy(), np.int64)


def _disabled(table: Any) -> Codes:
    """Code 1 for any of the six difficulties, as the Census does, else 2."""
    difficulties = np.array([_texts(table, name) for name in _DISABILITIES]) == "Yes"
    return np.asarray(np.where(difficulties.any(axis=0), 1, 2), np.int64)


_DERIVED: dict[str, Callable[[Any], Codes]] = {"AGEP": _number("AGEP"), "WKHP": _number("WKHP"), "DIS": _disabled}


def _label(table: Any, task: Task) -> Codes:
    """Derive the label; who works at home has no way to work."""
    if task == "income" and "Income50k" in table.column_names:
        return np.asarray(table["Income50k"].to_numpy(), np.int64)
    column, most = ("Income", 50_000) if task == "income" else ("Travel time to work", 20)
    return np.asarray(np.nan_to_num(_column(table, column).to_numpy().astype(float)) > most, np.int64)
