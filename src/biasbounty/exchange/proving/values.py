"""What is known of a tensor when the batch axis is followed through a graph, before any row is seen."""

from dataclasses import dataclass
from typing import Final, TypeAlias


class Batch:
    """The length of the batch axis: the number of rows."""

    def __repr__(self) -> str:
        return "N"


N: Final = Batch()

Length: TypeAlias = int | Batch | None
"""How long an axis is: N is the number of rows; None is not known, but the same whatever the rows are."""
Shape: TypeAlias = tuple[Length, ...]


MOST_AXES = 64
LONGEST = 2**40
"""Beyond these a tensor cannot be, so nothing needs to be known of it; and a proof takes no more time than a graph."""


@dataclass(frozen=True)
class Fixed:
    """The same whatever the rows are, and however many."""

    shape: Shape | None = None
    numbers: tuple[int, ...] | None = None
    """What it holds, where that is a few whole numbers along at most one axis."""


@dataclass(frozen=True)
class Aligned:
    """One of its axes is the batch: place i along it depends on row i of the inputs alone."""

    shape: Shape

    def __post_init__(self) -> None:
        if self.shape.count(N) > 1:
            raise NotProved("sets each row against all others")
        if len(self.shape) > MOST_AXES or any(isinstance(each, int) and each > LONGEST for each in self.shape):
            raise NotProved("makes a tensor that is larger than any can be")

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def batch(self) -> int:
        """Which axis is the batch; -1 where none is."""
        return self.shape.index(N) if N in self.shape else -1

    def with_length(self, axis: int, *lengths: Length) -> "Aligned":
        """Return the same with other axes, or none, in place of one."""
        return Aligned((*self.shape[:axis], *lengths, *self.shape[axis + 1 :]))


@dataclass(frozen=True)
class Sizes:
    """Whole numbers along at most one axis, among them the number of rows: what Shape returns, and parts of it."""

    numbers: Shape
    is_scalar: bool = False


def sizes(numbers: Shape, is_scalar: bool = False) -> Fixed | Sizes:
    """Return whole numbers as what they are: fixed, unless the number of rows is among them."""
    if N in numbers:
        return Sizes(numbers, is_scalar)
    known = tuple(number for number in numbers if isinstance(number, int))
    return Fixed(() if is_scalar else (len(numbers),), known if len(known) == len(numbers) else None)


@dataclass(frozen=True)
class Unproved:
    """Might depend on other rows; `reason` says why."""

    reason: str


Value: TypeAlias = Fixed | Aligned | Sizes | Unproved


class NotProved(Exception):  # noqa: N818 - no error, and nobody outside the proof sees it
    """Ends a rule that cannot show a node to treat each row alone."""


def product(lengths: Shape) -> int | None:
    """Return the product of lengths, if all are known."""
    total = 1
    for length in lengths:
        if not isinstance(length, int):
            return None
        total *= length
    return total


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape that tensors of these shapes have when they are combined value by value."""
    together: list[Length] = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for place, length in enumerate(shape, start=len(together) - len(shape)):
            together[place] = _combined(together[place], length)
    return tuple(together)


def _combined(first: Length, second: Length) -> Length:
    if first == 1 or second == 1:
        return second if first == 1 else first
    if first is second:
        return first
    if N in (first, second):
        raise NotProved("combines rows with what is not known to be the same for each of them")
    if first is None or second is None:
        return second if first is None else first
    if first != second:
        raise NotProved(f"combines lengths {first} and {second}, which do not go together")
    return first
