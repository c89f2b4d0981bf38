"""The five hunters of the demo: each knows something else, and hands it in by the SDK."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from biasbounty.client import Preflight, RemoteBounty, Submission

Told: TypeAlias = Callable[[str], None]
Found: TypeAlias = tuple[Any, Any]
"""A group and a model."""


@dataclass(frozen=True)
class Hunter:
    """A hunter: what it goes by, what its group is in words, and how it finds group and model."""

    way: str
    group: str
    find: Callable[[RemoteBounty, Told], Found]


@dataclass(frozen=True)
class Hunted:
    """What a hunter handed in, what it did on public rows, and what became of it."""

    hunter: Hunter
    public: Preflight
    submission: Submission


def hunt(hunter: Hunter, bounty: RemoteBounty, told: Told) -> Hunted:
    """Let a hunter find, try on public rows, and hand in."""
    group, model = hunter.find(bounty, told)
    public = bounty.preflight(group, model, progress=told)
    return Hunted(hunter, public, bounty.submit(group, model, note=hunter.group, progress=told))


def _names_a_group(bounty: RemoteBounty, told: Told) -> Found:
    """Write a predicate, and have a model fitted."""
    return "AGEP < 30", bounty.train_on("AGEP < 30", progress=told).model


def _brings_a_model(bounty: RemoteBounty, _: Told) -> Found:
    """Fit a small tree for everyone, that is better on the whole and worse for some."""
    from sklearn.tree import DecisionTreeClassifier

    train = bounty.data().train
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(np.column_stack(_columns(train.X)), train.y)
    return "AGEP >= 0", tree


def _points_at_rows(bounty: RemoteBounty, told: Told) -> Found:
    """Flag rows, and have the group learned from them, with a model."""
    flagged = np.asarray(bounty.data().train.X["DREM"]) == 1
    group = bounty.group_from(flagged, progress=told)
    return group, group.model


def _memorizes(bounty: RemoteBounty, _: Told) -> Found:
    """Learn the public rows of a small group by heart."""
    from sklearn.tree import DecisionTreeClassifier

    public = bounty.data().public
    matrix, own = np.column_stack(_columns(public.X)), np.asarray(public.X["RAC1P"]) == 8
    return "RAC1P = 8", DecisionTreeClassifier(random_state=0).fit(matrix[own], public.y[own])


def _searches(bounty: RemoteBounty, told: Told) -> Found:
    """Let a finder search for a slice."""
    from biasbounty.finders import SliceFinder

    told("searching train rows")
    train = bounty.data().train
    found = SliceFinder().find(train.X, train.y, bounty.model()(train.X), np.random.default_rng(0), loss=bounty.loss)
    assert found is not None  # noqa: S101
    return found.group, found.model


def _columns(X: Any) -> list[Any]:
    names = getattr(X, "column_names", None) or list(X.columns)
    return [np.asarray(X[name]) for name in names]


HUNTERS = (
    Hunter("names a group", "people under 30", _names_a_group),
    Hunter("brings a model", "everyone", _brings_a_model),
    Hunter("points at rows", "a cognitive difficulty", _points_at_rows),
    Hunter("lets a finder search", "a slice of 2 conditions", _searches),
    Hunter("learns by heart", "people of another race", _memorizes),
)
