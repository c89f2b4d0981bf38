"""Census data by way of the package folktables, which downloads it: any state, 2014 to 2018, the paper's four tasks.

folktables is an optional dependency. It has been tried on files in the Census's layout that lie on the disk already;
the download itself has not been tried against the live Census site.
"""

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from biasbounty.datasets.census import Sample
from biasbounty.errors import MissingExtraError, SettingsError

TASKS = {
    "employment": "ACSEmployment",
    "income": "ACSIncome",
    "coverage": "ACSPublicCoverage",
    "travel": "ACSTravelTime",
}
"""The paper's tasks, by what folktables calls them."""
YEARS = range(2014, 2019)
"""Later years have other columns than the tasks ask for."""


def load_folktables(
    state: str, year: int = 2018, task: str = "employment", *, folder: Path, download: bool = True
) -> Sample:
    """Load one state's rows for a task, from the folder if it has them, else from the Census into the folder.

    Features are whole numbers in PUMS codes; what is missing is coded 0, as folktables does.
    """
    package = _package()
    _check(package, state, year, task)
    source = package.ACSDataSource(survey_year=str(year), horizon="1-Year", survey="person", root_dir=str(folder))
    try:
        people = source.get_data(states=[state], download=download)
    except FileNotFoundError as error:
        raise SettingsError(
            f"census file of {state} {year} is missing: expected it in {folder} or from www2.census.gov, got neither; "
            f"see that the site can be reached, or put the person file into {folder / str(year) / '1-Year'} yourself"
        ) from error
    problem = getattr(package, TASKS[task])
    X, y, _ = problem.df_to_numpy(people)
    return Sample(
        X=np.asarray(X).astype(np.int64),
        y=np.asarray(y).astype(np.int64),
        columns=tuple(problem.features),
        source=f"American Community Survey {year}, {state} (US Census Bureau), by way of folktables",
    )


def _package() -> Any:
    try:
        return importlib.import_module("folktables")
    except ImportError as error:
        raise MissingExtraError(
            f"census data of other states need {error.name}: install folktables (pip install folktables)"
        ) from error


def _check(package: Any, state: str, year: int, task: str) -> None:
    if task not in TASKS:
        raise SettingsError(f"task is unknown: expected one of {', '.join(TASKS)}, got {task!r}")
    if year not in YEARS:
        raise SettingsError(f"year is out of range: expected {YEARS[0]} to {YEARS[-1]}, got {year!r}")
    if state not in package.state_list:
        raise SettingsError(f"state is unknown: expected the two letters of one, as in NY, got {state!r}")
