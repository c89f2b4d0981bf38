"""Run the benchmarks: `python -m benchmarks [part ...]` writes benchmarks/out/results.json."""

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from benchmarks import export, guarantees, judging, memory, predicates, prediction, sandbox, service, slices, training
from benchmarks.measure import Figure, machine

PARTS: dict[str, Callable[[], Iterator[Figure]]] = {
    "judging": judging.figures,
    "prediction": prediction.figures,
    "memory": memory.figures,
    "guarantees": guarantees.figures,
    "training": training.figures,
    "slices": slices.figures,
    "predicates": predicates.figures,
    "export": export.figures,
    "service": service.figures,
    "sandbox": sandbox.figures,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="part", help=f"which to run: {', '.join(PARTS)}; all if none is named"
    )
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "results.json")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part: expected some of {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    figures: list[Figure] = []
    for part in arguments.parts or PARTS:
        print(f"{part} ...", flush=True)
        for figure in PARTS[part]():
            figures.append(figure)
            print(f"  {_line(figure)}", flush=True)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    where = machine()
    arguments.out.write_text(json.dumps([{**asdict(figure), "machine": where} for figure in figures], indent=1) + "\n")
    missed = [figure.name for figure in figures if figure.met is False]
    print(f"{len(figures)} figures, {len(missed)} short of their target; written to {arguments.out}")
    for name in missed:
        print(f"  short: {name}")


def _line(figure: Figure) -> str:
    ratio = figure.ratio_to_limit
    beside = "" if ratio is None else f", {ratio:.3f} of the limit"
    target = "" if figure.target is None else f" (target {figure.target})"
    peers = "".join(f"; {name}: {times:.2f} times as long" for name, times in figure.peers.items())
    return f"{figure.name}: {figure.value:.4g} {figure.unit}{beside}{target}{peers}"


if __name__ == "__main__":
    main()
