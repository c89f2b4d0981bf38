"""Data to begin with: the census sample that comes with the package, and ways to more census data."""

from biasbounty.datasets.census import Sample, load_census
from biasbounty.datasets.first_experiment import Splits, hunt, initial_stump, split
from biasbounty.datasets.folktables import load_folktables
from biasbounty.datasets.groups import NamedGroup, demographic_groups
from biasbounty.datasets.states import AllStates, load_states

__all__ = [
    "AllStates",
    "NamedGroup",
    "Sample",
    "Splits",
    "demographic_groups",
    "hunt",
    "initial_stump",
    "load_census",
    "load_folktables",
    "load_states",
    "split",
]
