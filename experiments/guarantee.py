"""What `Plain`, `Paper` and `Anytime` accept, and what of it is real, in a world whose truth is known.

Four kinds of hunters: the eleven of the paper's first experiment; people who train trees on groups drawn at random;
and two who only want to be accepted and paid, and learn from the answers which labels the holdout has. Each meets the
same holdouts under every checker. What was accepted is compared with the truth, exactly, and with a million people
drawn anew.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

import numpy as np

from benchmarks.attackers import Attack, Attacker, Board, Claim, ladder, memoriser
from benchmarks.census import random_slice
from benchmarks.populations import Answers, Mask
from biasbounty.bounty import Bounty
from biasbounty.core.anytime import Anytime
from biasbounty.core.checkers import Checker
from biasbounty.core.thresholds import Paper, Plain
from biasbounty.datasets.first_experiment import DEPTH, SEED, shuffled
from biasbounty.errors import BountyStoppedError
from biasbounty.values import Verdict
from experiments import sources
from experiments.guarantee_page import parts, risks_chart, truth_chart
from experiments.output import Output
from experiments.sources import Request, console
from experiments.world import HOLDOUT, TRAIN, Fresh, World, fresh_people, known_world, table_of

EPSILON, DELTA = 0.01, 0.05
ORDER = 12345
POT = 1_000_000
"""In cents; a contribution of 1 earns it all."""
LEAST_ROWS = 200
"""So many training rows a group drawn at random must have."""
KINDS = ("update", "repair")
PROMISED = {"Plain": None, "Paper, small holdout": None, "Anytime": EPSILON / 2, "Anytime, epsilon 0": 0.0}
"""What every acceptance surely exceeds under each checker, where anything is promised."""
POINTS = 60
"""How many points a curve has."""


@dataclass(frozen=True)
class Hunt:
    """A kind of hunters, and how often they submit."""

    name: str
    attacker: Attacker
    submissions: int
    repairs: bool = True
    pot: int = 0
    holdout: int = HOLDOUT


@dataclass(frozen=True)
class Size:
    """How large a run is."""

    runs: int = 20
    random: int = 300
    adaptive: int = 3_000
    train: int = TRAIN
    holdout: int = HOLDOUT
    fresh: int = 1_000_000


QUICK = Size(runs=2, random=20, adaptive=120, train=6_000, holdout=3_000, fresh=100_000)


@dataclass(frozen=True)
class Acceptance:
    """An accepted update or repair: what the holdout said it contributes, what it truly does, and on fresh people."""

    kind: str
    holdout: float
    true: float
    fresh: float


@dataclass
class History:
    """What became of one bounty."""

    acceptances: list[Acceptance] = field(default_factory=list)
    holdout: list[float] = field(default_factory=list)
    """Holdout risk, at some of the submissions."""
    true: list[float] = field(default_factory=list)
    """True risk, likewise."""
    fresh: float = 0.0
    """The last round's risk on fresh people."""
    paid: int = 0
    nats: float = 0.0

    def note(self, holdout: float, true: float) -> None:
        """Note both risks as they are now."""
        self.holdout.append(holdout)
        self.true.append(true)


class Referee:
    """Follows the rounds on the whole file, and says of each acceptance what it is worth."""

    def __init__(self, world: World, fresh: Fresh) -> None:
        self.world, self.fresh = world, fresh
        self.rounds: list[Answers] = [world.initial]
        self.protected: list[Mask] = []

    def follow(self, claim: Claim, verdict: Verdict, contributions: list[float]) -> Iterator[Acceptance]:
        """Follow an accepted claim and its repairs, given what each contributes on the holdout."""
        self.protected.append(claim.group)
        steps = [(claim.group, claim.labels)]
        steps += [(self.protected[repair.group], self.rounds[repair.pointer]) for repair in verdict.repairs]
        answers = self.rounds[-1]
        for (group, after), on_holdout in zip(steps, contributions, strict=True):
            true = self.world.population.contribution(group, answers, after)
            fresh = self.fresh.contribution(group, answers, after)
            yield Acceptance("repair" if answers is not self.rounds[-1] else "update", on_holdout, true, fresh)
            answers = np.where(group, after, answers)
        self.rounds.append(answers)


def eleven(world: World) -> Iterator[Claim]:
    """Yield the first experiment's claims: a tree for each of eleven groups."""
    for _, named in shuffled(world.groups, ORDER):
        yield _trained(world, named.group(world.X), DEPTH)


def at_random(world: World, count: int, rng: np.random.Generator) -> Iterator[Claim]:
    """Yield trees on groups of one or two conditions drawn at random."""
    ids, _ = world.train
    while count:
        group = random_slice(world.X, rng)
        if group[ids].sum() >= LEAST_ROWS:
            count -= 1
            yield _trained(world, group, int(rng.integers(3, DEPTH + 1)))


def _trained(world: World, group: Mask, depth: int) -> Claim:
    from sklearn.tree import DecisionTreeClassifier

    ids, labels = world.train
    own = group[ids]
    tree = DecisionTreeClassifier(max_depth=depth, random_state=SEED).fit(world.X[ids[own]], labels[own])
    return Claim(group, table_of(tree, world.X))


def submitting(claims: list[Claim]) -> Attacker:
    """Return hunters who submit these claims, whatever the answers are."""

    def attack(board: Board, rng: np.random.Generator) -> Attack:  # noqa: ARG001
        for claim in claims:  # noqa: UP028 (`yield from` would hand the verdicts to the list, which takes none)
            yield claim

    return attack


def checkers(submissions: int) -> dict[str, Checker]:
    """Return the checkers, by name."""
    return {
        "Plain": Plain(),
        "Paper, small holdout": Paper(EPSILON, DELTA, submissions, allow_small_holdout=True),
        "Anytime": Anytime(EPSILON, DELTA),
        "Anytime, epsilon 0": Anytime(0.0, DELTA),
    }


def held(world: World, hunt: Hunt, checker: Checker, fresh: Fresh, seed: int) -> History:
    """Hold a bounty on a holdout drawn by the seed, and follow what is accepted."""
    bounty, hunters = opened(world, hunt, checker, seed)
    referee, board, history = Referee(world, fresh), Board(world.population, world.initial), History()
    history.note(bounty.risk(), world.population.risk(world.initial))
    attack = hunt.attacker(board, hunters)
    claim: Claim | None = next(attack)
    for number in range(1, hunt.submissions + 1):
        verdict = _submitted(bounty, claim)
        if claim and verdict and verdict.accepted:
            history.acceptances += referee.follow(claim, verdict, last_contributions(bounty))
            board.current = referee.rounds[-1]
        if number * POINTS // hunt.submissions > (number - 1) * POINTS // hunt.submissions:
            history.note(bounty.risk(), world.population.risk(board.current))
        claim = attack.send(verdict) if verdict and number < hunt.submissions else None
    history.fresh, history.paid, history.nats = fresh.risk(board.current), bounty.paid, bounty.nats_spent
    return history


def opened(world: World, hunt: Hunt, checker: Checker, seed: int) -> tuple[Bounty, np.random.Generator]:
    """Open a bounty on rows drawn by the seed, with as many public ones; return it and the hunters' own chance."""
    rng, hunters = (np.random.default_rng([seed, part]) for part in (0, 1))
    rows, labels = world.population.draw(rng, hunt.holdout)
    public = world.population.draw(rng, hunt.holdout)
    settings: dict[str, Any] = {"repairs": hunt.repairs, "pot": hunt.pot, "public": public}
    return Bounty(lookup(world.initial), rows, labels, checker=checker, **settings), hunters


def _submitted(bounty: Bounty, claim: Claim | None) -> Verdict | None:
    """Submit a claim, if there is one and the checker has not stopped."""
    try:
        return bounty.submit(lookup(claim.group), lookup(claim.labels)) if claim else None
    except BountyStoppedError:
        return None


def lookup(table: Any) -> Callable[[Any], Any]:
    """Return the function on rows, which are numbers in the file, that looks each up in a table."""
    return lambda rows: table[rows]


def last_contributions(bounty: Bounty) -> list[float]:
    """Return what the holdout says of the last submission and of its repairs."""
    outcome = bounty.outcomes[-1]
    return [outcome.evidence.contribution, *(evidence.contribution for evidence in outcome.repair_evidence)]


def result(world: World, hunt: Hunt, name: str, histories: list[History]) -> dict[str, Any]:
    """Sum up what became of a kind of hunters under a checker; figures are means over the runs."""
    floor = PROMISED[name]
    every = [one for history in histories for one in history.acceptances]
    runs = len(histories)
    return {
        "hunt": hunt.name,
        "checker": name,
        "runs": runs,
        "submissions": hunt.submissions,
        "pot": hunt.pot,
        **{f"{kind}s": sum(one.kind == kind for one in every) / runs for kind in KINDS},
        **{f"false_{kind}s": sum(one.kind == kind and one.true <= 0 for one in every) / runs for kind in KINDS},
        "false_on_fresh": sum(one.fresh <= 0 for one in every) / runs,
        "runs_with_false": _runs_below(histories, 0.0),
        "promised": floor,
        "runs_below_promise": None if floor is None else _runs_below(histories, floor),
        "runs_below_half_epsilon": _runs_below(histories, EPSILON / 2),
        "first_risk": world.population.risk(world.initial),
        "first_holdout_risk": mean(history.holdout[0] for history in histories),
        "holdout_risk": mean(history.holdout[-1] for history in histories),
        "true_risk": mean(history.true[-1] for history in histories),
        "fresh_risk": mean(history.fresh for history in histories),
        "farthest_fresh": max((abs(one.true - one.fresh) for one in every), default=0.0),
        "paid": mean(history.paid for history in histories),
        "nats": mean(history.nats for history in histories),
        "curves": {
            "holdout": [round(mean(values), 5) for values in zip(*(one.holdout for one in histories), strict=True)],
            "true": [round(mean(values), 5) for values in zip(*(one.true for one in histories), strict=True)],
        },
    }


def _runs_below(histories: list[History], floor: float) -> int:
    """Return in how many runs something was accepted that truly contributes no more than this."""
    return sum(any(one.true <= floor for one in history.acceptances) for history in histories)


def hunts(world: World, size: Size) -> Iterator[Hunt]:
    """Yield the kinds of hunters; who trains trees trains them once, for all checkers and holdouts."""
    trees = list(eleven(world))
    yield Hunt("eleven groups", submitting(trees), len(trees), holdout=size.holdout)
    some = list(at_random(world, size.random, np.random.default_rng(1)))
    yield Hunt("trees at random", submitting(some), len(some), holdout=size.holdout)
    for name, attacker in {"ladder": ladder, "memory": memoriser}.items():
        yield Hunt(name, attacker, size.adaptive, repairs=False, pot=POT, holdout=size.holdout)


def measured(world: World, size: Size) -> dict[str, Any]:
    """Hold every bounty, and return the figures."""
    fresh = fresh_people(world, np.random.default_rng(2), size.fresh)
    results = []
    for hunt in hunts(world, size):
        for name, checker in checkers(hunt.submissions).items():
            histories = [held(world, hunt, checker, fresh, seed) for seed in range(size.runs)]
            results.append(result(world, hunt, name, histories))
            console.print(_line(results[-1]))
    return {
        "world": {
            "rows": len(world.X),
            "train": len(world.train[0]),
            "holdout": size.holdout,
            "fresh": size.fresh,
            "least_risk": world.least_risk,
            "doubtful": float(world.population.doubtful.mean()),
        },
        "settings": {"epsilon": EPSILON, "delta": DELTA, "pot": POT},
        "supported_epsilon": Paper(EPSILON, DELTA, size.random, allow_small_holdout=True).supported_epsilon(
            size.holdout
        ),
        "results": results,
    }


def _line(one: dict[str, Any]) -> str:
    return (
        f"  {one['hunt']:16} {one['checker']:20} {one['updates']:7.1f} updates, {one['repairs']:5.1f} repairs, "
        f"{one['false_updates'] + one['false_repairs']:6.1f} of them false; holdout risk {one['holdout_risk']:.4f}, "
        f"true risk {one['true_risk']:.4f}"
    )


def experiment(request: Request) -> None:
    """Make the world, hold the bounties, draw what came of them, and write the page."""
    output, size = Output(request.out, "guarantee"), QUICK if request.quick else Size()
    console.print(f"fitting the chances, drawing {size.train:,} people to train on ...")
    figures = measured(known_world(request.employment(), np.random.default_rng(0), size.train), size)
    output.chart("risks", risks_chart(figures))
    output.chart("truth", truth_chart(figures))
    console.print(f"written: {output.page(figures, parts)}")


if __name__ == "__main__":
    sources.run("guarantee", str(__doc__), experiment)
