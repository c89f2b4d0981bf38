"""biasbounty: run a bias bounty on any trained model."""

from biasbounty import losses
from biasbounty._version import __version__
from biasbounty.bounty import Bounty
from biasbounty.core.checkers import Paper, Plain
from biasbounty.core.decision_list import Explanation, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.core.holdout import Holdout
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.errors import BiasBountyError, BountyStoppedError, SubmissionError
from biasbounty.statistics import Evidence
from biasbounty.values import Certificate, Repair, Round, Verdict

__all__ = [
    "BiasBountyError",
    "Bounty",
    "BountyStoppedError",
    "Certificate",
    "Evidence",
    "Explanation",
    "Holdout",
    "LocalHoldout",
    "Paper",
    "Plain",
    "PointerDecisionList",
    "Repair",
    "RepairNode",
    "Round",
    "SubmissionError",
    "UpdateNode",
    "Verdict",
    "__version__",
    "losses",
]
