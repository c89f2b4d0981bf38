"""The tables of benchmarks/README.md about finders, from what `python -m benchmarks.finders` wrote."""

from typing import Any

Figures = dict[str, Any]


def tables(figures: Figures) -> str:
    """Return all tables, as Markdown."""
    parts = [_slices(part, figures[part]) for part in ("census", "made-up", "timed") if part in figures]
    return "\n\n".join([*parts, *([_models(figures["models"])] if "models" in figures else [])]) + "\n"


def _slices(part: str, figures: Figures) -> str:
    lines = [_cells(one) for one in figures["found"]]
    heading = ["finder, ranking", "planted", "best", "together", "seconds", "processor seconds", "MB beside the rows"]
    beside = [f"- {name}: {_plain(value)}" for name, value in _told(figures).items()]
    return f"{part}, {figures['rows']:,} rows:\n\n{_table([heading, *lines])}\n\n" + "\n".join(beside)


def _told(figures: Figures) -> Figures:
    told = {f"beside sliceline, {name}": value for name, value in figures["sliceline"].items()}
    return told | (figures["bars"] or {})


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _cells(one: Figures) -> list[str]:
    name = f"{one['finder']}, {one['ranking']}" if one["ranking"] else one["finder"]
    if one["failure"] is not None:
        return [name, one["failure"], "", "", "", "", ""]
    memory = None if one["extra_bytes"] is None else one["extra_bytes"] / 2**20
    return [
        name,
        "" if one["planted"] is None else str(one["planted"]),
        f"{one['best']:.4f}",
        f"{one['together']:.4f}",
        *(_number(one[which], 2) for which in ("seconds", "processor_seconds")),
        _number(memory, 0),
    ]


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _models(figures: Figures) -> str:
    heading = ["model", "risk", "worst group's", "seconds", "processor seconds"]
    return f"models:\n\n{_table([heading, *map(_mean, figures['means'])])}"


def _mean(one: Figures) -> list[str]:
    if "failure" in one:
        return [one["model"], one["failure"], "", "", ""]
    worst = f"{one['worst of the larger']:.4f} ({one['worst larger group']})"
    return [one["model"], f"{one['risk']:.4f}", worst, f"{one['seconds']:.2f}", f"{one['processor seconds']:.2f}"]


def _table(rows: list[list[str]]) -> str:
    heading, *lines = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in (heading, ["---" for _ in heading], *lines))
