"""Finders: algorithms that hunt for certificates, each in a file of its own, and training by them.

`interface` says what a finder is; `training` has the scikit-learn estimators that are trained by one.
"""

from biasbounty.finders.alternating import AlternatingFinder
from biasbounty.finders.interface import Finder
from biasbounty.finders.ternary import TernaryFinder
from biasbounty.finders.training import BountyClassifier, BountyRegressor

__all__ = ["AlternatingFinder", "BountyClassifier", "BountyRegressor", "Finder", "TernaryFinder"]
