"""The report of a bounty: one HTML file that needs nothing else, not even a network."""

from html import escape
from pathlib import Path

from biasbounty.reporting.charts import risk_by_round, to_svg
from biasbounty.reporting.curves import Reportable, protected_names, risk_curves, submission_names, tally

_STYLE = """
body { font: 15px/1.5 system-ui, "Segoe UI", sans-serif; color: #1a1a1a; max-width: 60rem; margin: 2.5rem auto;
  padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: .2rem } h2 { font-size: 1.1rem; margin-top: 2.2rem }
p.quiet, figcaption { color: #5f6368 } figure { margin: 0 }
figure div { overflow-x: auto } figure svg { max-width: 100%; height: auto; min-width: 40rem }
figure.list { width: min(96vw, 92rem); margin-left: calc(50% - min(48vw, 46rem)) } figure.list svg { min-width: 64rem }
p.guarantee { border-left: 3px solid #b4441a; padding: .3rem .8rem; background: #faf6f3 }
table { border-collapse: collapse } th { text-align: left; font-weight: 600; color: #5f6368 }
td, th { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid #ececec; vertical-align: top }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums } tr.rejected { color: #8a8f98 }
"""


def write_report(bounty: Reportable, path: str | Path, *, title: str, words: str = "") -> Path:
    """Write the report to a file, and return where it is."""
    path = Path(path)
    path.write_text(report_html(bounty, title=title, words=words), encoding="utf-8")
    return path


def report_html(bounty: Reportable, *, title: str, words: str = "") -> str:
    """Return the report: what came of it, the guarantee in force, risk by round, the list, every submission."""
    chart = to_svg(risk_by_round(risk_curves(bounty)))
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(title)}</title><style>{_STYLE}</style></head><body>
<h1>{escape(title)}</h1>
<p class="quiet">{escape(words)}</p>
<p>{_summary(bounty)}</p>
<p class="guarantee">{escape(bounty.guarantee)}</p>
<h2>Risk by round</h2>
<figure><div>{chart}</div><figcaption>Overall risk and the risk on each group, on the holdout that judged: dashed before
the group was introduced, solid after. Groups whose submission was rejected are not shown.</figcaption></figure>
<h2>The model</h2>
<figure class="list"><div>{bounty.model.draw()}</div><figcaption>The pointer decision list, newest node first. A row
goes from left to right and is answered by the first node whose group it is in; a repair (shaded) sends it on to an
earlier round that served the group better.</figcaption></figure>
<h2>Submissions</h2>
<figure><div>{_table(bounty)}</div><figcaption>Risk on the group: before and after the round, repairs included.
</figcaption></figure>
<p class="quiet">Contains figures of the holdout: for the organizer.</p>
</body></html>
"""


def _summary(bounty: Reportable) -> str:
    accepted, repairs = tally(bounty)
    return (
        f"{len(bounty.transcript)} submissions, {accepted} accepted, {repairs} repairs. Overall holdout risk "
        f"(mean loss) <b>{bounty.risk(0):.4f}</b> &rarr; <b>{bounty.risk():.4f}</b>."
    )


def _table(bounty: Reportable) -> str:
    submissions, groups = submission_names(bounty), protected_names(bounty)
    rows = "".join(_row(bounty, number, name, groups) for number, name in enumerate(submissions))
    return (
        "<table><thead><tr><th>#</th><th>group</th><th>hunter</th><th>verdict</th><th>repairs</th>"
        '<th class="number">overall risk</th><th class="number">risk on the group</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _row(bounty: Reportable, number: int, name: str, groups: list[str]) -> str:
    verdict, certificate = bounty.transcript[number], bounty.submissions[number]
    repairs = "; ".join(f"{groups[repair.group]} as round {repair.pointer}" for repair in verdict.repairs)
    change = ""
    if verdict.accepted:
        own = verdict.round - 1
        change = f"{bounty.risk(own, group=own):.4f} &rarr; {bounty.risk(own + 1, group=own):.4f}"
    return (
        f'<tr class="{"accepted" if verdict.accepted else "rejected"}"><td>{number + 1}</td>'
        f"<td>{escape(name)}</td><td>{escape(certificate.hunter or '')}</td>"
        f"<td>{f'accepted: round {verdict.round}' if verdict.accepted else 'rejected'}</td><td>{escape(repairs)}</td>"
        f'<td class="number">{bounty.risk(verdict.round):.4f}</td><td class="number">{change}</td></tr>'
    )
