"""The chart of resolution by rows shows the plan's own figures, names its lines where they are, and is always drawn."""

from typing import Any

import pytest

import biasbounty as bb
from biasbounty.reporting.charts import FIRST, LAST, resolution_by_rows, to_png, to_svg

PLAN = bb.plan(rows=40_000, submissions=1000)


def _drawn(plan: bb.Plan) -> dict[str, Any]:
    spec: dict[str, Any] = resolution_by_rows(plan).to_dict()
    return spec


def _layers(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    """Return the layers of one kind of mark, at any depth."""
    found = []
    for each in spec.get("layer", []):
        layer = {"data": spec.get("data"), **each}
        found += _layers(layer, mark)
        if layer.get("mark", {}).get("type") == mark:
            found.append(layer)
    return found


def _values(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [value for layer in _layers(spec, mark) for value in layer["data"]["values"]]


def test_its_lines_are_anytime_at_first_and_after_all_and_paper_on_logarithmic_axes() -> None:
    spec = _drawn(PLAN)
    (line,) = _layers(spec, "line")
    curve = PLAN.curve()
    for name, figure in ((FIRST, "first"), (LAST, "last"), ("Paper", "paper")):
        drawn = [(at["rows"], at["contribution"]) for at in line["data"]["values"] if at["name"] == name]
        expected = [(point.rows, getattr(point, figure)) for point in curve]
        assert drawn == [each for each in expected if each[1] is not None]
    assert [line["encoding"][axis]["scale"]["type"] for axis in "xy"] == ["log", "log"]


def test_a_rule_and_marks_show_what_passes_at_the_planned_rows() -> None:
    spec = _drawn(PLAN)
    (rule,) = _layers(spec, "rule")
    assert [value["rows"] for value in rule["data"]["values"]] == [40_000]
    marked = {value["name"]: value["contribution"] for value in _values(spec, "point")}
    assert marked == {FIRST: PLAN.first_resolution, LAST: PLAN.resolution, "Paper": PLAN.paper_resolution}


def test_lines_are_named_where_they_are_and_there_is_no_legend() -> None:
    svg = to_svg(resolution_by_rows(PLAN))
    for words in ("40,000 rows", "Anytime, after 1,000 submissions: 0.029", "Anytime, first submission: 0.0187"):
        assert f">{words}</text>" in svg
    assert ">Paper: 0.177</text>" in svg
    assert "legend" not in svg


def test_a_line_that_has_not_begun_at_the_planned_rows_is_named_where_it_begins() -> None:
    plan = bb.plan(rows=1000, epsilon=0.02, submissions=100)
    assert plan.resolution is None
    (name,) = [value for value in _values(_drawn(plan), "text") if value.get("name") == LAST]
    assert name["words"] == "Anytime, after 100 submissions"
    assert name["rows"] > 1000


def test_with_no_room_to_the_left_the_lowest_line_is_named_at_its_end() -> None:
    plan = bb.plan(rows=5000, epsilon=0.01, submissions=100)
    (name,) = [value for value in _values(_drawn(plan), "text") if value.get("name") == FIRST]
    assert name["words"] == "Anytime, first submission: 0.0108 at 5,000 rows"
    assert name["rows"] == plan.curve()[-1].rows


@pytest.mark.parametrize(
    "plan",
    [
        bb.plan(rows=1, submissions=1),
        bb.plan(rows=300),
        bb.plan(rows=10**8, submissions=1),
        bb.plan(epsilon=0.9, submissions=1),
        bb.plan(rows=50, epsilon=1e-6, submissions=10**9, delta=1e-8, disagreement=1e-6),
    ],
    ids=lambda plan: f"{plan.rows} rows",
)
def test_every_plan_can_be_drawn(plan: bb.Plan) -> None:
    assert to_png(resolution_by_rows(plan)).startswith(b"\x89PNG")
