"""Say which experiments there are: `python -m experiments` gives a line for each."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from experiments.sources import console

EXPERIMENTS = ("sequential", "costsensitive", "hunters", "guarantee")


def lines() -> Iterator[str]:
    """Yield each experiment's name and what it promises, in the first line of its own words."""
    for name in EXPERIMENTS:
        source = (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        promise = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
        yield f"{name:14} {promise}"


def main(arguments: list[str]) -> int:
    """Print the lines; an experiment itself is asked for as `python -m experiments.NAME`."""
    for line in (
        "python -m experiments.NAME runs one of these (--help says how; docs/experiments/README.md):",
        *lines(),
    ):
        console.print(line, markup=False)
    if arguments and arguments not in (["-h"], ["--help"]):
        name = arguments[0]
        console.print(f"argument is unknown: expected none, got {name}; run python -m experiments.{name}", markup=False)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
