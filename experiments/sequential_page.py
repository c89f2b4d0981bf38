"""The page and the charts of `sequential`: three panels for each row of the paper's Figure 4, and its Table 2."""

from collections.abc import Mapping
from itertools import pairwise
from statistics import mean
from typing import Any

from biasbounty.datasets.census import PLACE
from biasbounty.reporting.charts import INK, PALETTE
from biasbounty.reporting.curves import OVERALL
from experiments.output import OTHER_RUN, Figures, styled, table

PAPER_DIFFERENCES = {
    OVERALL: 0.0004,
    "White": 0.016,
    "Black": 0.065,
    "Asian": 0.023,
    "other race": 0.0367,
    "2+ races": 0.020,
    "Native/Pacific": 0.033,
    "male": 0.016,
    "female": 0.008,
    "under 30": 0.040,
    "30 to 49": 0.045,
    "50 and over": 0.030,
}
"""Table 2 (New York employment), its race columns under the groups that the code computed them for."""
PAPER_LABELS = {
    OVERALL: "Total",
    "White": "White",
    "Black": "Black",
    "Asian": "Asian",
    "other race": "Native",
    "2+ races": "Other",
    "Native/Pacific": "Two+",
    "male": "Male",
    "female": "Female",
    "under 30": "Young",
    "30 to 49": "Middle",
    "50 and over": "Old",
}
"""What the paper's tables call these groups."""
PAIRS = 190
"""So many pairs of orders has the run that the page's words are about."""
CLAIMS = (
    ("holdout risk rises after a group is introduced", "never"),
    ("holdout risk rises before", "sometimes (Oregon income)"),
    ("training risk rises after", "sometimes"),
    ("last holdout and training risk apart", "almost always less than 0.1, often less than 0.05"),
    ("their distance, on average over the groups", "generally grows with rounds"),
    ("their distance overall", "likewise"),
    ("repairs", "rather common"),
)
"""What is looked at, and what the paper says of it."""
PANELS = {"holdout": "holdout risk", "train": "training risk", "gap": "distance of the two"}
COLORS = dict(zip(PAPER_DIFFERENCES, (INK, *PALETTE, "#e0a100"), strict=True))
"""A group has the same color in every chart."""


def introduced(row: Figures) -> dict[str, int]:
    """Return the round that each accepted group was introduced in, overall first."""
    accepted = [one["group"] for one in row["submitted"] if one["accepted"]]
    return {OVERALL: 0, **{name: at for at, name in enumerate(accepted, start=1)}}


def three_panels(row: Figures) -> Any:
    """Draw a row of the figure: risk on the holdout, on training rows, and how far they are apart."""
    import altair as alt

    names = introduced(row)
    curves = {
        "holdout": row["holdout"],
        "train": row["train"],
        "gap": {
            name: [abs(a - b) for a, b in zip(row["holdout"][name], row["train"][name], strict=True)] for name in names
        },
    }
    highest = max(max(curves[panel][name]) for panel in ("holdout", "train") for name in names)
    widest = max(max(curves["gap"][name]) for name in names)
    panels = [
        _panel(title, _points(curves[panel], names), names, widest if panel == "gap" else highest)
        for panel, title in PANELS.items()
    ]
    return styled(alt.hconcat(*panels, spacing=22))


def _points(curves: Mapping[str, list[float]], names: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the points of each curve; where its group is introduced both its parts have one."""
    return [
        {"name": name, "round": number, "risk": risk, "introduced": after, "part": f"{name} {after}"}
        for name, start in names.items()
        for number, risk in enumerate(curves[name])
        for after in (False, True)
        if (number >= start if after else number <= start and start > 0)
    ]


def _panel(title: str, points: list[dict[str, Any]], names: Mapping[str, int], highest: float) -> Any:
    import altair as alt

    last = max(point["round"] for point in points)
    words = [name if name == OVERALL else f"{number}  {name}" for name, number in names.items()]
    shown = dict(zip(names, words, strict=True))
    return (
        alt.Chart({"values": [{**point, "legend": shown[point["name"]]} for point in points]}, title=title)
        .mark_line(point=alt.OverlayMarkDef(size=16))
        .encode(
            x=alt.X(
                "round:Q",
                title="round",
                scale=alt.Scale(domain=[0, last], nice=False),
                axis=alt.Axis(values=list(range(last + 1)), format="d", grid=False),
            ),
            y=alt.Y(
                "risk:Q",
                title=None,
                scale=alt.Scale(domain=[0, highest * 1.04], nice=False),
                axis=alt.Axis(format=".2f"),
            ),
            color=alt.Color(
                "legend:N",
                title="introduced in round",
                scale=alt.Scale(domain=words, range=[COLORS[name] for name in names]),
                legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=3),
            ),
            detail="part:N",
            strokeDash=alt.StrokeDash(
                "introduced:N", legend=None, scale=alt.Scale(domain=[True, False], range=[[1, 0], [3, 3]])
            ),
            strokeWidth=alt.condition(f"datum.name == '{OVERALL}'", alt.value(2.8), alt.value(1.5)),
            opacity=alt.condition("datum.introduced", alt.value(1), alt.value(0.55)),
        )
        .properties(width=245, height=270)
    )


def parts(figures: Figures) -> dict[str, str]:
    """Return what stands where in the page."""
    rows = figures["rows"]
    first, second = rows[:2]
    return {
        "rows": _rows(rows),
        "differences": _differences(first, second, figures["spread"]),
        "finals": _finals(first, second),
        "figures": "\n\n".join(_figure(row) for row in rows),
        "note": "" if PLACE.format(when=2018) == first["source"] and figures["spread"]["pairs"] == PAIRS else OTHER_RUN,
        "smallest": f"{first['counts']['Native/Pacific']:,}",
        "claims": _claims(rows),
        "pairs": str(figures["spread"]["pairs"]),
        "orders": "{} to {}".format(*figures["spread"]["seeds"]),
        **_about("first", first),
        **_about("second", second),
    }


def _about(which: str, row: Figures) -> dict[str, str]:
    """Return the figures of a row that the text speaks of."""
    fall = {where: _fall(row[where]) if row[where] else "(no file)" for where in ("holdout", "train", "others")}
    return {f"{which}_fall_{where}": words for where, words in fall.items()}


def _fall(risks: dict[str, list[float]]) -> str:
    return f"{risks[OVERALL][0] - risks[OVERALL][-1]:.4f}"


def _rows(rows: list[Figures]) -> str:
    headings = ["task, place, order", "train", "holdout", "accepted", "repairs", "holdout risk", "training risk"]
    return table([*headings, "other years"], [_cells(row) for row in rows])


def _cells(row: Figures) -> list[str]:
    return [
        f"{row['task']}, {row['name'][:2].upper()}, {row['seed']}",
        *(f"{row['rows'][part]:,}" for part in ("train", "holdout")),
        str(sum(one["accepted"] for one in row["submitted"])),
        str(sum(len(one["repairs"]) for one in row["submitted"])),
        *(_change(row[part][OVERALL]) for part in ("holdout", "train")),
        _change(row["others"][OVERALL]) if row["others"] else "",
    ]


def _change(risks: list[float]) -> str:
    return f"{risks[0]:.4f} -> {risks[-1]:.4f}"


def _differences(first: Figures, second: Figures, spread: Figures) -> str:
    """Return Table 2 beside ours, and beside what any two orders may differ by."""
    pairs = spread["pairs"]
    return table(
        ["group", "people", "here", f"mean of {pairs} pairs", f"largest of {pairs}", "the paper", "called there"],
        [
            [
                name,
                f"{first['counts'][name]:,}",
                f"{abs(first['holdout'][name][-1] - second['holdout'][name][-1]):.4f}",
                *(f"{spread[what][name]:.4f}" for what in ("mean", "largest")),
                str(paper),
                PAPER_LABELS[name],
            ]
            for name, paper in PAPER_DIFFERENCES.items()
        ],
    )


def _finals(first: Figures, second: Figures) -> str:
    headings = ["group", "initial", *(f"last, {row['seed']}" for row in (first, second))]
    others = [row for row in (first, second) if row["others"]]
    headings += [f"other years, {row['seed']}" for row in others]
    return table(
        headings,
        [
            [
                name,
                f"{first['holdout'][name][0]:.4f}",
                *(_final(row, "holdout", name) for row in (first, second)),
                *(_final(row, "others", name) for row in others),
            ]
            for name in PAPER_DIFFERENCES
        ],
    )


def _final(row: Figures, where: str, name: str) -> str:
    """Return the last risk; in parentheses if the group's own tree was rejected."""
    risk = f"{row[where][name][-1]:.4f}"
    return risk if name in introduced(row) else f"({risk})"


def _figure(row: Figures) -> str:
    source = row["source"].split(" (")[0].replace("American Community Survey", "ACS")
    about = f"{row['task']}, {source}, order {row['seed']}"
    rejected = [one["group"] for one in row["submitted"] if not one["accepted"]]
    words = f"Rejected: {', '.join(rejected)}." if rejected else "None was rejected."
    return (
        f"### {about[0].upper() + about[1:]}\n\n![risk by round](sequential/{row['name']}.svg)\n\n{words}\n\n"
        f"![the pointer decision list](sequential/{row['name']}-list.svg)"
    )


def _claims(rows: list[Figures]) -> str:
    """Return what the paper says of its figure, beside what is so here."""
    sets = {"one": rows[:2], "others": rows[2:]}
    columns = [_observed(some) for some in sets.values() if some]
    headings = ["on accepted groups", "the paper", "first two rows", "the other rows"][: 2 + len(columns)]
    return table(headings, [[*words, *(column[at] for column in columns)] for at, words in enumerate(CLAIMS)])


def _observed(rows: list[Figures]) -> list[str]:
    """Return what is so in some rows of the figure, in the order of the claims."""
    after, before = (_rises(rows, "holdout", before=before) for before in (False, True))
    gaps = [gap for row in rows for gap in _gaps(row, -1)]
    first = mean(gap for row in rows for gap in _gaps(row, 1))
    whole = [mean(_gap(row, OVERALL, at) for row in rows) for at in (0, -1)]
    return [
        after,
        before,
        _rises(rows, "train", before=False),
        f"{sum(gap < 0.1 for gap in gaps)} of {len(gaps)} below 0.1, {sum(gap < 0.05 for gap in gaps)} below 0.05",
        f"{first:.3f} after round 1, {mean(gaps):.3f} at the end",
        f"{whole[0]:.3f} at first, {whole[1]:.3f} at the end",
        " and ".join(str(sum(len(one["repairs"]) for one in row["submitted"])) for row in rows),
    ]


def _rises(rows: list[Figures], where: str, *, before: bool) -> str:
    steps = [step for row in rows for step in _steps(row, where, before=before)]
    rises = [step for step in steps if step > 1e-9]
    return f"{len(rises)} of {len(steps)}" + (f", at most by {max(rises):.3f}" if rises else "")


def _steps(row: Figures, where: str, *, before: bool) -> list[float]:
    """Return by how much risk on accepted groups changed at each round, before or after they were introduced."""
    return [
        later - earlier
        for name, start in introduced(row).items()
        if name != OVERALL
        for number, (earlier, later) in enumerate(pairwise(row[where][name]), start=1)
        if (number < start if before else number > start)
    ]


def _gaps(row: Figures, at: int) -> list[float]:
    """Return how far holdout and training risk are apart in a round, for each accepted group."""
    return [_gap(row, name, at) for name in introduced(row) if name != OVERALL]


def _gap(row: Figures, name: str, at: int) -> float:
    apart: float = abs(row["holdout"][name][at] - row["train"][name][at])
    return apart
