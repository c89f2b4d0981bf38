"""The eleven groups are the paper's by what its code does: in its order, of its codes, and each a value."""

import numpy as np

from biasbounty.datasets import demographic_groups, load_census
from biasbounty.datasets.first_experiment import shuffled
from biasbounty.datasets.groups import Among, Between

COLUMNS = ("AGEP", "SEX", "RAC1P")
GROUPS = demographic_groups(COLUMNS)


def _members(name: str, X: np.ndarray) -> list[int]:
    (group,) = (one.group for one in GROUPS if one.name == name)
    return np.flatnonzero(group(X)).tolist()


def test_race_groups_hold_the_codes_of_the_paper_s_code() -> None:
    X = np.array([[30, 1, code] for code in range(1, 10)])
    codes = {one.name: [place + 1 for place in _members(one.name, X)] for one in GROUPS[:6]}
    assert codes == {
        "White": [1],
        "Black": [2],
        "Asian": [6],
        "Native/Pacific": [3, 4, 5, 7],
        "other race": [8],
        "2+ races": [9],
    }


def test_ages_are_parted_at_30_and_at_50() -> None:
    X = np.array([[age, 1, 1] for age in (0, 29, 30, 49, 50, 95)])
    assert [_members(name, X) for name in ("under 30", "30 to 49", "50 and over")] == [[0, 1], [2, 3], [4, 5]]


def test_everybody_in_the_sample_is_in_one_group_of_race_one_of_sex_and_one_of_age() -> None:
    sample = load_census()
    masks = [one.group(sample.X) for one in demographic_groups(sample.columns)]
    for part in (masks[:6], masks[6:8], masks[8:]):
        assert (np.sum(part, axis=0) == 1).all()


def test_the_groups_come_in_the_order_that_the_seeds_shuffle() -> None:
    names = [one.name for one in GROUPS]
    assert names == [
        *("White", "Black", "Asian", "Native/Pacific", "other race", "2+ races"),
        *("male", "female", "under 30", "30 to 49", "50 and over"),
    ]
    first = [named.name for _, named in shuffled(GROUPS, 12345)]
    assert first[:6] == ["other race", "under 30", "Black", "Native/Pacific", "female", "50 and over"]
    assert [GROUPS[place].name for place, _ in shuffled(GROUPS, 12345)] == first


def test_columns_are_found_by_name() -> None:
    swapped = demographic_groups(("RAC1P", "AGEP", "SEX"))
    assert [one.group.column for one in swapped] == [0] * 6 + [2] * 2 + [1] * 3


def test_groups_of_the_same_column_and_codes_are_equal() -> None:
    assert Among(2, (3, 4)) == Among(2, (3, 4)) != Among(1, (3, 4))
    assert Between(0, 30, 50) == Between(0, 30, 50) != Between(0, 30, 51)
    assert demographic_groups(COLUMNS) == GROUPS
