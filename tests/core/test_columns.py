"""Columns sum exactly what they hold."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbounty.core import columns

Ints: TypeAlias = npt.NDArray[Any]
Case: TypeAlias = tuple[int, Ints, Ints, Ints]


@st.composite
def _numbers(draw: st.DrawFn) -> Case:
    bits, n = draw(st.sampled_from([1, 2, 16])), draw(st.integers(1, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return bits, rng.integers(0, 2**bits, n), rng.integers(0, 2**bits, n), rng.random(n) < 0.5


@given(_numbers())
def test_packing_and_unpacking_is_the_identity(case: Case) -> None:
    bits, numbers, _, _ = case
    assert columns.unpack(columns.pack(numbers, bits), len(numbers)).tolist() == numbers.tolist()


@given(_numbers())
def test_totals_moments_and_choices_are_those_of_the_numbers(
    case: Case,
) -> None:
    bits, before, after, mask = case
    a, b, m = columns.pack(before, bits), columns.pack(after, bits), columns.pack(mask, 1)
    assert columns.total(a, m) == before[mask].sum()
    z = np.where(mask, before - after, 0)
    assert columns.moments(m, a, b) == (z.sum(), (z * z).sum())
    assert columns.unpack(columns.choose(m, a, b), len(mask)).tolist() == np.where(mask, before, after).tolist()


@pytest.mark.parametrize("bits", [1, 16])
def test_columns_of_several_chunks_sum_alike(bits: int) -> None:
    rng, n = np.random.default_rng(0), 64 * (1 << 15) + 1000
    before, after, mask = rng.integers(0, 2**bits, n), rng.integers(0, 2**bits, n), rng.random(n) < 0.3
    a, b, m = columns.pack(before, bits), columns.pack(after, bits), columns.pack(mask, 1)
    z = np.where(mask, before - after, 0)
    assert columns.total(a, m) == before[mask].sum()
    assert columns.moments(m, a, b) == (z.sum(), (z * z).sum())
