"""Terms: what an organizer settles when a bounty opens, and everyone may read. They never change afterwards."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from biasbounty import losses
from biasbounty.core.anytime import Anytime
from biasbounty.core.checkers import Checker
from biasbounty.core.payouts import DEFAULT_STEP, Payouts
from biasbounty.core.thresholds import Paper, Plain
from biasbounty.errors import SettingsError
from biasbounty.given import require_words
from biasbounty.losses import Loss
from biasbounty.service.context import written


@dataclass(frozen=True)
class Terms:
    """The terms of a bounty.

    Args:
        name: What the bounty is called.
        label: The column that is to be foretold.
        loss: "zero_one", "absolute" or "squared".
        low: The least label, for the losses of a regression.
        high: The largest label.
        checker: "anytime", "paper" or "plain".
        epsilon: What an accepted submission surely contributes is more than half of this.
        delta: The probability that anything was accepted wrongly, ever.
        submissions: Of "paper": how many submissions there can be.
        repairs: Whether groups fixed earlier are kept from getting worse.
        pot: What there is to pay in all, in cents.
        grid: Contributions are rounded down to multiples of this.
        rate: Cents for a contribution of 1; the pot if none is given.
        quota: How many submissions a hunter may hand in on one day, and a team.
        rules: What else hunters should know.
        closes: When it ends, as an ISO date and time; it is open until it is closed by hand if empty.
        hide_leaderboard: Whether the leaderboard is shown only at the close.
    """

    name: str
    label: str
    loss: str = "zero_one"
    low: float = 0.0
    high: float = 1.0
    checker: str = "anytime"
    epsilon: float = 0.005
    delta: float = 0.05
    submissions: int = 1000
    repairs: bool = True
    pot: int = 0
    grid: float = DEFAULT_STEP
    rate: float | None = None
    quota: int = 100
    rules: str = ""
    closes: str = ""
    hide_leaderboard: bool = False

    def __post_init__(self) -> None:
        require_words(self.name, "name")
        require_words(self.label, "label")
        if not isinstance(self.quota, int) or isinstance(self.quota, bool) or self.quota < 1:
            raise SettingsError(f"quota is out of range: expected a whole number from 1, got {self.quota!r}")
        if not _is_text(self.rules):
            raise SettingsError(
                "rules cannot be shown: expected at most 20,000 printable characters, got another thing"
            )
        object.__setattr__(self, "closes", _moment(self.closes))
        self.make_loss(), self.make_checker(), self.make_payouts()

    def make_loss(self) -> Loss:
        """Return the loss."""
        if self.loss == "zero_one":
            return losses.get("zero_one")
        if self.loss in ("absolute", "squared"):
            made: Loss = getattr(losses, self.loss)(self.low, self.high)
            return made
        raise SettingsError(f"loss is unknown: expected zero_one, absolute or squared, got {self.loss!r}")

    def make_checker(self) -> Checker:
        """Return the checker."""
        if self.checker == "anytime":
            return Anytime(self.epsilon, self.delta)
        if self.checker == "paper":
            return Paper(self.epsilon, self.delta, self.submissions)
        if self.checker == "plain":
            return Plain()
        raise SettingsError(f"checker is unknown: expected anytime, paper or plain, got {self.checker!r}")

    def make_payouts(self) -> Payouts:
        """Return what is paid."""
        return Payouts(self.pot, self.grid, self.rate)

    def as_json(self) -> dict[str, Any]:
        """Return the terms as canonical JSON holds them: numbers that are not whole are text."""
        return {name: repr(value) if isinstance(value, float) else value for name, value in asdict(self).items()}

    @staticmethod
    def of(given: Mapping[str, Any]) -> "Terms":
        """Read terms, as `as_json` wrote them or as an organizer did."""
        known = {field.name: field.type for field in fields(Terms)}
        unknown = set(given) - set(known)
        if unknown:
            raise SettingsError(
                f"terms are unknown: expected some of {', '.join(known)}, got {', '.join(sorted(map(str, unknown)))}"
            )
        missing = {"name", "label"} - set(given)
        if missing:
            raise SettingsError(
                f"terms are incomplete: expected name and label, and {' and '.join(missing)} is missing"
            )
        read: dict[str, Any] = {
            name: _number(name, value) if known[name] in _REAL else value for name, value in given.items()
        }
        return Terms(**read)


def _is_text(words: Any) -> bool:
    return (
        isinstance(words, str)
        and len(words) <= 20_000
        and all(letter.isprintable() or letter in "\r\n\t" for letter in words)
    )


def _moment(text: Any) -> str:
    """Return an ISO date and time as it is written everywhere here; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text) if text else None
    except (TypeError, ValueError) as error:
        raise SettingsError(
            f"closes is no date: expected one such as 2030-12-31T18:00:00Z, or nothing, got {text!r:.40}"
        ) from error
    if moment is None:
        return ""
    return written(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


_REAL = {float, "float", float | None, "float | None"}


def _number(name: str, value: Any) -> float | None:
    if value is None and name == "rate":
        return None
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{name} is no number: expected one, got {value!r:.40}") from error
