"""`guarantee` follows every acceptance exactly, so that what it calls real is real in its world."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.attackers import Board, Claim
from biasbounty.core.thresholds import Paper, Plain
from biasbounty.datasets import load_census
from experiments.guarantee import (
    Acceptance,
    History,
    Hunt,
    Referee,
    eleven,
    experiment,
    held,
    last_contributions,
    lookup,
    opened,
    result,
    submitting,
)
from experiments.output import OTHER_RUN
from experiments.sources import Request
from experiments.world import Fresh, World, fresh_people, known_world

ROWS = 1_500


@pytest.fixture(scope="module")
def world() -> World:
    return known_world(load_census(), np.random.default_rng(0), train=6_000)


@pytest.fixture(scope="module")
def fresh(world: World) -> Fresh:
    return fresh_people(world, np.random.default_rng(1), 400_000)


@pytest.fixture(scope="module")
def claims(world: World) -> list[Claim]:
    return list(eleven(world))


def test_the_referee_s_rounds_are_the_published_model_s(world: World, fresh: Fresh, claims: list[Claim]) -> None:
    hunt = Hunt("eleven", submitting(claims), 11, holdout=ROWS)
    bounty, _ = opened(world, hunt, Plain(), seed=3)
    referee, every = Referee(world, fresh), list[Acceptance]()
    for claim in claims:
        verdict = bounty.submit(lookup(claim.group), lookup(claim.labels))
        if verdict.accepted:
            every += referee.follow(claim, verdict, last_contributions(bounty))
    assert sum(one.kind == "repair" for one in every) > 0
    rows = np.arange(len(world.X))
    for number, answers in enumerate(referee.rounds):
        assert (bounty.model.predict(rows, number) == answers).all()
    risks = [world.population.risk(answers) for answers in (referee.rounds[0], referee.rounds[-1])]
    assert sum(one.true for one in every) == pytest.approx(risks[0] - risks[1])
    assert sum(one.holdout for one in every) == pytest.approx(bounty.risk(0) - bounty.risk())
    assert sum(one.fresh for one in every) == pytest.approx(fresh.risk(referee.rounds[0]) - fresh.risk(answers))


def test_fresh_people_agree_with_the_truth(world: World, fresh: Fresh, claims: list[Claim]) -> None:
    assert fresh.people.sum() == 400_000
    assert (fresh.ones <= fresh.people).all()
    for claim in claims:
        true = world.population.contribution(claim.group, world.initial, claim.labels)
        deviation = 4 * (claim.group.mean() / 400_000) ** 0.5
        assert fresh.contribution(claim.group, world.initial, claim.labels) == pytest.approx(true, abs=deviation)


def test_no_model_has_less_risk_than_the_chances_allow(world: World) -> None:
    best = (world.chances > 0.5).astype(np.int8)
    assert world.population.risk(best) == pytest.approx(world.least_risk)
    assert world.least_risk < world.population.risk(world.initial)


def test_every_checker_meets_the_same_holdout(world: World, fresh: Fresh, claims: list[Claim]) -> None:
    hunt = Hunt("eleven", submitting(claims), 11, holdout=ROWS)
    first, second = (held(world, hunt, checker, fresh, seed=5) for checker in (Plain(), Plain(0.01)))
    assert first.holdout[0] == second.holdout[0]
    assert first.holdout != second.holdout
    assert held(world, hunt, Plain(), fresh, seed=6).holdout[0] != first.holdout[0]


def test_after_a_checker_stopped_nothing_is_accepted_and_the_curves_go_on(
    world: World, fresh: Fresh, claims: list[Claim]
) -> None:
    hunt = Hunt("eleven", submitting(claims), 11, holdout=ROWS)
    history = held(world, hunt, Paper(0.01, 0.05, 5, allow_small_holdout=True), fresh, seed=3)
    assert len(history.holdout) == 12
    assert set(history.holdout[5:]) == {history.holdout[5]}


def test_false_is_what_does_not_truly_help_and_the_promise_is_counted_apart(world: World) -> None:
    hunt = Hunt("some", submitting([]), 11)
    good, small, bad = (Acceptance("update", 0.02, true, true) for true in (0.02, 0.004, 0.0))
    repair = Acceptance("repair", 0.001, -0.001, 0.001)
    accepted = ([good, small], [good, bad], [repair], [good])
    histories = [History(every, [0.3, 0.2], [0.3, 0.25]) for every in accepted]
    one = result(world, hunt, "Anytime", histories)
    assert (one["updates"], one["false_updates"]) == (1.25, 0.25)
    assert (one["repairs"], one["false_repairs"]) == (0.25, 0.25)
    assert one["false_on_fresh"] == 0.25
    assert one["runs_with_false"] == 2
    assert one["runs_below_promise"] == one["runs_below_half_epsilon"] == 3
    assert result(world, hunt, "Anytime, epsilon 0", histories)["runs_below_promise"] == 2
    assert result(world, hunt, "Plain", histories)["runs_below_promise"] is None


def test_hunters_who_only_submit_do_not_listen(world: World) -> None:
    claims = [Claim(np.ones(3, np.bool_), np.ones(3, np.int8)) for _ in range(2)]
    attack = submitting(claims)(Board(world.population, world.initial), np.random.default_rng(0))
    assert next(attack) is claims[0]
    assert attack.send(None) is claims[1]


def test_a_quick_run_writes_figures_charts_and_page(tmp_path: Path) -> None:
    experiment(Request(data=tmp_path, out=tmp_path, quick=True))
    folder = tmp_path / "guarantee"
    names = {f"{name}.{kind}" for name in ("risks", "truth") for kind in ("svg", "png")}
    assert {path.name for path in folder.iterdir()} == names | {"figures.json"}
    page = (tmp_path / "guarantee.md").read_text(encoding="utf-8")
    assert OTHER_RUN in page
    assert "{{" not in page
    figures = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    by_checker = {(one["hunt"], one["checker"]): one for one in figures["results"]}
    assert len(by_checker) == 16
    assert by_checker["memory", "Plain"]["runs_with_false"] == 2
    assert all(one["runs_below_promise"] == 0 for key, one in by_checker.items() if key[1].startswith("Anytime"))
