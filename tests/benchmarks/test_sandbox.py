"""The benchmark of the sandbox, on few rows; no test asserts a time."""

import pytest

from benchmarks import sandbox


def test_the_sandbox_is_measured_beside_an_open_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "ROWS", 500)
    monkeypatch.setattr(sandbox, "REPEAT", 3)
    figures = list(sandbox.figures())
    assert [figure.name.split(",")[0] for figure in figures] == [
        "warm sandbox",
        "sandbox above opening and running in process",
        "sandbox above running alone in process",
        "start of a sandbox",
    ]
    assert [figure.target for figure in figures] == [None, "<= 1", "<= 1", "<= 1"]
    assert all(figure.limit and figure.unit == "s" for figure in figures)
