"""`biasbounty plan`: what a holdout will see, before it is drawn, under `Anytime` and under the paper's rule."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from biasbounty.errors import MissingExtraError, SettingsError
from biasbounty.statistics import planning
from biasbounty.statistics.numbers import digits
from biasbounty.statistics.planning import Plan

WIDTH = 79


def plan(
    rows: Annotated[int | None, typer.Option(help="Holdout rows.", show_default="found")] = None,
    epsilon: Annotated[
        float | None,
        typer.Option(help="The contribution to be seen reliably; acceptances surely have half.", show_default="found"),
    ] = None,
    delta: Annotated[float, typer.Option(help="The chance that any acceptance, ever, is a false one.")] = 0.05,
    submissions: Annotated[
        int | None, typer.Option(help="How many there will be.", show_default="found, or 1,000")
    ] = None,
    acceptances: Annotated[
        int | None, typer.Option(help="How many of them will be accepted.", show_default="one in a hundred")
    ] = None,
    disagreement: Annotated[
        float | None,
        typer.Option(
            help="On what share of rows a submission's loss differs from the model's.",
            show_default="0.02, or twice epsilon if that is more",
        ),
    ] = None,
    pot: Annotated[int, typer.Option(metavar="CENTS", help="What there is to pay.")] = 0,
    chart: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw what passes by rows: a .svg or .png file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON, and nothing else.")] = False,
) -> None:
    """Say beforehand what a holdout will see.

    For Anytime and for the paper's bound. Of --rows, --epsilon and --submissions give two, and the third is found; one
    of the first two, and it is for 1,000 submissions; none of them, and it is for epsilon 0.01; or all three, to hear
    whether that is enough.
    """
    console = Console(highlight=False) if Console().is_terminal else Console(width=WIDTH, highlight=False)
    _check_chart(chart)
    try:
        with console.status("planning"):
            planned = planning.plan(
                rows=rows,
                epsilon=epsilon,
                delta=delta,
                submissions=submissions,
                acceptances=acceptances,
                disagreement=disagreement,
                pot=pot,
            )
            table, words, figures = _table(planned), str(planned), _figures(planned)
            if chart is not None:
                _draw(planned, chart)
    except (SettingsError, MissingExtraError) as error:
        raise typer.BadParameter(str(error)) from error
    if as_json:
        typer.echo(json.dumps(figures, indent=2))
        return
    console.print(table)
    typer.echo(f"\n{words}")
    if chart is not None:
        console.print(f"\nChart: {chart.resolve()}", soft_wrap=True)


def _check_chart(chart: Path | None) -> None:
    """Refuse a file that cannot be drawn, before anything is planned."""
    if chart is None:
        return
    if chart.suffix not in (".svg", ".png"):
        raise typer.BadParameter(f"chart cannot be drawn: expected a file ending in .svg or .png, got {chart}")
    if chart.is_dir() or not chart.resolve().parent.is_dir():
        raise typer.BadParameter(f"cannot write there: expected a file in an existing folder, got {chart}")


def _draw(planned: Plan, chart: Path) -> None:
    from biasbounty.reporting.charts import resolution_by_rows, to_png, to_svg

    drawn = resolution_by_rows(planned)
    chart.write_bytes(to_png(drawn) if chart.suffix == ".png" else to_svg(drawn).encode())


def _table(planned: Plan) -> Table:
    """Put Anytime beside Paper."""
    figures = _figures(planned)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for name in ("Anytime", "Paper"):
        table.add_column(name, justify="right", no_wrap=True)
    for heading, key in (
        ("reliably seen contribution", "reliably_sees"),
        ("passes on the holdout, at first", "first_resolution"),
        ("passes on the holdout, after all", "resolution"),
        ("truly lowers risk by more than", "floor"),
        ("smallest epsilon reliably seen", "smallest_epsilon"),
        (f"rows for epsilon = {digits(planned.epsilon, 6)}", "rows_needed"),
    ):
        table.add_row(heading, *(_cell(key, figures[name][key]) for name in ("anytime", "paper")))
    return table


def _cell(key: str, figure: float | None) -> str:
    """Write a figure, rounded to the safe side."""
    if figure is None:
        return "none"
    return digits(figure, 6) if key == "floor" else digits(figure, up=True)


def _figures(planned: Plan) -> dict[str, Any]:
    """Return everything a plan says, as values."""
    figures = asdict(planned)
    settled = planned.found is not None and planned.is_enough
    paper = None if planned.paper_epsilon is None else max(planned.epsilon, planned.paper_epsilon)
    figures["is_enough"] = planned.is_enough
    figures["payout"] = planned.payout
    figures["limits"] = None if settled else asdict(planned.limits)
    figures["anytime"] = {
        "rows_needed": planned.rows if settled else planned.limits.rows,
        "smallest_epsilon": planned.epsilon if settled else planned.limits.epsilon,
        "reliably_sees": planned.reliably_sees,
        "first_resolution": planned.first_resolution,
        "resolution": planned.resolution,
        "floor": planned.floor,
        "finest": planned.finest,
        "nats": planned.nats,
    }
    figures["paper"] = {
        "rows_needed": planned.paper_rows,
        "smallest_epsilon": planned.paper_epsilon,
        "reliably_sees": paper,
        "first_resolution": planned.paper_resolution,
        "resolution": planned.paper_resolution,
        "floor": None if paper is None else paper / 2,
    }
    return figures
