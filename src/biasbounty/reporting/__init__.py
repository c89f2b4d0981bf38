"""Reports and charts: what a bounty has done, to look at. For the organizer: they show the holdout."""

from biasbounty.reporting.report import write_report

__all__ = ["write_report"]
