"""The page and the charts of `costsensitive`: both views of the paper's Figure 6, and what it says of it in words."""

from collections.abc import Callable, Sequence
from statistics import mean
from typing import Any

from biasbounty.reporting.charts import INK, PALETTE
from biasbounty.reporting.curves import OVERALL
from experiments.output import OTHER_RUN, Figures, styled, table

STAGES = ("initial", "sequential", "ternary", "sequential, then ternary", "ternary, then sequential")
PARTS = ("holdout", "fresh")
PANELS = {"holdout": "on the holdout, which also judged", "fresh": "on fresh rows"}
PAPER_TERNARY = ("Black", "other race", "Native/Pacific", "female", "under 30")
"""Where the paper says that the cost-sensitive approach is better on average, by what it calls the groups."""
COLORS = (*PALETTE, INK, "#e0a100", "#9c5a3c")
"""As many as there are states."""
FULL = (180_965, 10)
"""The people and divisions of the run that the words of the page were written for."""
EDGE = 0.25
"""Differences beyond are drawn at the edge."""
JUDGED = "Plain"
"""Whose rounds the figure shows."""


def by_group(task: Figures) -> Any:
    """Draw the figure's left panel, once for each part: a column for each group, a color for each state."""
    return _both(task, "group", "state")


def by_state(task: Figures) -> Any:
    """Draw its right panel likewise: a column for each state, a color for each group."""
    return _both(task, "state", "group")


def _both(task: Figures, across: str, colored: str) -> Any:
    import altair as alt

    points = _points(task)
    domains = {name: list(dict.fromkeys(point[name] for point in points)) for name in ("group", "state")}
    panels = [_panel([point for point in points if point["part"] == part], domains, across, colored) for part in PARTS]
    return styled(alt.hconcat(*panels, spacing=22))


def _points(task: Figures) -> list[dict[str, Any]]:
    """Return a point for each state, group and part; what is beyond the edge is moved there, and another shape."""
    return [
        {
            **point,
            "place": min(max(point["difference"], -EDGE), EDGE),
            "beyond": "within" if abs(point["difference"]) <= EDGE else "above" if point["difference"] > 0 else "below",
        }
        for point in _differences(task)
    ]


def _differences(task: Figures) -> list[dict[str, Any]]:
    """Return for each state, group and part by how much the ternary finder's risk is the higher."""
    return [
        {
            "state": one["state"],
            "group": group,
            "part": part,
            "rows": rows,
            "difference": one["risks"][part]["ternary"][group] - one["risks"][part]["sequential"][group],
        }
        for one in task["states"]
        for part in PARTS
        for group, rows in one["sizes"][part].items()
        if group != OVERALL and all(one["sizes"][other][group] for other in PARTS)
    ]


def _panel(points: list[dict[str, Any]], domains: dict[str, list[str]], across: str, colored: str) -> Any:
    import altair as alt

    zero = alt.Chart({"values": [{"zero": 0}]}).mark_rule(color=INK, strokeWidth=1).encode(y="zero:Q")
    dots = (
        alt.Chart({"values": points}, title=PANELS[points[0]["part"]])
        .mark_point(filled=True, opacity=0.8)
        .encode(
            x=alt.X(
                f"{across}:N",
                title=None,
                scale=alt.Scale(domain=domains[across], paddingInner=0.25),
                axis=alt.Axis(labelAngle=-45, bandPosition=0.5, ticks=False),
            ),
            xOffset=alt.XOffset(f"{colored}:N", scale=alt.Scale(domain=domains[colored])),
            y=alt.Y(
                "place:Q",
                title="risk, ternary less sequential",
                scale=alt.Scale(domain=[-EDGE * 1.05, EDGE * 1.05], nice=False),
                axis=alt.Axis(format="+.2f", values=[-0.2, -0.1, 0, 0.1, 0.2]),
            ),
            shape=alt.Shape(
                "beyond:N",
                legend=None,
                scale=alt.Scale(domain=["within", "above", "below"], range=["circle", "triangle-up", "triangle-down"]),
            ),
            color=alt.Color(
                f"{colored}:N",
                title=colored,
                scale=alt.Scale(domain=domains[colored], range=list(COLORS[: len(domains[colored])])),
            ),
            size=alt.Size(
                "rows:Q",
                title="rows of the group",
                scale=alt.Scale(type="sqrt", range=[14, 90]),
                legend=alt.Legend(values=[10, 100, 1000], symbolFillColor="#7a7a7a", symbolStrokeWidth=0),
            ),
        )
    )
    return alt.layer(zero, dots).properties(width=400, height=280)


def parts(figures: Figures) -> dict[str, str]:
    """Return what stands where in the page."""
    tasks: dict[str, Figures] = figures["tasks"]
    income, other = tasks["income"], tasks["travel"]
    first, states = _divisions(income)[0], income["states"]
    people = sum(sum(one["rows"].values()) for one in states)
    return {
        "note": "" if (people, len(_divisions(income))) == FULL else OTHER_RUN,
        "states": _listed(one["state"] for one in income["states"]),
        "divisions": str(len(_divisions(income))),
        "rows": _rows(income),
        "summary": _summary(tasks),
        "groups": _groups(income),
        "figures": "\n\n".join(_figure(name) for name in tasks),
        "combined": "\n\n".join(_combined(name, task) for name, task in tasks.items()),
        "small": _small(income),
        **{name: str(value) for name, value in figures["settings"].items()},
        "pairs": str(first["pairs"]),
        "rounds": _rounds(income),
        "rounds_other": _rounds(other),
        "mixed": _signed(_stage(income, "holdout", "ternary") - _stage(other, "holdout", "sequential")),
        "luck_sequential": _signed(_luck(income, "sequential")),
        "luck_ternary": _signed(_luck(income, "ternary")),
        **{f"{way}_{part}": _signed(_added(income, way, part)) for way in _ADDED for part in PARTS},
    }


_ADDED = {
    "groups_after": ("ternary", "ternary, then sequential"),
    "ternary_after": ("sequential", "sequential, then ternary"),
}
"""What the second hunters change: from one stage to another."""


def _divisions(task: Figures, checker: str = JUDGED) -> list[Figures]:
    divisions: list[Figures] = task["checkers"][checker]
    return divisions


def _stage(task: Figures, part: str, stage: str, what: str = "groups", checker: str = JUDGED) -> float:
    """Return the mean risk at the end of a stage, over all divisions."""
    return float(mean(one["stages"][part][stage][what] for one in _divisions(task, checker)))


def _luck(task: Figures, stage: str) -> float:
    """Return by how much risk on the groups is higher on fresh rows than on the holdout."""
    return _stage(task, "fresh", stage) - _stage(task, "holdout", stage)


def _added(task: Figures, way: str, part: str) -> float:
    before, after = _ADDED[way]
    return _stage(task, part, after, OVERALL) - _stage(task, part, before, OVERALL)


def _listed(words: Any) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}"


def _signed(number: float) -> str:
    return f"{number:+.4f}"


def _rows(task: Figures) -> str:
    least, most = (pick(task["states"], key=lambda one: one["rows"]["train"]) for pick in (min, max))
    return " to ".join(f"{one['rows']['train']:,}" for one in (least, most))


def _small(task: Figures) -> str:
    """Count the pairs of the first division with few holdout rows."""
    sizes = [size for one in task["states"] for group, size in one["sizes"]["holdout"].items() if group != OVERALL]
    return f"{sum(size < 30 for size in sizes)} of {len(sizes)}"


def _rounds(task: Figures) -> str:
    """Say how many rounds the finder had accepted before it stopped."""
    counts = [count for one in _divisions(task) for count in one["accepted"]["ternary"]]
    within = sum(2 <= count <= 5 for count in counts)
    return f"{min(counts)} to {max(counts)}, {mean(counts):.1f} on average, in {within} of {len(counts)} runs 2 to 5"


def _summary(tasks: Figures) -> str:
    rows = [_difference(task, *one) for task in tasks.items() for one in _MEANS.items()]
    return table(
        ["mean difference", "holdout, first division", "holdout", "(range)", "fresh", "(range)", "the paper"], rows
    )


_MEANS: dict[str, Callable[[Figures, str], float]] = {
    "groups and states": lambda one, part: float(one["difference"][part]),
    "states, everyone": lambda one, part: float(one["overall"][part]),
}


def _difference(task: tuple[str, Figures], what: str, read: Callable[[Figures, str], float]) -> list[str]:
    name, found = task
    divisions = _divisions(found)
    cells = [cell for part in PARTS for cell in _spread([read(one, part) for one in divisions])]
    paper = "0.018" if (name, what) == ("income", "groups and states") else ""
    return [f"{name}, over {what}", _signed(read(divisions[0], "holdout")), *cells, paper]


def _spread(values: Sequence[float]) -> list[str]:
    return [_signed(mean(values)), f"{_signed(min(values))} to {_signed(max(values))}"]


def _groups(task: Figures) -> str:
    """Return by group how the two differ, on average over the states, and who is better."""
    divisions = _divisions(task)
    names = [name for name in divisions[0]["groups"] if all(name in one["groups"] for one in divisions)]
    return table(
        ["group", "holdout", "better", "fresh", "better", "divisions where the same wins on fresh rows", "the paper"],
        [_group(name, [one["groups"][name] for one in divisions]) for name in names],
    )


def _group(name: str, divisions: list[dict[str, float]]) -> list[str]:
    means = {part: mean(one[part] for one in divisions) for part in PARTS}
    same = sum(_better(one["fresh"]) == _better(means["fresh"]) for one in divisions)
    return [
        name,
        *(cell for part in PARTS for cell in (_signed(means[part]), _better(means[part]))),
        f"{same} of {len(divisions)}",
        "ternary" if name in PAPER_TERNARY else "sequential",
    ]


def _better(difference: float) -> str:
    return "sequential" if difference > 0 else "ternary" if difference < 0 else "neither"


def _figure(task: str) -> str:
    return (
        f"### {task[0].upper() + task[1:]}\n\n![differences by group](costsensitive/{task}-groups.svg)\n\n"
        f"![differences by state](costsensitive/{task}-states.svg)"
    )


def _combined(name: str, task: Figures) -> str:
    """Return where each stage ends, under every checker."""
    headings = ["judge, stage", "accepted by state", "repairs by state", "holdout", "fresh"]
    headings += ["holdout, groups", "fresh, groups"]
    rows = [_ended(task, checker, stage) for checker in task["checkers"] for stage in STAGES]
    return f"### {name[0].upper() + name[1:]}, risk at the end of each stage\n\n{table(headings, rows)}"


def _ended(task: Figures, checker: str, stage: str) -> list[str]:
    divisions = _divisions(task, checker)
    return [
        f"{checker}, {stage}",
        f"{mean(mean(one['accepted'][stage]) for one in divisions):.1f}",
        f"{mean(one['repairs'][stage] for one in divisions) / len(task['states']):.1f}",
        *(f"{_stage(task, part, stage, what, checker):.4f}" for what in (OVERALL, "groups") for part in PARTS),
    ]
