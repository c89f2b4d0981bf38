"""Finders: algorithms that hunt for certificates, each in a file of its own, and training by them.

`interface` says what a finder is, `biasbounty.checks.verify_finder` is its contract, `training` has the scikit-learn
estimators that are trained by one, `disparities` is where an analyst begins.
"""

from biasbounty.finders.alternating import AlternatingFinder
from biasbounty.finders.disparities import Disparities, Disparity, find_disparities
from biasbounty.finders.examples import ExamplesFinder
from biasbounty.finders.interface import Finder
from biasbounty.finders.residual import ResidualFinder
from biasbounty.finders.slices import SliceFinder
from biasbounty.finders.ternary import TernaryFinder
from biasbounty.finders.training import BountyClassifier, BountyRegressor

__all__ = [
    "AlternatingFinder",
    "BountyClassifier",
    "BountyRegressor",
    "Disparities",
    "Disparity",
    "ExamplesFinder",
    "Finder",
    "ResidualFinder",
    "SliceFinder",
    "TernaryFinder",
    "find_disparities",
]
