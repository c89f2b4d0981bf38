"""Data to begin with: the census sample that comes with the package."""

from biasbounty.datasets.census import Sample, load_census

__all__ = ["Sample", "load_census"]
