"""The contract suites pass what keeps the contract and catch what breaks it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import biasbounty as bb
from biasbounty import checks, losses
from biasbounty.errors import BiasBountyError, ContractError
from biasbounty.statistics import Evidence


def test_the_local_holdout_keeps_the_contract_of_holdout() -> None:
    checks.verify_holdout(bb.LocalHoldout)


def _broken(name: str, wrong: Callable[..., Any]) -> type[bb.LocalHoldout]:
    return type("Broken", (bb.LocalHoldout,), {name: wrong})


@pytest.mark.parametrize(
    ("name", "wrong", "clause"),
    [
        ("evidence", lambda self, handle, round: Evidence(self.size, 0, 0, self.scale), "evidence is exact"),
        ("append", lambda self, candidate: None, "rounds counts"),
        ("regressions", lambda self, c: bb.LocalHoldout.regressions(self, c) * 0 + 1, "regressions are exact"),
        ("repaired", lambda self, candidate, repair: candidate, "regressions are exact"),
        ("risk", lambda self, round, group=None: 0.5, "risk is the mean loss"),
        ("fresh", lambda self: self, "opens once|fresh"),
    ],
)
def test_a_broken_holdout_is_caught_with_the_clause_it_breaks(name: str, wrong: Any, clause: str) -> None:
    with pytest.raises((ContractError, BiasBountyError), match=clause):
        checks.verify_holdout(_broken(name, wrong), sizes=(200,))


@pytest.mark.parametrize("loss", [losses.zero_one, losses.absolute(0, 3), losses.squared(0, 3)])
def test_the_losses_keep_the_contract_of_loss(loss: losses.Loss) -> None:
    rng = np.random.default_rng(0)
    checks.verify_loss(loss, rng.integers(0, 4, 50), rng.integers(0, 4, 50))


def test_a_loss_that_looks_at_its_batch_is_caught() -> None:
    loss = losses.function(lambda answers, labels: np.abs(answers - labels.mean()) / 3)
    with pytest.raises(ContractError, match="row-wise"):
        checks.verify_loss(loss, np.array([0, 1, 2]), np.array([0, 1, 1]))


@pytest.mark.parametrize(
    "checker", [bb.Plain(), bb.Plain(0.1), bb.Paper(0.3, 0.1, 20, allow_small_holdout=True), bb.Paper(1, 0.5, 3)]
)
def test_the_checkers_keep_the_contract_of_checker(checker: bb.Plain | bb.Paper) -> None:
    checks.verify_checker(checker)


def test_a_checker_that_accepts_no_improvement_is_caught() -> None:
    class Easy(bb.Plain):
        def begin(self, size: int, *, repairs: bool, zero_one: bool, public: bool = False) -> bb.Examination:
            easy = super().begin(size, repairs=repairs, zero_one=zero_one, public=public)
            posed = easy.pose(bb.Question("submission"))
            object.__setattr__(posed, "passes", lambda evidence: True)
            object.__setattr__(easy, "pose", lambda question: posed)
            return easy

    with pytest.raises(ContractError, match="not positive"):
        checks.verify_checker(Easy())
