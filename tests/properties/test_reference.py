"""The fast code agrees with the literal reference, node for node."""

import pytest
from hypothesis import given

import biasbounty as bb
from biasbounty.core.answers import ask
from tests.worlds import World, random_world, worlds


def _assert_agreement(world: World) -> bb.Bounty:
    """Play a world fast and by the book, and compare every verdict and every node."""
    bounty, reference = world.bounty(), world.reference()
    verdicts = world.play(bounty)
    for verdict, (group, model) in zip(verdicts, world.submissions, strict=False):
        assert not reference.stopped()
        accepted, repairs = reference.submit(group.__getitem__, model.__getitem__)
        assert (verdict.accepted, [(r.group, r.pointer) for r in verdict.repairs]) == (accepted, repairs)
    assert reference.stopped() or len(verdicts) == len(world.submissions)
    assert list(bounty.model.heads) == reference.heads
    for node, (kind, group, other) in zip(bounty.model.nodes, reference.nodes, strict=True):
        rows = range(len(world.labels))
        assert ask(node.group, world.rows).tolist() == [group(row) for row in rows]
        if isinstance(node, bb.UpdateNode):
            assert kind == "update"
            assert ask(node.model, world.rows).tolist() == [other(row) for row in rows]
        else:
            assert (kind, other) == ("repair", node.pointer)
    return bounty


@given(worlds())
def test_the_process_agrees_with_the_literal_reference_node_for_node(world: World) -> None:
    _assert_agreement(world)


@pytest.mark.parametrize("zero_one", [True, False])
def test_it_agrees_on_hundreds_of_larger_worlds_where_repairs_and_chains_of_repairs_are_common(zero_one: bool) -> None:
    repairs = [
        max((len(verdict.repairs) for verdict in _assert_agreement(world).transcript), default=0)
        for world in (random_world(seed, 25, 12, zero_one=zero_one) for seed in range(200))
    ]
    assert sum(most > 0 for most in repairs) >= 50
    assert sum(most > 1 for most in repairs) >= 5


@given(worlds())
def test_every_round_predicts_what_the_reference_recursion_answers(world: World) -> None:
    bounty, reference = world.bounty(), world.reference()
    for _, (group, model) in zip(world.play(bounty), world.submissions, strict=False):
        reference.submit(group.__getitem__, model.__getitem__)
    for number in range(len(bounty.rounds)):
        answers = [reference.answer(row, reference.heads[number]) for row in range(len(world.labels))]
        assert bounty.model.predict(world.rows, round=number).tolist() == answers


@given(worlds())
def test_explanations_follow_the_reference_recursion(world: World) -> None:
    bounty, reference = world.bounty(), world.reference()
    for _, (group, model) in zip(world.play(bounty), world.submissions, strict=False):
        reference.submit(group.__getitem__, model.__getitem__)
    for row, explanation in enumerate(bounty.model.explain(world.rows)):
        node, pointers = reference.heads[-1], []
        while node:
            kind, group, other = reference.nodes[node - 1]
            if not group(row):
                node -= 1
            elif kind == "update":
                break
            else:
                pointers.append(other)
                node = reference.heads[other]
        assert (explanation.node, explanation.pointers) == (node, tuple(pointers))
        assert reference.heads[explanation.round] >= node
        assert explanation.round == 0 or reference.heads[explanation.round - 1] < node
