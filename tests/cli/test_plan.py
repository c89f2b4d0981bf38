"""`biasbounty plan` says what `biasbounty.plan` found, in 80 columns, and refuses in one line that says what to do."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import biasbounty as bb
from biasbounty.cli.app import app
from biasbounty.statistics.numbers import digits

PAGE = Path(__file__).parents[2] / "docs" / "planning.md"


def _run(command: str) -> Result:
    return CliRunner().invoke(app, shlex.split(command))


def test_it_puts_anytime_beside_paper_and_says_the_plan_s_own_words_in_80_columns() -> None:
    done = _run("plan --rows 40000 --delta 0.05 --submissions 1000")
    assert done.exit_code == 0
    plan = bb.plan(rows=40_000, delta=0.05, submissions=1000)
    table, words = done.output.split("\n\n", 1)
    assert words == f"{plan}\n"
    assert table.splitlines()[0].split() == ["Anytime", "Paper"]
    figures = {line[:33].strip(): line[33:].split() for line in table.splitlines()[1:]}
    assert figures["smallest epsilon reliably seen"] == [f"{plan.epsilon:g}", "0.236"]
    assert figures[f"rows for epsilon = {plan.epsilon:g}"] == ["40,000", f"{plan.paper_rows:,}"]
    assert figures["passes on the holdout, after all"] == [digits(plan.resolution or 0, up=True), "0.177"]
    assert all(len(line) < 80 for line in done.output.splitlines())


def test_where_nothing_passes_the_table_says_none() -> None:
    done = _run("plan --rows 300 --epsilon 0.02 --submissions 1000")
    assert done.exit_code == 0
    assert re.search(r"^passes on the holdout, after all +none +none$", done.output, re.MULTILINE)


@pytest.mark.parametrize("options", ["--rows 5000", "--rows 5000 --epsilon 0.2 --submissions 10 --pot 100000"])
def test_as_json_it_prints_every_figure_and_nothing_else(options: str) -> None:
    figures = json.loads(_run(f"plan {options} --json").stdout)
    given = {key: figures[key] for key in ("rows", "epsilon", "submissions", "acceptances", "disagreement", "pot")}
    plan = bb.plan(**given)
    assert figures["is_enough"] == plan.is_enough
    assert figures["payout"] == plan.payout
    assert figures["anytime"]["resolution"] == plan.resolution
    assert figures["anytime"]["nats"] == pytest.approx(plan.nats)
    assert figures["paper"]["rows_needed"] == plan.paper_rows
    assert (figures["limits"] is None) == (figures["found"] == "epsilon")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--rows 0", "rows is out of range: expected a whole number from 1"),
        ("--rows 9 --delta 2", "delta is out of range"),
        ("--epsilon 0.1 --disagreement 0.05", "plan for a larger disagreement or a smaller epsilon"),
        ("--rows 9 --chart plan.pdf", "expected a file ending in .svg or .png, got plan.pdf"),
        ("--rows 9 --chart nowhere/plan.svg", "cannot write there: expected a file in an existing folder"),
        ("--rows many", "valid integer"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line_that_says_what_to_do(options: str, words: str) -> None:
    done = _run(f"plan {options}")
    assert done.exit_code == 2
    (error,) = [line for line in done.output.splitlines() if line.startswith("Error: ")]
    assert words in error
    assert "Traceback" not in done.output


@pytest.mark.parametrize(("name", "opening"), [("plan.svg", b"<svg"), ("plan.png", b"\x89PNG")])
def test_a_chart_is_drawn_where_it_is_asked_for(name: str, opening: bytes, tmp_path: Path) -> None:
    done = _run(f"plan --rows 5000 --chart {tmp_path / name}")
    assert f"Chart: {tmp_path / name}" in done.output
    assert (tmp_path / name).read_bytes().startswith(opening)


def test_without_a_chart_nothing_that_draws_is_imported() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from biasbounty.cli.app import app;"
        "assert CliRunner().invoke(app, ['plan', '--rows', '5000']).exit_code == 0; print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"altair", "vl_convert"}.isdisjoint(loaded)


def test_without_the_extra_a_chart_is_refused_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    done = _run(f"plan --rows 5000 --chart {tmp_path / 'plan.svg'}")
    assert done.exit_code == 2
    assert "charts need altair: install biasbounty[report]" in done.output


def test_help_says_what_every_option_is_and_what_it_is_if_not_given() -> None:
    text = " ".join(_run("plan --help").output.split())
    for option in ("rows", "epsilon", "delta", "submissions", "acceptances", "disagreement", "pot", "chart", "json"):
        assert re.search(rf"--{option} (<\w+>|CENTS|FILE|\w+)? ?[A-Z]", text), option
    assert "[default: (found, or 1,000)]" in text
    assert "[default: (one in a hundred)]" in text


def test_the_commands_in_the_docs_print_what_the_docs_show() -> None:
    blocks = re.findall(r"^```console\n\$ biasbounty (.*?)\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    for command, output in blocks:
        assert _run(command).output == output, command
