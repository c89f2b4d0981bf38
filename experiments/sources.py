"""Where an experiment's data come from: what the command line says, and what is to be done where a file is missing.

The Massachusetts sample comes with the package. The all-state files are looked for in the folder of --data, or in
shared/data beside the project. --source folktables has the Census asked, by way of the package of that name.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from biasbounty.datasets import AllStates, Sample, load_census, load_folktables, load_states
from biasbounty.datasets.states import Task
from biasbounty.errors import BiasBountyError, SettingsError

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "experiments"
BESIDE = ROOT.parent / "shared" / "data"
WORKERS = "acs_workers_all_states_2018.parquet"
INCOMES = "acs_income_all_states_2018_100k.parquet"
YEARS = "acs_employment_ma_2015_2018.parquet"
console = Console(highlight=False, soft_wrap=True)


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    data: Path | None = None
    out: Path = PAGES
    source: str = "census"
    states: tuple[str, ...] = ()
    year: int = 2018
    quick: bool = False

    @property
    def online(self) -> bool:
        """Whether the data come by way of folktables."""
        return self.source == "folktables"

    def file(self, name: str) -> Path:
        """Return where a file is, or say what to do."""
        path = (self.data or BESIDE) / name
        if not path.is_file():
            raise SettingsError(
                f"data file is missing: expected {name} in {self.data or 'shared/data beside the project'}, got none; "
                "name the folder that has it with --data FOLDER, or have the Census asked with --source folktables "
                "--state CA --data FOLDER (docs/experiments/README.md)"
            )
        return path

    def has(self, name: str) -> bool:
        """Say whether a file is there."""
        return ((self.data or BESIDE) / name).is_file()

    def employment(self) -> Sample:
        """Return who is employed: the bundled sample, or the first state asked for."""
        return self.downloaded(self.states[0], "employment") if self.online else load_census()

    def workers(self, task: Task = "income") -> AllStates:
        """Return the workers of all states."""
        return load_states(self.file(WORKERS), task)

    def downloaded(self, state: str, task: str) -> Sample:
        """Return a state's rows by way of folktables."""
        return load_folktables(state, self.year, task, folder=self.data or BESIDE)


def asked(name: str, promise: str, arguments: list[str] | None = None) -> Request:
    """Read the command line of an experiment."""
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{name}", description=promise, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the folder of the data files, or for downloads")
    parser.add_argument("--out", type=Path, metavar="FOLDER", default=PAGES, help="where page, figures and charts go")
    parser.add_argument("--source", choices=("census", "folktables"), default="census", help="where data come from")
    parser.add_argument("--state", metavar="NY[,CA...]", default="", help="with folktables: which states")
    parser.add_argument("--year", type=int, default=2018, help="with folktables: which year, 2014 to 2018")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    given = parser.parse_args(arguments)
    states = tuple(state for state in given.state.upper().split(",") if state)
    if given.source == "folktables" and (not states or given.data is None):
        parser.error("--source folktables needs --state (as in NY), and --data for the folder that downloads go to")
    if states and given.source == "census":
        parser.error("--state is for --source folktables: the census files have the states that they have")
    if given.data is not None and given.source == "census" and not given.data.is_dir():
        parser.error(f"--data is no folder: expected one that has the census files, got {given.data}")
    if (given.quick or given.source == "folktables") and given.out == PAGES:
        parser.error("the pages of the docs are of the full run on the census files: give another folder with --out")
    return Request(given.data, given.out, given.source, states, given.year, given.quick)


def run(name: str, promise: str, experiment: Callable[[Request], None]) -> None:
    """Run an experiment from the command line; what it cannot do, it says in one line."""
    try:
        experiment(asked(name, promise))
    except BiasBountyError as error:
        _leave(f"experiments.{name}: {error}")


def _leave(words: str) -> NoReturn:
    console.print(words, style="red", markup=False)
    sys.exit(1)
