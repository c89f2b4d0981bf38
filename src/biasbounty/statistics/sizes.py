"""Sizes: how many holdout rows a guarantee needs."""

from math import ceil, floor, log


def rows_for_paper(epsilon: float, delta: float, submissions: int, *, repairs: bool = True) -> int:
    """Return the rows that the paper's theorem needs (docs/guarantees; the paper's own count is loose)."""
    accepted = floor(2 / epsilon)
    queries = submissions + (accepted**3 if repairs else 0)
    nats = log(2 * queries / delta) + accepted * log(queries + 1)
    return ceil(32 / epsilon**2 * nats)
