"""Attack `Anytime` and `Plain`: `python -m benchmarks.attacks` writes benchmarks/out/attacks.json and attacks.svg.

Every attacker meets every population twenty times, with 10,000 submissions each; half of the runs have public rows and
half do not. For `Anytime`: in how many runs was anything falsely accepted, of at most 5% promised. For `Plain`: how far
does the risk on the holdout fall below the true one.
"""

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

from scipy.stats import binomtest

from benchmarks.arena import Arena, Run
from benchmarks.attackers import ATTACKERS, Attacker
from benchmarks.measure import machine
from benchmarks.populations import Population, census, noise
from biasbounty.core.anytime import Anytime
from biasbounty.core.thresholds import Plain

DELTA = 0.05
SOUND = Anytime(epsilon=0.0, delta=DELTA)
"""At epsilon = 0 all that is no better at all is null, and nothing is further from it than it must be."""
POT, GRID = 10**9, 1e-4
OUT = Path(__file__).parent / "out"


@dataclass(frozen=True)
class Result:
    """What came of an attacker's runs against a checker."""

    attacker: str
    population: str
    checker: str
    runs: int
    submissions: int
    false_runs: int
    """Runs with any false acceptance."""
    p_value: float | None
    """How likely so many are if the promise is kept just so; None where nothing is promised."""
    accepted: float
    repairs: float
    nats: float
    gap: float
    """True risk less holdout risk at the end, on average."""
    gaps: list[tuple[int, float]]
    """The same after so many submissions."""


def population(data: str, attacker: str) -> Population:
    """Return coins or census data; for whoever reads payouts, coins with something to be paid for beside them."""
    if data == "census":
        return census(20_000)
    return noise(1_000, fixes=15, fixed_rows=200) if attacker == "payout reader" else noise()


def arena(data: str, attacker: str, checker: str) -> Arena:
    """Return where an attacker meets a checker: with payouts, and for Plain without repairs, which would only add."""
    made = Arena(population(data, attacker), SOUND, pot=POT, grid=GRID)
    return made if checker == "Anytime" else replace(made, checker=Plain(), repairs=False)


def run(arena: Arena, attacker: Attacker, submissions: int, seed: int, watched: int = 0) -> Run:
    """Run with public rows if the seed is odd, and without if it is even: both codes are attacked."""
    return replace(arena, public=seed % 2 == 1).run(attacker, submissions, seed, watched)


def attack(data: str, attacker: str, checker: str, submissions: int, seed: int) -> Run:
    """Run one attack; found by name, so that it can be sent to another process."""
    return run(arena(data, attacker, checker), ATTACKERS[attacker], submissions, seed, max(1, submissions // 50))


def results(runs: int, submissions: int) -> Iterator[Result]:
    """Yield what comes of every attacker, population and checker."""
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        jobs = {
            (attacker, data, checker): [
                pool.submit(attack, data, attacker, checker, submissions, seed) for seed in range(runs)
            ]
            for checker in ("Anytime", "Plain")
            for data in ("noise", "census")
            for attacker in ATTACKERS
        }
        for (attacker, data, checker), waiting in jobs.items():
            yield _result(attacker, data, checker, submissions, [job.result() for job in waiting])


def _result(attacker: str, data: str, checker: str, submissions: int, runs: list[Run]) -> Result:
    false = sum(run.false > 0 for run in runs)
    return Result(
        attacker,
        data,
        checker,
        len(runs),
        submissions,
        false,
        binomtest(false, len(runs), DELTA, alternative="greater").pvalue if checker == "Anytime" else None,
        mean(run.accepted for run in runs),
        mean(run.repairs for run in runs),
        mean(run.nats for run in runs),
        mean(run.true_risk - run.holdout_risk for run in runs),
        [(runs[0].gaps[at][0], round(mean(run.gaps[at][1] for run in runs), 5)) for at in range(len(runs[0].gaps))],
    )


def chart(found: list[Result]) -> Any:
    """Draw how far holdout risk is below true risk, by submissions: one line for each attacker and checker."""
    import altair as alt

    points = [
        {"attacker": one.attacker, "population": one.population, "checker": one.checker, "asked": asked, "gap": gap}
        for one in found
        for asked, gap in [(0, 0.0), *one.gaps]
    ]
    return (
        alt.Chart({"values": points})
        .mark_line()
        .encode(
            x=alt.X("asked:Q", title="submissions"),
            y=alt.Y("gap:Q", title="true risk less holdout risk"),
            color=alt.Color("attacker:N", title="attack"),
            strokeDash=alt.StrokeDash("checker:N", title="checker", sort=["Plain", "Anytime"]),
        )
        .properties(width=330, height=260)
        .facet(column=alt.Column("population:N", title=None, sort=["noise", "census"]))
    )


def main() -> None:
    """Run all attacks and write what came of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attacks", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    found = []
    for one in results(arguments.runs, arguments.submissions):
        found.append(one)
        print(
            f"{one.checker:8} {one.population:7} {one.attacker:14} runs with a false acceptance: "
            f"{one.false_runs:3} of {one.runs}; accepted {one.accepted:7.1f}; nats {one.nats:6.1f}; gap {one.gap:+.4f}",
            flush=True,
        )
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows = {"machine": machine(), "delta": DELTA, "results": [asdict(one) for one in found]}
    (arguments.out / "attacks.json").write_text(json.dumps(rows, indent=1) + "\n")

    from biasbounty.reporting.charts import to_svg

    (arguments.out / "attacks.svg").write_text(to_svg(chart(found)))
    print(f"written to {arguments.out / 'attacks.json'} and attacks.svg")


if __name__ == "__main__":
    main()
