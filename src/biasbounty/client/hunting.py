"""Hunting: a finder searches train rows against the newest round; what holds up on public rows is handed in.

After an acceptance it searches against the new round. After a rejection it searches other rows: a part of the train
rows drawn anew. What was handed in before is never handed in again.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from biasbounty.client.rows import Part
from biasbounty.client.values import Submission
from biasbounty.core.rows import Rows
from biasbounty.values import Certificate

if TYPE_CHECKING:
    from biasbounty.client.bounty import RemoteBounty

SHARE = 0.8
"""Searches after a rejection are on so large a part of the train rows."""
TRIES = 3
"""It is given up after so many searches in a row that found nothing to hand in."""


def hunted(
    bounty: "RemoteBounty", finder: Any, submissions: int, seed: int, told: Callable[[str], None]
) -> Iterator[Submission]:
    """Yield what was handed in, each as it is judged."""
    rng, fruitless, everyone = np.random.default_rng(seed), 0, True
    while submissions > 0 and fruitless < TRIES:
        told("searching train rows")
        found = _search(bounty, finder, rng, everyone)
        everyone = False
        if found is None or not _holds_up(bounty, found, told):
            fruitless += 1
            continue
        submission = bounty.submit(found.group, found.model, note=found.note, progress=told)
        yield submission
        submissions, fruitless, everyone = submissions - 1, 0, submission.accepted


def _search(bounty: "RemoteBounty", finder: Any, rng: np.random.Generator, everyone: bool) -> Certificate | None:
    part = bounty.data().train
    if not everyone:
        ids = np.sort(rng.permutation(len(part))[: int(SHARE * len(part))])
        part = Part(Rows(part.X).take(ids).native, part.y[ids])
    found: Certificate | None = finder.find(part.X, part.y, bounty.model()(part.X), rng, loss=bounty.loss)
    return found


def _holds_up(bounty: "RemoteBounty", found: Certificate, told: Callable[[str], None]) -> bool:
    """Say whether it contributes on public rows, too."""
    shown = bounty.preflight(found.group, found.model, progress=told)
    told(f"found {found.note}; on public rows it contributes {shown.contribution:+.4f}")
    return shown.contribution > 0
