"""Parts: the draw depends on what is in a row, not on where it stands; weights are duplicates; parts are equal."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from biasbounty.finders import parts
from biasbounty.finders.parts import Pieces, cut, draw_pieces, most_rounds, rows_for_part

Floats = npt.NDArray[np.float64]


def _blocks(content: Floats, size: int = 7) -> Iterator[Floats]:
    for first in range(0, len(content), size):
        yield content[first : first + size]


def _drawn(content: Floats, weights: Any = None, seed: int = 0) -> tuple[Floats, Floats]:
    """Return what is in the rows, in the order drawn, and their weights."""
    pieces = draw_pieces(_blocks(content), weights, seed)
    return content[pieces.rows], pieces.weights


def _few(seed: int = 0, size: int = 500) -> Floats:
    """Draw rows, many of them equal."""
    return np.random.default_rng(seed).integers(0, 3, (size, 3)).astype(float)


def _many(seed: int = 0, size: int = 500) -> Floats:
    return np.random.default_rng(seed).normal(size=(size, 3))


@pytest.mark.parametrize("content", [_few(), _many()], ids=["many equal", "none equal"])
def test_the_draw_does_not_depend_on_the_order_of_rows(content: Floats) -> None:
    order = np.random.default_rng(1).permutation(len(content))
    assert np.array_equal(_drawn(content)[0], _drawn(content[order])[0])


def test_the_draw_does_not_depend_on_the_size_of_blocks() -> None:
    content = _many()
    one, other = (draw_pieces(_blocks(content, size), None, 0) for size in (1, 500))
    assert (one.rows == other.rows).all()


def test_each_row_is_drawn_once() -> None:
    content = _many()
    assert sorted(draw_pieces(_blocks(content), None, 0).rows) == list(range(len(content)))


def test_the_draw_depends_on_the_seed() -> None:
    content = _many()
    assert not np.array_equal(_drawn(content, seed=0)[0], _drawn(content, seed=1)[0])


@pytest.mark.parametrize("content", [_few(), _many()], ids=["many equal", "none equal"])
def test_a_weight_of_three_is_three_rows(content: Floats) -> None:
    counts = np.random.default_rng(1).integers(1, 4, len(content))
    weighed, weights = _drawn(content, counts.astype(float))
    assert (weights == 1).all()
    assert np.array_equal(weighed, _drawn(np.repeat(content, counts, axis=0))[0])


def test_other_rows_do_not_change_the_order_of_those_that_are_there() -> None:
    content = _many()
    every, some = _drawn(content)[0], _drawn(content[100:])[0]
    kept = (every[:, None, 0] == content[None, 100:, 0]).any(axis=1)
    assert np.array_equal(every[kept], some)


def test_equal_rows_are_spread_evenly_over_the_parts() -> None:
    content = np.zeros((1000, 2))
    content[:500] = 1
    first, second = (content[half.rows] for half in draw_pieces(_blocks(content), None, 0).split())
    assert 180 < first[:, 0].sum() < 320
    assert first[:, 0].sum() + second[:, 0].sum() == 500


def test_a_fraction_is_one_piece_and_more_than_one_is_cut_evenly() -> None:
    content, weights = np.array([[1.0], [2.0]]), np.array([0.25, 3.5])
    rows, pieces = _drawn(content, weights)
    assert sorted(zip(rows[:, 0], pieces, strict=True)) == [(1.0, 0.25), *[(2.0, 0.875)] * 4]


def test_heavy_rows_are_cut_into_no_more_pieces_than_can_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_PIECES", 1000)
    pieces = draw_pieces([np.arange(3.0)[:, None]], np.full(3, 1e90), 0)
    assert len(pieces) <= 1003
    assert pieces.weights.sum() == pytest.approx(3e90)


def test_one_number_written_in_two_ways_is_one_number() -> None:
    written = np.array([[0.0, np.nan], [-0.0, -np.nan], [0.0, np.nan]])
    pieces = draw_pieces([written], None, 0)
    assert set(pieces.rows) == {pieces.rows[0]}


def test_rows_that_differ_are_not_taken_for_equal() -> None:
    """All combinations of small numbers: the bits of such floats are nearly all 0, which a poor hash would not mix."""
    content = np.stack(np.meshgrid(*[np.arange(6.0)] * 7), axis=-1).reshape(-1, 7)
    pieces = draw_pieces([content], None, 0)
    assert len(set(pieces.rows.tolist())) == len(content) == 6**7


def test_columns_exchanged_are_other_rows() -> None:
    content = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert set(draw_pieces([content], None, 0).rows) == {0, 1}


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("size", [1, 2, 399, 5_000, 100_000])
def test_parts_share_no_piece_and_the_first_are_the_largest(epsilon: float, size: int) -> None:
    made = cut(Pieces(np.arange(size), np.ones(size)), epsilon)
    assert np.concatenate([part.rows for part in made]).tolist() == list(range(size))
    assert [len(part) for part in made] == sorted((len(part) for part in made), reverse=True)
    assert len(made) <= most_rounds(epsilon)
    assert len(made) == 1 or min(map(len, made)) >= rows_for_part(epsilon)


def test_with_rows_enough_there_are_two_over_epsilon_parts() -> None:
    assert most_rounds(0.1) == 20
    assert most_rounds(0.3) == 7
    enough = 2 * 20 * 400
    assert len(cut(Pieces(np.arange(enough), np.ones(enough)), 0.1)) == 20
    sizes = [len(part) for part in cut(Pieces(np.arange(enough), np.ones(enough)), 0.1)]
    assert sizes[:4] == [400 + 4000, 400 + 2000, 400 + 1000, 400 + 500]


@pytest.mark.parametrize("size", [1, 2, 5, 6])
def test_halves_share_nothing_and_the_first_has_the_odd_one(size: int) -> None:
    first, second = Pieces(np.arange(size), np.ones(size)).split()
    assert [*first.rows, *second.rows] == list(range(size))
    assert len(first) - len(second) == size % 2


@pytest.mark.parametrize("content", [_few(), _many()], ids=["many equal", "none equal"])
def test_weights_of_one_are_no_weights(content: Floats) -> None:
    assert np.array_equal(_drawn(content)[0], _drawn(content, np.ones(len(content)))[0])
