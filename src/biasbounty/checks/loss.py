"""The contract of Loss: one value in [0, 1] for each row, and each row for itself."""

from typing import Any

import numpy as np
import numpy.typing as npt

from biasbounty.checks.expect import expect
from biasbounty.losses import Loss


def verify_loss(loss: Loss, predictions: npt.ArrayLike, labels: npt.ArrayLike) -> None:
    """Raise ContractError (or the loss's own error) unless the loss is row-wise, bounded and repeatable there."""
    answers, truth = np.asarray(predictions), np.asarray(labels)
    loss.check_labels(truth)
    values = loss(answers, truth)
    expect("a loss gives one number for each row", (len(truth),), values.shape)
    expect("a loss is repeatable", values.tolist(), loss(answers, truth).tolist())
    order = np.arange(len(truth))[::-1]
    expect("a loss is row-wise: order", values[order].tolist(), loss(answers[order], truth[order]).tolist())
    alone = [_one(loss, answers[at : at + 1], truth[at : at + 1]) for at in range(len(truth))]
    expect("a loss is row-wise: alone", values.tolist(), alone)


def _one(loss: Loss, answer: npt.NDArray[Any], label: npt.NDArray[Any]) -> float:
    return float(loss(answer, label)[0])
