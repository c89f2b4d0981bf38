"""`biasbounty demo --paper`: the paper's first experiment, as a bounty on the bundled census sample.

The model to be patched is a decision stump that says who is employed. Eleven hunters, one for each group, in a shuffled
order, each submit a depth-10 tree trained on their own group.
"""

from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from biasbounty.bounty import Bounty
from biasbounty.core.thresholds import Plain
from biasbounty.datasets import Splits, demographic_groups, hunt, initial_stump, load_census, split
from biasbounty.reporting import write_report
from biasbounty.reporting.curves import protected_names, tally
from biasbounty.values import Certificate, Verdict

ORDER_SEED = 12345


def paper(console: Console, out: Path) -> None:
    """Do the experiment, print its rounds, and write a report of it."""
    sample = load_census()
    groups, splits = demographic_groups(sample.columns), split(sample)
    bounty = open_bounty(splits)
    _print_story(console, bounty, splits)
    table = _empty_table()
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        hunts = progress.add_task("hunting", total=len(groups))
        for certificate in hunt(groups, splits, ORDER_SEED):
            verdict = bounty.submit(
                certificate.group, certificate.model, hunter=certificate.hunter, note=certificate.note
            )
            table.add_row(*_cells(bounty, certificate, verdict))
            progress.advance(hunts)
    console.print(table)
    _print_summary(console, bounty)
    path = write_report(bounty, out, title="A bias bounty on census data", words=sample.source)
    console.print(f"\nReport: {path.resolve()}", soft_wrap=True)
    console.print("Open it in a browser; then see README.md for a bounty on your own model.")


def open_bounty(splits: Splits) -> Bounty:
    """Fit the stump, and open a bounty on it."""
    return Bounty(initial_stump(splits), splits.X_holdout, splits.y_holdout, checker=Plain())


def _print_story(console: Console, bounty: Bounty, splits: Splits) -> None:
    console.print("[b]A bias bounty on census data[/b] (Massachusetts, 2018)\n")
    console.print(
        f"A crude model says who is employed, and is wrong about {bounty.risk():.2%} of the {len(splits.y_holdout):,} "
        "people that only the judge sees: its risk. Eleven hunters each know one group of people, train a tree for it "
        f"on {len(splits.y_train):,} other people, and submit the pair. What does better on the group becomes part of "
        "the model.\n"
    )


def _empty_table() -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("round", "group", "verdict", "repairs"):
        table.add_column(heading, no_wrap=True)
    for heading in ("overall", "risk on group"):
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _cells(bounty: Bounty, certificate: Certificate, verdict: Verdict) -> list[str]:
    risk = f"{bounty.risk():.4f}"
    if not verdict.accepted:
        return ["", *(f"[dim]{cell}[/dim]" for cell in (certificate.note, "rejected", "", risk, "no better"))]
    names = protected_names(bounty)
    repairs = ", ".join(f"{names[repair.group]} -> {repair.pointer}" for repair in verdict.repairs)
    own = verdict.round - 1
    change = f"{bounty.risk(own, group=own):.4f} -> {bounty.risk(group=own):.4f}"
    return [str(verdict.round), certificate.note, "accepted", repairs, risk, change]


def _print_summary(console: Console, bounty: Bounty) -> None:
    accepted, repairs = tally(bounty)
    console.print(
        f"\n{accepted} accepted, {repairs} repairs; overall risk [b]{bounty.risk(0):.4f} -> {bounty.risk():.4f}[/b]. "
        "A repair (group -> round) sends a group back to the earlier round that serves it better, so that no group "
        "fixed once gets worse.\n"
    )
    console.print(f"[dim]{bounty.guarantee}[/dim]")
