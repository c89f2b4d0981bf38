"""Surprise: codes for the transcript, and the shares of the error budget (docs/guarantees, P5).

The price of adaptivity is the code length of the answers given so far, in nats, under a code named in advance: before
each answer it gives every possible one a probability, and what the answer cost is charged after. What a code may look
at is `Asked`: public figures only. It has no way to any evidence of the holdout.

- `Binomial` counts (Krichevsky and Trofimov) and takes all alternatives for equally likely.
- `Predictive` foretells from public rows, and recalibrates by what was answered.
- `Mixture` of two codes costs at most ln 2 more than the better one.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp, log, log1p
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty.statistics.forecast import chance

Response: TypeAlias = int | None
"""The number of an alternative, or None for "no": a rejection, or the end of the repairs."""
Kind: TypeAlias = Literal["submission", "repair"]


SHIFTS = (0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, 8.0, 16.0)
STRETCHES = (1.0, 1.5, 3.0, 0.7)
CALIBRATIONS = tuple((shift, stretch) for shift in SHIFTS for stretch in STRETCHES)
"""Ways in which public rows may be too hopeful (positive shift) or too sure (a stretch above 1): fixed in advance."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is public about a question: how many alternatives to "no" there are, and what public rows foretell."""

    kind: Kind
    alternatives: int
    standing: float | None = None
    """How far above what passes public rows expect it, in standard deviations; None if there are none."""
    order: npt.NDArray[np.intp] | None = None
    """The alternatives, the likeliest first; None if nothing is known of them."""

    @property
    def chance(self) -> float:
        """The forecast of the chance that it is not "no"."""
        return 1.0 if self.standing is None else chance(self.standing)

    @cached_property
    def forecasts(self) -> list[float]:
        """The forecast recalibrated in each way; a half where nothing is known, and never quite 0 or 1."""
        if self.standing is None:
            return [0.5] * len(CALIBRATIONS)
        standing = self.standing
        return [min(max(chance((standing - shift) / stretch), 1e-9), 1 - 1e-9) for shift, stretch in CALIBRATIONS]

    def rank(self, alternative: int) -> int:
        """Return how many alternatives are likelier."""
        return alternative if self.order is None else int(np.flatnonzero(self.order == alternative)[0])


class Code(ABC):
    """Probabilities for the next answer: a frozen value that moves on with each."""

    @abstractmethod
    def log_yes(self, asked: Asked) -> float:
        """Return the logarithm of the probability of any answer but "no"."""

    @abstractmethod
    def log_no(self, asked: Asked) -> float:
        """Return the logarithm of the probability of "no"."""

    @abstractmethod
    def least_log_no(self, kind: Kind) -> float:
        """Return a lower bound of `log_no` for all questions of a kind that could be asked next."""

    @abstractmethod
    def log_alternative(self, asked: Asked, alternative: int) -> float:
        """Return the logarithm of the probability of this alternative, once it is known not to be "no"."""

    @abstractmethod
    def after(self, asked: Asked, response: Response) -> "Code":
        """Return the code for the answer after this one."""

    def log_probability(self, asked: Asked, response: Response) -> float:
        """Return the logarithm of the probability of a response."""
        if response is None:
            return self.log_no(asked)
        return self.log_yes(asked) + self.log_alternative(asked, response)


@dataclass(frozen=True)
class Tally:
    """How many questions of each kind were asked, and how many of them were not answered "no"."""

    asked: tuple[int, int] = (0, 0)
    accepted: tuple[int, int] = (0, 0)

    def of(self, kind: Kind) -> tuple[int, int]:
        """Return the two counts of a kind."""
        at = kind == "repair"
        return self.asked[at], self.accepted[at]

    def after(self, kind: Kind, yes: bool) -> "Tally":
        """Count one more."""
        repair = int(kind == "repair")
        (first, second), (yes_first, yes_second) = self.asked, self.accepted
        return Tally(
            (first + 1 - repair, second + repair), (yes_first + (yes and not repair), yes_second + (yes and repair))
        )


@dataclass(frozen=True)
class Binomial(Code):
    """Counting: about ln C(asked, accepted) nats in all, whatever the order; and ln m for one of m alternatives."""

    tally: Tally = field(default_factory=Tally)

    def log_yes(self, asked: Asked) -> float:
        """Return the logarithm of (accepted + 1/2)/(asked + 1)."""
        count, accepted = self.tally.of(asked.kind)
        return log((accepted + 0.5) / (count + 1))

    def log_no(self, asked: Asked) -> float:
        """Return the logarithm of (rejected + 1/2)/(asked + 1)."""
        return self.least_log_no(asked.kind)

    def least_log_no(self, kind: Kind) -> float:
        """Return the same: counting does not look at the question."""
        count, accepted = self.tally.of(kind)
        return log((count - accepted + 0.5) / (count + 1))

    def log_alternative(self, asked: Asked, alternative: int) -> float:  # noqa: ARG002
        """Take all alternatives for equally likely."""
        return -log(asked.alternatives)

    def after(self, asked: Asked, response: Response) -> "Binomial":
        """Count the answer."""
        return Binomial(self.tally.after(asked.kind, response is not None))


@dataclass(frozen=True)
class Predictive(Code):
    """Foretelling: a Bayes mixture over ways to recalibrate the forecast, each weighed by how well it foretold so far.

    The probability is kept in [1/(2(i+1)), 1 - 1/(2(i+1))] at answer i, so a wrong forecast cannot cost much. Of the
    alternatives the one of rank r (from 0) has probability in proportion to 1/((r+1)(r+2)).
    """

    weights: tuple[float, ...] = (1 / len(CALIBRATIONS),) * len(CALIBRATIONS)
    asked: int = 0

    @property
    def _least(self) -> float:
        return 1 / (2 * (self.asked + 1))

    def _yes(self, asked: Asked) -> float:
        foretold = sum(w * p for w, p in zip(self.weights, asked.forecasts, strict=True))
        return min(max(foretold, self._least), 1 - self._least)

    def log_yes(self, asked: Asked) -> float:
        """Return the logarithm of the recalibrated forecast."""
        return log(self._yes(asked))

    def log_no(self, asked: Asked) -> float:
        """Return the logarithm of what the recalibrated forecast leaves."""
        return log1p(-self._yes(asked))

    def least_log_no(self, kind: Kind) -> float:  # noqa: ARG002
        """Return what is left where the forecast is surest."""
        return log1p(self._least - 1)

    def log_alternative(self, asked: Asked, alternative: int) -> float:
        """Take alternatives for the less likely the lower they rank; the harmonic differences add up to m/(m + 1)."""
        rank, m = asked.rank(alternative), asked.alternatives
        return log((m + 1) / m) - log(rank + 1) - log(rank + 2)

    def after(self, asked: Asked, response: Response) -> "Predictive":
        """Weigh each way to recalibrate by the probability it gave to the answer."""
        chances = asked.forecasts
        weights = [w * (p if response is not None else 1 - p) for w, p in zip(self.weights, chances, strict=True)]
        total = sum(weights)
        return Predictive(tuple(w / total for w in weights), self.asked + 1)


@dataclass(frozen=True)
class Mixture(Code):
    """Half one code and half another, over whole transcripts: at most ln 2 nats more than the better of the two."""

    one: Code
    other: Code
    lead: float = 0.0
    """ln of the probability that `one` gave to the transcript, less that of `other`."""

    def _mixed(self, one: float, other: float) -> float:
        """Mix two logarithms of probabilities by how likely each code made the transcript so far."""
        return log_add(one + self.lead, other) - log_add(self.lead, 0.0)

    def log_yes(self, asked: Asked) -> float:
        """Mix the two."""
        return self._mixed(self.one.log_yes(asked), self.other.log_yes(asked))

    def log_no(self, asked: Asked) -> float:
        """Mix the two."""
        return self._mixed(self.one.log_no(asked), self.other.log_no(asked))

    def least_log_no(self, kind: Kind) -> float:
        """Mix the two."""
        return self._mixed(self.one.least_log_no(kind), self.other.least_log_no(kind))

    def log_alternative(self, asked: Asked, alternative: int) -> float:
        """Mix the two, each by what it gave to the transcript and to any answer but "no"."""
        both = [code.log_probability(asked, alternative) for code in (self.one, self.other)]
        return self._mixed(*both) - self.log_yes(asked)

    def after(self, asked: Asked, response: Response) -> "Mixture":
        """Move both on."""
        ahead = self.one.log_probability(asked, response) - self.other.log_probability(asked, response)
        return replace(
            self,
            one=self.one.after(asked, response),
            other=self.other.after(asked, response),
            lead=self.lead + ahead,
        )


def log_add(one: float, other: float) -> float:
    """Return ln(exp(one) + exp(other))."""
    high, low = max(one, other), min(one, other)
    return high + log1p(exp(low - high))


def log_share(rejected: float, promise: float = 1.0) -> float:
    """Return the logarithm of a query's share of the error budget.

    `rejected` is the sum of the promises of the queries rejected so far, F(x) = x/(1 + x); the share is
    F(rejected + promise) - F(rejected). The shares of any number of rejected queries add up to less than 1, and an
    accepted query gives its share back.
    """
    return log(promise) - log1p(rejected) - log1p(rejected + promise)
