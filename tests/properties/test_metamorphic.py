"""Metamorphic properties: what must not matter, does not matter."""

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

import biasbounty as bb
from tests.worlds import World, worlds


def _decisions(bounty: bb.Bounty) -> list[tuple[bool, tuple[bb.Repair, ...]]]:
    return [(verdict.accepted, verdict.repairs) for verdict in bounty.transcript]


def _play(world: World, **settings: Any) -> list[tuple[bool, tuple[bb.Repair, ...]]]:
    bounty = world.bounty(**settings)
    world.play(bounty)
    return _decisions(bounty)


@given(worlds(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(world: World, random: Any) -> None:
    order = list(range(len(world.labels)))
    random.shuffle(order)

    def shuffle(table: list[Any]) -> list[Any]:
        return [table[row] for row in order]

    shuffled = World(
        shuffle(world.labels),
        shuffle(world.initial),
        [(shuffle(group), shuffle(model)) for group, model in world.submissions],
        world.zero_one,
        world.threshold,
        world.paper,
        world.repairs,
    )
    assert _play(shuffled) == _play(world)


@given(worlds(), st.integers(2, 4))
def test_repeating_every_row_alike_does_not_matter(world: World, times: int) -> None:
    repeated = World(
        world.labels * times,
        world.initial * times,
        [(group * times, model * times) for group, model in world.submissions],
        world.zero_one,
        world.threshold,
        world.paper,
        world.repairs,
    )
    once, often = world.bounty(), repeated.bounty()
    world.play(once)
    repeated.play(often)
    assert _decisions(often) == _decisions(once)
    for a, b in zip(once.evidence, often.evidence, strict=True):
        assert (b.n, b.total, b.total_squares) == (a.n * times, a.total * times, a.total_squares * times)


@given(worlds(), st.permutations(["row", "noise", "more"]))
def test_the_order_of_columns_does_not_matter(world: World, order: list[str]) -> None:
    rows = np.arange(len(world.labels))
    frame = pd.DataFrame({"row": rows, "noise": rows % 3, "more": rows * 0.5})

    def lookup(table: list[Any]) -> Any:
        values = np.array(table)
        return lambda X: values[X["row"]]

    def play(X: pd.DataFrame) -> Any:
        bounty = bb.Bounty(
            lookup(world.initial),
            X,
            np.array(world.labels),
            loss=world.loss,
            checker=bb.Plain(world.threshold),
            repairs=world.repairs,
        )
        for group, model in world.submissions:
            bounty.submit(lookup(group), lookup(model))
        return _decisions(bounty), bounty.model.predict(X).tolist()

    assert play(frame[order]) == play(frame)


@given(worlds(), st.permutations(["b", "a", "long name"]))
def test_the_names_of_the_classes_do_not_matter(world: World, names: list[str]) -> None:
    if not world.zero_one:
        return

    def rename(table: list[Any]) -> list[Any]:
        return [names[label] for label in table]

    renamed = World(
        rename(world.labels),
        rename(world.initial),
        [(group, rename(model)) for group, model in world.submissions],
        world.zero_one,
        world.threshold,
        world.paper,
        world.repairs,
    )
    assert _play(renamed) == _play(world)
