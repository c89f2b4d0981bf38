"""`hunters` plays as it says: the paper's turns, rows that nobody judged, and claims measured as they were made."""

import json
from pathlib import Path

import numpy as np
import pytest

from biasbounty.core.answers import ask
from biasbounty.core.thresholds import Plain
from biasbounty.datasets import AllStates, Sample, load_states
from biasbounty.finders import Finder
from biasbounty.finders.residual import ResidualFinder
from biasbounty.finders.slices import SliceFinder
from experiments.hunters import (
    MANUAL,
    PAPER_TURNS,
    TRIES,
    TURNS,
    Data,
    Played,
    curves,
    experiment,
    played,
    tally,
)
from experiments.hunters_page import PAPER, PAPER_INITIAL, parts
from experiments.output import filled
from experiments.sources import INCOMES, PAGES, Request
from tests.experiments.workers import write_workers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_workers(tmp_path_factory.mktemp("data") / INCOMES, hours=True).parent


@pytest.fixture(scope="module")
def states(folder: Path) -> AllStates:
    return load_states(folder / INCOMES)


@pytest.fixture(scope="module")
def data(states: AllStates) -> Data:
    return Data.of(states.sample, states.texts, 0)


@pytest.fixture(scope="module")
def mixed(data: Data) -> Played:
    return played(data, "mixed", Plain(), 0, "MMARMMAR")


def test_a_quick_run_writes_a_page_its_figures_and_its_charts(folder: Path, tmp_path: Path) -> None:
    experiment(Request(data=folder, out=tmp_path, quick=True))
    figures = json.loads((tmp_path / "hunters" / "figures.json").read_text())
    assert (tmp_path / "hunters.md").read_text() == filled("hunters", figures, parts)
    charts = {f"{name}.{kind}" for name in ("risks", "contributions") for kind in ("svg", "png")}
    assert {path.name for path in (tmp_path / "hunters").iterdir()} == {*charts, "figures.json"}
    assert "{{" not in (tmp_path / "hunters.md").read_text()


def test_the_committed_page_says_what_the_committed_figures_say() -> None:
    figures = json.loads((PAGES / "hunters" / "figures.json").read_text())
    assert (PAGES / "hunters.md").read_text() == filled("hunters", figures, parts)


def test_turns_begin_with_those_of_the_papers_table() -> None:
    assert "".join(kind for kind, *_ in PAPER) == PAPER_TURNS
    assert TURNS.startswith(PAPER_TURNS)


def test_a_team_of_one_kind_takes_as_many_turns(data: Data, mixed: Played) -> None:
    alone = played(data, "by hand", Plain(), 0, mixed.turns)
    assert alone.turns == "M" * len(mixed.turns)
    assert {one.hunter for one in alone.tried} == {"M"}


def test_the_papers_table_adds_up_to_its_rounding() -> None:
    overall = PAPER_INITIAL
    for _, words, before, after, improvement, weight, later in PAPER:
        assert improvement == pytest.approx(before - after, abs=1.1e-4), words
        assert overall - later == pytest.approx(improvement * weight, abs=4e-4), words
        overall = later


def test_parts_of_the_rows_share_none_and_leave_out_none() -> None:
    rows = Sample(np.arange(1_000)[:, None], np.arange(1_000) % 2, ("id",), "")
    data = Data.of(rows, {}, 3)
    found = [data.seen.X_train, data.searched[0], data.public[0], data.seen.X_holdout, data.fresh[0]]
    assert sorted(np.concatenate(found)[:, 0].tolist()) == list(range(1_000))


def test_a_group_written_by_hand_has_the_people_it_says(states: AllStates, data: Data) -> None:
    X, columns = states.sample.X, states.sample.columns
    texts = np.array(["", *states.texts["OCCP"]])[X[:, columns.index("OCCP")]]
    inside = data.group(MANUAL["in office work, women"])(X)
    assert inside.any()
    expected = np.char.startswith(texts, "OFF-") & (X[:, columns.index("SEX")] == 2)
    assert (inside == expected).all()


def test_slices_are_told_in_texts_and_asked_about_codes(mixed: Played) -> None:
    words = [one.words for one in mixed.tried if one.hunter == "A"]
    assert words
    assert not any("SliceFinder" in one for one in words)
    assert any("'" in one for one in words), "columns without order are asked for by their texts"


def test_a_turn_ends_with_an_acceptance_or_after_a_few_tries(mixed: Played) -> None:
    for turn in range(1, len(mixed.turns) + 1):
        own = [one.accepted for one in mixed.tried if one.turn == turn]
        assert len(own) <= TRIES
        assert not any(own[:-1])


def test_holdout_risk_falls_by_at_least_what_is_accepted(mixed: Played) -> None:
    risk = mixed.initial["holdout"]
    for one in mixed.tried:
        least = one.holdout.contribution if one.accepted else 0.0
        assert one.holdout.overall <= risk - least + 1e-5
        assert one.accepted or one.holdout.overall == risk
        risk = one.holdout.overall


def test_what_the_hunters_change_adds_up_to_what_the_team_did(mixed: Played) -> None:
    sums = tally(mixed)
    for part in ("holdout", "fresh"):
        changes = sum(kind["change"][part] for kind in sums["kinds"].values())
        assert changes == pytest.approx(mixed.initial[part] - sums["last"][part], abs=1e-5)
        assert curves(mixed)[part][-1] == sums["last"][part]


@pytest.mark.parametrize("finder", [SliceFinder(candidates=10), ResidualFinder()], ids=["slices", "mistakes"])
def test_what_is_found_on_texts_answers_the_same_on_codes(data: Data, finder: Finder) -> None:
    X, y = data.searched
    found = finder.find(data.frame(X), y, np.zeros(len(y), int), np.random.default_rng(0))
    assert found is not None
    rows, frame = data.fresh[0], data.frame(data.fresh[0])
    for function in (found.group, found.model):
        assert (ask(data.on_codes(function), rows) == ask(function, frame)).all()
