"""The paper's Figure 4: eleven groups, one after another, each with a tree for it; and what their order changes.

Every row of the figure is a bounty under `Plain`, as the paper ran it: 80% of the rows for training, 20% as the
holdout, a decision stump as the initial model, a tree of depth 10 for each group. The holdout that is plotted is the
one that judged. Where the file of all years is there, the last round is also tried on people of other years, whom
nobody judged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from statistics import mean
from typing import Any

import numpy as np

from biasbounty.bounty import Bounty
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.core.thresholds import Plain
from biasbounty.datasets import NamedGroup, Sample, Splits, demographic_groups, hunt, initial_stump, split
from biasbounty.datasets.census import load_census_years
from biasbounty.datasets.groups import Mask
from biasbounty.errors import SettingsError
from biasbounty.reporting.curves import OVERALL, protected_names, tally
from experiments import sources
from experiments.output import Output
from experiments.sequential_page import parts, three_panels
from experiments.sources import Request, console

ORDERS = (12345, 12346)
ELSEWHERE = {"OR": ("income", 12340), "TX": ("coverage", 12345), "FL": ("travel", 12345)}
"""The other rows of the paper's figure: for each state its task and the seed of the order."""
MORE_ORDERS = range(12340, 12360)
"""Two orders are one pair; so many give 190, and the paper's two are among them."""


@dataclass(frozen=True)
class Submitted:
    """What became of one group's tree."""

    group: str
    accepted: bool
    repairs: list[tuple[str, int]]
    """The groups that were sent back, and to which round."""
    overall: float
    """Holdout risk after it."""


@dataclass(frozen=True)
class Row:
    """One row of the figure: a task, a place and an order of the groups."""

    name: str
    source: str
    task: str
    seed: int
    rows: dict[str, int]
    counts: dict[str, int]
    """How many people are in each group, train and holdout together."""
    submitted: list[Submitted]
    train: dict[str, list[float]]
    """Training risk by round, overall and on each of the eleven groups."""
    holdout: dict[str, list[float]]
    others: dict[str, list[float]] | None = None
    """The first and the last round's risk on people of other years, whom nobody judged."""


@dataclass(frozen=True, eq=False)
class Planned:
    """A row of the figure that is still to be measured."""

    name: str
    task: str
    sample: Sample
    seed: int
    others: Sample | None = None


def held(sample: Sample, seed: int) -> tuple[Bounty, Splits, tuple[NamedGroup, ...]]:
    """Hold the bounty: submit every group's tree, in the order of the seed."""
    groups, splits = demographic_groups(sample.columns), split(sample)
    bounty = Bounty(initial_stump(splits), splits.X_holdout, splits.y_holdout, checker=Plain())
    for certificate in hunt(groups, splits, seed):
        bounty.submit(certificate.group, certificate.model, hunter=certificate.hunter, note=certificate.note)
    return bounty, splits, groups


def measured(planned: Planned) -> tuple[Row, Bounty]:
    """Hold the bounty and measure every round on every group."""
    sample, others = planned.sample, planned.others
    bounty, splits, groups = held(sample, planned.seed)
    rounds = range(len(bounty.rounds))
    row = Row(
        name=planned.name,
        source=sample.source,
        task=planned.task,
        seed=planned.seed,
        rows={"train": len(splits.y_train), "holdout": len(splits.y_holdout)},
        counts={OVERALL: len(sample.y), **{one.name: int(one.group(sample.X).sum()) for one in groups}},
        submitted=list(_submitted(bounty)),
        train=risks(bounty.model, groups, splits.X_train, splits.y_train, rounds),
        holdout=risks(bounty.model, groups, splits.X_holdout, splits.y_holdout, rounds),
        others=None if others is None else risks(bounty.model, groups, others.X, others.y, (0, rounds[-1])),
    )
    return row, bounty


def _submitted(bounty: Bounty) -> Iterator[Submitted]:
    names = protected_names(bounty)
    for certificate, verdict in zip(bounty.submissions, bounty.transcript, strict=True):
        repairs = [(names[repair.group], repair.pointer) for repair in verdict.repairs]
        yield Submitted(certificate.note, verdict.accepted, repairs, bounty.risk(verdict.round))


def risks(
    model: PointerDecisionList, groups: Sequence[NamedGroup], X: Any, y: Any, rounds: Sequence[int]
) -> dict[str, list[float]]:
    """Return the risk of some rounds, overall and on each group; on a group without rows it is 0."""
    wrong = [model.predict(X, number) != y for number in rounds]
    masks = {OVERALL: np.ones(len(y), np.bool_), **{one.name: one.group(X) for one in groups}}
    return {name: [_mean(one, mask) for one in wrong] for name, mask in masks.items()}


def _mean(wrong: Mask, mask: Mask) -> float:
    return round(float(wrong[mask].mean()), 6) if mask.any() else 0.0


def spread(sample: Sample, seeds: Sequence[int]) -> dict[str, Any]:
    """Return by how much last risks differ between two orders: on average over all pairs of seeds, and at most."""
    lasts = []
    for seed in seeds:
        bounty, splits, groups = held(sample, seed)
        ends = risks(bounty.model, groups, splits.X_holdout, splits.y_holdout, [len(bounty.rounds) - 1])
        lasts.append({name: last for name, (last,) in ends.items()})
    apart = {name: [abs(a[name] - b[name]) for a, b in combinations(lasts, 2)] for name in lasts[0]}
    return {
        "seeds": [seeds[0], seeds[-1]],
        "pairs": len(apart[OVERALL]),
        "mean": {name: round(mean(values), 6) for name, values in apart.items()},
        "largest": {name: round(max(values), 6) for name, values in apart.items()},
    }


def planned_rows(request: Request) -> Iterator[Planned]:
    """Yield the rows of the figure: the census files', or the first state's that was asked for."""
    sample, place = request.employment(), (request.states or ("MA",))[0]
    others = None
    if not request.online and request.has(sources.YEARS):
        others = load_census_years(request.file(sources.YEARS), range(2015, 2018))
    for seed in ORDERS:
        yield Planned(f"{place.lower()}-{seed}", "employment", sample, seed, others)
    for state, task, rows in elsewhere(request):
        seed = ELSEWHERE[state][1]
        yield Planned(f"{state.lower()}-{seed}", task, rows, seed)


def elsewhere(request: Request) -> Iterator[tuple[str, str, Sample]]:
    """Yield the other rows' states, tasks and people, as far as they can be had; nobody's coverage is in the files."""
    if request.online:
        for state in request.states[1:]:
            if state in ELSEWHERE:
                yield state, ELSEWHERE[state][0], request.downloaded(state, ELSEWHERE[state][0])
    elif request.has(sources.WORKERS):
        yield "OR", "income", request.workers("income").of("OR")
        yield "FL", "travel", request.workers("travel").of("FL")
    else:
        console.print(f"without {sources.WORKERS}: Oregon income and Florida travel are left out (see --data)")


def experiment(request: Request) -> None:
    """Measure every row, draw it, and write the page."""
    if request.out == sources.PAGES and not (request.has(sources.YEARS) and request.has(sources.WORKERS)):
        raise SettingsError(
            f"page of the docs needs all files: expected {sources.YEARS} and {sources.WORKERS}; name their folder with "
            "--data, or another folder for the page with --out"
        )
    output, rows = Output(request.out, "sequential"), []
    first, *rest = planned_rows(request)
    for planned in (first, *rest):
        console.print(f"{planned.name}: eleven trees on {len(planned.sample.y):,} people ...")
        row, bounty = measured(planned)
        accepted, repairs = tally(bounty)
        console.print(f"  {accepted} accepted, {repairs} repairs, risk {bounty.risk(0):.4f} -> {bounty.risk():.4f}")
        output.chart(row.name, three_panels(asdict(row)))
        output.drawing(f"{row.name}-list", bounty.model.draw())
        rows.append(asdict(row))
    console.print(f"{len(MORE_ORDERS)} orders on the first row's people ...")
    among = spread(first.sample, MORE_ORDERS[: 4 if request.quick else None])
    console.print(f"written: {output.page({'rows': rows, 'spread': among}, parts)}")


if __name__ == "__main__":
    sources.run("sequential", str(__doc__), experiment)
