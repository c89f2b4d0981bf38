"""DivExplorer: `python -m benchmarks.peers.with_divexplorer FOLDER VARIANT`.

Its miner can stop at conjunctions of so many conditions, but `get_pattern_divergence` does not pass the wish on, and
without it the patterns of data with many rare answers are too many to hold. So the miner is given it here; all else is
as documented. One search, ranked three ways: by divergence (its quick start), by its t value, and by divergence times
support, which is what a repair of the slice can be worth. Its miner is plain Python: there is a variant that searches
the first of the rows only.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.peers.exchange import Conditions, Task, serve

Searches = dict[str, Callable[[Task], dict[str, list[Conditions]]]]

FEW = 20_000


def search(task: Task, rows: int | None = None) -> dict[str, list[Conditions]]:
    explorer: Any = import_module("divexplorer.divexplorer")
    explorer.fpgrowth_cm = partial(import_module("divexplorer.utils_FPgrowth").fpgrowth_cm, max_len=task.depth)
    table = task.binned.assign(loss=task.losses).iloc[:rows]
    patterns = explorer.DivergenceExplorer(table).get_pattern_divergence(
        min_support=task.least / len(task.binned), boolean_outcomes=["loss"]
    )
    worse = patterns[(patterns["loss_div"] > 0) & (patterns["itemset"].map(len) > 0)]
    rankings = {
        "divergence": worse["loss_div"],
        "t value": worse["loss_t"],
        "divergence x support": worse["loss_div"] * worse["support"],
    }
    return {name: _first(worse["itemset"], score, task.most) for name, score in rankings.items()}


def _first(patterns: Any, score: Any, most: int) -> list[Conditions]:
    """Return the patterns of highest score."""
    best = score.sort_values(ascending=False).index[:most]
    return [_conditions(items) for items in patterns.loc[best]]


def _conditions(items: Any) -> Conditions:
    return dict(sorted(str(item).split("=", 1) for item in items))


if __name__ == "__main__":
    searches: Searches = {"divexplorer": search, "divexplorer, on 20,000 rows": partial(search, rows=FEW)}
    serve(("divexplorer", "numpy", "pandas"), searches)
