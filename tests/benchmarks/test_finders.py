"""The side-by-side benchmark of finders: what needs no peers, on small worlds; no test asserts a time."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import finders, finders_environments, finders_models, finders_slices, finders_worlds
from benchmarks.finders_environments import Missing
from benchmarks.finders_worlds import World
from benchmarks.peers.exchange import Task, file_name, mask_of, measured

OURS = ("TernaryFinder", "SliceFinder, binned")


@pytest.fixture(scope="module")
def small() -> World:
    return finders_worlds.made_up(6_000)


def test_the_worst_rows_of_a_made_up_world_are_those_of_its_planted_slices(small: World) -> None:
    wrong = small.predictions != small.y
    planted = np.logical_or.reduce(list(small.planted.values()))
    assert wrong[~planted].mean() < 0.12
    assert all(wrong[mask].mean() > 0.5 for mask in small.planted.values())


def test_bins_are_cut_on_train_rows_alone(small: World) -> None:
    changed = small.X.copy()
    changed.loc[small.train :, "n0"] *= 100
    before, after = (finders_worlds.binned(X, small.train)["n0"] for X in (small.X, changed))
    assert (before[: small.train] == after[: small.train]).all()
    assert before.nunique() == finders_worlds.BINS


def test_a_missing_value_has_a_bin_of_its_own(small: World) -> None:
    binned = finders_worlds.binned(small.X, small.train)
    assert ((binned == "missing") == small.X.isna()).all(axis=None)


def test_the_judge_measures_a_planted_slice_as_found_and_as_worth_a_repair(small: World) -> None:
    judge = finders_slices.Judge(small)
    mask = small.planted["n8 >= 1.4"]
    found = judge.judged("anyone", "", ["n8 >= 1.4"], mask[None])
    assert found.planted == 1
    assert found.best is not None
    assert found.best > 0
    assert found.best == found.first == found.together


def test_the_judge_counts_nothing_for_a_list_without_slices(small: World) -> None:
    judge = finders_slices.Judge(small)
    found = judge.judged("nobody", "", [], np.zeros((0, len(small.y)), np.bool_))
    assert (found.slices, found.best, found.together, found.planted) == (0, 0.0, 0.0, 0)


def test_the_best_slice_is_chosen_by_public_rows_and_measured_on_the_holdout(small: World) -> None:
    everyone, nobody = np.ones(len(small.y), np.bool_), np.zeros(len(small.y), np.bool_)
    flipped = small.y.copy()
    flipped[small.train + small.public :] ^= 1
    world = World("turned", small.X, flipped, small.predictions, small.train, small.public, {})
    found = finders_slices.Judge(world).judged("anyone", "", ["nobody", "everyone"], np.array([nobody, everyone]))
    assert found.best_words == "everyone"
    assert found.best is not None
    assert found.best < 0


def test_our_finders_search_in_processes_of_their_own(small: World, tmp_path: Path) -> None:
    found = {one.finder: one for one in finders_slices.results(small, tmp_path, 120, OURS)}
    assert set(found) == {finders_slices.EVERYONE, *OURS}
    assert all(one.failure is None for one in found.values()), [one.failure for one in found.values()]
    assert found["SliceFinder, binned"].slices == finders_slices.MOST
    assert found["TernaryFinder"].own is not None


def test_workers_are_given_train_rows_only(small: World, tmp_path: Path) -> None:
    small.write(tmp_path, depth=2, most=10, least=60)
    task = Task.read(tmp_path)
    assert len(task.binned) == len(task.losses) == small.train
    codes, texts = task.codes()
    assert codes.min() == 1
    assert [len(own) for own in texts] == list(codes.max(axis=0))


def test_conditions_hold_where_all_bins_are_those_named() -> None:
    rows = pd.DataFrame({"a": ["x", "x", "y"], "b": ["p", "q", "p"]})
    assert mask_of(rows, {"a": "x", "b": "p"}).tolist() == [True, False, False]


def test_a_search_is_repeated_unless_it_is_slow() -> None:
    result, cost = measured(lambda: 7)
    assert (result, cost.runs) == (7, 3)


def test_a_peer_that_fails_is_in_the_table_with_the_reason(small: World, tmp_path: Path) -> None:
    trouble = finders_environments.work(finders_environments.own(), "benchmarks.no_such_worker", str(tmp_path))
    assert isinstance(trouble, Missing)
    found = list(finders_slices._collected(finders_slices.Judge(small), tmp_path, "a peer", trouble))
    assert [one.finder for one in found] == ["a peer"]
    assert "no_such_worker" in str(found[0].failure)


def test_names_of_variants_are_names_of_files() -> None:
    assert file_name("pysubgroup, a = 0.5") == "pysubgroup--a---0-5"


def test_rows_that_measure_models_were_neither_trained_nor_judged_on() -> None:
    people = finders_models.People.dealt(0)
    assert not np.isin(people.fresh, people.seen).any()
    assert len(people.fresh) + len(people.seen) == len(people.sample.y)
    assert (people.masks[finders_models.RACES].sum(axis=0) == 1).all()
    assert (people.masks[finders_models.SEXES].sum(axis=0) == 1).all()
    assert (people.masks[finders_models.AGES].sum(axis=0) == 1).all()


def test_means_name_the_group_that_is_worst_over_all_splits() -> None:
    people = finders_models.People.dealt(0)
    right = people.sample.y[people.fresh].copy()
    old = people.masks[10, people.fresh]
    right[old] ^= 1
    measured_twice = [people.measured("wrong for the old", split, right) for split in range(2)]
    (means,) = finders._means(measured_twice)
    assert means["worst group"] == "50 and over"
    assert means["worst"] == 1.0
    assert means["splits"] == 2


def test_one_tree_does_better_than_the_stump() -> None:
    people = finders_models.People.dealt(0)
    risks = []
    for name in ("stump", "one tree"):
        answer, _ = finders_models.MODELS[name](people)
        risks.append(people.measured(name, 0, answer(people.sample.X[people.fresh])).risk or 1.0)
    assert risks[1] < risks[0] - 0.1
