"""Parts: which rows a round searches and which test it, decided by what is in a row and a seed.

Algorithm 5 of the paper divides its rows at random into parts of equal size; here the first are larger
(docs/decisions/0013-the-first-parts-are-larger.md). The draw is a hash of each row's content (features and label),
salted by the seed, so that the order of the rows does not matter. Equal rows are numbered and drawn one by one: were
they all to end in one part, a part would be no sample where few different rows exist. A row of weight three is three
rows, whichever way it is written; a weight that is no whole number is cut into equal pieces of at most 1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil

import numpy as np
import numpy.typing as npt

from biasbounty.core.rows import Ids
from biasbounty.finders.interface import Floats

Hashes = npt.NDArray[np.uint64]

MOST_PIECES = 4_000_000
"""Heavy rows are cut into so many pieces in all, at most, beside one for each row."""
A_FEW = 4
"""With few rows there are so many parts, if each can have what it needs."""
STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Pieces:
    """Rows in the order drawn, by number, equal ones apart; and how much each counts."""

    rows: Ids
    weights: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: slice) -> "Pieces":
        return Pieces(self.rows[at], self.weights[at])

    @property
    def shares(self) -> Floats | None:
        """The weights as fractions of the largest; None if all count the same."""
        if not len(self) or (self.weights == self.weights[0]).all():
            return None
        return np.asarray(self.weights / self.weights.max())

    def split(self) -> tuple["Pieces", "Pieces"]:
        """Return two halves; the first has the odd one."""
        middle = (len(self) + 1) // 2
        return self[:middle], self[middle:]


def draw_pieces(content: Iterable[Floats], weights: Floats | None, seed: int) -> Pieces:
    """Draw the order of rows: a function of which rows there are, how much each counts in all, and the seed.

    Args:
        content: One line for each row, in blocks of any size: all of its features, and its label.
        weights: How much each row counts, more than 0; 1 if not given.
        seed: Which of the orders.
    """
    hashes = np.concatenate([_hashes(block) for block in content])
    if weights is None and np.diff(np.sort(hashes)).all():
        drawn = np.argsort(_tickets(hashes, np.zeros(1, np.uint64), seed))
        return Pieces(drawn, np.ones(len(drawn)))
    order = np.argsort(hashes) if weights is None else np.lexsort((weights, hashes))
    own = hashes[order]
    firsts = np.flatnonzero(np.diff(own, prepend=~own[:1]))
    totals = np.diff(firsts, append=len(own)) if weights is None else np.add.reduceat(weights[order], firsts)
    copies = np.ceil(totals / max(1.0, totals.sum() / MOST_PIECES)).astype(np.intp)
    kind = np.repeat(np.arange(len(copies)), copies)
    number = np.arange(len(kind)) - np.repeat(np.cumsum(copies) - copies, copies)
    drawn = np.argsort(_tickets(own[firsts][kind], number.astype(np.uint64), seed))
    return Pieces(order[firsts][kind][drawn], (totals / copies)[kind][drawn])


def _tickets(hashes: Hashes, numbers: Hashes, seed: int) -> Hashes:
    """Return what rows are drawn by: a hash of what is in them, their number among equal ones, and the seed."""
    return _mixed(hashes ^ _mixed(numbers * STEP + np.uint64(seed)))


def _hashes(content: Floats) -> Hashes:
    """Hash each line; equal numbers are equal, however they are written."""
    plain = content + 0.0  # no zero below zero
    plain[np.isnan(plain)] = np.nan  # and one NaN only
    bits = plain.view(np.uint64)
    bits *= STEP
    bits ^= bits >> np.uint64(32)
    bits *= _mixed(np.arange(1, content.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    return _mixed(bits.sum(axis=1, dtype=np.uint64))


def _mixed(bits: Hashes) -> Hashes:
    """Mix the bits of each number: multiply and shift, as in splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def most_rounds(epsilon: float) -> int:
    """Return 2/epsilon, rounded up: more rounds than that cannot each lower risk by epsilon/2."""
    return ceil(2 / Fraction(str(float(epsilon))))


def rows_for_part(epsilon: float) -> int:
    """Return how many rows a part should have: 4/epsilon^2.

    Then three quarters of epsilon are more than three standard errors on the half that tests, where a certificate
    changes a tenth of the answers.
    """
    return ceil(4 / Fraction(str(float(epsilon))) ** 2)


def cut(pieces: Pieces, epsilon: float) -> list[Pieces]:
    """Cut into parts: 2/epsilon of them, or as many as are large enough, the first of them larger than the rest."""
    edges = np.cumsum([0, *_sizes(len(pieces), most_rounds(epsilon), rows_for_part(epsilon))])
    return [pieces[low:high] for low, high in pairwise(edges.tolist())]


def _sizes(rows: int, most: int, least: int) -> list[int]:
    """Give each part the least it needs; of what is left half goes to the first, half of the rest to the next, etc.

    There are so many parts that half of the rows are left, or a few at least.
    """
    count = max(1, min(most, max(rows // (2 * least), min(A_FEW, rows // least))))
    left, sizes = max(0, rows - count * least), []
    for _ in range(count - 1):
        sizes.append(least + left - left // 2)
        left //= 2
    return [*sizes, rows - sum(sizes)]
