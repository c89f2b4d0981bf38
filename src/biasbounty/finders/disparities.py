"""Disparities: where a model errs more than elsewhere, and whether another does better there.

Half of the rows are searched for slices, by `SliceFinder`; the other half, drawn at random and looked at only then,
tests what was found. So the search needs no correction beyond that for how many slices are tested: all intervals hold
at once with probability 1 - delta, for rows drawn independently that the model was not fitted to. They come from the
bounds that judge submissions (docs/guarantees).
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from math import log
from typing import Any

import narwhals as nw
import numpy as np

from biasbounty.arrays import is_number, shown
from biasbounty.core.answers import answers_of, require_function
from biasbounty.core.rows import Ids, Rows
from biasbounty.errors import SettingsError
from biasbounty.finders.features import Floats
from biasbounty.finders.interface import Progress, Searched
from biasbounty.finders.slices import FoundSlice, Ranking, SliceFinder
from biasbounty.losses import Loss
from biasbounty.statistics import Evidence
from biasbounty.statistics.bounds import lower_bound, upper_bound
from biasbounty.values import Certificate, RowFunction, as_note

MOST_SLICES = 1_000
BOUNDS = 6
"""How many bounds hold for each slice: two each of its risk, of the risk elsewhere, and of its contribution."""


@dataclass(frozen=True)
class Estimate:
    """What was measured on the rows that test, and what it truly lies between."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Disparity:
    """A slice, what the model does there, and what another one contributes."""

    words: str
    """The slice as predicate text."""
    rows: int
    """How many of the rows that test are in it."""
    weight: float
    risk: Estimate
    elsewhere: Estimate
    """The risk on all other rows."""
    contribution: Estimate
    """By how much overall risk falls if the certificate is accepted."""
    certificate: Certificate
    """The slice and the model that was found for it, ready to be submitted."""


@dataclass(frozen=True, eq=False)
class Disparities:
    """The slices that were found, the best first by what they were ranked by."""

    found: tuple[Disparity, ...]
    risk: float
    """The model's risk on all rows that test."""
    searched: int
    tested: int
    delta: float
    """All intervals hold at once with probability 1 - delta."""
    backend: Any
    """The kind of frame that the rows came in, or None."""

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, at: int) -> Disparity:
        return self.found[at]

    @property
    def frame(self) -> Any:
        """The slices as a frame of the kind that the rows came in, else as pandas, polars or pyarrow has it."""
        columns: dict[str, list[Any]] = {
            "group": [one.words for one in self.found],
            "rows": [one.rows for one in self.found],
            "weight": [one.weight for one in self.found],
        }
        for name, get in _ESTIMATES.items():
            columns[name] = [get(one).value for one in self.found]
            columns[f"{name}_low"] = [get(one).low for one in self.found]
            columns[f"{name}_high"] = [get(one).high for one in self.found]
        backend: Any = self.backend or _any_backend()
        return nw.from_dict(columns, schema=_schema(columns), backend=backend).to_native()

    def __str__(self) -> str:
        if not self.found:
            return f"No slice found on the {self.searched:,} rows searched."
        return "\n".join([f"risk {self.risk:.4f} on {self.tested:,} rows; slices:", *_lines(self)])

    def __repr__(self) -> str:
        return f"Disparities({len(self)} slices, risk={self.risk:.4f}, searched={self.searched}, tested={self.tested})"

    def _repr_html_(self) -> str:
        html = getattr(self.frame, "_repr_html_", None)
        return str(html() if html else self.frame)


_ESTIMATES: dict[str, Callable[[Disparity], Estimate]] = {
    "risk": lambda one: one.risk,
    "elsewhere": lambda one: one.elsewhere,
    "contribution": lambda one: one.contribution,
}


def find_disparities(
    model: RowFunction,
    X: Any,
    y: Any,
    *,
    loss: str | Loss = "zero_one",
    finder: SliceFinder | None = None,
    most: int = 10,
    by: Ranking = "excess",
    delta: float = 0.05,
    seed: int = 0,
    progress: Progress | None = None,
) -> Disparities:
    """Find slices on which the model errs more than elsewhere, with intervals that are corrected for the search.

    Args:
        model: A fitted estimator, or a callable on rows.
        X: Rows that it was not fitted to: a numpy array, a pandas or a polars frame.
        y: Their labels.
        loss: What an answer costs.
        finder: Who searches; a `SliceFinder` with its defaults if not given.
        most: How many slices are tested at most.
        by: What the slices are ranked by: "excess", the loss on a slice beyond what as many rows cost on average;
            "relabelling", what answering another label would save, of those that err alike; or "contribution", what a
            model that is better there takes off overall risk.
        delta: With what probability any interval may be wrong.
        seed: Which rows are searched, and which test.
        progress: Told how far the search is.
    """
    require_function(model, SettingsError, "model")
    _require_settings(most, delta, finder, seed)
    rng = np.random.default_rng(seed)
    rows, everyone = Rows(X), Searched.of(X, y, answers_of(model, Rows(X)), rng, loss, None)
    search, test = _halves(len(everyone), rng)
    given = rows.take(search).native, everyone.y[search], everyone.predictions[search]
    slices = (finder or SliceFinder()).rank(*given, rng, loss=loss, progress=progress, most=most, by=by)
    tested = _Tested(rows.take(test).native, everyone, test, log(delta / BOUNDS / max(1, len(slices))))
    found = [disparity for one in slices if (disparity := tested.disparity(one)) is not None]
    return Disparities(
        found=tuple(sorted(found, key=_KEYS[by])),
        risk=float(tested.before.mean()),
        searched=len(search),
        tested=len(test),
        delta=delta,
        backend=_backend_of(X),
    )


def _halves(size: int, rng: np.random.Generator) -> tuple[Ids, Ids]:
    """Draw which rows are searched, and which test."""
    if size < 2:
        raise SettingsError(f"rows are too few: expected two at least, to search some and test on others, got {size}")
    order = rng.permutation(size)
    return np.sort(order[: size // 2]), np.sort(order[size // 2 :])


class _Tested:
    """The rows that test, and the level at which each bound holds."""

    def __init__(self, X: Any, searched: Searched, test: Ids, log_level: float) -> None:
        self.X, self.rows, self.log_level = X, Rows(X), log_level
        self.loss, self.y, self.before = searched.loss, searched.y[test], searched.before[test]

    def disparity(self, found: FoundSlice) -> Disparity | None:
        """Measure a slice; None if none of these rows is in it."""
        mask = found.group(self.X)
        if not mask.any():
            return None
        own = np.flatnonzero(mask)
        fall = np.zeros(len(mask))
        fall[own] = self.before[own] - self.loss(found.model(self.rows.take(own).native), self.y[own])
        words = found.group.words
        return Disparity(
            words=words,
            rows=len(own),
            weight=len(own) / len(mask),
            risk=self._estimate(self.before[own], lowest=0.0),
            elsewhere=self._estimate(self.before[~mask], lowest=0.0),
            contribution=self._estimate(fall, lowest=-1.0),
            certificate=Certificate(found.group, found.model, note=as_note(words)),
        )

    def _estimate(self, values: Floats, lowest: float) -> Estimate:
        """Return the mean of values in [-1, 1] and what its expectation lies between."""
        total, squares = float(values.sum()), float((values**2).sum())
        whole = self.loss.zero_one
        evidence = Evidence(len(values), int(total) if whole else total, int(squares) if whole else squares)
        low, high = (bound(evidence, self.log_level, zero_one=whole) for bound in (lower_bound, upper_bound))
        return Estimate(total / len(values) if len(values) else 0.0, max(lowest, low), min(1.0, high))


def _require_settings(most: Any, delta: Any, finder: Any, seed: Any) -> None:
    if not (isinstance(seed, (int, np.integer)) and seed >= 0):
        raise SettingsError(f"seed cannot be used: expected a whole number from 0, got {shown(seed)}")
    if finder is not None and not isinstance(finder, SliceFinder):
        raise SettingsError(f"finder ranks no slices: expected a SliceFinder, got {type(finder).__name__}")
    if not (isinstance(most, (int, np.integer)) and 1 <= most <= MOST_SLICES):
        raise SettingsError(f"most is out of range: expected a whole number from 1 to {MOST_SLICES}, got {shown(most)}")
    if not (is_number(delta) and 0 < delta < 1):
        raise SettingsError(f"delta is out of range: expected 0 < delta < 1, got {shown(delta)}")


_KEYS: dict[Ranking, Callable[[Disparity], float]] = {
    "excess": lambda one: one.weight * (one.weight - 1) * (one.risk.value - one.elsewhere.value),
    "relabelling": lambda _: 0.0,
    "contribution": lambda one: -one.contribution.value,
}
"""What is least first. The excess over the overall risk is weight (1 - weight) times the distance to elsewhere; what
relabelling saves is not measured anew, so that the order of the search stays."""


def _lines(disparities: Disparities) -> list[str]:
    return [
        f"  {one.words}: {one.rows:,} rows, risk {_words(one.risk, 3)}, elsewhere {one.elsewhere.value:.3f}; "
        f"a model of its own contributes {_words(one.contribution, 4)}"
        for one in disparities.found
    ]


def _words(estimate: Estimate, digits: int) -> str:
    value, low, high = (f"{number:.{digits}f}" for number in (estimate.value, estimate.low, estimate.high))
    return f"{value} ({low} to {high})"


def _schema(columns: dict[str, list[Any]]) -> dict[str, Any]:
    kinds: dict[str, Any] = {"group": nw.String(), "rows": nw.Int64()}
    return {name: kinds.get(name, nw.Float64()) for name in columns}


def _backend_of(X: Any) -> Any:
    return nw.from_native(X, eager_only=True).implementation if nw.dependencies.is_into_dataframe(X) else None


def _any_backend() -> str:
    return next((name for name in ("pandas", "polars") if find_spec(name)), "pyarrow")
