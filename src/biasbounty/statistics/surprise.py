"""Surprise: what a transcript costs, and the shares of the error budget.

The price of adaptivity is the code length of the answers given so far, in nats, under a code that must be named before
each answer: a probability for every possible response. It sees the transcript and nothing of the holdout; that is why
these objects take only counts of past responses.
"""

from dataclasses import dataclass, replace
from math import log, log1p


@dataclass(frozen=True)
class Binomial:
    """Krichevsky and Trofimov's code for yes and no: about ln C(asked, accepted) nats in all, whatever the order."""

    asked: int = 0
    accepted: int = 0

    def log_probability(self, accepted: bool) -> float:
        """Return the logarithm of the probability of the next answer."""
        count = self.accepted if accepted else self.asked - self.accepted
        return log((count + 0.5) / (self.asked + 1))

    def after(self, accepted: bool) -> "Binomial":
        """Return the code for the answer after this one."""
        return replace(self, asked=self.asked + 1, accepted=self.accepted + accepted)


def log_share(rejected: float, promise: float = 1.0) -> float:
    """Return the logarithm of a query's share of the error budget.

    `rejected` is the sum of the promises of the queries rejected so far, F(x) = x/(1 + x); the share is
    F(rejected + promise) - F(rejected). The shares of any number of rejected queries add up to less than 1, and an
    accepted query gives its share back.
    """
    return log(promise) - log1p(rejected) - log1p(rejected + promise)
