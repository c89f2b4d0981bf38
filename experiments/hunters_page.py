"""The page and the charts of `hunters`: the paper's Table 3, and what its columns say on rows that nobody judged."""

from statistics import mean
from typing import Any

from biasbounty.reporting.charts import INK, PALETTE, QUIET
from experiments.output import OTHER_RUN, Figures, styled, table

KINDS = {"M": "by hand", "A": "slices", "R": "mistakes"}
COLORS = dict(zip(KINDS.values(), (PALETTE[0], PALETTE[1], PALETTE[2]), strict=True))
PARTS = {"holdout": "holdout", "fresh": "fresh rows"}
TEAM_COLORS = (INK, *PALETTE[:3])
PAPER = (
    ("M", "male sex", 0.2866, 0.1734, 0.1133, 0.5238, 0.2203),
    ("M", "female sex", 0.2719, 0.1658, 0.1061, 0.4762, 0.1698),
    ("M", "ages 17 to 24 and non-white", 0.0447, 0.0414, 0.0032, 0.0526, 0.1696),
    ("A", "over the age of 30 working without pay in a family business", 0.2258, 0.1452, 0.0806, 0.0021, 0.1694),
    ("A", "self-employed in own not incorporated business", 0.2255, 0.2205, 0.0050, 0.0884, 0.1690),
    ("M", "over the age of 62 (retired)", 0.2322, 0.2291, 0.0031, 0.1193, 0.1686),
    ("A", "supervisors of office and administrative support workers", 0.3073, 0.2661, 0.0413, 0.0074, 0.1683),
    ("A", "real estate brokers and sales agents", 0.3154, 0.2905, 0.0249, 0.0082, 0.1681),
    ("A", "first-line supervisors of retail sales workers", 0.2583, 0.2494, 0.0088, 0.0154, 0.1680),
    ("A", "office clerks, general", 0.2135, 0.1842, 0.0292, 0.0117, 0.1676),
    ("A", "paint, coating, and adhesive manufacturing", 0.1713, 0.1657, 0.0055, 0.0185, 0.1675),
    ("M", "born in California, Mexico, or Southeast Asia, medical technicians", 0.2126, 0.2032, 0.0094, 0.0255, 0.1671),
    ("A", "accountants/auditors who work 40 hour weeks", 0.2883, 0.2793, 0.0090, 0.0076, 0.1671),
    ("A", "female secretaries and administrative assistants", 0.2586, 0.2533, 0.0053, 0.0129, 0.1670),
    ("R", "machine learning classifier over errors on current model", 0.5600, 0.3200, 0.2400, 0.0009, 0.1668),
)
"""Table 3: how it was found, the group, risk before and after, the difference, the group's weight, overall risk."""
PAPER_INITIAL = 0.2796
MOST_WORDS = 120
FULL = (100_000, 3)
"""The people and divisions of the run that the words of the page were written for."""
SMALL = 0.0005
"""The largest contribution in the paper's table after its second round, rounded up."""
TICKS = (0.0003, 0.001, 0.003, 0.01, 0.03)
"""Contributions are of very different sizes."""


def risks_chart(figures: Figures) -> Any:
    """Draw overall risk by turn: every team of the first division, on the holdout and on fresh rows."""
    import altair as alt

    panels = [_risk_panel(name, figures) for name in figures["curves"]]
    return styled(alt.hconcat(*panels, spacing=22).resolve_scale(y="shared"))


def _risk_panel(checker: str, figures: Figures) -> Any:
    import altair as alt

    points = [
        {"team": team, "part": PARTS[part], "turn": turn, "risk": risk}
        for team, curves in figures["curves"][checker].items()
        for part, risks in curves.items()
        for turn, risk in enumerate(risks)
    ]
    teams = list(figures["curves"][checker])
    every = [own for curves in figures["curves"].values() for own in curves.values()]
    risks = [risk for own in every for part in own.values() for risk in part]
    return (
        alt.Chart({"values": points}, title=f"judged by {checker}")
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X(
                "turn:Q",
                title="turn",
                scale=alt.Scale(domain=[0, max(point["turn"] for point in points)], nice=False),
                axis=alt.Axis(tickMinStep=1, format="d", grid=False),
            ),
            y=alt.Y(
                "risk:Q",
                title="overall risk",
                scale=alt.Scale(domain=[min(risks) * 0.98, max(risks) * 1.01], nice=False, zero=False),
                axis=alt.Axis(format=".2f"),
            ),
            color=alt.Color(
                "team:N",
                title="team",
                scale=alt.Scale(domain=teams, range=list(TEAM_COLORS[: len(teams)])),
                legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=3),
            ),
            strokeDash=alt.StrokeDash(
                "part:N",
                title="measured on",
                scale=alt.Scale(domain=list(PARTS.values()), range=[[1, 0], [4, 3]]),
                legend=alt.Legend(symbolType="stroke", symbolStrokeWidth=2),
            ),
            strokeWidth=alt.condition("datum.team == 'mixed'", alt.value(2.6), alt.value(1.4)),
        )
        .properties(width=330, height=280)
    )


def contributions_chart(figures: Figures) -> Any:
    """Draw every accepted submission of the mixed team: its contribution on the holdout, and on fresh rows."""
    import altair as alt

    points = [
        {"judge": checker, "hunter": KINDS[kind], "holdout": holdout, "fresh": fresh}
        for checker, accepted in figures["acceptances"].items()
        for kind, holdout, fresh in accepted
    ]
    ends = [min(min(point["fresh"] for point in points), -TICKS[0]), max(point["holdout"] for point in points) * 1.3]
    x, y = (
        alt.X(
            "holdout:Q", title="contribution on the holdout", scale=_stretched([0, ends[1]]), axis=_axis([0, *TICKS])
        ),
        alt.Y(
            "fresh:Q",
            title="contribution on fresh rows",
            scale=_stretched([ends[0] * 1.1, ends[1]]),
            axis=_axis([*(-tick for tick in TICKS if tick <= -ends[0]), 0, *TICKS]),
        ),
    )
    same = [{"holdout": value, "fresh": value} for value in (0, *TICKS, ends[1])]
    line = alt.Chart({"values": same}).mark_line(color=QUIET, strokeDash=[3, 3], strokeWidth=1).encode(x=x, y=y)
    zero = alt.Chart({"values": [{"fresh": 0}]}).mark_rule(color=INK, strokeWidth=1).encode(y=y)
    dots = (
        alt.Chart({"values": points})
        .mark_point(filled=True, opacity=0.75, size=60)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "hunter:N", title="found", scale=alt.Scale(domain=list(COLORS), range=list(COLORS.values()))
            ),
            shape=alt.Shape(
                "judge:N",
                title="judge",
                scale=alt.Scale(domain=list(figures["acceptances"]), range=["circle", "diamond"]),
            ),
        )
    )
    return styled(alt.layer(zero, line, dots).properties(width=520, height=420))


def _stretched(ends: list[float]) -> Any:
    """Return a scale that shows what is small beside what is large, on both sides of 0."""
    import altair as alt

    return alt.Scale(type="symlog", constant=TICKS[0], domain=ends, nice=False)


def _axis(values: list[float]) -> Any:
    import altair as alt

    return alt.Axis(values=values, format="~g", labelOverlap=True)


def parts(figures: Figures) -> dict[str, str]:
    """Return what stands where in the page."""
    rows, tallies = figures["rows"], figures["tallies"]
    tail = _tail(figures, "Plain")
    divisions = len({one["division"] for one in tallies["Plain"]})
    return {
        "note": "" if (sum(rows.values()), divisions) == FULL else OTHER_RUN,
        **{f"rows_{part}": f"{count:,}" for part, count in rows.items()},
        "divisions": str(divisions),
        "turns": str(len(figures["turns"])),
        "sequence": figures["turns"],
        "plain": _accepted(figures, "Plain"),
        "anytime": _accepted(figures, "Anytime"),
        "paper": _paper(),
        "hunters": _hunters(figures),
        "teams": _teams(figures),
        "tail_count": str(tail["count"]),
        "tail_better": str(tail["better"]),
        "tail_holdout": f"{tail['holdout']:.5f}",
        "tail_fresh": f"{tail['fresh']:+.5f}",
        "tail_rows": f"{tail['holdout'] * rows['holdout']:.1f}",
        "one_row": f"{1 / rows['holdout']:.6f}",
        "small": f"{SMALL:g}",
        **{f"{name.lower()}_{kind}_{part}": _brought(figures, name, kind, part) for name, kind, part in _BROUGHT},
        **{f"{name.lower()}_end": f"{_end(figures, name):.4f}" for name in tallies},
        "tries": str(figures["tries"]),
        "more_turns": str(max(len(figures["turns"]) - len(PAPER), 0)),
    }


_BROUGHT = (("Plain", "A", "holdout"), ("Plain", "A", "fresh"))


def _brought(figures: Figures, checker: str, kind: str, part: str) -> str:
    """Return what a kind's accepted updates contribute in the mixed team, on average over the divisions."""
    mixed = [one for one in figures["tallies"][checker] if one["team"] == "mixed"]
    return f"{mean(one['kinds'][kind]['contribution'][part] for one in mixed):.4f}"


def _end(figures: Figures, checker: str) -> float:
    """Return the mixed team's last risk on fresh rows."""
    return float(mean(one["last"]["fresh"] for one in figures["tallies"][checker] if one["team"] == "mixed"))


def _accepted(figures: Figures, checker: str) -> str:
    """Return the paper's columns, and beside them what fresh rows say."""
    first = figures["first"][checker]
    headings = ["round, group", "risk before", "after", "improvement", "weight", "repairs", "overall risk"]
    start = ["0", "", "", "", "1.0000", "", f"{first['initial']['holdout']:.4f}", ""]
    rows = [[*start, f"{first['initial']['fresh']:.4f}"]]
    accepted = [one for one in first["tried"] if one["accepted"]]
    rows += [_row(number, one) for number, one in enumerate(accepted, start=1)]
    return table([*headings, "improvement, fresh", "overall, fresh"], rows)


def _row(number: int, one: Figures) -> list[str]:
    holdout, fresh = one["holdout"], one["fresh"]
    return [
        f"{number}. {_short(one['words'])} ({one['hunter']})",
        f"{holdout['before']:.4f}",
        f"{holdout['after']:.4f}",
        f"{holdout['before'] - holdout['after']:.4f}",
        f"{holdout['weight']:.4f}",
        str(one["repairs"]),
        f"{holdout['overall']:.4f}",
        f"{fresh['before'] - fresh['after']:+.4f}",
        f"{fresh['overall']:.4f}",
    ]


def _short(words: str) -> str:
    words = words.replace("|", "/") if words != "a group" else "where the newest round errs: no few words say it"
    return words if len(words) <= MOST_WORDS else f"{words[: MOST_WORDS - 3]}..."


def _paper() -> str:
    headings = ["round, group", "risk before", "after", "improvement", "weight", "overall risk"]
    rows = [["0", "", "", "", "1.0000", f"{PAPER_INITIAL:.4f}"]]
    for number, (kind, words, *numbers) in enumerate(PAPER, start=1):
        rows.append([f"{number}. {words} ({kind})", *(f"{one:.4f}" for one in numbers)])
    return table(headings, rows)


def _hunters(figures: Figures) -> str:
    """Return what each kind of hunter did in the mixed team, on average over the divisions."""
    headings = ["judge, hunter", "submitted", "accepted", "better on fresh rows", "repairs"]
    headings += ["contribution, holdout", "fresh", "risk fell by, holdout", "fresh"]
    rows = [
        _hunter(checker, kind, [one["kinds"][kind] for one in tallies if one["team"] == "mixed"])
        for checker, tallies in figures["tallies"].items()
        for kind in KINDS
    ]
    return table(headings, rows)


def _hunter(checker: str, kind: str, counts: list[Figures]) -> list[str]:
    return [
        f"{checker}, {KINDS[kind]}",
        *(f"{mean(one[what] for one in counts):.1f}" for what in ("tried", "accepted", "better_on_fresh", "repairs")),
        *(f"{mean(one[what][part] for one in counts):.4f}" for what in ("contribution", "change") for part in PARTS),
    ]


def _teams(figures: Figures) -> str:
    """Return how far each team got, on average over the divisions."""
    headings = ["judge, team", "submitted", "accepted", "repairs", "holdout risk", "fresh risk", "(range)"]
    rows = [
        _team(f"{checker}, {team}", [one for one in tallies if one["team"] == team])
        for checker, tallies in figures["tallies"].items()
        for team in dict.fromkeys(one["team"] for one in tallies)
    ]
    return table(headings, rows)


def _team(name: str, tallies: list[Figures]) -> list[str]:
    fresh = [one["last"]["fresh"] for one in tallies]
    return [
        name,
        *(
            f"{mean(sum(kind[what] for kind in one['kinds'].values()) for one in tallies):.1f}"
            for what in ("tried", "accepted", "repairs")
        ),
        *(
            f"{mean(one['initial'][part] for one in tallies):.4f} -> {mean(one['last'][part] for one in tallies):.4f}"
            for part in PARTS
        ),
        f"{min(fresh):.4f} to {max(fresh):.4f}",
    ]


def _tail(figures: Figures, checker: str) -> dict[str, float]:
    """Sum up the mixed team's accepted submissions that are as small as those of the paper's table from round 3 on."""
    small = [(holdout, fresh) for _, holdout, fresh in figures["acceptances"][checker] if holdout <= SMALL]
    return {
        "count": len(small),
        "better": sum(fresh > 0 for _, fresh in small),
        "holdout": mean(holdout for holdout, _ in small) if small else 0.0,
        "fresh": mean(fresh for _, fresh in small) if small else 0.0,
    }
