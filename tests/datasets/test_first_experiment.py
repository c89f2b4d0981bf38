"""The first experiment's parts are functions of the sample and the seeds, and hunters see training rows alone."""

from typing import Any

import numpy as np
import pytest

from biasbounty.datasets import Sample, Splits, demographic_groups, hunt, initial_stump, load_census, split
from biasbounty.datasets.first_experiment import DEPTH


@pytest.fixture(scope="module")
def sample() -> Sample:
    everyone = load_census()
    return Sample(everyone.X[:4_000], everyone.y[:4_000], everyone.columns, everyone.source)


@pytest.fixture(scope="module")
def splits(sample: Sample) -> Splits:
    return split(sample)


def test_a_fifth_of_the_rows_is_the_holdout_and_every_row_is_in_one_part(sample: Sample, splits: Splits) -> None:
    assert (len(splits.y_train), len(splits.y_holdout)) == (3_200, 800)
    both = np.vstack([splits.X_train, splits.X_holdout])
    assert sorted(map(tuple, both.tolist())) == sorted(map(tuple, sample.X.tolist()))
    assert splits.y_train.sum() + splits.y_holdout.sum() == sample.y.sum()


def test_parts_are_the_same_for_the_same_seed_only(sample: Sample, splits: Splits) -> None:
    assert (split(sample).X_holdout == splits.X_holdout).all()
    assert (split(sample, seed=1).X_holdout != splits.X_holdout).any()


def test_the_initial_model_is_a_stump(splits: Splits) -> None:
    assert initial_stump(splits).get_depth() == 1


def test_each_hunter_s_tree_is_trained_on_the_training_rows_of_its_group_alone(sample: Sample, splits: Splits) -> None:
    groups = demographic_groups(sample.columns)
    certificates = list(hunt(groups, splits, seed=12345))
    assert len(certificates) == 11
    own = {one.name: one.group(splits.X_train).sum() for one in groups}
    for certificate in certificates:
        tree: Any = certificate.model
        assert tree.get_depth() <= DEPTH
        assert tree.tree_.n_node_samples[0] == own[certificate.note]
    assert sorted(one.note for one in certificates) == sorted(one.name for one in groups)


def test_hunters_keep_their_number_whatever_the_order(sample: Sample, splits: Splits) -> None:
    groups = demographic_groups(sample.columns)
    first, second = ({one.note: one.hunter for one in hunt(groups, splits, seed)} for seed in (12345, 12346))
    assert first == second
    assert first["White"] == "hunter-1"
    assert first["50 and over"] == "hunter-11"


def test_a_group_without_training_rows_has_no_hunter(sample: Sample) -> None:
    rest = sample.X[:, sample.column("RAC1P")] != 2
    without = split(Sample(sample.X[rest], sample.y[rest], sample.columns, sample.source))
    names = [one.note for one in hunt(demographic_groups(sample.columns), without, seed=0)]
    assert len(names) == 10
    assert "Black" not in names
