"""What a plan comes to, in plain words."""

from math import log
from typing import TYPE_CHECKING

from biasbounty.statistics.numbers import digits
from biasbounty.statistics.plan_figures import MOST_SUBMISSIONS, PAYOUT_STEPS

if TYPE_CHECKING:
    from biasbounty.statistics.planning import Limits, Plan


def paragraphs(plan: "Plan") -> list[str]:
    """Say what a plan comes to, in plain words."""
    planned = (
        f"{_many(plan.rows, 'holdout row')}; {_many(plan.submissions, 'submission')}, {plan.acceptances:,} of them "
        f"accepted, each disagreeing with the model on {digits(100 * plan.disagreement)}% of the rows; "
        f"delta = {digits(plan.delta, 6)}."
    )
    paragraphs = [planned, f"{_sees(plan)} {_verdict(plan)}", _promise(plan), _passes(plan), _paper(plan)]
    return [each for each in (*paragraphs, _pay(plan)) if each]


def _sees(plan: "Plan") -> str:
    checker = f"Anytime(epsilon={digits(plan.epsilon, 6)}, delta={digits(plan.delta, 6)})"
    if plan.reliably_sees is None:
        return f"{checker} reliably sees none of these submissions to the last: each disagrees on too few of the rows."
    return (
        f"{checker} will reliably see contributions of {digits(plan.reliably_sees, up=True)} and more: even after all "
        "submissions it accepts them nine times in ten."
    )


def _verdict(plan: "Plan") -> str:
    """Say whether it is enough, and what would be."""
    epsilon = f"epsilon = {digits(plan.epsilon, 6)}"
    if not plan.is_enough:
        return f"That is not enough for {epsilon}; enough would be, each by itself, {_in_words(plan.limits)}."
    if plan.found == "rows":
        return f"These are the fewest rows for {epsilon}."
    if plan.found == "epsilon":
        return "That is the smallest epsilon for so many rows."
    if plan.found == "submissions":
        most = "as many as plans go to" if plan.submissions == MOST_SUBMISSIONS else "the most"
        return f"These are {most} submissions for {epsilon}."
    return f"That is enough for {epsilon}; so would be, each by itself, {_in_words(plan.limits)}."


def _in_words(limits: "Limits") -> str:
    words = (
        None if limits.rows is None else _many(limits.rows, "row"),
        None if limits.epsilon is None else f"epsilon = {digits(limits.epsilon)}",
        None if limits.delta is None else f"delta = {digits(limits.delta)}",
        None if limits.submissions is None else _many(limits.submissions, "submission"),
        None if limits.acceptances is None else _many(limits.acceptances, "acceptance"),
        None if limits.disagreement is None else f"a disagreement of {digits(limits.disagreement)}",
    )
    return ", ".join(each for each in words if each is not None) or "nothing"


def _promise(plan: "Plan") -> str:
    """Say what acceptances are worth, and that less could be promised of more."""
    surely, half = f"With probability {1 - plan.delta:.12g} every acceptance, ever,", digits(plan.floor, 6)
    if plan.finest is None:
        return f"{surely} truly lowers risk by more than {half}."
    return (
        f"{surely} truly lowers risk by more than {half}. With epsilon = 0 acceptances would surely lower risk, by "
        f"however little, and contributions of {digits(plan.finest, up=True)} would be reliably seen."
    )


def _passes(plan: "Plan") -> str:
    """Say what passes on the holdout, and what public rows could do about it: a level is never above delta/2."""
    if plan.first_resolution is None or plan.resolution is None:
        return ""
    first, last = digits(plan.first_resolution, up=True), digits(plan.resolution, up=True)
    return (
        f"On the holdout {first} passes at the first submission and {last} after all. Public rows that foretell the "
        f"answers lower the latter, to {first} at best."
    )


def _paper(plan: "Plan") -> str:
    needs = f"For epsilon = {digits(plan.epsilon, 6)} it needs {plan.paper_rows:,} rows."
    if plan.paper_epsilon is None or plan.paper_resolution is None:
        return f"The paper's bound supports no epsilon on so many rows. {needs}"
    if plan.paper_epsilon <= plan.epsilon:
        return f"The paper's bound supports this epsilon too, on so many rows. {needs}"
    none = ", which none of these submissions can reach" if plan.paper_resolution > plan.disagreement else ""
    return (
        f"The paper's bound supports epsilon = {digits(plan.paper_epsilon, up=True)} on so many rows, and accepts "
        f"{digits(plan.paper_resolution, up=True)} or more{none}. {needs}"
    )


def _pay(plan: "Plan") -> str:
    if not plan.pot:
        return ""
    pot, told = _many(plan.pot, "cent"), plan.acceptances * log(PAYOUT_STEPS + 1)
    return (
        f"Of a pot of {pot} a contribution of {digits(plan.epsilon, 6)} earns {plan.payout:,}. Telling payouts costs "
        f"{told:.0f} of the {plan.nats:.0f} nats that all answers cost."
    )


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
