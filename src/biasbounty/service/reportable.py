"""Reportable: a bounty as the organizer's report shows it, with the risks on the holdout."""

from dataclasses import dataclass
from typing import Any

from biasbounty.core.decision_list import PointerDecisionList, UpdateNode
from biasbounty.errors import SubmissionError
from biasbounty.service import published, views
from biasbounty.service.context import Context
from biasbounty.service.judging import Bench, open_bench
from biasbounty.service.people import Identity
from biasbounty.service.views import SubmissionView
from biasbounty.store.books import find_bounty
from biasbounty.values import Certificate, Repair, Round, Verdict


@dataclass(frozen=True, eq=False)
class ReportableBounty:
    """A bounty with all that became of it. It tells of the holdout: for the organizer alone."""

    model: PointerDecisionList
    rounds: tuple[Round, ...]
    transcript: tuple[Verdict, ...]
    submissions: tuple[Certificate, ...]
    guarantee: str
    bench: Bench

    def risk(self, round: int | None = None, group: int | None = None) -> float:
        """Return a round's holdout risk, overall or on a protected group."""
        return self.bench.judge.holdout.risk(self.bench.newest if round is None else round, group)


def reportable(context: Context, who: Identity, bounty: str) -> ReportableBounty:
    """Return a bounty for the report."""
    who.require("organizer")
    view = views.view_bounty(context, bounty)
    judged = _judged(context, who, bounty)
    names = {each.hunter: each.name for each in views.leaderboard(context, who, bounty)}
    verdicts = tuple(_verdict(each.verdict) for each in judged)
    with context.database.read() as connection:
        bench = open_bench(connection, find_bounty(connection, bounty))
    listed = published.decision_list(context, bounty)
    certificates = tuple(_certificates(judged, verdicts, listed, names))
    return ReportableBounty(
        listed, _rounds(listed, certificates, verdicts), verdicts, certificates, view.guarantee, bench
    )


def _judged(context: Context, who: Identity, bounty: str) -> list[SubmissionView]:
    found: list[SubmissionView] = []
    start: int | None = 0
    while start is not None:
        page = views.list_submissions(context, who, bounty, start, views.MOST)
        found += [each for each in page.entries if each.verdict is not None]
        start = page.next
    return found


def _verdict(told: Any) -> Verdict:
    repairs = tuple(Repair(*each) for each in told["repairs"])
    return Verdict(told["accepted"], told["round"], repairs, told["payout"])


def _certificates(
    judged: list[SubmissionView], verdicts: tuple[Verdict, ...], listed: PointerDecisionList, names: dict[str, Any]
) -> list[Certificate]:
    """Return what was judged: accepted submissions with group and model, others by their words alone."""
    updates = iter([node for node in listed.nodes if isinstance(node, UpdateNode)])
    made = []
    for each, verdict in zip(judged, verdicts, strict=True):
        node = next(updates) if verdict.accepted else None
        group, model = (_unshown, _unshown) if node is None else (node.group, node.model)
        made.append(Certificate(group, model, hunter=names.get(each.hunter) or each.hunter, note=each.note))
    return made


def _unshown(_: Any) -> Any:
    raise SubmissionError("submission was rejected: expected one that was accepted; what it held is nobody's business")


def _rounds(
    listed: PointerDecisionList, certificates: tuple[Certificate, ...], verdicts: tuple[Verdict, ...]
) -> tuple[Round, ...]:
    accepted = [pair for pair in zip(certificates, verdicts, strict=True) if pair[1].accepted]
    first = Round(0, listed.heads[0])
    later = (
        Round(verdict.round, head, certificate.hunter, certificate.note, verdict.repairs)
        for (certificate, verdict), head in zip(accepted, listed.heads[1:], strict=True)
    )
    return (first, *later)
