"""The frozen values that pass between the rooms.

A `Verdict` and a `Round` may be shown to anyone: neither carries anything of the holdout beyond the answer itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias


class Estimator(Protocol):
    """Anything fitted that answers through `predict`."""

    def predict(self, X: Any, /) -> Any:
        """Answer one value for each row of X."""


RowFunction: TypeAlias = Callable[[Any], Any] | Estimator
"""A group or a model: a callable on a frame or array, or a fitted estimator; a function of one row at a time."""
MOST_WORDS = 500
"""How many characters a hunter's name or a note may have."""


def as_note(words: str) -> str:
    """Return words as a note: in printable characters, and no more of them than a note may have."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in words)
    return printable if len(printable) <= MOST_WORDS else f"{printable[: MOST_WORDS - 3]}..."


@dataclass(frozen=True)
class Certificate:
    """The parsed claim of a submission: on this group, this model does better."""

    group: RowFunction
    model: RowFunction
    hunter: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Repair:
    """A protected group sent back to the earlier round that served it better."""

    group: int
    """Index of the protected group, in order of acceptance."""
    pointer: int
    """Number of the round that answers for the group from now on."""


@dataclass(frozen=True)
class Verdict:
    """The answer to one submission, fit to be shown to the hunter."""

    accepted: bool
    round: int
    """Number of the round that is current after this submission."""
    repairs: tuple[Repair, ...] = ()
    payout: int = 0
    """Integer cents; 0 where there is no pot."""


@dataclass(frozen=True)
class Round:
    """A published model: which submission made it, and how many nodes it has."""

    number: int
    head: int
    """The number of nodes of the decision list in this round."""
    hunter: str | None = None
    note: str = ""
    repairs: tuple[Repair, ...] = ()
