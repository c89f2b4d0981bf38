"""Resolutions are what brute force finds: nothing that is refused exceeds the guaranteed one."""

import pytest

from biasbounty.errors import SettingsError
from biasbounty.statistics import Evidence
from biasbounty.statistics.bounds import passes, upper_bound
from biasbounty.statistics.resolution import guaranteed_resolution, resolution


@pytest.mark.parametrize(("n", "tau"), [(30, 0.0), (80, 0.2), (150, 0.05), (300, 0.5)])
def test_over_all_evidence_that_is_refused_no_upper_bound_exceeds_the_guaranteed_resolution(n: int, tau: float) -> None:
    level, bound_level = -5.0, -7.0
    largest = -1.0
    for squares in range(n + 1):
        refused = [
            t for t in range(-squares, squares + 1, 2) if not passes(Evidence(n, t, squares), tau, level, zero_one=True)
        ]
        largest = max(largest, upper_bound(Evidence(n, max(refused), squares), bound_level, zero_one=True))
    assert guaranteed_resolution(n, tau, level, bound_level, zero_one=True) == pytest.approx(largest)


@pytest.mark.parametrize("zero_one", [True, False])
def test_the_resolution_passes_and_the_contribution_below_does_not(zero_one: bool) -> None:
    n, squares, level = 5000, 200, -8.0
    least = resolution(n, squares / n, 0.002, level, zero_one=zero_one)
    assert least is not None
    total, step = round(least * n), 2 if zero_one else 1
    assert passes(Evidence(n, total, squares), 0.002, level, zero_one=zero_one)
    assert not passes(Evidence(n, total - step, squares), 0.002, level, zero_one=zero_one)


def test_where_nothing_passes_there_is_no_resolution() -> None:
    assert resolution(100, 0.02, 0.01, -50.0, zero_one=True) is None
    with pytest.raises(SettingsError, match="disagreement is out of range: expected 0 to 1, got 1.5"):
        resolution(100, 1.5, 0.0, -1.0, zero_one=True)
