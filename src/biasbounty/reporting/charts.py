"""Charts, as Altair objects: the same in a notebook, on a page and in a report. Needs the extra `report`."""

from collections.abc import Callable
from math import log
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from biasbounty.errors import MissingExtraError
from biasbounty.reporting.curves import Curve
from biasbounty.statistics.numbers import digits
from biasbounty.statistics.planning import Plan, Point

if TYPE_CHECKING:
    from biasbounty.finders.disparities import Disparities, Disparity

PALETTE = (
    "#3b6fb6", "#d1622b", "#2e8b72", "#b0559a", "#8a6d1f", "#5b52b0", "#c23b55", "#4d8fac", "#6f8f2f", "#7a7a7a",
)  # fmt: skip
INK, QUIET = "#1a1a1a", "#5f6368"
FIRST, LAST = "Anytime, first submission", "Anytime, last"
RESOLUTIONS: dict[str, Callable[[Point], float | None]] = {
    FIRST: lambda point: point.first,
    LAST: lambda point: point.last,
    "Paper": lambda point: point.paper,
}
"""The lines of the chart of resolution by rows."""
ROOM = 0.29
"""How much of the chart's width the name of a line takes."""
_PLAIN_COUNT = (
    "datum.value < 1e6 ? format(datum.value, ',') : datum.value < 1e9 ? format(datum.value / 1e6, ',') + ' million'"
    " : format(datum.value / 1e9, ',') + ' billion'"
)
_Values: TypeAlias = list[dict[str, Any]]
LABEL_GAP = 0.052
"""How far apart labels at the ends of lines are kept, as a fraction of the chart's height."""


def risk_by_round(curves: list[Curve], *, width: int = 640, height: int = 360) -> Any:
    """Draw risk by round (an Altair chart): dashed before a group is introduced, solid after, as in the paper."""
    alt = _altair()
    highest = max(risk for curve in curves for risk in curve.risks)
    last = max(1, len(curves[0].risks) - 1)
    x = alt.X("round:Q", title="round", scale=alt.Scale(domain=[0, last]), axis=alt.Axis(tickMinStep=1, format="d"))
    y = alt.Y("risk:Q", title="holdout risk", scale=alt.Scale(domain=[0, highest * 1.05]), axis=alt.Axis(format=".2f"))
    color = alt.Color(
        "name:N",
        legend=None,
        scale=alt.Scale(domain=[curve.name for curve in curves], range=[INK, *_colors(len(curves) - 1)]),
    )
    line = (
        alt.Chart(alt.Data(values=_points(curves)))
        .mark_line(point=alt.OverlayMarkDef(size=22))
        .encode(
            x=x,
            y=y,
            color=color,
            detail="part:N",
            strokeDash=alt.StrokeDash(
                "introduced:N", legend=None, scale=alt.Scale(domain=[True, False], range=[[1, 0], [4, 4]])
            ),
            strokeWidth=alt.condition("datum.name == 'overall'", alt.value(3), alt.value(1.6)),
            opacity=alt.condition("datum.introduced", alt.value(1), alt.value(0.6)),
            tooltip=["name:N", "round:Q", alt.Tooltip("risk:Q", format=".4f")],
        )
    )
    labels = (
        alt.Chart(alt.Data(values=_labels(curves, last, highest)))
        .mark_text(align="left", dx=10, fontSize=11)
        .encode(x=x, y=alt.Y("place:Q", title="holdout risk"), text="words:N", color=color)
    )
    return _styled((line + labels).properties(width=width, height=height))


def resolution_by_rows(plan: Plan, *, width: int = 640, height: int = 360) -> Any:
    """Draw what passes on the holdout by its rows (an Altair chart, both axes logarithmic), and the planned rows."""
    alt = _altair()
    points = plan.curve()
    values = [value for line in RESOLUTIONS for value in _resolutions(line, points)]
    contributions = [value["contribution"] for value in values]
    low, high = 0.7 * min(contributions), min(1.0, 1.25 * max(contributions))
    x = alt.X(
        "rows:Q",
        title="holdout rows",
        scale=alt.Scale(type="log", domain=[points[0].rows, points[-1].rows], nice=False),
        axis=alt.Axis(values=[10**power for power in range(10)], labelExpr=_PLAIN_COUNT),
    )
    y = alt.Y(
        "contribution:Q",
        title="smallest contribution that passes on the holdout",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=_ticks(low, high), format="~g"),
    )
    color = alt.Color(
        "name:N", legend=None, scale=alt.Scale(domain=list(RESOLUTIONS), range=[PALETTE[0], PALETTE[0], PALETTE[1]])
    )
    lines = (
        alt.Chart(alt.Data(values=values))
        .mark_line()
        .encode(
            x=x,
            y=y,
            color=color,
            strokeWidth=alt.condition(f"datum.name == '{FIRST}'", alt.value(1.2), alt.value(2.2)),
            tooltip=["name:N", alt.Tooltip("rows:Q", format=",d"), alt.Tooltip("contribution:Q", format=".4f")],
        )
    )
    marks = [mark.encode(x=x, y=y, color=color) for mark in _marks(plan, points)]
    return _styled(alt.layer(_rule(plan, x), lines, *marks).properties(width=width, height=height), right=20)


def disparities(found: "Disparities", *, width: int = 300) -> Any:
    """Draw each slice's risk beside the risk elsewhere, and what another model contributes, with their intervals."""
    alt = _altair()
    values = [_disparity_values(number, one) for number, one in enumerate(found.found)]
    y = alt.Y("words:N", title=None, sort=[value["words"] for value in values], axis=alt.Axis(labelLimit=420))
    base = alt.Chart(alt.Data(values=values)).encode(y=y)
    overall = alt.Chart(alt.Data(values=[{"risk": found.risk}])).mark_rule(color=QUIET, strokeDash=[3, 3])
    elsewhere = base.mark_tick(color=INK, thickness=2).encode(x=alt.X("elsewhere:Q"))
    risk = alt.layer(overall.encode(x="risk:Q"), *_intervals(base, "risk", PALETTE[1]), elsewhere)
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color=QUIET).encode(x="zero:Q")
    contribution = alt.layer(zero, *_intervals(base.encode(y=y.axis(None)), "contribution", PALETTE[0]))
    panels = alt.hconcat(
        risk.properties(width=width, title="risk on the group (line: overall, tick: elsewhere)"),
        contribution.properties(width=width, title="what a model of its own contributes"),
    )
    return _styled(panels, right=20)


def _disparity_values(number: int, one: "Disparity") -> dict[str, Any]:
    values: dict[str, Any] = {
        "words": f"{number + 1}. {one.words} ({one.weight:.1%})",
        "elsewhere": one.elsewhere.value,
    }
    for name, estimate in (("risk", one.risk), ("contribution", one.contribution)):
        values |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return values


def _intervals(base: Any, name: str, color: str) -> list[Any]:
    """Draw a point for each value, and a bar from its low to its high end."""
    alt = _altair()
    low, high = alt.X(f"{name}_low:Q", title=name), alt.X2(f"{name}_high:Q")
    return [
        base.mark_rule(color=color, strokeWidth=2, opacity=0.6).encode(x=low, x2=high),
        base.mark_point(filled=True, size=45, color=color, opacity=1).encode(x=alt.X(f"{name}:Q", title=name)),
    ]


def to_svg(chart: Any) -> str:
    """Render a chart as SVG, without a browser and without asking any other host."""
    svg: str = _converter().vegalite_to_svg(chart.to_dict())
    return svg


def to_png(chart: Any) -> bytes:
    """Render a chart as PNG, likewise, sharp enough for dense screens."""
    png: bytes = _converter().vegalite_to_png(chart.to_dict(), scale=2)
    return png


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtraError("charts need vl-convert: install biasbounty[report]") from error
    return vl_convert


def _altair() -> Any:
    try:
        import altair
    except ImportError as error:
        raise MissingExtraError("charts need altair: install biasbounty[report]") from error
    return altair


def _colors(count: int) -> list[str]:
    return [PALETTE[at % len(PALETTE)] for at in range(count)]


def _points(curves: list[Curve]) -> list[dict[str, Any]]:
    """Return the points of each curve, the one where its group is introduced in both of its parts."""
    return [
        {"name": curve.name, "round": number, "risk": risk, "introduced": after, "part": f"{curve.name} {after}"}
        for curve in curves
        for number, risk in enumerate(curve.risks)
        for after in (False, True)
        if (number >= curve.introduced if after else number <= curve.introduced and curve.introduced > 0)
    ]


def _labels(curves: list[Curve], last: int, highest: float) -> list[dict[str, Any]]:
    """Place a label at the end of each curve, moved apart where they would overlap."""
    from sklearn.isotonic import isotonic_regression

    ordered = sorted(curves, key=lambda curve: curve.risks[-1])
    steps = LABEL_GAP * highest * np.arange(len(ordered))
    places = isotonic_regression([curve.risks[-1] for curve in ordered] - steps) + steps
    return [
        {"name": curve.name, "round": last, "place": float(place), "words": f"{curve.name} {curve.risks[-1]:.3f}"}
        for curve, place in zip(ordered, places, strict=True)
    ]


def _resolutions(name: str, points: tuple[Point, ...]) -> _Values:
    """Return what a line goes through: nothing where nothing passes."""
    return [
        {"name": name, "rows": point.rows, "contribution": value}
        for point in points
        if (value := RESOLUTIONS[name](point)) is not None
    ]


def _marks(plan: Plan, points: tuple[Point, ...]) -> list[Any]:
    """Mark what passes at the planned rows, and name each line."""
    alt = _altair()
    marks = []
    for name in RESOLUTIONS:
        line = _resolutions(name, points)
        here = [value for value in line if value["rows"] == plan.rows]
        at, side = _room(name, here, line, left=log(plan.rows / points[0].rows) / log(points[-1].rows / points[0].rows))
        named = [{**value, "words": _words(name, here, plan, apart=at != here)} for value in at]
        marks += [alt.Chart(alt.Data(values=here)).mark_point(filled=True, size=45, opacity=1)] if here else []
        marks += [alt.Chart(alt.Data(values=named)).mark_text(fontSize=11, **side).encode(text="words:N")]
    return marks


def _room(name: str, here: _Values, line: _Values, *, left: float) -> tuple[_Values, dict[str, Any]]:
    """Find room for the name of a line: lines fall, so above and to the right; for the lowest, below and to the left.

    A line that has not begun at the planned rows is named where it begins; the lowest at its end, if there is too
    little room to the left of the planned rows.
    """
    if name != FIRST:
        return here or line[:1], {"align": "left", "dx": 7, "dy": -9}
    return here if left >= ROOM else line[-1:], {"align": "right", "dx": -7, "dy": 13}


def _words(name: str, here: _Values, plan: Plan, *, apart: bool) -> str:
    """Name a line, and say what passes at the planned rows, if anything does."""
    if name == LAST:
        name = f"Anytime, after {plan.submissions:,} submission{'s' * (plan.submissions > 1)}"
    passing = "".join(f": {digits(value['contribution'], up=True)}" for value in here)
    return f"{name}{passing} at {plan.rows:,} rows" if here and apart else f"{name}{passing}"


def _rule(plan: Plan, x: Any) -> Any:
    """Draw a rule at the planned rows, with their number above it."""
    alt = _altair()
    planned = alt.Chart(alt.Data(values=[{"rows": plan.rows, "words": f"{plan.rows:,} rows"}])).encode(x=x)
    number = planned.mark_text(color=QUIET, baseline="bottom", fontSize=11).encode(y=alt.value(-5), text="words:N")
    return planned.mark_rule(color=QUIET, strokeDash=[3, 3]) + number


def _ticks(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times each power of ten within the range."""
    every = (digit / 10**power for power in range(10, -1, -1) for digit in (1, 2, 5))
    return [tick for tick in every if low <= tick <= high]


def _styled(chart: Any, right: int = 110) -> Any:
    return (
        chart.configure(
            font="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif",
            padding={"right": right, "left": 5, "top": 5, "bottom": 5},
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=QUIET, titleColor=QUIET, gridColor="#ececec", domainColor="#c8c8c8", titleFontWeight="normal"
        )
    )
