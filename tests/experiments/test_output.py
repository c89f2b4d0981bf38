"""A page is its text with the figures put in, and nothing else; charts are written both ways."""

import json
import re
from pathlib import Path

import altair as alt
import pytest

from experiments import guarantee_page, output, sequential_page
from experiments.__main__ import EXPERIMENTS
from experiments.output import Figures, Output, Parts, filled, remade, styled, table
from experiments.sources import PAGES

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="5" height="5"/></svg>'


def _parts(figures: Figures) -> dict[str, str]:
    return {name: str(figure) for name, figure in figures.items()}


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of texts with one text in it, in the place of the project's."""
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "found.md").write_text("Of {{all}} people {{some}} were found; {{all}} in all.\n")
    monkeypatch.setattr(output, "TEXTS", tmp_path / "text")
    return tmp_path


def test_a_page_is_its_text_with_the_figures_put_in(texts: Path) -> None:
    path = Output(texts, "found").page({"all": 7, "some": 2}, _parts)
    assert path == texts / "found.md"
    assert path.read_text() == "Of 7 people 2 were found; 7 in all.\n"
    assert json.loads((texts / "found" / "figures.json").read_text()) == {"all": 7, "some": 2}


def test_a_place_that_no_figure_fills_is_an_error_and_never_a_page(texts: Path) -> None:
    with pytest.raises(KeyError, match="some"):
        filled("found", {}, lambda _: {"all": "7"})


@pytest.mark.parametrize(
    ("name", "parts"), [("sequential", sequential_page.parts), ("guarantee", guarantee_page.parts)]
)
def test_the_committed_page_is_made_of_the_committed_figures(name: str, parts: Parts) -> None:
    figures = json.loads((PAGES / name / "figures.json").read_text(encoding="utf-8"))
    assert filled(name, figures, parts) == (PAGES / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_every_chart_of_a_page_is_there_both_ways(page: Path) -> None:
    for chart in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        assert chart.endswith(".svg")
        assert (page.parent / chart).is_file(), chart
        assert (page.parent / chart).with_suffix(".png").is_file(), chart


def test_the_index_leads_to_every_experiment() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    for name in EXPERIMENTS:
        assert f"python -m experiments.{name}`" in index
        assert f"({name}.md)" in index


def test_a_page_is_remade_from_the_figures_that_are_there(texts: Path) -> None:
    Output(texts, "found").page({"all": 7, "some": 2}, _parts)
    (texts / "text" / "found.md").write_text("Found: {{some}}.\n")
    assert remade("found", _parts, texts).read_text() == "Found: 2.\n"


def test_charts_and_drawings_are_written_as_svg_and_as_png(tmp_path: Path) -> None:
    there = Output(tmp_path, "found")
    there.chart("bars", styled(alt.Chart({"values": [{"x": 1}]}).mark_bar().encode(x="x:Q")))
    there.drawing("list", SVG)
    for name in ("bars", "list"):
        assert (tmp_path / "found" / f"{name}.svg").read_text().startswith("<svg")
        assert (tmp_path / "found" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_table_has_its_first_column_left_and_the_others_right() -> None:
    assert table(["group", "risk"], [["White", "0.2"]]) == "| group | risk |\n| --- | ---: |\n| White | 0.2 |"
