"""`biasbounty open`: a bounty on a model and data of the organizer's."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from biasbounty.cli.output import AsJson, as_plain, console, say_json, telling
from biasbounty.cli.place import organizer, place_of
from biasbounty.cli.serve import Weak
from biasbounty.errors import SettingsError

if TYPE_CHECKING:
    from biasbounty.service.data import Data
    from biasbounty.service.service import OpenedBounty

MOST_COLUMNS = 40


def open_bounty(
    ctx: typer.Context,
    model: Annotated[
        Path, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="The model to be patched, as ONNX.")
    ],
    name: Annotated[str, typer.Option(help="What the bounty is called.")],
    label: Annotated[str, typer.Option(help="The column that is to be foretold.")],
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Rows (Parquet or CSV), to be split in three."),
    ] = None,
    train: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Train rows, in place of --data: shown."),
    ] = None,
    public: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Public rows, in place of --data: shown."),
    ] = None,
    holdout: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Holdout rows, in place of --data: secret."),
    ] = None,
    share_public: Annotated[float, typer.Option(help="Of --data: the share of public rows.")] = 0.25,
    share_holdout: Annotated[float, typer.Option(help="Of --data: the share of holdout rows.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Of --data: where the chance of the split comes from.")] = 0,
    loss: Annotated[str, typer.Option(help="zero_one, absolute or squared.")] = "zero_one",
    low: Annotated[float, typer.Option(help="The least label, for absolute and squared.")] = 0.0,
    high: Annotated[float, typer.Option(help="The largest label, for absolute and squared.")] = 1.0,
    checker: Annotated[str, typer.Option(help="anytime, paper or plain (which guarantees nothing).")] = "anytime",
    epsilon: Annotated[float, typer.Option(help="What is accepted surely contributes more than half of this.")] = 0.005,
    delta: Annotated[float, typer.Option(help="The chance that anything is accepted wrongly, ever.")] = 0.05,
    submissions: Annotated[int, typer.Option(help="Of the checker paper: how many there can be.")] = 1000,
    pot: Annotated[int, typer.Option(metavar="CENTS", help="What there is to pay in all.")] = 0,
    rate: Annotated[
        float | None,
        typer.Option(metavar="CENTS", help="What a contribution of 1 earns.", show_default="the pot"),
    ] = None,
    quota: Annotated[int, typer.Option(help="How many submissions a hunter, or a team, has a day.")] = 100,
    closes: Annotated[str, typer.Option(metavar="TIME", help="When it ends (ISO, UTC); by hand if not given.")] = "",
    rules: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Text that hunters should know."),
    ] = None,
    hide_leaderboard: Annotated[
        bool, typer.Option("--hide-leaderboard", help="Show the leaderboard only at the close.")
    ] = False,
    allow_weak: Weak = False,
    as_json: AsJson = False,
) -> None:
    """Open a bounty on a model and data.

    Give either --data or all of --train, --public and --holdout. Prints the bounty's id, the schema that was inferred,
    and warnings of what looks like a slip. The terms never change afterwards.
    """
    from biasbounty.service.context import Limits
    from biasbounty.service.terms import Terms

    terms = Terms(
        name=name,
        label=label,
        loss=loss,
        low=low,
        high=high,
        checker=checker,
        epsilon=epsilon,
        delta=delta,
        submissions=submissions,
        pot=pot,
        rate=rate,
        quota=quota,
        closes=closes,
        rules="" if rules is None else _text(rules),
        hide_leaderboard=hide_leaderboard,
    )
    with telling(quiet=as_json) as tell, place_of(ctx).service(Limits(allow_weak=allow_weak)) as service:
        tell("reading rows")
        split = _data(label, data, (train, public, holdout), (share_public, share_holdout, seed))
        tell("running the model on them")
        opened = service.open_bounty(organizer(), terms, model.read_bytes(), split)
    if as_json:
        say_json({"bounty": as_plain(opened.bounty), "warnings": list(opened.warnings)})
    else:
        _show(opened, split)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"rules cannot be read: expected text in UTF-8, got {file}") from error


def _data(
    label: str,
    whole: Path | None,
    parts: tuple[Path | None, ...],
    how: tuple[float, float, int],
) -> "Data":
    from biasbounty.service.data import Data, in_three, read_rows, with_label

    if whole is not None and not any(parts):
        share_public, share_holdout, seed = how
        rows = with_label(read_rows(whole.read_bytes()), label)
        return in_three(rows, seed, share_public, share_holdout)
    given = [part for part in parts if part is not None]
    if whole is not None or len(given) != 3:
        raise SettingsError(
            "rows are not given: expected either --data, or all of --train, --public and --holdout, got another choice"
        )
    names = ("train rows", "public rows", "holdout rows")
    read = (
        with_label(read_rows(file.read_bytes(), what), label, what) for file, what in zip(given, names, strict=True)
    )
    return Data(*read)


def _show(opened: "OpenedBounty", data: "Data") -> None:
    bounty, out = opened.bounty, console()
    out.print(f"Bounty [b]{bounty.id}[/b]: {bounty.name}", markup=True)
    out.print(f"{len(data.train):,} train rows, {len(data.public):,} public, {len(data.holdout):,} holdout.\n")
    out.print(_columns(bounty.columns))
    for words in opened.warnings:
        out.print(f"\n{'' if words == bounty.guarantee else 'Note: '}{words}", markup=False)
    out.print("\nNext: biasbounty token create --scope hunter --label NAME, biasbounty serve")


def _columns(columns: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("column", "kind", "texts"):
        table.add_column(heading, no_wrap=heading != "texts")
    for each in columns[:MOST_COLUMNS]:
        texts = ", ".join(json.dumps(text, ensure_ascii=False) for text in (each["categories"] or [])[:6])
        more = len(each["categories"] or []) - 6
        table.add_row(each["name"], each["kind"], texts + (f" and {more} more" if more > 0 else ""))
    if len(columns) > MOST_COLUMNS:
        table.add_row("...", f"{len(columns) - MOST_COLUMNS} more", "")
    return table
