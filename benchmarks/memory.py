"""The memory of a holdout, beside its packed columns and the rows."""

import gc
import tracemalloc
from collections.abc import Iterator

from benchmarks.judging import GROUPS, ROWS, World
from benchmarks.measure import Figure, at_most

BITS_PER_BYTE = 8


def figures() -> Iterator[Figure]:
    """Yield the bytes that a holdout of a million rows keeps after 100 accepted submissions, and its peak."""
    tracemalloc.start()
    world = World(ROWS)
    rows = tracemalloc.get_traced_memory()[0]
    world.grow(GROUPS)
    gc.collect()
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    columns = (world.holdout.groups + world.holdout.rounds) * ROWS // BITS_PER_BYTE
    size = f"{ROWS:,} rows, {GROUPS} groups, {GROUPS + 1} rounds; less the rows, beside packed columns"
    yield at_most(f"memory of a holdout ({size})", kept - rows, "bytes", columns, 1.5)
    yield Figure(
        f"peak memory while scoring, a submission's own arrays included ({size})", peak - rows, "bytes", columns
    )
