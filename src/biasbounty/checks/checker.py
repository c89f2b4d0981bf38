"""The contract of Checker: a pure function of the transcript that accepts no fall in risk that is not there."""

from biasbounty.checks.expect import expect
from biasbounty.core.checkers import Checker
from biasbounty.core.transcript import Question
from biasbounty.statistics import Evidence


def verify_checker(checker: Checker, size: int = 100_000) -> None:
    """Raise ContractError unless the checker is deterministic, states its guarantee, and never accepts S <= 0."""
    examination, again = (checker.begin(size, repairs=True, zero_one=True) for _ in range(2))
    expect("a checker says what it guarantees, in words", True, len(examination.guarantee) > 20)
    for step in range(30):
        question = Question("submission") if step % 3 else Question("repair", step + 1)
        total = (step - 15) * size // 40
        evidence = Evidence(size, total, abs(total))
        posed, repeated = examination.pose(question), again.pose(question)
        accepted = [one.passes(evidence) for one in (posed, repeated)]
        expect("a checker is deterministic", accepted[0], accepted[1])
        expect("posing a question changes nothing", accepted[0], examination.pose(question).passes(evidence))
        if total <= 0:
            expect("a checker never accepts a total that is not positive", False, accepted[0])
        response = 0 if accepted[0] else None
        before = examination
        examination, again = posed.after(response), repeated.after(response)
        expect("an examination is a value", accepted[0], before.pose(question).passes(evidence))
        expect("a checker stops by the transcript alone", examination.stopped, again.stopped)
