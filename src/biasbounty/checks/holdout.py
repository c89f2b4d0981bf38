"""The contract of Holdout, checked on small data by plain arithmetic on rows.

`verify_holdout(make)` asks for holdouts over given rows and plays seeded bounties on them, choosing submissions and
repairs itself; after every step all that the protocol offers is compared with sums over rows, which are exact integers,
so any implementation - packed, sharded, remote - must give the very same ones.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from biasbounty import losses
from biasbounty.checks.expect import expect
from biasbounty.core.columns import LEVELS
from biasbounty.core.holdout import Candidate, Holdout
from biasbounty.errors import ContractError, SettingsError, SubmissionError
from biasbounty.losses import Loss
from biasbounty.statistics import Evidence
from biasbounty.values import Certificate, Repair

Make: TypeAlias = Callable[[npt.NDArray[Any], npt.NDArray[Any]], Holdout]
Ints: TypeAlias = npt.NDArray[np.int64]

SIZES = (1, 2, 63, 64, 65, 200, 1000)


def verify_holdout(make: Make, *, seed: int = 0, sizes: tuple[int, ...] = SIZES) -> None:
    """Raise ContractError unless `make(X, y)` makes holdouts that keep the contract."""
    for size in sizes:
        for loss in (losses.zero_one, losses.absolute(0, 2)):
            _verify_run(make, loss, size, np.random.default_rng([seed, size]))
    _verify_opening(make)
    _verify_failure_changes_nothing(make)
    _verify_called_rows(make)
    _verify_rows_are_shielded(make)


class _Rows:
    """What a holdout of these rows must say, by plain arithmetic."""

    def __init__(self, loss: Loss, size: int, rng: np.random.Generator) -> None:
        self.X = np.arange(size).reshape(-1, 1)
        self.y = rng.integers(0, 3, size).astype(np.float64)
        self.loss, self.scale = loss, 1 if loss.zero_one else LEVELS
        self.masks: list[npt.NDArray[np.bool_]] = []
        self.rounds: list[Ints] = []

    def units(self, answers: npt.NDArray[Any]) -> Ints:
        """Return the loss of each row in units of 1/scale."""
        return np.rint(self.loss(answers, self.y) * self.scale).astype(np.int64)

    def evidence(self, mask: npt.NDArray[np.bool_], before: Ints, after: Ints) -> Evidence:
        """Sum Z and its squares, row by row."""
        z = np.where(mask, before - after, 0)
        return Evidence(len(z), int(z.sum()), int((z * z).sum()), self.scale)


def _table(values: npt.NDArray[Any]) -> Callable[[Any], Any]:
    return lambda X: values[X[:, 0]]


def _verify_run(make: Make, loss: Loss, size: int, rng: np.random.Generator) -> None:
    rows = _Rows(loss, size, rng)
    initial = rng.integers(0, 3, size).astype(np.float64)
    holdout = make(rows.X, rows.y)
    holdout.open(_table(initial), loss)
    rows.rounds.append(rows.units(initial))
    expect("size is the number of rows", size, holdout.size)
    expect("labels have the initial model's type", np.dtype(np.float64), holdout.labels.dtype)
    for step in range(6):
        mask = rng.random(size) < rng.choice([0.0, 0.1, 0.5, 1.0])
        answers = rng.integers(0, 5, size) / 2
        handle = holdout.score(Certificate(_table(mask), _table(answers)))
        after = rows.units(answers)
        for number, before in enumerate(rows.rounds):
            expect("evidence is exact", rows.evidence(mask, before, after), holdout.evidence(handle, number))
        if step % 3 != 2:
            _verify_round(holdout, rows, holdout.candidate(handle), mask, after, rng)
        _verify_published(holdout, rows)


def _verify_round(
    holdout: Holdout, rows: _Rows, candidate: Candidate, mask: Any, after: Ints, rng: np.random.Generator
) -> None:
    """Check a candidate and two repairs of it, then publish it."""
    masks, losses_ = [*rows.masks, mask], np.where(mask, after, rows.rounds[-1])
    for last in (False, False, True):
        totals = [[int((losses_ - before)[m].sum()) for before in rows.rounds] for m in masks]
        expect("regressions are exact", totals, holdout.regressions(candidate).tolist())
        repair = Repair(int(rng.integers(len(masks))), int(rng.integers(len(rows.rounds))))
        repaired = masks[repair.group], rows.rounds[repair.pointer]
        expected = rows.evidence(repaired[0], losses_, repaired[1])
        expect("evidence for a repair is exact", expected, holdout.repair_evidence(candidate, repair))
        expect("a candidate is not published yet", len(rows.rounds), holdout.rounds)
        if not last:
            candidate, losses_ = holdout.repaired(candidate, repair), np.where(*repaired, losses_)
    holdout.append(candidate)
    rows.masks, rows.rounds = masks, [*rows.rounds, losses_]


def _verify_published(holdout: Holdout, rows: _Rows) -> None:
    expect("rounds counts the published rounds", len(rows.rounds), holdout.rounds)
    expect("groups counts the protected groups", len(rows.masks), holdout.groups)
    if rows.masks:
        group, earlier, later = len(rows.masks) - 1, 0, len(rows.rounds) - 1
        expected = rows.evidence(rows.masks[group], rows.rounds[later], rows.rounds[earlier])
        got = holdout.published_evidence(later, Repair(group, earlier))
        expect("evidence between published rounds is exact", expected, got)
    for number, losses_ in enumerate(rows.rounds):
        expect("risk is the mean loss", int(losses_.sum()) / (holdout.size * rows.scale), holdout.risk(number))
        for group, mask in enumerate(rows.masks):
            if mask.any():
                mean = int(losses_[mask].sum()) / (int(mask.sum()) * rows.scale)
                expect("risk of a group is the mean loss over its rows", mean, holdout.risk(number, group))
            else:
                expect("risk of an empty group is 0", 0.0, holdout.risk(number, group))


def _verify_opening(make: Make) -> None:
    """Check that a holdout opens once, and that a fresh one has the same rows and no history."""
    holdout, zeros = make(np.arange(5).reshape(-1, 1), np.array([0, 1, 1, 0, 1])), _table(np.zeros(5, np.int64))
    holdout.open(zeros, losses.zero_one)
    holdout.append(holdout.candidate(holdout.score(Certificate(_table(np.ones(5)), _table(np.ones(5))))))
    _expect_raises("a holdout opens once", SettingsError, lambda: holdout.open(zeros, losses.zero_one))
    fresh = holdout.fresh()
    fresh.open(zeros, losses.zero_one)
    expect("a fresh holdout has the same rows", (5, 0.6), (fresh.size, fresh.risk(0)))
    expect("a fresh holdout has no history", (1, 0), (fresh.rounds, fresh.groups))


def _bad_submissions() -> Iterator[tuple[str, Certificate]]:
    good = _table(np.ones(5))

    def fails(X: Any) -> Any:
        raise ValueError(f"no answer for {len(X)} rows")

    yield "a group that fails", Certificate(fails, good)
    yield "a group of the wrong length", Certificate(lambda X: np.ones(len(X) + 1), good)
    yield "a group that answers NaN", Certificate(lambda X: np.full(len(X), np.nan), good)
    yield "a group that answers 2", Certificate(lambda X: np.full(len(X), 2), good)
    yield "a model that fails", Certificate(good, fails)
    yield "a model of the wrong length", Certificate(good, lambda X: np.ones(len(X) + 1))
    yield "a model that answers NaN", Certificate(good, lambda X: np.full(len(X), np.nan))
    yield "a group that looks at its batch", Certificate(lambda X: np.arange(len(X)) == len(X) - 1, good)


def _verify_failure_changes_nothing(make: Make) -> None:
    holdout = make(np.arange(5).reshape(-1, 1), np.array([0, 1, 1, 0, 1]))
    holdout.open(_table(np.zeros(5, np.int64)), losses.zero_one)
    for words, certificate in _bad_submissions():
        _expect_raises(f"{words} is refused", SubmissionError, functools.partial(holdout.score, certificate))
        expect(f"{words} changes nothing", (1, 0, 0.6), (holdout.rounds, holdout.groups, holdout.risk(0)))


def _verify_called_rows(make: Make) -> None:
    """Check that a model is asked only about rows of its group, and not at all if there are none."""
    holdout = make(np.arange(300).reshape(-1, 1), np.zeros(300, np.int64))
    holdout.open(_table(np.zeros(300, np.int64)), losses.zero_one)
    asked: set[int] = set()

    def model(X: Any) -> Any:
        asked.update(X[:, 0].tolist())
        return np.zeros(len(X))

    holdout.score(Certificate(lambda X: np.zeros(len(X), np.bool_), model))
    expect("a model whose group is empty is not asked", set(), asked)
    holdout.score(Certificate(lambda X: X[:, 0] % 7 == 0, model))
    expect("a model is asked about the rows of its group only", set(range(0, 300, 7)), asked)


def _verify_rows_are_shielded(make: Make) -> None:
    """Check that a submission which writes into what it is given leaves the holdout as it was."""
    holdout, ones = make(np.arange(5).reshape(-1, 1), np.array([0, 1, 1, 0, 1])), _table(np.ones(5))
    holdout.open(_table(np.zeros(5, np.int64)), losses.zero_one)
    before = holdout.evidence(holdout.score(Certificate(ones, ones)), 0)

    def vandal(X: Any) -> Any:
        X += 1
        return np.ones(len(X))

    with contextlib.suppress(SubmissionError):
        holdout.score(Certificate(vandal, ones))
    expect("a submission cannot change the rows", before, holdout.evidence(holdout.score(Certificate(ones, ones)), 0))


def _expect_raises(clause: str, kind: type[Exception], act: Callable[[], object]) -> None:
    got = "no exception"
    try:
        act()
    except kind:
        return
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
    raise ContractError(f"{clause}: expected {kind.__name__}, got {got}")
