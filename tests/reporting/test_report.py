"""The report is one file that needs no network, says what is guaranteed, and escapes what strangers wrote."""

import itertools
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasbounty as bb
from biasbounty.errors import MissingExtraError
from biasbounty.reporting import write_report
from biasbounty.reporting.charts import risk_by_round, to_svg
from biasbounty.reporting.curves import risk_curves, submission_names
from biasbounty.reporting.report import report_html

X = np.arange(12).reshape(-1, 1)


def _below(high: float) -> Callable[[Any], Any]:
    return lambda X: X[:, 0] < high


def _bounty(note: str = "a group", **settings: Any) -> bb.Bounty:
    bounty = bb.Bounty(lambda X: np.zeros(len(X), int), X, np.ones(12, int), **{"checker": bb.Plain(), **settings})
    for high in (4, 8, 1):
        bounty.submit(_below(high), lambda X: (X[:, 0] > 1).astype(int), hunter="team-1", note=note)
    return bounty


def test_the_report_is_one_file_that_asks_no_other_host(tmp_path: Path) -> None:
    path = write_report(_bounty(), tmp_path / "report.html", title="A bounty", words="about it")
    html = path.read_text()
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r"<(script|link|iframe|img)\b", html)
    assert html.count("<svg") == 2


@pytest.mark.parametrize(
    ("checker", "words"),
    [
        (bb.Plain(), "No guarantee: Plain accepts by the point estimate"),
        (bb.Paper(0.1, 0.1, 9, allow_small_holdout=True), "No guarantee: the paper&#x27;s theorem needs"),
    ],
)
def test_every_report_says_what_is_guaranteed(checker: Any, words: str) -> None:
    assert words in report_html(_bounty(checker=checker), title="A bounty")


def test_the_report_tells_every_verdict_and_the_risks() -> None:
    html = report_html(_bounty(), title="A bounty")
    assert "3 submissions, 2 accepted, 0 repairs" in html
    assert "<b>1.0000</b> &rarr; <b>0.5000</b>" in html
    assert html.count("rejected</td>") == 1


def test_the_report_escapes_the_words_of_strangers() -> None:
    html = report_html(_bounty("<script>alert(1)</script>"), title="<b>&")
    assert "<script" not in html
    assert "&lt;script" in html


def test_a_curve_is_dashed_before_its_group_is_introduced_and_solid_after() -> None:
    curves = risk_curves(_bounty())
    assert [(curve.name, curve.introduced) for curve in curves] == [("overall", 0), ("a group", 1), ("a group (2)", 2)]
    points = risk_by_round(curves).to_dict()["layer"][0]["data"]["values"]
    second = [(point["round"], point["introduced"]) for point in points if point["name"] == "a group (2)"]
    assert second == [(0, False), (1, False), (2, False), (2, True)]
    assert [p["introduced"] for p in points if p["name"] == "overall"] == [True, True, True]
    assert "stroke-dasharray" in to_svg(risk_by_round(curves))


def test_labels_at_the_ends_of_curves_do_not_overlap() -> None:
    labels = risk_by_round(risk_curves(_bounty())).to_dict()["layer"][1]["data"]["values"]
    places = sorted(label["place"] for label in labels)
    assert all(above - below > 0.05 for below, above in itertools.pairwise(places))


def test_every_submission_has_a_name_of_its_own_everywhere() -> None:
    bounty = bb.Bounty(lambda X: np.zeros(len(X), int), X, np.ones(12, int), checker=bb.Plain())
    for note in ("overall", "a", "a (2)", "a", ""):
        high = 2 * len(bounty.rounds)
        bounty.submit(_below(high), lambda X: np.ones(len(X)), note=note)
    bounty.submit(_below(1), lambda X: np.ones(len(X)))
    names = ["overall (2)", "a", "a (2)", "a (3)", "submission 5"]
    assert submission_names(bounty) == [*names, "submission 6"]
    assert [curve.name for curve in risk_curves(bounty)] == ["overall", *names]
    html = report_html(bounty, title="A bounty")
    assert all(f"<td>{name}</td>" in html for name in names)


@pytest.mark.parametrize(
    ("module", "words"), [("altair", "charts need altair"), ("vl_convert", "charts need vl-convert")]
)
def test_without_the_extra_a_message_names_it(module: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"{words}: install biasbounty\[report\]"):
        to_svg(risk_by_round(risk_curves(_bounty())))
