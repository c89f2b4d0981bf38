"""Outcomes in words: what a job wrote becomes arrays, and whatever went wrong with it an error that says what to do."""

import signal
from dataclasses import dataclass

from biasbounty.arrays import Array
from biasbounty.errors import RefusedError, SubmissionError, SubmissionFailedError
from biasbounty.sandbox import answers
from biasbounty.sandbox.process import Outcome


@dataclass(frozen=True)
class Allowance:
    """What a job may take."""

    memory_mb: float
    seconds: float


def arrays_of(outcome: Outcome, allowance: Allowance, most_bytes: int) -> list[Array]:
    """Return the arrays that a job answered with; raise SubmissionFailedError or RefusedError if it did not."""
    if outcome.is_late or outcome.code == -signal.SIGXCPU:
        raise _failed("runs too long", f"an answer within {allowance.seconds:g} s", "none", "submit a smaller one")
    if outcome.is_too_much:
        raise _failed("answers too much", f"at most {most_bytes} bytes", "more", "answer one short value for each row")
    try:
        read = answers.read(outcome.data)
    except answers.ForgedError as error:
        if outcome.code:
            raise _crashed(outcome.code, allowance) from error
        raise _failed(
            "has no answer", "arrays", f"{len(outcome.data)} bytes that are none", "submit another"
        ) from error
    if isinstance(read, answers.Told):
        raise _told(read, allowance)
    return read


def _crashed(code: int, allowance: Allowance) -> SubmissionFailedError:
    try:
        how = signal.Signals(-code).name
    except ValueError:
        how = f"exit code {code}"
    advice = f"submit one that is smaller and needs less than {allowance.memory_mb:g} MB"
    return _failed("crashes", "an answer", f"an end by {how}", advice)


def _told(told: answers.Told, allowance: Allowance) -> SubmissionError:
    if told.kind == answers.NO_MEMORY:
        return _failed("needs too much memory", f"at most {allowance.memory_mb:g} MB", "more", "submit a smaller one")
    if told.kind == answers.REFUSED:
        return RefusedError([told.words])
    return SubmissionFailedError(told.words)


def _failed(problem: str, expected: str, got: str, advice: str) -> SubmissionFailedError:
    return SubmissionFailedError(f"model {problem}: expected {expected}, got {got}; {advice}")
