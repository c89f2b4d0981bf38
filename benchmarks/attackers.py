"""Attackers: hunters who want to be accepted without being better, by way of what the answers tell of the holdout.

Each yields claims and is sent the verdicts. It sees what a hunter sees: the verdicts, the published models (`Board`),
and what anybody may know of the population; never the holdout, never the chances of the labels. All are at their most
dangerous on doubtful rows, where a claim is about as good as a coin.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from benchmarks.populations import Answers, Mask, Population
from biasbounty.values import Verdict

PERIOD = 50
"""After so many claims an attacker cashes in on what it learnt."""


@dataclass(frozen=True, eq=False)
class Claim:
    """A group and a model, as tables over the rows of the file."""

    group: Mask
    labels: Answers
    crashes_at: int | None = None
    """The row at which the model fails, if it is ever asked about it."""


@dataclass
class Board:
    """What everybody sees: the newest round's answers, for each row of the file, and the reply to a failed claim."""

    population: Population
    current: Answers


Attack: TypeAlias = Generator[Claim, Verdict | None, None]
"""A None in place of a verdict says that the claim was refused with an error."""
Attacker: TypeAlias = Callable[[Board, np.random.Generator], Attack]


def _coins(rng: np.random.Generator, size: int) -> Answers:
    return np.frombuffer(rng.bytes(size), np.int8) & 1


def _some(rng: np.random.Generator, among: Mask, share: float) -> Mask:
    """Draw about this share of some rows."""
    return among & (np.frombuffer(rng.bytes(len(among)), np.uint8) < 256 * share)


def boosting(board: Board, rng: np.random.Generator) -> Attack:
    """Random votes: claim coins on random halves, count every answer as a vote for some labels, submit the vote."""
    doubtful = board.population.doubtful
    votes = np.zeros(len(doubtful), np.int32)
    while True:
        for _ in range(PERIOD):
            before, group = board.current, _some(rng, doubtful, 0.5)
            labels = _coins(rng, len(group))
            verdict = yield Claim(group, labels)
            differ = group & (labels != before)
            liked = labels if verdict and verdict.accepted else before
            votes[differ] += 2 * liked[differ] - 1
        yield Claim(doubtful, (votes > 0).astype(np.int8))


def ladder(board: Board, rng: np.random.Generator) -> Attack:
    """Keep what was accepted: turn the newest round's answers on a few rows, and go on from wherever that leads."""
    doubtful, shares = board.population.doubtful, (0.5, 0.2, 0.1, 0.05, 0.02)
    while True:
        for share in shares:
            group = _some(rng, doubtful, share)
            if group.any():
                yield Claim(group, 1 - board.current)


def sybils(board: Board, rng: np.random.Generator) -> Attack:
    """Flood: submit a few claims again and again, each changed a little, as if from ever new hunters."""
    doubtful = board.population.doubtful
    pool = [(_some(rng, doubtful, 0.3), _coins(rng, len(doubtful))) for _ in range(20)]
    while True:
        for group, labels in pool:
            yield Claim(group, labels)
            yield Claim(group ^ _some(rng, doubtful, 0.01), labels)


def memoriser(board: Board, rng: np.random.Generator) -> Attack:
    """Guess the labels of block after block, remember what the answers say of each guess, and submit the memory."""
    doubtful = np.flatnonzero(board.population.doubtful)
    memory, asked = board.current.copy(), np.zeros(len(board.current), np.bool_)
    while True:
        for block in np.array_split(rng.permutation(doubtful), 4 * PERIOD):
            group, before = np.zeros(len(memory), np.bool_), board.current
            group[block] = True
            labels = _coins(rng, len(memory))
            verdict = yield Claim(group, labels)
            memory[block] = labels[block] if verdict and verdict.accepted else before[block]
            asked |= group
            if rng.random() < 1 / PERIOD:
                yield Claim(asked, memory.copy())
        yield Claim(asked, memory.copy())


def payout_reader(board: Board, rng: np.random.Generator) -> Attack:
    """Hide random votes behind true improvements, and weigh each by what its payout tells; then submit the vote.

    A payout is larger the better its coins are and the worse those were that they replaced, so coins are worth what
    was paid for them less what was paid for the next.
    """
    population = board.population
    probed = population.doubtful
    while True:
        tried: list[tuple[Answers, int]] = []
        for fix in population.fixes or (np.zeros_like(probed),) * PERIOD:
            labels = np.where(fix, 1 - population.initial, _coins(rng, len(fix)))
            verdict = yield Claim(probed | fix, labels)
            if verdict is not None and verdict.accepted:
                tried.append((labels, verdict.payout))
        if tried:
            signs = np.array([2 * labels.astype(np.int32) - 1 for labels, _ in tried])
            paid = np.array([payout for _, payout in tried])
            yield Claim(probed, ((paid - np.roll(paid, -1)) @ signs > 0).astype(np.int8))


def provoker(board: Board, rng: np.random.Generator) -> Attack:
    """Provoke false repairs: true improvements, each with coins on some of the doubtful rows.

    Every pair of such a group and such a round is a comparison of coins; there are soon thousands.
    """
    population = board.population
    while True:
        for fix in population.fixes:
            group = _some(rng, population.doubtful, 0.1) | fix
            yield Claim(group, np.where(fix, 1 - population.initial, _coins(rng, len(fix))))
        yield Claim(_some(rng, population.doubtful, 0.5), _coins(rng, len(board.current)))


def crasher(board: Board, rng: np.random.Generator) -> Attack:
    """Find out who is in the holdout, by models that fail at one row; then be right about those and wrong elsewhere.

    It knows the labels of the file, as anyone does who shares its source: rows found in the holdout where the newest
    round errs are put in a group together with as many that are not in it and where the round is right.
    """
    current = board.current
    wrong = (board.population.chances > 0.5) != current
    order = rng.permutation(len(current))
    found: list[int] = []
    absent: list[int] = []
    for rows, inside, kept in ((order[wrong[order]], True, found), (order[~wrong[order]], False, absent)):
        for row in rows[: 4 * PERIOD]:
            verdict = yield Claim(np.arange(len(order)) == row, 1 - current, crashes_at=int(row))
            if (verdict is None) == inside:
                kept.append(int(row))
    group = np.zeros(len(order), np.bool_)
    group[found[: len(absent)] + absent] = True
    while True:
        yield Claim(group, 1 - current)


ATTACKERS: dict[str, Attacker] = {
    "boosting": boosting,
    "ladder": ladder,
    "sybils": sybils,
    "memoriser": memoriser,
    "payout reader": payout_reader,
}
