"""`costsensitive` compares as it says: same rows, same order, and fresh rows that nobody has seen."""

import json
from pathlib import Path

import numpy as np
import pytest

from biasbounty.core.thresholds import Plain
from biasbounty.datasets import Sample, demographic_groups, load_states
from biasbounty.reporting.curves import OVERALL
from experiments.costsensitive import Compared, Divided, compared, converge, experiment, opened, pairs_of, summary
from experiments.costsensitive_page import PARTS, STAGES, parts
from experiments.output import filled
from experiments.sources import PAGES, WORKERS, Request
from tests.experiments.workers import write_workers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_workers(tmp_path_factory.mktemp("data") / WORKERS).parent


@pytest.fixture(scope="module")
def sample(folder: Path) -> Sample:
    return load_states(folder / WORKERS).of("CA")


@pytest.fixture(scope="module")
def state(sample: Sample) -> Compared:
    return compared("CA", sample, 0, Plain())


def test_a_quick_run_writes_a_page_its_figures_and_both_views_of_both_tasks(folder: Path, tmp_path: Path) -> None:
    experiment(Request(data=folder, out=tmp_path, quick=True))
    figures = json.loads((tmp_path / "costsensitive" / "figures.json").read_text())
    assert (tmp_path / "costsensitive.md").read_text() == filled("costsensitive", figures, parts)
    names = {
        f"{task}-{view}.{kind}"
        for task in ("income", "travel")
        for view in ("groups", "states")
        for kind in ("svg", "png")
    }
    assert {path.name for path in (tmp_path / "costsensitive").iterdir()} == {*names, "figures.json"}
    assert "{{" not in (tmp_path / "costsensitive.md").read_text()


def test_the_committed_page_says_what_the_committed_figures_say() -> None:
    figures = json.loads((PAGES / "costsensitive" / "figures.json").read_text())
    assert (PAGES / "costsensitive.md").read_text() == filled("costsensitive", figures, parts)


def test_parts_of_the_rows_share_none_and_leave_out_none() -> None:
    rows = Sample(np.arange(1_000)[:, None], np.arange(1_000) % 2, ("id",), "")
    divided = Divided.of(rows, 3)
    found = [divided.seen.X_train, divided.seen.X_holdout, divided.X_fresh]
    assert [len(one) for one in found] == [640, 160, 200]
    assert sorted(np.concatenate(found)[:, 0].tolist()) == list(range(1_000))


def test_the_finder_submits_until_it_is_rejected(sample: Sample) -> None:
    splits = Divided.of(sample, 0).seen
    bounty = opened(splits, Plain())
    end = converge(bounty, splits)
    assert [verdict.accepted for verdict in bounty.transcript] == [True] * end.accepted + [False]
    assert end.accepted > 0


def test_under_plain_a_second_hunter_never_raises_holdout_risk(state: Compared) -> None:
    risks = {stage: state.risks["holdout"][stage][OVERALL] or 0.0 for stage in STAGES}
    assert risks["initial"] > risks["sequential"] >= risks["sequential, then ternary"]
    assert risks["initial"] > risks["ternary"] >= risks["ternary, then sequential"]


def test_each_stage_goes_on_where_the_one_before_ended(state: Compared) -> None:
    assert state.accepted["initial"] == 0
    assert state.accepted["sequential, then ternary"] >= state.accepted["sequential"]
    assert state.accepted["ternary, then sequential"] >= state.accepted["ternary"]


def test_a_difference_above_zero_is_a_win_for_the_eleven_groups(state: Compared) -> None:
    pairs = pairs_of([state])
    assert len(pairs) == len(demographic_groups(("RAC1P", "SEX", "AGEP")))
    for pair in pairs:
        ternary, sequential = (pair.risk("fresh", stage) for stage in ("ternary", "sequential"))
        assert (pair.difference("fresh") > 0) == (ternary > sequential)
    said = summary(0, [state])
    assert said["difference"] == {
        part: pytest.approx(np.mean([pair.difference(part) for pair in pairs]), abs=1e-6) for part in PARTS
    }


def test_a_group_without_rows_is_no_pair(state: Compared) -> None:
    sizes = {**state.sizes, "fresh": {**state.sizes["fresh"], "Asian": 0}}
    without = Compared(**{**vars(state), "sizes": sizes})
    assert "Asian" not in {pair.group for pair in pairs_of([without])}
    assert "Asian" in {pair.group for pair in pairs_of([state])}
