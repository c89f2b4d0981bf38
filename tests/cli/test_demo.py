"""The demo reproduces the paper's first experiment, fits a terminal of 80 columns, and never waits."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from biasbounty._version import __version__
from biasbounty.cli.app import app
from biasbounty.cli.demo import ORDER_SEED, open_bounty
from biasbounty.datasets import demographic_groups, hunt, load_census, split


def test_the_paper_s_first_experiment_accepts_7_makes_2_repairs_and_brings_risk_from_3118_to_1761() -> None:
    sample = load_census()
    splits = split(sample)
    bounty = open_bounty(splits)
    for certificate in hunt(demographic_groups(sample.columns), splits, ORDER_SEED):
        bounty.submit(certificate.group, certificate.model, note=certificate.note)
    verdicts = bounty.transcript
    assert sum(verdict.accepted for verdict in verdicts) == 7
    assert sum(len(verdict.repairs) for verdict in verdicts) == 2
    assert (round(bounty.risk(0), 4), round(bounty.risk(), 4)) == (0.3118, 0.1761)
    assert (bounty.model.predict(splits.X_holdout) != splits.y_holdout).mean() == pytest.approx(bounty.risk())
    assert bounty.replay().nodes == bounty.model.nodes


def test_the_demo_prints_every_round_in_80_columns_says_where_the_report_is_and_does_not_wait(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    done = subprocess.run(
        [sys.executable, "-m", "biasbounty", "demo", "--out", str(report)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    lines = done.stdout.splitlines()
    assert all(len(line) < 80 for line in lines if str(report) not in line)
    assert sum("accepted  " in line for line in lines) == 7
    assert sum("rejected" in line for line in lines) == 4
    assert "7 accepted, 2 repairs; overall risk 0.3118 -> 0.1761" in done.stdout
    assert "No guarantee: Plain" in done.stdout
    assert f"Report: {report}" in done.stdout
    assert report.read_text().startswith("<!doctype html>")


def test_the_command_line_says_its_version_and_helps() -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).output == f"biasbounty {__version__}\n"
    assert "Run a whole bounty on the bundled census sample" in runner.invoke(app, ["--help"]).output
    assert "Where to write the report" in runner.invoke(app, ["demo", "--help"]).output


def test_without_the_extra_the_command_line_names_it() -> None:
    code = "import sys; sys.modules['typer'] = None; from biasbounty.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the command line needs typer: install biasbounty[cli,report]" in done.stderr
