"""Bounds for E Z and tests of E Z <= tau, from evidence alone, at any level.

All are valid for one query fixed before the rows are drawn; what makes them hold for adaptive queries is the level. A
level is given as its logarithm. One test is used for each loss and tau, settled before any evidence is seen: the better
of two at the same level is not valid.

- zero-one, tau = 0: the exact sign test. Ties say nothing about the sign of E Z, so it is the sharpest there is.
- zero-one, tau > 0: an exact binomial test at the largest chance of a win that the null allows, given a lower
  confidence bound for the rate of disagreement (eight tenths of the level for the one, a tenth for the other); or, at
  the last tenth, the bets below. The first is sharper at ordinary levels, the bets are at deep ones, where the rate of
  disagreement is known poorly; either may pass, since their parts of the level add up to the whole.
- zero-one, confidence bounds: a mixture of bets on wins, ties and losses (an e-value), inverted.
- any other loss: the sums bound, a mixture of exp(lambda S - psi(lambda) Q) / (1 + lambda m)^n, which is an e-value
  because exp(lambda z - psi(lambda) z^2) <= 1 + lambda z for z >= -1, psi(lambda) = -ln(1 - lambda) - lambda.

Whatever is not finite is a rejection.
"""

from math import isnan, log, nan

import numpy as np
import numpy.typing as npt

from biasbounty.errors import SettingsError
from biasbounty.statistics.evidence import Evidence
from biasbounty.statistics.tails import log_tail, lower_rate, rounding

_FRACTIONS = 1 / (1 + np.exp(-np.linspace(-7.0, 4.0, 45)))
"""The bets of the mixtures, as fractions of the largest one allowed: fixed in advance, closer together where small."""
_LOG_WEIGHT = -log(len(_FRACTIONS))
_RATE_SHARE, _BETS_SHARE = 0.1, 0.1
"""The parts of a level spent on the rate of disagreement, and on bets; the rest is for wins against losses."""
_WINS_SHARE = 1 - _RATE_SHARE - _BETS_SHARE


def passes(evidence: Evidence, tau: float, log_level: float, *, zero_one: bool) -> bool:
    """Test E Z <= tau at this level; true means that it is rejected: the contribution is more than tau."""
    _check(log_level)
    if evidence.contribution <= tau:
        return False
    if not zero_one:
        return log_e_value(evidence, tau, zero_one=False) >= -log_level
    if tau <= 0:
        return _sign_test(evidence, log_level)
    return _test_of_wins(evidence, tau, log_level) or log_e_value(evidence, tau, zero_one=True) >= -log_level - log(
        _BETS_SHARE
    )


def _sign_test(evidence: Evidence, log_level: float) -> bool:
    """Test wins against losses, evenly likely at most."""
    wins, losses = _wins_and_losses(evidence)
    return log_tail(wins + losses, wins, 0.5) <= log_level - rounding(evidence.n)


def _test_of_wins(evidence: Evidence, tau: float, log_level: float) -> bool:
    """Test wins against losses, as uneven as the null allows at the lowest rate of disagreement."""
    wins, losses = _wins_and_losses(evidence)
    differ, for_wins = wins + losses, log_level - rounding(evidence.n) + log(_WINS_SHARE)
    if log_tail(differ, wins, (1 + tau * evidence.n / differ) / 2) > for_wins:
        return False  # not even if the rate were the observed one, and the lower bound is below that
    rate = lower_rate(evidence.n, differ, log_level + log(_RATE_SHARE))
    return tau < rate and log_tail(differ, wins, (1 + tau / rate) / 2) <= for_wins


def lower_bound(evidence: Evidence, log_level: float, *, zero_one: bool) -> float:
    """Return a lower confidence bound for E Z: it is above E Z with at most the level's probability."""
    _check(log_level)
    if evidence.n == 0:
        return -1.0
    low, high = -1.0, max(-1.0, min(1.0, evidence.contribution))
    for _ in range(60):
        middle = (low + high) / 2
        rejected = log_e_value(evidence, middle, zero_one=zero_one) >= -log_level
        low, high = (middle, high) if rejected else (low, middle)
    return low


def upper_bound(evidence: Evidence, log_level: float, *, zero_one: bool) -> float:
    """Return an upper confidence bound for E Z: it is below E Z with at most the level's probability."""
    mirrored = Evidence(evidence.n, -evidence.total, evidence.total_squares, evidence.scale)
    return -lower_bound(mirrored, log_level, zero_one=zero_one)


def log_e_value(evidence: Evidence, mean: float, *, zero_one: bool) -> float:
    """Return the logarithm of the e-value against E Z <= mean: the fortune of bets that no such mean lets grow."""
    terms = _bets(evidence, mean) if zero_one else _sums(evidence, mean)
    highest = float(terms.max())
    value = highest + log(float(np.exp(terms - highest).sum())) + _LOG_WEIGHT
    return -np.inf if isnan(value) else value


def _bets(evidence: Evidence, mean: float) -> npt.NDArray[np.float64]:
    """Return the log fortune of each bet on wins, ties and losses."""
    wins, losses = _wins_and_losses(evidence)
    ties = evidence.n - wins - losses
    bet = _FRACTIONS / (1 + mean) if mean > -1 else np.full_like(_FRACTIONS, nan)
    return np.asarray(wins * np.log1p(bet * (1 - mean)) + ties * np.log1p(-bet * mean) + losses * np.log1p(-_FRACTIONS))


def _sums(evidence: Evidence, mean: float) -> npt.NDArray[np.float64]:
    """Return the log of each term of the sums bound."""
    total, squares = evidence.total / evidence.scale, evidence.total_squares / evidence.scale**2
    bet = _FRACTIONS
    growth = bet * total + (np.log1p(-bet) + bet) * squares
    return np.asarray(growth - evidence.n * np.log1p(bet * mean))


def _wins_and_losses(evidence: Evidence) -> tuple[int, int]:
    total, differ = evidence.total, evidence.total_squares
    if evidence.scale != 1 or (total + differ) % 2 or not abs(total) <= differ <= evidence.n:
        raise SettingsError(
            f"evidence is not of a zero-one loss: expected whole wins and losses, got total {total}, "
            f"total_squares {differ} in units of 1/{evidence.scale}"
        )
    return int(differ + total) // 2, int(differ - total) // 2


def _check(log_level: float) -> None:
    if not log_level < 0:
        raise SettingsError(f"level is not a level: expected a logarithm below 0, got {log_level}")
