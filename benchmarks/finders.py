"""Finders and trained models beside their peers: `python -m benchmarks.finders` writes benchmarks/out/finders.json.

`census` and `made-up`: the finders of this package beside sliceline, divexplorer and pysubgroup, on the census sample
and on rows that are made up, with slices planted in them. `timed`: a fifth of the made-up rows, which sliceline can
search. `models`: BountyClassifier and bounties beside fairlearn, boosting and trees. Peers run in environments of their
own, made when first needed; one that fails is in the tables, with the reason. A part that is not run keeps what it
wrote last. Charts are drawn beside the file.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import finders_charts, finders_models, finders_slices, finders_tables, finders_worlds
from benchmarks.finders_environments import LONGEST
from benchmarks.finders_models import Measured
from benchmarks.finders_slices import Found
from benchmarks.measure import machine

OUT = Path(__file__).parent / "out" / "finders.json"
ROWS, SPLITS = 300_000, 3
SMALLER = 5
"""sliceline's memory grows with rows times pairs of bins: it is timed on so many times fewer of the made-up rows."""
TIMED = ("SliceFinder, binned", "sliceline, alpha 0.95", "sliceline, alpha 0.6")
PARTS = ("census", "timed", "made-up", "models")


def slices(part: str, rows: int, longest: float, folder: Path) -> dict[str, Any]:
    """Let finders search one world."""
    made = (
        finders_worlds.census()
        if part == "census"
        else finders_worlds.made_up(rows if part == "made-up" else rows // SMALLER)
    )
    found: list[Found] = []
    for one in finders_slices.results(made, folder, longest, TIMED if part == "timed" else ()):
        found.append(one)
        print(f"  {_found_line(one)}", flush=True)
    beside = finders_slices.beside_sliceline(made, found)
    bars = None if part == "timed" else finders_slices.bars(made, folder, found)
    print(f"  {beside}\n  {bars}", flush=True)
    return {"rows": made.train, "found": [asdict(one) for one in found], "sliceline": beside, "bars": bars}


def models(splits: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Train all models on all splits; yield what is known after each."""
    measured: list[Measured] = []
    for split in range(splits):
        with threadpool_limits(1):
            for one in finders_models.results(split, folder):
                measured.append(one)
                print(f"  {_measured_line(one)}", flush=True)
        yield {"measured": [asdict(one) for one in measured], "means": list(_means(measured))}


def _means(measured: list[Measured]) -> Iterator[dict[str, Any]]:
    """Yield the means over splits: the worst group is the worst of the groups' means."""
    for name in dict.fromkeys(one.model for one in measured):
        own = [one for one in measured if one.model == name]
        done = [one for one in own if one.by_group is not None]
        if not done:
            yield {"model": name, "failure": own[0].failure}
            continue
        groups = {group: mean((one.by_group or {})[group] for one in done) for group in done[0].by_group or {}}
        large = {group: risk for group, risk in groups.items() if group not in finders_models.SMALL}
        worst, worst_large = (max(each, key=lambda group: each[group]) for each in (groups, large))
        yield {
            "model": name,
            "splits": len(done),
            "risk": mean(one.risk or 0.0 for one in done),
            "worst": groups[worst],
            "worst group": worst,
            "worst of the larger": large[worst_large],
            "worst larger group": worst_large,
            "by group": groups,
            "seconds": mean(one.seconds or 0.0 for one in done),
            "processor seconds": mean(one.processor_seconds or 0.0 for one in done),
        }


def _found_line(one: Found) -> str:
    if one.failure is not None:
        return f"{one.finder:30} {one.failure}"
    own = "" if one.own is None else f" (its own model {one.own:.4f})"
    time = "" if one.seconds is None else f" {one.seconds:7.1f} s"
    memory = "" if one.extra_bytes is None else f" +{one.extra_bytes / 2**20:.0f} MB"
    planted = "" if one.planted is None else f" planted {one.planted}"
    return (
        f"{one.finder:30} {one.ranking:20} {one.slices:3} slices; best {one.best:.4f}{own} first {one.first:.4f} "
        f"together {one.together:.4f}{planted}{time}{memory}; {one.best_words}"
    )


def _measured_line(one: Measured) -> str:
    if one.failure is not None:
        return f"{one.split} {one.model:50} {one.failure}"
    return (
        f"{one.split} {one.model:50} risk {one.risk:.4f} worst {one.worst:.4f} ({one.worst_group}) "
        f"{one.seconds:7.2f} s {one.said}"
    )


def main() -> None:
    """Run the parts asked for, and write what came of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.finders", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--rows", type=int, default=ROWS, help="made-up rows to search")
    parser.add_argument("--splits", type=int, default=SPLITS, help="splits that models are measured on")
    parser.add_argument(
        "--longest", type=float, default=LONGEST, help="seconds of processor that a slice finder may take"
    )
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--tables", action="store_true", help="run nothing: print what was written as tables")
    arguments = parser.parse_args()
    if arguments.tables:
        print(finders_tables.tables(json.loads(arguments.out.read_text())), end="")
        return
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part: expected some of {', '.join(PARTS)}, got {', '.join(sorted(unknown))}")
    for part in arguments.parts or PARTS:
        print(f"{part} ...", flush=True)
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            if part == "models":
                for written in models(arguments.splits, folder):
                    _write(arguments.out, part, written)
            else:
                _write(arguments.out, part, slices(part, arguments.rows, arguments.longest, folder))
    print(f"written to {arguments.out}")


def _write(out: Path, part: str, written: dict[str, Any]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(out.read_text()) if out.exists() else {}
    known = {**before, part: {"machine": machine(), **written}}
    out.write_text(json.dumps(known, indent=1) + "\n")
    for name, chart in finders_charts.drawn(known).items():
        out.with_name(f"{out.stem}_{name}.svg").write_text(chart)


if __name__ == "__main__":
    main()
