"""Measuring: figures, times that are compared within one run, and the machine they come from."""

import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Figure:
    """One measured figure, beside the limit it is compared with and the ratio that was aimed for."""

    name: str
    value: float
    unit: str
    limit: float | None = None
    ratio_to_limit: float | None = None
    target: str | None = None
    met: bool | None = None
    peers: dict[str, float] = field(default_factory=dict)
    """How many times as long each peer takes."""


def at_most(
    name: str, value: float, unit: str, limit: float, ratio: float, peers: dict[str, float] | None = None
) -> Figure:
    """Return a figure whose ratio to its limit should be at most this."""
    actual = value / limit
    return Figure(name, value, unit, limit, actual, f"<= {ratio:g}", actual <= ratio, peers or {})


def times(*actions: Callable[[], object], repeat: int = 7) -> list[float]:
    """Return the median seconds of each action, all run in turn so that they meet the same machine."""
    taken: list[list[float]] = [[] for _ in actions]
    for action in actions:
        action()
    for _ in range(repeat):
        for action, seconds in zip(actions, taken, strict=True):
            start = time.perf_counter()
            action()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in taken]


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the log-log slope of seconds against sizes: 1 is linear."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def machine() -> str:
    """Name the machine."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    processor = f"{len(models)} x {models[0]}" if models else platform.processor()
    return f"{processor}, {platform.system()}, Python {platform.python_version()}, numpy {np.__version__}"
