"""The demo runs a whole bounty as a service and says nothing that it did not see; --paper is the paper's experiment."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner

from biasbounty._version import __version__
from biasbounty.cli.app import app
from biasbounty.cli.paper import ORDER_SEED, open_bounty
from biasbounty.datasets import demographic_groups, hunt, load_census, split
from biasbounty.ledger.exported import Exported
from biasbounty.ledger.replay import replay_ledger
from biasbounty.ledger.verification import verify_ledger

COMMAND = (sys.executable, "-m", "biasbounty", "demo")


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


def _demo(*options: str) -> str:
    done = subprocess.run(
        [*COMMAND, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout


def test_the_paper_s_experiment_is_printed_in_80_columns_with_a_report(tmp_path: Path) -> None:
    printed = _demo("--paper", "--out", str(tmp_path))
    report = tmp_path / "report.html"
    lines = printed.splitlines()
    assert all(len(line) < 80 for line in lines if str(report) not in line)
    assert sum("accepted  " in line for line in lines) == 7
    assert sum("rejected" in line for line in lines) == 4
    assert "7 accepted, 2 repairs; overall risk 0.3118 -> 0.1761" in printed
    assert "No guarantee: Plain" in printed
    assert f"Report: {report}" in printed
    assert report.read_text().startswith("<!doctype html>")


def test_without_a_terminal_the_demo_runs_the_service_to_its_end_and_does_not_wait(tmp_path: Path) -> None:
    printed = _demo("--out", str(tmp_path))
    lines = printed.splitlines()
    assert all(len(line) < 80 for line in lines if str(tmp_path) not in line)
    words = " ".join(printed.split())
    assert "4 accepted, 1 rejected, 1 repair; holdout risk 0.3052 -> 0.1780" in words
    assert "With probability at least 0.95" in words
    assert "repair: people under 30 go back to round 1" in words
    assert "all 5 verdicts come out the same" in words
    assert len(set(re.findall(r"holdout is (0\.\d+), the judge's figure (0\.\d+)", words)[0])) == 1
    assert "Serving" not in printed
    exported = Exported.read(tmp_path / "ledger.zip")
    verify_ledger(exported)
    replayed = replay_ledger(exported)
    assert (replayed.newest, replayed.verdicts, replayed.state) == (4, 5, "closed")
    assert (tmp_path / "model.onnx").stat().st_size > 1000
    assert "people under 30" in (tmp_path / "report.html").read_text()


def test_as_json_it_says_every_figure_and_the_address(tmp_path: Path) -> None:
    told = json.loads(_demo("--out", str(tmp_path), "--json"))
    assert [each["verdict"]["accepted"] for each in told["hunted"]] == [True, True, True, True, False]
    assert told["hunted"][4]["public"]["contribution"] > 0
    assert told["risk"] == pytest.approx(told["judged_risk"])
    assert told["risk"] < told["before"]
    assert told["url"].startswith("http://127.0.0.1:")


def test_at_a_terminal_it_keeps_serving_until_interrupted(tmp_path: Path) -> None:
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "40"}
    process = subprocess.Popen(
        [*COMMAND, "--out", str(tmp_path)], stdin=child, stdout=child, stderr=child, env=environment
    )
    os.close(child)
    try:
        printed = _until(parent, b"Ctrl-C ends it.")
        found = re.search(rb"Serving at (http://127\.0\.0\.1:\d+)", printed)
        assert found
        with urllib.request.urlopen(f"{found[1].decode()}/api/v1/bounties", timeout=30) as answer:  # noqa: S310
            assert json.load(answer)["entries"][0]["state"] == "closed"
        process.send_signal(signal.SIGINT)
        assert b"the service's folder is gone" in _until(parent, b"is gone.")
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(parent)


def _until(terminal: int, words: bytes, seconds: float = 240) -> bytes:
    """Read what a terminal shows until some words come."""
    shown, ends = b"", time.monotonic() + seconds
    while words not in shown and time.monotonic() < ends:
        if select.select([terminal], [], [], 0.5)[0]:
            shown += os.read(terminal, 1 << 16)
    assert words in shown, shown[-2000:]
    return shown


def test_the_command_line_says_its_version_and_helps() -> None:
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).output == f"biasbounty {__version__}\n"
    assert "Run a whole bounty on the bundled census sample" in runner.invoke(app, ["--help"]).output
    assert "The folder to write ledger, model and report to" in runner.invoke(app, ["demo", "--help"]).output


def test_without_the_extra_the_command_line_names_it() -> None:
    code = "import sys; sys.modules['typer'] = None; from biasbounty.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "the command line needs typer: install biasbounty[cli,report,server,client]" in done.stderr
