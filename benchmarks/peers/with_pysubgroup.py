"""pysubgroup: `python -m benchmarks.peers.with_pysubgroup FOLDER VARIANT`, its depth-first search over bit sets.

`a` is the power of a slice's size in its quality: 1 is weighted relative accuracy (its README's), 0.5 the binomial
test's.
"""

from functools import partial
from importlib import import_module
from typing import Any

from benchmarks.peers.exchange import Conditions, Task, serve


def search(task: Task, power: float) -> dict[str, list[Conditions]]:
    package: Any = import_module("pysubgroup")
    rows = task.binned.astype(object).assign(loss=task.losses > 0)
    wanted = package.SubgroupDiscoveryTask(
        rows,
        package.BinaryTarget("loss", True),
        package.create_nominal_selectors(rows, ignore=["loss"]),
        qf=package.StandardQF(power),
        result_set_size=task.most,
        depth=task.depth,
        constraints=[package.MinSupportConstraint(task.least)],
    )
    found = package.DFS().execute(wanted).to_descriptions()
    return {f"a = {power:g}": [_conditions(description) for _, description, *_ in found]}


def _conditions(description: Any) -> Conditions:
    return {selector.attribute_name: selector.attribute_value for selector in description.selectors}


if __name__ == "__main__":
    searches = {f"pysubgroup, a = {power:g}": partial(search, power=power) for power in (1.0, 0.5)}
    serve(("pysubgroup", "numpy", "pandas"), searches)
