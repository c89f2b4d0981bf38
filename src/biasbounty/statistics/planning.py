"""Planning: what a holdout will see, before it is drawn, under `Anytime` and under the paper's rule.

Of rows, epsilon and submissions any two settle the third: so many rows are *enough* if, even after all submissions,
a true contribution of epsilon is accepted nine times in ten. That is what "reliably sees" means here.

The figures of `Anytime` are what its examination reports after so many answers: zero-one loss, answers coded by
counting, an equal share for each submission, one repair step that finds nothing to repair after each acceptance. Public
rows change the price of the answers, by at most ln 2 nats to the worse (docs/planning.md). Those of `Paper` are of the
size that its theorem really needs (docs/guarantees).
"""

import textwrap
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf, lgamma, log, pi, sqrt
from typing import Any, Literal, TypeAlias

from biasbounty.statistics.numbers import PARTS, find_least, find_most, number, parts, place
from biasbounty.statistics.plan_figures import (
    MOST_ROWS,
    MOST_SUBMISSIONS,
    PAYOUT_STEPS,
    check_figures,
    check_together,
    largest_epsilon,
    most_accepted,
)
from biasbounty.statistics.plan_words import paragraphs
from biasbounty.statistics.resolution import resolution
from biasbounty.statistics.sizes import epsilon_for_paper, rows_for_paper
from biasbounty.statistics.surprise import log_share

WIDTH = 79
NINE_IN_TEN = 1.2816
"""How many standard deviations above what passes a contribution must be to pass nine times in ten."""
SUBMISSIONS, EPSILON = 1000, 0.01
"""How many submissions there are, and what is to be seen, if nothing is said (of rows either)."""
ACCEPTED, REMOVED = 0.01, 0.2
"""The share of submissions that are accepted, if nothing is said: one at least, and no more than would together lower
risk by so much if each contributes epsilon."""
DISAGREEMENT = 0.02
"""The disagreement if nothing is said, or twice epsilon if that is more: three rows put right for every one spoiled."""
Found: TypeAlias = Literal["rows", "epsilon", "submissions"]


@dataclass(frozen=True)
class Limits:
    """How far each figure of a plan could go by itself and contributions of epsilon would still be reliably seen.

    To three digits; None where no value is enough.
    """

    rows: int | None
    """The fewest rows."""
    epsilon: float | None
    """The smallest epsilon."""
    delta: float | None
    """The smallest delta."""
    submissions: int | None
    """The most submissions, with as many acceptances."""
    acceptances: int | None
    """The most acceptances among as many submissions."""
    disagreement: float | None
    """The largest disagreement."""


@dataclass(frozen=True)
class Point:
    """What so many rows see, all else as planned; None where they see nothing."""

    rows: int
    first: float | None
    """The smallest contribution on the holdout that `Anytime` accepts at the first submission."""
    last: float | None
    """The same after all submissions."""
    reliably_sees: float | None
    """The true contribution that `Anytime` accepts nine times in ten after all submissions."""
    paper: float | None
    """The smallest contribution on the holdout that `Paper` accepts, at the smallest epsilon not below the planned."""


@dataclass(frozen=True)
class Plan:
    """A holdout, what will be asked of it, and what it will see. `biasbounty.plan` makes plans."""

    rows: int
    """Holdout rows."""
    epsilon: float
    """The contribution to be seen reliably; every acceptance surely has more than half of it."""
    delta: float
    """The chance that any acceptance, ever, is a false one."""
    submissions: int
    """How many submissions there will be."""
    acceptances: int
    """How many of them will be accepted."""
    disagreement: float
    """On what share of the rows a submission's loss differs from the model's."""
    pot: int = 0
    """What there is to pay, in cents."""
    found: Found | None = None
    """Which figure follows from the others, if one does."""

    def __post_init__(self) -> None:
        check_figures(
            rows=self.rows,
            epsilon=self.epsilon,
            delta=self.delta,
            submissions=self.submissions,
            acceptances=self.acceptances,
            disagreement=self.disagreement,
            pot=self.pot,
        )
        check_together(self.epsilon, self.disagreement, self.submissions, self.acceptances)

    @property
    def floor(self) -> float:
        """What every accepted contribution surely exceeds: half of epsilon."""
        return self.epsilon / 2

    @property
    def nats(self) -> float:
        """What the answers to all submissions cost under `Anytime`, counted: the repair steps and payouts included."""
        payouts = self.acceptances * log(PAYOUT_STEPS + 1) if self.pot else 0.0
        return _counted(self.submissions, self.acceptances) + _counted(self.acceptances, 0) + payouts

    @cached_property
    def first_resolution(self) -> float | None:
        """The smallest contribution on the holdout that `Anytime` accepts at the first submission; None if none."""
        return self._resolution(log_share(0.0), self.floor)

    @cached_property
    def resolution(self) -> float | None:
        """The smallest contribution on the holdout that `Anytime` accepts after all submissions; None if none."""
        return self._resolution(self._log_price, self.floor)

    @property
    def reliably_sees(self) -> float | None:
        """The true contribution that `Anytime` accepts nine times in ten after all submissions; None if none can be."""
        return self._seen(self.resolution)

    @cached_property
    def finest(self) -> float | None:
        """What `reliably_sees` would be at epsilon 0, where acceptances surely lower risk, but perhaps by little."""
        return self._seen(self._resolution(self._log_price, 0.0))

    @property
    def is_enough(self) -> bool:
        """Whether contributions of epsilon are reliably seen."""
        return self.reliably_sees is not None and self.reliably_sees <= self.epsilon

    @cached_property
    def paper_epsilon(self) -> float | None:
        """The smallest epsilon that the paper's theorem supports on these rows; None if it supports none."""
        return epsilon_for_paper(self.rows, self.delta, self.submissions)

    @property
    def paper_resolution(self) -> float | None:
        """The smallest contribution on the holdout that `Paper` accepts; None if it cannot be had.

        It is three quarters of epsilon, or of the smallest epsilon that the theorem supports, if that is larger.
        """
        return None if self.paper_epsilon is None else 3 * max(self.epsilon, self.paper_epsilon) / 4

    @property
    def paper_rows(self) -> int:
        """The rows that the paper's theorem needs for this plan's epsilon."""
        return rows_for_paper(self.epsilon, self.delta, self.submissions)

    @property
    def payout(self) -> int:
        """What a contribution of epsilon earns, in cents, at a rate equal to the pot."""
        return int(Fraction(str(self.epsilon)) * PAYOUT_STEPS) * self.pot // PAYOUT_STEPS

    @property
    def _log_price(self) -> float:
        """The logarithm of what is left of delta after all submissions: each has ended in one "no" or one "done"."""
        return log_share(float(self.submissions)) - self.nats

    def _resolution(self, log_price: float, tau: float) -> float | None:
        return resolution(self.rows, self.disagreement, tau, log(self.delta) + log_price, zero_one=True)

    def _seen(self, passing: float | None) -> float | None:
        """Return the contribution that exceeds what passes nine times in ten; None if no submission has so much."""
        if passing is None:
            return None
        seen = passing + NINE_IN_TEN * sqrt(self.disagreement / self.rows)
        return seen if seen <= self.disagreement else None

    @cached_property
    def limits(self) -> Limits:
        """How far each figure could go by itself."""
        return _limits(self)

    def curve(self, points: int = 41) -> tuple[Point, ...]:
        """Return what more and fewer rows would see: the planned rows, and others evenly spaced in their logarithm.

        From a hundredth of the planned rows to a hundred times as many, or to as many as the paper's theorem needs.
        """
        low = max(1, min(100, self.rows // 3), self.rows // 100)
        high = min(max(100 * self.rows, self.paper_rows), MOST_ROWS)
        spaced = {round(low * (high / low) ** (at / max(1, points - 1))) for at in range(points)}
        return tuple(self._point(rows) for rows in sorted({*spaced, self.rows}))

    def _point(self, rows: int) -> Point:
        other = replace(self, rows=rows)
        return Point(other.rows, other.first_resolution, other.resolution, other.reliably_sees, other.paper_resolution)

    def __str__(self) -> str:
        return "\n\n".join(textwrap.fill(words, WIDTH, break_on_hyphens=False) for words in paragraphs(self))


def plan(
    *,
    rows: int | None = None,
    epsilon: float | None = None,
    delta: float = 0.05,
    submissions: int | None = None,
    acceptances: int | None = None,
    disagreement: float | None = None,
    pot: int = 0,
) -> Plan:
    """Plan a bounty: of rows, epsilon and submissions give any two, and the third follows.

    Given rows or epsilon alone, it is for 1,000 submissions; given neither, epsilon is 0.01 (less, if the other figures
    do not allow so much), and rows are found. Given all three, the plan says whether that is enough, and
    its `limits` how far each figure could go. What is found is rounded to three digits, to the safe side; if nothing is
    enough, the plan found is the nearest to it, and says so.

    Args:
        rows: Holdout rows.
        epsilon: The contribution to be seen reliably; every acceptance surely has more than half of it.
        delta: The chance that any acceptance, ever, is a false one.
        submissions: How many submissions there will be.
        acceptances: How many of them will be accepted; if not given one in a hundred, but one at least, and no more
            than lower risk by 0.2 together if each contributes epsilon.
        disagreement: On what share of the rows a submission's loss differs from the model's; if not given 0.02, or
            twice epsilon if that is more.
        pot: What there is to pay, in cents. Telling payouts costs nats, so with a pot less is seen.
    """
    check_figures(
        rows=rows,
        epsilon=epsilon,
        delta=delta,
        submissions=submissions,
        acceptances=acceptances,
        disagreement=disagreement,
        pot=pot,
    )
    rest = _Rest(delta, acceptances, disagreement, pot)
    if rows is None:
        if epsilon is None:
            epsilon = min(EPSILON, largest_epsilon(acceptances or 0, disagreement or 1.0) / PARTS)
        return rest.find_rows(epsilon, submissions or SUBMISSIONS)
    if epsilon is None:
        return rest.find_epsilon(rows, submissions or SUBMISSIONS)
    if submissions is None:
        return rest.find_submissions(rows, epsilon)
    return rest.plan(rows, epsilon, submissions)


@dataclass(frozen=True)
class _Rest:
    """What is given beside rows, epsilon and submissions; None where it goes by them."""

    delta: float
    acceptances: int | None
    disagreement: float | None
    pot: int

    def plan(self, rows: int, epsilon: float, submissions: int, found: Found | None = None) -> Plan:
        """Fill in what is not given."""
        accepted, disagreement = self.acceptances, self.disagreement
        if accepted is None:
            accepted = max(1, min(round(ACCEPTED * submissions), int(REMOVED / epsilon)))
        if disagreement is None:
            disagreement = min(max(DISAGREEMENT, 2 * epsilon), 1.0)
        return Plan(rows, epsilon, self.delta, submissions, accepted, disagreement, self.pot, found)

    def find_rows(self, epsilon: float, submissions: int) -> Plan:
        """Find the fewest rows; as many as plans go to, if none are enough."""

        def planned(at: int) -> Plan:
            return self.plan(number(at), epsilon, submissions, "rows")

        most = place(MOST_ROWS)
        least = find_least(lambda at: planned(at).is_enough, 1, most)
        return planned(most if least is None else least)

    def find_epsilon(self, rows: int, submissions: int) -> Plan:
        """Find the smallest epsilon; the one that comes nearest, if none is enough."""

        def planned(at: int) -> Plan:
            return self.plan(rows, number(at) / PARTS, submissions, "epsilon")

        most = place(largest_epsilon(self.acceptances or 0, self.disagreement or 1.0))
        least = find_least(lambda at: planned(at).is_enough, 1, most)
        if least is not None:
            return planned(least)
        return min((planned(max(1, most - step)) for step in range(0, 1800, 45)), key=_shortfall)

    def find_submissions(self, rows: int, epsilon: float) -> Plan:
        """Find the most submissions; as few as there can be, if even those are too many."""
        fewest = max(1, self.acceptances or 0)

        def planned(at: int) -> Plan:
            return self.plan(rows, epsilon, max(number(at), fewest), "submissions")

        most = find_most(lambda at: planned(at).is_enough, place(fewest), place(MOST_SUBMISSIONS))
        return planned(place(fewest) if most is None else most)


def _limits(plan: Plan) -> Limits:
    """Move each figure of a plan by itself; the disagreement upwards, from epsilon on if the plan is not enough."""

    def enough(**figures: Any) -> bool:
        return replace(plan, **figures).is_enough

    k, epsilon = plan.acceptances, plan.epsilon
    fewest = max(1, k)
    largest = place(largest_epsilon(k, plan.disagreement))
    narrowest = plan.disagreement if plan.is_enough else epsilon
    rows = find_least(lambda at: enough(rows=number(at)), 1, place(MOST_ROWS))
    finest = find_least(lambda at: enough(epsilon=number(at) / PARTS), 1, largest)
    surest = find_least(lambda at: enough(delta=number(at) / PARTS), 1, place(PARTS) - 1)
    asked = find_most(lambda at: enough(submissions=max(number(at), fewest)), place(fewest), place(MOST_SUBMISSIONS))
    accepted = find_most(lambda k: enough(acceptances=k), 0, min(plan.submissions, most_accepted(epsilon)))
    widest = find_most(
        lambda at: enough(disagreement=max(number(at) / PARTS, narrowest)),
        place(parts(narrowest)),
        place(PARTS),
    )
    return Limits(
        rows=None if rows is None else number(rows),
        epsilon=None if finest is None else number(finest) / PARTS,
        delta=None if surest is None else number(surest) / PARTS,
        submissions=None if asked is None else max(number(asked), fewest),
        acceptances=accepted,
        disagreement=None if widest is None else max(number(widest) / PARTS, narrowest),
    )


def _shortfall(plan: Plan) -> float:
    """Say how far a plan is from enough: by what factor it sees less than it is to see."""
    return inf if plan.reliably_sees is None else plan.reliably_sees / plan.epsilon


def _counted(asked: int, accepted: int) -> float:
    """Return the nats that Krichevsky and Trofimov's code charges for so many acceptances, in whatever order."""
    return log(pi) + lgamma(asked + 1) - lgamma(accepted + 0.5) - lgamma(asked - accepted + 0.5)
