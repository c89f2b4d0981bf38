"""The contract of Finder: a pure function of its arguments, whose certificates hold on the rows that were searched."""

from typing import Any

import numpy as np

from biasbounty import losses
from biasbounty.checks.expect import expect
from biasbounty.core.answers import answers_of, mask_of
from biasbounty.core.rows import Rows
from biasbounty.finders.interface import Finder, contribution
from biasbounty.losses import Loss
from biasbounty.values import MOST_WORDS, Certificate

CLASSES, NUMBERS = losses.zero_one, losses.absolute(0.0, 1.0)


def verify_finder(finder: Finder, *, loss: Loss = CLASSES, size: int = 1_200, seed: int = 0) -> None:
    """Raise ContractError unless the finder keeps its contract on rows where a group has its answers upside down.

    Args:
        finder: The finder, which has to be one for such labels: 0 and 1 as classes, or as numbers from 0 to 1.
        loss: What an answer costs.
        size: How many rows there are.
        seed: Which rows.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(size, 3))
    right = X[:, 0] > 0
    y = right.astype(np.int64 if loss.zero_one else np.float64)
    predictions = np.where(X[:, 1] > 0.5, 1 - y, y)
    kept = [array.copy() for array in (X, y, predictions)]

    found = _found(finder, X, y, predictions, loss)
    expect("a finder changes nothing it is given", True, _same([X, y, predictions], kept))
    expect("a finder finds a group whose answers are upside down", True, found is not None)
    expect("a finder finds nothing where nothing is wrong", None, _found(finder, X, y, y, loss))
    if found is not None:
        _verify_certificate(found, X, y, predictions, loss)
        again = _found(finder, X, y, predictions, loss)
        expect("a finder is repeatable", True, again is not None and _same(_answers(found, X), _answers(again, X)))
        expect("a finder says the same again", found.note, again.note if again else None)


def _verify_certificate(found: Certificate, X: Any, y: Any, predictions: Any, loss: Loss) -> None:
    mask, answers = _answers(found, X)
    fall = contribution(mask, predictions, answers, y, loss)
    expect("a certificate contributes on the rows searched", True, fall > 0)
    expect("a certificate says itself in words", True, 0 < len(found.note) <= MOST_WORDS)
    order = np.arange(len(X))[::-1]
    expect("a group is row-wise: order", True, _same([mask[order]], [mask_of(found.group, Rows(X[order]))]))
    alone = [bool(mask_of(found.group, Rows(X[at : at + 1]))[0]) for at in range(0, len(X), 97)]
    expect("a group is row-wise: alone", mask[::97].tolist(), alone)
    own = X[mask]
    expect("a model is row-wise: order", True, _same([answers[::-1]], [answers_of(found.model, Rows(own[::-1]))]))
    some = [answers_of(found.model, Rows(own[at : at + 1]))[0] for at in range(0, len(own), 97)]
    expect("a model is row-wise: alone", answers[::97].tolist(), some)


def _found(finder: Finder, X: Any, y: Any, predictions: Any, loss: Loss) -> Certificate | None:
    return finder.find(X, y, predictions, np.random.default_rng(0), loss=loss)


def _answers(certificate: Certificate, X: Any) -> list[Any]:
    mask = mask_of(certificate.group, Rows(X))
    return [mask, answers_of(certificate.model, Rows(X[mask]))]


def _same(some: list[Any], others: list[Any]) -> bool:
    return all(np.array_equal(one, other) for one, other in zip(some, others, strict=True))
