"""Evidence adds, exactly, and refuses what no holdout can show."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbounty import Evidence

Z = st.lists(st.integers(-1, 1), max_size=50)


def _evidence(z: list[int]) -> Evidence:
    return Evidence(len(z), sum(z), sum(value * value for value in z))


@given(Z, Z)
def test_evidence_of_disjoint_rows_adds(left: list[int], right: list[int]) -> None:
    assert _evidence(left) + _evidence(right) == _evidence(left + right)


def test_contribution_is_the_mean_of_z_whatever_the_scale() -> None:
    assert Evidence(200, 10, 30).contribution == 0.05
    assert Evidence(200, 10 * 65535, 30 * 65535**2, 65535).contribution == 0.05
    assert Evidence(0, 0, 0).contribution == 0


def test_evidence_of_different_losses_does_not_add() -> None:
    with pytest.raises(ValueError, match="expected scale 1, got 65535"):
        Evidence(1, 0, 0) + Evidence(1, 0, 0, 65535)


IMPOSSIBLE = [(-1, 0, 0), (3, 4, 4), (3, -4, 4), (3, 0, 4), (3, 0, -1), (10, 9, 1)]


@pytest.mark.parametrize(("n", "total", "squares"), IMPOSSIBLE)
def test_impossible_evidence_is_refused(n: int, total: int, squares: int) -> None:
    with pytest.raises(ValueError, match="evidence is impossible"):
        Evidence(n, total, squares)
