"""The paper's Figure 6: a finder that looks for its own groups, against the eleven groups one after another.

For each of thirteen states a `TernaryFinder` submits until it is rejected, as the paper's cost-sensitive approach did,
and the eleven groups' trees are submitted to a bounty of their own; then each is let go on where the other ended. As
in the paper, `Plain` judges, on the holdout that is also plotted. Beside it the same rounds are measured on fresh rows,
that neither hunters nor the judge have seen, and all is done once more with `Anytime` as the judge.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from biasbounty.bounty import Bounty
from biasbounty.core.anytime import Anytime
from biasbounty.core.checkers import Checker
from biasbounty.core.thresholds import Plain
from biasbounty.datasets import NamedGroup, Sample, Splits, demographic_groups, hunt, initial_stump, split
from biasbounty.datasets.groups import Mask
from biasbounty.datasets.states import Task
from biasbounty.finders import TernaryFinder
from biasbounty.reporting.curves import OVERALL, tally
from experiments import sources
from experiments.costsensitive_page import PARTS, STAGES, by_group, by_state, parts
from experiments.output import Output
from experiments.sources import Request, console

TASKS: tuple[Task, ...] = ("income", "travel")
STATES = 13
"""As many as the paper has; it does not say which, so here they are those with the most rows."""
ORDER = 12345
"""The fixed order in which the eleven groups are introduced."""
CHECKERS: dict[str, Checker] = {"Plain": Plain(), "Anytime": Anytime(0.0, 0.05)}
"""The figure is drawn for the first, as the paper has it."""
SPLITS = 10
"""How often the rows are divided anew; the figure shows the first."""
DEPTH = 7
"""The depth of the regressors of cost, as in the paper."""
MOST = 50
"""The finder would be stopped after so many rounds."""


@dataclass(frozen=True, eq=False)
class Divided:
    """A state's rows: some to learn from, some for the judge alone, and fresh ones that no one has seen."""

    seen: Splits
    X_fresh: Any
    y_fresh: Any

    @staticmethod
    def of(sample: Sample, seed: int) -> "Divided":
        """Set a fifth aside as fresh, and of the others a fifth as the holdout, as the paper did of all."""
        outer = split(sample, seed=seed)
        inner = split(Sample(outer.X_train, outer.y_train, sample.columns, sample.source), seed=seed)
        return Divided(inner, outer.X_holdout, outer.y_holdout)

    @property
    def judged(self) -> dict[str, tuple[Any, Any]]:
        """The parts that risks are told of."""
        return {"holdout": (self.seen.X_holdout, self.seen.y_holdout), "fresh": (self.X_fresh, self.y_fresh)}


@dataclass(frozen=True)
class Compared:
    """What became of one state."""

    state: str
    rows: dict[str, int]
    sizes: dict[str, dict[str, int]]
    """By part: how many rows each group has."""
    risks: dict[str, dict[str, dict[str, float | None]]]
    """By part and stage: risk overall and on each group; None on a group without rows."""
    accepted: dict[str, int]
    """By stage: how many submissions were accepted until then."""
    repairs: dict[str, int]


@dataclass(frozen=True)
class Ended:
    """A bounty where it stands at the end of a stage."""

    bounty: Bounty
    round: int
    accepted: int
    repairs: int

    @staticmethod
    def now(bounty: Bounty) -> "Ended":
        """Note where a bounty stands."""
        return Ended(bounty, len(bounty.rounds) - 1, *tally(bounty))


def opened(splits: Splits, checker: Checker) -> Bounty:
    """Open a bounty on a stump."""
    return Bounty(initial_stump(splits), splits.X_holdout, splits.y_holdout, checker=checker)


def introduce(bounty: Bounty, groups: Sequence[NamedGroup], splits: Splits) -> Ended:
    """Submit the tree of each of the eleven groups, in the fixed order."""
    for certificate in hunt(groups, splits, ORDER):
        bounty.submit(certificate.group, certificate.model, note=certificate.note)
    return Ended.now(bounty)


def converge(bounty: Bounty, splits: Splits) -> Ended:
    """Have the finder submit until it is rejected or finds nothing: it would find the same again."""
    finder, rng = TernaryFinder(DecisionTreeRegressor(max_depth=DEPTH)), np.random.default_rng(0)
    for _ in range(MOST):
        found = finder.find(splits.X_train, splits.y_train, bounty.model.predict(splits.X_train), rng)
        if found is None or not bounty.submit(found.group, found.model, note=found.note).accepted:
            break
    return Ended.now(bounty)


def stages(groups: Sequence[NamedGroup], splits: Splits, checker: Checker) -> Iterator[Ended]:
    """Yield where each of `STAGES` ends: two bounties, each with its second half done by the other's hunter."""
    first, second = opened(splits, checker), opened(splits, checker)
    yield Ended.now(first)
    yield introduce(first, groups, splits)
    yield converge(second, splits)
    yield converge(first, splits)
    yield introduce(second, groups, splits)


def compared(state: str, sample: Sample, seed: int, checker: Checker) -> Compared:
    """Go through all stages in one state, and measure each on the holdout and on fresh rows."""
    divided, groups = Divided.of(sample, seed), demographic_groups(sample.columns)
    ends = dict(zip(STAGES, stages(groups, divided.seen, checker), strict=True))
    masks = {part: _masks(groups, X) for part, (X, _) in divided.judged.items()}
    return Compared(
        state=state,
        rows={"train": len(divided.seen.y_train), **{part: len(y) for part, (_, y) in divided.judged.items()}},
        sizes={part: {name: int(mask.sum()) for name, mask in own.items()} for part, own in masks.items()},
        risks={
            part: {stage: _risks(end, X, y, masks[part]) for stage, end in ends.items()}
            for part, (X, y) in divided.judged.items()
        },
        accepted={stage: end.accepted for stage, end in ends.items()},
        repairs={stage: end.repairs for stage, end in ends.items()},
    )


def _masks(groups: Sequence[NamedGroup], X: Any) -> dict[str, Mask]:
    return {OVERALL: np.ones(len(X), np.bool_), **{one.name: one.group(X) for one in groups}}


def _risks(end: Ended, X: Any, y: Any, masks: dict[str, Mask]) -> dict[str, float | None]:
    wrong = end.bounty.model.predict(X, end.round) != y
    return {name: round(float(wrong[mask].mean()), 6) if mask.any() else None for name, mask in masks.items()}


@dataclass(frozen=True)
class Pair:
    """A state and a group that has rows in every part."""

    state: Compared
    group: str

    def risk(self, part: str, stage: str) -> float:
        """Return the risk on the group."""
        return self.state.risks[part][stage][self.group] or 0.0

    def difference(self, part: str) -> float:
        """Return the ternary finder's risk less the sequential one: above 0 is a win for the sequential."""
        return self.risk(part, "ternary") - self.risk(part, "sequential")


def pairs_of(states: Sequence[Compared]) -> list[Pair]:
    """Return the pairs of a state and one of the eleven groups."""
    return [
        Pair(one, group)
        for one in states
        for group in one.sizes["holdout"]
        if group != OVERALL and all(one.sizes[part][group] for part in PARTS)
    ]


def summary(seed: int, states: Sequence[Compared]) -> dict[str, Any]:
    """Return what one division of the rows says of all states."""
    pairs, whole = pairs_of(states), [Pair(one, OVERALL) for one in states]
    groups = dict.fromkeys(pair.group for pair in pairs)
    own = {group: [pair for pair in pairs if pair.group == group] for group in groups}
    return {
        "seed": seed,
        "pairs": len(pairs),
        "difference": {part: _mean(pair.difference(part) for pair in pairs) for part in PARTS},
        "above": {part: sum(pair.difference(part) > 0 for pair in pairs) for part in PARTS},
        "below": {part: sum(pair.difference(part) < 0 for pair in pairs) for part in PARTS},
        "overall": {part: _mean(pair.difference(part) for pair in whole) for part in PARTS},
        "groups": {
            group: {part: _mean(pair.difference(part) for pair in own[group]) for part in PARTS} for group in groups
        },
        "stages": {
            part: {
                stage: {
                    "overall": _mean(pair.risk(part, stage) for pair in whole),
                    "groups": _mean(pair.risk(part, stage) for pair in pairs),
                }
                for stage in STAGES
            }
            for part in PARTS
        },
        "accepted": {stage: [one.accepted[stage] for one in states] for stage in STAGES},
        "repairs": {stage: sum(one.repairs[stage] for one in states) for stage in STAGES},
    }


def _mean(values: Iterator[float]) -> float:
    return round(mean(values), 6)


def measured(samples: dict[str, Sample], splits: int) -> dict[str, Any]:
    """Compare in every state under every checker, as often as the rows are divided; one division is told in full."""
    found: dict[str, Any] = {"states": None, "checkers": {}}
    for name, checker in CHECKERS.items():
        found["checkers"][name] = []
        for seed in range(splits):
            states = [compared(state, sample, seed, checker) for state, sample in samples.items()]
            found["states"] = found["states"] or [asdict(one) for one in states]
            found["checkers"][name].append(summary(seed, states))
            console.print(_line(name, found["checkers"][name][-1]))
    return found


def _line(checker: str, found: dict[str, Any]) -> str:
    rounds, difference = found["accepted"]["ternary"], found["difference"]
    return (
        f"  {checker}, division {found['seed']}: {min(rounds)} to {max(rounds)} rounds; ternary less sequential over "
        f"{found['pairs']} pairs {difference['holdout']:+.4f} (holdout), {difference['fresh']:+.4f} (fresh)"
    )


def samples_of(request: Request, task: Task) -> dict[str, Sample]:
    """Return the states' rows: those with the most rows, or those asked for."""
    if request.online:
        return {state: request.downloaded(state, task) for state in request.states}
    workers = request.workers(task)
    return {state: workers.of(state) for state in workers.largest(2 if request.quick else STATES)}


def experiment(request: Request) -> None:
    """Compare for every task, draw both views, and write the page."""
    output, tasks = Output(request.out, "costsensitive"), dict[str, Any]()
    for task in TASKS:
        samples = samples_of(request, task)
        console.print(f"{task}: {len(samples)} states, {sum(len(one.y) for one in samples.values()):,} people ...")
        tasks[task] = measured(samples, 2 if request.quick else SPLITS)
        output.chart(f"{task}-groups", by_group(tasks[task]))
        output.chart(f"{task}-states", by_state(tasks[task]))
    figures = {"settings": {"depth": DEPTH, "order": ORDER}, "tasks": tasks}
    console.print(f"written: {output.page(figures, parts)}")


if __name__ == "__main__":
    sources.run("costsensitive", str(__doc__), experiment)
