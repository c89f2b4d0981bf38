"""Evidence: everything a decision needs from n holdout rows (docs/definitions.md).

For one query (f, g, h) every row has Z = 1[g(x)] (loss(f(x), y) - loss(h(x), y)) in [-1, 1]. The evidence is the
number of rows, the sum of Z and the sum of its squares. Evidence of disjoint sets of rows adds, exactly: the sums are
kept as integers, in units of 1/scale and 1/scale^2.
"""

from dataclasses import dataclass

from biasbounty.errors import SettingsError

_ROUNDING = 1 + 1e-9
"""Sums that are floats may be this little off."""


@dataclass(frozen=True)
class Evidence:
    """The rows, the sum and the sum of squares of Z, for one query."""

    n: int
    total: int | float
    total_squares: int | float
    scale: int = 1
    """The total is in units of 1/scale: 1 for zero-one losses, 65535 for all others."""

    def __post_init__(self) -> None:
        bound = self.n * self.scale
        fits = abs(self.total) <= bound and 0 <= self.total_squares <= bound * self.scale
        if self.n < 0 or not fits or self.total**2 > self.n * self.total_squares * _ROUNDING:
            raise SettingsError(
                f"evidence is impossible: expected |total| <= {bound}, total_squares from 0 to {bound * self.scale} "
                f"and total^2 <= n total_squares for n = {self.n}, got {self.total} and {self.total_squares}"
            )

    def __add__(self, other: "Evidence") -> "Evidence":
        if self.scale != other.scale:
            raise SettingsError(
                f"evidence does not add: expected scale {self.scale}, got {other.scale}; use one loss for all rows"
            )
        return Evidence(
            self.n + other.n,
            self.total + other.total,
            self.total_squares + other.total_squares,
            self.scale,
        )

    @property
    def contribution(self) -> float:
        """What overall risk falls by on these rows if the certificate is accepted: weight x gain."""
        return self.total / (self.n * self.scale) if self.n else 0.0
