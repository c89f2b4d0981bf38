"""Charts, as Altair objects: the same in a notebook, on a page and in a report. Needs the extra `report`."""

from typing import Any

import numpy as np

from biasbounty.errors import MissingExtraError
from biasbounty.reporting.curves import Curve

PALETTE = (
    "#3b6fb6", "#d1622b", "#2e8b72", "#b0559a", "#8a6d1f", "#5b52b0", "#c23b55", "#4d8fac", "#6f8f2f", "#7a7a7a",
)  # fmt: skip
INK, QUIET = "#1a1a1a", "#5f6368"
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


def to_svg(chart: Any) -> str:
    """Render a chart as SVG, without a browser and without asking any other host."""
    try:
        import vl_convert
    except ImportError as error:
        raise MissingExtraError("charts need vl-convert: install biasbounty[report]") from error
    svg: str = vl_convert.vegalite_to_svg(chart.to_dict())
    return svg


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


def _styled(chart: Any) -> Any:
    return (
        chart.configure(
            font="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif",
            padding={"right": 110, "left": 5, "top": 5, "bottom": 5},
        )
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=QUIET, titleColor=QUIET, gridColor="#ececec", domainColor="#c8c8c8", titleFontWeight="normal"
        )
    )
