"""The arena: an attacker against a real bounty, refereed by a population of which the truth is known."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.attackers import Attacker, Board, Claim
from benchmarks.populations import Answers, Mask, Population
from biasbounty.bounty import Bounty
from biasbounty.core.checkers import Checker
from biasbounty.errors import SubmissionError
from biasbounty.values import Verdict


@dataclass
class Run:
    """What an attacker achieved."""

    false: int = 0
    """Acceptances, of claims and repairs, that do not truly contribute more than the checker says."""
    accepted: int = 0
    repairs: int = 0
    nats: float = 0.0
    holdout_risk: float = 0.0
    true_risk: float = 0.0
    gaps: list[tuple[int, float]] = field(default_factory=list)
    """How far the holdout's risk is below the true one, after so many submissions."""


@dataclass(frozen=True)
class Arena:
    """How a bounty is opened: on so many holdout rows, with or without public ones."""

    population: Population
    checker: Checker
    size: int = 2_000
    public: bool = False
    repairs: bool = True
    pot: int = 0
    grid: float | None = None
    tau: float = 0.0
    """An acceptance that truly contributes no more than this is false."""

    def run(self, attacker: Attacker, submissions: int, seed: int, watched: int = 0) -> Run:
        """Let an attacker submit so often; note the gap after every `watched` submissions, if asked to."""
        rng, hunter = (np.random.default_rng([seed, part]) for part in (0, 1))
        bounty = self._open(rng)
        referee = _Referee(self.population, self.tau)
        board = Board(self.population, self.population.initial)
        attack = attacker(board, hunter)
        claim = next(attack)
        for number in range(1, submissions + 1):
            verdict = _submit(bounty, claim)
            if verdict is not None and verdict.accepted:
                referee.judge(claim, verdict)
                board.current = referee.rounds[-1]
            if watched and number % watched == 0:
                referee.run.gaps.append((number, self.population.risk(board.current) - bounty.risk()))
            claim = attack.send(verdict)
        return referee.closed(bounty)

    def _open(self, rng: np.random.Generator) -> Bounty:
        rows, labels = self.population.draw(rng, self.size)
        settings: dict[str, Any] = {"public": self.population.draw(rng, self.size)} if self.public else {}
        return Bounty(
            _lookup(self.population.initial),
            rows,
            labels,
            checker=self.checker,
            repairs=self.repairs,
            pot=self.pot,
            grid=self.grid,
            **settings,
        )


class _Referee:
    """Follows the rounds on the whole population, and counts what was falsely accepted."""

    def __init__(self, population: Population, tau: float) -> None:
        self.population, self.tau = population, tau
        self.rounds: list[Answers] = [population.initial]
        self.protected: list[Mask] = []
        self.run = Run()

    def judge(self, claim: Claim, verdict: Verdict) -> None:
        """Follow an accepted claim and its repairs, one by one."""
        self.protected.append(claim.group)
        candidate = self._followed(self.rounds[-1], claim.group, claim.labels)
        for repair in verdict.repairs:
            candidate = self._followed(candidate, self.protected[repair.group], self.rounds[repair.pointer])
        self.rounds.append(candidate)
        self.run.accepted += 1
        self.run.repairs += len(verdict.repairs)

    def _followed(self, before: Answers, group: Mask, after: Answers) -> Answers:
        self.run.false += self.population.contribution(group, before, after) <= self.tau
        return np.where(group, after, before)

    def closed(self, bounty: Bounty) -> Run:
        """Return the run, with what the holdout says at the end beside the truth."""
        self.run.nats = bounty.nats_spent
        self.run.holdout_risk, self.run.true_risk = bounty.risk(), self.population.risk(self.rounds[-1])
        return self.run


def _submit(bounty: Bounty, claim: Claim) -> Verdict | None:
    try:
        return bounty.submit(_lookup(claim.group), _lookup(claim.labels, claim.crashes_at))
    except SubmissionError:
        return None


def _lookup(table: Any, crashes_at: int | None = None) -> Callable[[Any], Any]:
    def answer(rows: Any) -> Any:
        if crashes_at is not None and (rows == crashes_at).any():
            raise RuntimeError("no answer")
        return table[rows]

    return answer
