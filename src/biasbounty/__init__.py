"""biasbounty: run a bias bounty on any trained model.

    bounty = biasbounty.Bounty(model, X_holdout, y_holdout, loss="zero_one")
    verdict = bounty.submit(lambda X: X[:, 2] > 1, better_model)
    bounty.model.predict(X)

`Bounty` judges submissions, `PointerDecisionList` is the patched model, `losses` makes losses, `errors` has every
exception in one tree; `biasbounty.reporting.write_report` writes a report, `biasbounty.checks` has contract suites.
"""

from biasbounty import errors, losses
from biasbounty._version import __version__
from biasbounty.bounty import Bounty
from biasbounty.core.anytime import Anytime
from biasbounty.core.checkers import Checker, Examination, Posed
from biasbounty.core.decision_list import Explanation, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.core.holdout import Holdout
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.core.opened import Opened
from biasbounty.core.payouts import Payouts
from biasbounty.core.process import Outcome
from biasbounty.core.thresholds import Paper, Plain
from biasbounty.core.transcript import Question
from biasbounty.errors import BiasBountyError, BountyStoppedError, SubmissionError
from biasbounty.statistics import Evidence
from biasbounty.statistics.planning import Plan, plan
from biasbounty.values import Certificate, Repair, Round, Verdict

__all__ = [
    "Anytime",
    "BiasBountyError",
    "Bounty",
    "BountyStoppedError",
    "Certificate",
    "Checker",
    "Evidence",
    "Examination",
    "Explanation",
    "Holdout",
    "LocalHoldout",
    "Opened",
    "Outcome",
    "Paper",
    "Payouts",
    "Plain",
    "Plan",
    "PointerDecisionList",
    "Posed",
    "Question",
    "Repair",
    "RepairNode",
    "Round",
    "SubmissionError",
    "UpdateNode",
    "Verdict",
    "__version__",
    "errors",
    "losses",
    "plan",
]
