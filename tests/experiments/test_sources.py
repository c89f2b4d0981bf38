"""The command line of an experiment says where data come from; what is missing or asked wrongly is said in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from biasbounty.errors import SettingsError
from experiments import __main__ as index
from experiments import hunters, sequential
from experiments.sources import PAGES, ROOT, WORKERS, Request, asked, run
from tests.datasets.person_files import people, write_person_file


def test_without_arguments_the_census_files_are_used_and_the_docs_written() -> None:
    assert asked("name", "Promise.", []) == Request(out=PAGES)
    assert not Request().online


def test_states_are_given_in_a_row_and_in_any_case(tmp_path: Path) -> None:
    line = f"--source folktables --state ny,OR --year 2016 --data {tmp_path} --out {tmp_path}"
    request = asked("name", "Promise.", line.split())
    assert request == Request(tmp_path, tmp_path, "folktables", ("NY", "OR"), 2016)
    assert request.online


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--source folktables --out elsewhere", "--source folktables needs --state (as in NY), and --data"),
        ("--source folktables --state NY --out elsewhere", "--source folktables needs --state (as in NY), and --data"),
        ("--source folktables --state NY --data here", "give another folder with --out"),
        ("--quick", "give another folder with --out"),
        ("--state NY", "--state is for --source folktables"),
        ("--data nowhere/at/all", "--data is no folder: expected one that has the census files, got nowhere/at/all"),
        ("--source census-site", "invalid choice: 'census-site'"),
        ("--year last", "invalid int value: 'last'"),
        ("--rows 5", "unrecognized arguments: --rows 5"),
    ],
)
def test_what_cannot_be_is_refused_by_the_command_line(
    line: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        asked("name", "Promise.", line.split())
    assert left.value.code == 2
    assert words in capsys.readouterr().err


def test_a_missing_file_is_refused_with_both_ways_to_get_one(tmp_path: Path) -> None:
    request = Request(data=tmp_path)
    assert not request.has(WORKERS)
    with pytest.raises(SettingsError, match=f"data file is missing: expected {WORKERS} in .*--data FOLDER.*folktables"):
        request.workers()


def _needs_workers(request: Request) -> None:
    request.workers()


def test_an_experiment_that_lacks_a_file_says_so_in_one_line_and_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["name", "--data", str(tmp_path)])
    with pytest.raises(SystemExit) as left:
        run("name", "Promise.", _needs_workers)
    assert left.value.code == 1
    said = capsys.readouterr().out
    assert said.startswith("experiments.name: data file is missing")
    assert said.count("\n") == 1


def test_with_folktables_the_employed_are_those_of_the_first_state_asked_for(tmp_path: Path) -> None:
    write_person_file(tmp_path, "NY", people(30))
    request = Request(data=tmp_path, source="folktables", states=("NY", "OR"))
    sample = request.employment()
    assert sample.X.shape == (30, 16)
    assert "NY" in sample.source


def test_every_experiment_is_listed_with_a_line_of_its_own_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert index.main([]) == 0
    said = capsys.readouterr().out.splitlines()[1:]
    assert [line.split()[0] for line in said] == ["sequential", "costsensitive", "hunters", "guarantee"]
    assert all(len(line.split()) > 5 for line in said)
    folder = ROOT / "experiments"
    runnable = {path.stem for path in folder.glob("*.py") if "sources.run(" in path.read_text(encoding="utf-8")}
    assert runnable == set(index.EXPERIMENTS)


def test_an_argument_to_the_list_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert index.main(["guarantee"]) == 2
    assert "run python -m experiments.guarantee" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["sequential", "guarantee"])
def test_help_says_what_the_experiment_promises(name: str) -> None:
    command = [sys.executable, "-m", f"experiments.{name}", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    for words in ("--data FOLDER", "--source", "--state", "--year", "--quick", "--out"):
        assert words in done.stdout


def test_the_pages_of_the_docs_are_not_written_from_fewer_files_than_they_were_made_from(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match="page of the docs needs all files: expected .*; name their folder with --data"
    ):
        sequential.experiment(Request(data=tmp_path))
    with pytest.raises(SettingsError, match="hunters cannot use folktables: expected the file of all states"):
        hunters.experiment(Request(tmp_path, tmp_path, "folktables", ("NY",)))
