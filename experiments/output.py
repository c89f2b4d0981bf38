"""What an experiment leaves: NAME.md, and beside it NAME/figures.json and the charts, each as SVG and PNG.

A page is its text with the figures put in: a function of figures.json alone, so that a page never says what was not
measured. `{{words}}` in the text stands for a table or a number.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from biasbounty.reporting.charts import INK, QUIET, to_png, to_svg
from experiments.sources import PAGES

OTHER_RUN = (
    "> The figures on this page are of another run than that of the documentation, on other data or of another size; "
    "the words between them were written for that one.\n\n"
)
"""What a page begins with if its words may not fit its figures."""
TEXTS = Path(__file__).parent / "text"
Figures: TypeAlias = dict[str, Any]
"""What was measured, as JSON has it."""
Parts: TypeAlias = Callable[[Figures], Mapping[str, str]]
"""From figures, what stands where in the text."""


@dataclass(frozen=True)
class Output:
    """Where an experiment writes."""

    folder: Path
    name: str

    def chart(self, name: str, chart: Any) -> None:
        """Write a chart, both ways."""
        self._write(f"{name}.svg", to_svg(chart).encode())
        self._write(f"{name}.png", to_png(chart))

    def drawing(self, name: str, svg: str) -> None:
        """Write a drawing that is SVG already, both ways."""
        import vl_convert

        self._write(f"{name}.svg", svg.encode())
        self._write(f"{name}.png", vl_convert.svg_to_png(svg, scale=2))

    def page(self, figures: Figures, parts: Parts) -> Path:
        """Write the figures, and the page made of them."""
        self._write("figures.json", (json.dumps(figures, indent=1) + "\n").encode())
        return remade(self.name, parts, self.folder)

    def _write(self, name: str, content: bytes) -> None:
        folder = self.folder / self.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def filled(name: str, figures: Figures, parts: Parts) -> str:
    """Return a page: its text with the figures put in."""
    text, put = (TEXTS / f"{name}.md").read_text(encoding="utf-8"), parts(figures)
    return re.sub(r"\{\{(\w+)\}\}", lambda found: put[found[1]], text)


def remade(name: str, parts: Parts, folder: Path = PAGES) -> Path:
    """Write a page anew from the figures that are there, as after a change to its text."""
    figures = json.loads((folder / name / "figures.json").read_text(encoding="utf-8"))
    path = folder / f"{name}.md"
    path.write_text(filled(name, figures, parts), encoding="utf-8")
    return path


def table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table for a page; all columns but the first are set right."""
    lines = [headings, ["---", *("---:" for _ in headings[1:])], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def styled(chart: Any) -> Any:
    """Give a chart the looks of all others."""
    font = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"
    return (
        chart.configure(font=font, padding=10)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=QUIET, titleColor=QUIET, gridColor="#ececec", domainColor="#c8c8c8", titleFontWeight="normal"
        )
        .configure_legend(labelColor=INK, titleColor=QUIET, titleFontWeight="normal", labelFontSize=11)
        .configure_title(color=INK, fontSize=12, fontWeight="normal", anchor="start")
    )
