"""Sizes: how many holdout rows a guarantee needs."""

from math import ceil, floor, log


def rows_for_paper(epsilon: float, delta: float, submissions: int, *, repairs: bool = True) -> int:
    """Return the rows that the paper's theorem needs (docs/guarantees; the paper's own count is loose)."""
    accepted = floor(2 / epsilon)
    queries = submissions + (accepted**3 if repairs else 0)
    nats = log(2 * queries / delta) + accepted * log(queries + 1)
    return ceil(32 / epsilon**2 * nats)


def epsilon_for_paper(rows: int, delta: float, submissions: int, *, repairs: bool = True) -> float | None:
    """Return the smallest epsilon that the paper's theorem supports on so many rows (up to 4 digits), or None."""
    digits = 10_000
    low, high = 0, digits
    if rows_for_paper(1.0, delta, submissions, repairs=repairs) > rows:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        enough = rows_for_paper(middle / digits, delta, submissions, repairs=repairs) <= rows
        low, high = (low, middle) if enough else (middle, high)
    return high / digits
