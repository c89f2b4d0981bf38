"""`sequential` gives the paper's first experiment on Massachusetts, and measures every round on every group."""

import json
from pathlib import Path

import pytest

from biasbounty.datasets import load_census
from biasbounty.reporting.curves import OVERALL, tally
from experiments.output import OTHER_RUN
from experiments.sequential import Planned, elsewhere, experiment, held, measured, planned_rows, risks, spread
from experiments.sequential_page import introduced
from experiments.sources import PAGES, Request
from tests.datasets.person_files import people, write_person_file


@pytest.mark.parametrize(("seed", "last", "accepted", "repairs"), [(12345, "0.1761", 7, 2), (12346, "0.1759", 8, 3)])
def test_on_massachusetts_the_orders_end_where_they_must(seed: int, last: str, accepted: int, repairs: int) -> None:
    bounty, _, _ = held(load_census(), seed)
    assert f"{bounty.risk(0):.4f}" == "0.3118"
    assert f"{bounty.risk():.4f}" == last
    assert tally(bounty) == (accepted, repairs)


def test_the_first_order_rejects_the_four_groups_that_the_paper_s_text_names() -> None:
    row, _ = measured(Planned("ma-12345", "employment", load_census(), 12345))
    rejected = {one.group for one in row.submitted if not one.accepted}
    assert rejected == {"Asian", "2+ races", "White", "30 to 49"}


def test_the_committed_figures_are_those_of_the_bundled_sample() -> None:
    rows = json.loads((PAGES / "sequential" / "figures.json").read_text(encoding="utf-8"))["rows"]
    row, bounty = measured(Planned("ma-12345", "employment", load_census(), 12345))
    (committed,) = (one for one in rows if one["name"] == "ma-12345")
    assert row.holdout == committed["holdout"]
    assert row.train == committed["train"]
    assert row.holdout[OVERALL] == [pytest.approx(bounty.risk(number), abs=1e-6) for number in range(8)]


def test_each_round_is_measured_overall_and_on_each_of_the_eleven_groups() -> None:
    bounty, splits, groups = held(load_census(), 12346)
    found = risks(bounty.model, groups, splits.X_holdout, splits.y_holdout, [0, 3])
    (female,) = (one.group(splits.X_holdout) for one in groups if one.name == "female")
    wrong = bounty.model.predict(splits.X_holdout, 3) != splits.y_holdout
    assert len(found) == 12
    assert found["female"][1] == pytest.approx(wrong[female].mean(), abs=1e-6)
    assert found[OVERALL][1] == pytest.approx(wrong.mean(), abs=1e-6)


def test_accepted_groups_are_introduced_in_the_order_in_which_they_came() -> None:
    row = {"submitted": [{"group": name, "accepted": yes} for name, yes in [("a", True), ("b", False), ("c", True)]]}
    assert introduced(row) == {OVERALL: 0, "a": 1, "c": 2}


def test_one_order_alone_differs_from_itself_by_nothing() -> None:
    among = spread(load_census(), [12345, 12345])
    assert among["pairs"] == 1
    assert set(among["largest"].values()) == {0.0}


def test_a_quick_run_writes_figures_charts_and_page(tmp_path: Path) -> None:
    experiment(Request(data=tmp_path, out=tmp_path / "out", quick=True))
    folder = tmp_path / "out" / "sequential"
    rows = [f"ma-{seed}{part}" for seed in (12345, 12346) for part in ("", "-list")]
    expected = {"figures.json", *(f"{name}.{kind}" for name in rows for kind in ("svg", "png"))}
    assert {path.name for path in folder.iterdir()} == expected
    page = (tmp_path / "out" / "sequential.md").read_text(encoding="utf-8")
    assert OTHER_RUN in page
    assert "{{" not in page
    assert "| employment, MA, 12345 | 56,104 | 14,027 | 7 | 2 | 0.3118 -> 0.1761 |" in page


def test_with_folktables_the_paper_s_own_rows_are_planned(tmp_path: Path) -> None:
    for state in ("NY", "OR", "TX", "FL"):
        write_person_file(tmp_path, state, people(60))
    request = Request(data=tmp_path, source="folktables", states=("NY", "OR", "TX", "FL"))
    planned = [(one.name, one.task, one.others) for one in planned_rows(request)]
    assert planned == [
        ("ny-12345", "employment", None),
        ("ny-12346", "employment", None),
        ("or-12340", "income", None),
        ("tx-12345", "coverage", None),
        ("fl-12345", "travel", None),
    ]
    assert list(elsewhere(Request(data=tmp_path, source="folktables", states=("NY",)))) == []


def test_a_whole_run_by_way_of_folktables_names_the_state(tmp_path: Path) -> None:
    write_person_file(tmp_path, "NY", people(600))
    experiment(Request(tmp_path, tmp_path / "out", "folktables", ("NY",), quick=True))
    page = (tmp_path / "out" / "sequential.md").read_text(encoding="utf-8")
    assert "employment, NY, 12345 | 480 | 120" in page
    assert OTHER_RUN in page
