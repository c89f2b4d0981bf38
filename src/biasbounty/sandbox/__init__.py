"""Sandbox: runs models of strangers, which see the rows that they are given and nothing else."""

from biasbounty.sandbox.layers import Layers
from biasbounty.sandbox.runner import Sandbox

__all__ = ["Layers", "Sandbox"]
