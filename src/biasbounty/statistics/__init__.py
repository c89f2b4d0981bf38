"""What a decision needs from a holdout, and what may be concluded from it."""

from biasbounty.statistics.evidence import Evidence

__all__ = ["Evidence"]
