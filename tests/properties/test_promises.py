"""Promises P1-P4 of docs/guarantees, on random worlds, exactly."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given

import biasbounty as bb
from biasbounty.core.answers import ask
from biasbounty.core.local_holdout import LocalHoldout
from tests.worlds import World, worlds


def _holdout(bounty: bb.Bounty) -> LocalHoldout:
    holdout = bounty._holdout
    assert isinstance(holdout, LocalHoldout)
    return holdout


def _contributions(bounty: bb.Bounty) -> list[list[int]]:
    """Return the contributions of each round's update and repairs, in units of 1/scale."""
    return [
        [int(evidence.total) for evidence in (outcome.evidence, *outcome.repair_evidence)]
        for outcome in bounty.outcomes
        if outcome.accepted
    ]


@given(worlds())
def test_p1_overall_risk_falls_with_every_update_and_repair_by_exactly_its_contribution(world: World) -> None:
    bounty = world.bounty()
    world.play(bounty)
    holdout = _holdout(bounty)
    for number, contributions in enumerate(_contributions(bounty), start=1):
        assert all(contribution > 0 for contribution in contributions)
        assert holdout.total(number) == holdout.total(number - 1) - sum(contributions)


@given(worlds(repairs=True))
def test_p1_holds_for_every_node_and_not_only_for_rounds(world: World) -> None:
    bounty = world.bounty()
    world.play(bounty)
    by_node = [contribution for contributions in _contributions(bounty) for contribution in contributions]
    model, scale = bounty.model, _holdout(bounty).scale
    totals = [_holdout(bounty).total(0)]
    for number in range(1, len(model) + 1):
        heads = tuple(head for head in model.heads if head < number)
        prefix = bb.PointerDecisionList(model.initial, model.nodes[:number], (*heads, number))
        losses = bounty.loss(prefix.predict(world.rows), np.array(world.labels))
        totals.append(int(np.rint(losses * scale).sum()))
    assert [before - after for before, after in itertools.pairwise(totals)] == by_node


@given(worlds())
def test_p2_contributions_telescope_to_the_fall_of_overall_risk(world: World) -> None:
    bounty = world.bounty()
    world.play(bounty)
    holdout, newest = _holdout(bounty), len(bounty.rounds) - 1
    total = sum(sum(contributions) for contributions in _contributions(bounty))
    assert total == holdout.total(0) - holdout.total(newest) <= holdout.total(0) <= len(world.labels) * holdout.scale


@given(worlds(repairs=True))
def test_p3_no_protected_group_has_an_earlier_round_that_certifies_against_a_published_one(world: World) -> None:
    bounty = world.bounty()
    world.play(bounty)
    truth, scale = np.array(world.labels), _holdout(bounty).scale
    threshold = world.reference().threshold
    losses = [
        np.rint(bounty.loss(bounty.model.predict(world.rows, round=r), truth) * scale).astype(int)
        for r in range(len(bounty.rounds))
    ]
    for newest in range(1, len(losses)):
        for certificate in bounty.protected[:newest]:
            mask = ask(certificate.group, world.rows).astype(bool)
            for earlier in range(newest):
                total = int((losses[newest] - losses[earlier])[mask].sum())
                assert total <= 0 or Fraction(total, len(truth) * scale) < threshold


@given(worlds())
def test_p4_predictions_of_the_published_list_equal_the_columns_that_were_judged(world: World) -> None:
    bounty = world.bounty()
    world.play(bounty)
    holdout = _holdout(bounty)
    for number in range(len(bounty.rounds)):
        losses = bounty.loss(bounty.model.predict(world.rows, round=number), np.array(world.labels))
        assert np.rint(losses * holdout.scale).astype(int).tolist() == holdout.losses(number).tolist()


@given(worlds())
def test_risks_are_the_means_of_the_losses_they_name(world: World) -> None:
    bounty = world.bounty()
    world.play(bounty)
    holdout = _holdout(bounty)
    for number in range(len(bounty.rounds)):
        losses = holdout.losses(number) / holdout.scale
        assert np.isclose(bounty.risk(number), losses.mean())
        for j in range(len(bounty.protected)):
            assert np.isclose(bounty.risk(number, group=j), losses[holdout.mask(j)].mean())


@given(worlds())
def test_evidence_is_the_sum_and_the_sum_of_squares_of_z(world: World) -> None:
    bounty = world.bounty()
    verdicts = world.play(bounty)
    holdout, truth = _holdout(bounty), np.array(world.labels)
    for verdict, evidence, (group, model) in zip(verdicts, bounty.evidence, world.submissions, strict=False):
        before = holdout.losses(verdict.round - verdict.accepted)
        after = np.rint(bounty.loss(np.array(model, dtype=truth.dtype), truth) * holdout.scale).astype(int)
        z: np.ndarray[Any, Any] = np.where(group, before - after, 0)
        assert evidence == bb.Evidence(len(truth), int(z.sum()), int((z**2).sum()), holdout.scale)


@given(worlds())
def test_a_replay_agrees_node_for_node(world: World) -> None:
    bounty = world.bounty()
    world.play(bounty)
    again = bounty.replay()
    assert (again.nodes, again.heads) == (bounty.model.nodes, bounty.model.heads)
