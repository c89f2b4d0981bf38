"""biasbounty: run a bias bounty on any trained model.

    bounty = biasbounty.Bounty(model, X_holdout, y_holdout, loss="zero_one")
    verdict = bounty.submit(lambda X: X[:, 2] > 1, better_model)
    bounty.model.predict(X)

`Bounty` judges submissions, `Schema` says what predicate text may name, `PointerDecisionList` is the patched model,
`losses` makes losses, `errors` has every exception in one tree; `biasbounty.exchange.predicate.parse` reads predicate
text, `biasbounty.reporting.write_report` writes a report, `biasbounty.checks` has contract suites.

`to_onnx` turns a fitted model or a whole patched list into one ONNX file, `save` and `load` keep a list as an archive;
`biasbounty.sandbox.Sandbox` runs strangers' ONNX without trust.

`Client` speaks to a bounty held by a service.

Where algorithms hunt instead of people: `find_disparities`, the finders, `BountyClassifier`, `BountyRegressor`. These
need scikit-learn, which is imported when the first of them is asked for.
"""

from typing import TYPE_CHECKING, Any

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
from biasbounty.errors import (
    BiasBountyError,
    BountyStoppedError,
    RefusedError,
    SubmissionError,
    SubmissionFailedError,
)
from biasbounty.exchange.archive import load, save
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.schema import Schema
from biasbounty.exchange.to_onnx import to_onnx
from biasbounty.statistics import Evidence
from biasbounty.statistics.planning import Plan, plan
from biasbounty.values import Certificate, Repair, Round, Verdict

if TYPE_CHECKING:
    from biasbounty.client import Client
    from biasbounty.finders import (
        AlternatingFinder,
        BountyClassifier,
        BountyRegressor,
        ExamplesFinder,
        Finder,
        ResidualFinder,
        SliceFinder,
        TernaryFinder,
        find_disparities,
    )

__all__ = [
    "AlternatingFinder",
    "Anytime",
    "BiasBountyError",
    "Bounty",
    "BountyClassifier",
    "BountyRegressor",
    "BountyStoppedError",
    "Certificate",
    "Checker",
    "Client",
    "Evidence",
    "Examination",
    "ExamplesFinder",
    "Explanation",
    "Finder",
    "Holdout",
    "LocalHoldout",
    "OnnxModel",
    "Opened",
    "Outcome",
    "Paper",
    "Payouts",
    "Plain",
    "Plan",
    "PointerDecisionList",
    "Posed",
    "Question",
    "RefusedError",
    "Repair",
    "RepairNode",
    "ResidualFinder",
    "Round",
    "Schema",
    "SliceFinder",
    "SubmissionError",
    "SubmissionFailedError",
    "TernaryFinder",
    "UpdateNode",
    "Verdict",
    "__version__",
    "errors",
    "find_disparities",
    "load",
    "losses",
    "plan",
    "save",
    "to_onnx",
]


def __getattr__(name: str) -> Any:
    """Import what needs scikit-learn, or httpx, only when it is asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("biasbounty.client" if name == "Client" else "biasbounty.finders"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
