"""Contract suites that anyone can run on an implementation of their own; each returns None or raises ContractError."""

from biasbounty.checks.checker import verify_checker
from biasbounty.checks.finder import verify_finder
from biasbounty.checks.holdout import verify_holdout
from biasbounty.checks.loss import verify_loss

__all__ = ["verify_checker", "verify_finder", "verify_holdout", "verify_loss"]
