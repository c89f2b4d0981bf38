"""Group first: what two finders share. A group is learned from some rows, then a model fitted to all of its rows."""

from typing import Any

import numpy as np

from biasbounty.arrays import Mask
from biasbounty.finders.features import Floats
from biasbounty.finders.found import group_rule, learn_group, learn_model
from biasbounty.finders.interface import Finder, Progress, Searched
from biasbounty.values import Certificate


def group_first(
    finder: Finder,
    searched: Searched,
    inside: Mask,
    counts: Floats,
    seed: int,
    *,
    base: Any,
    group_base: Any,
    progress: Progress | None,
) -> Certificate | None:
    """Learn the group of the rows inside, each counted so often, and a model for it; None if nothing comes of it."""
    group = learn_group(searched, group_base, np.arange(len(searched)), inside, counts, seed)
    if progress is not None:
        progress(1, 2)
    own = np.flatnonzero(group.of(searched.matrix)) if group is not None else np.zeros(0, np.intp)
    model = learn_model(searched, base, own, seed)
    if progress is not None:
        progress(2, 2)
    if group is None or model is None:
        return None
    return searched.certificate(finder, group, model, group_rule(searched, group))
