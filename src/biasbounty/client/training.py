"""Training: a good model for a group, for people who know the group and no machine learning.

A few kinds of models, small ones and strong ones, are compared on the group's own train rows by cross-validation; the
one of least loss is fitted to all of them. What it does on public rows, beside the newest round, comes with it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import Array, Mask
from biasbounty.client.handing import as_matrix
from biasbounty.client.rows import Frame, Part
from biasbounty.client.values import Preflight
from biasbounty.core.rows import Rows
from biasbounty.errors import GroupError, SettingsError
from biasbounty.losses import Absolute, Loss, Squared

FOLDS, MOST_ROWS = 3, 20_000
"""Models are compared on at most so many rows."""
SEED = 0
MOST_TEXTS = 40
"""Of a column of text, so many different ones are told apart."""

Told = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Trained:
    """A model fitted to a group, and what it does on public rows."""

    model: Any
    name: str
    """Which kind of model it is."""
    rows: int
    """How many train rows of the group it was fitted to."""
    expected_risk: float
    """On rows of the group that it has not seen, as cross-validation on train rows has it."""
    public: Preflight
    """What it does on public rows."""

    def __str__(self) -> str:
        public = self.public
        return (
            f"{self.name}, fitted to {self.rows:,} rows; on the {public.group:,} public rows of the group risk goes "
            f"from {public.risk_before:.4f} to {public.risk_after:.4f}, which contributes {public.contribution:+.4f}"
        )


def train(part: Part, loss: Loss, model: Any = None, told: Told = lambda _: None) -> tuple[Any, str, float]:
    """Return the best of the candidates fitted to some rows, what it is called, and its risk in cross-validation."""
    import threadpoolctl

    with threadpoolctl.threadpool_limits(
        1
    ):  # threads that wait for each other on a busy machine take many times as long
        return _best(trainable(part.X), part.y, loss, model, told)


def _best(X: Any, y: Array, loss: Loss, model: Any, told: Told) -> tuple[Any, str, float]:
    candidates = {type(model).__name__: model} if model is not None else dict(_candidates(X, y, loss))
    risks: dict[str, float] = {}
    for name, candidate in candidates.items():
        told(f"trying {name}")
        risks[name] = _cross_validated(candidate, X, y, loss)
    best = min(risks, key=lambda name: risks[name])
    told(f"fitting {best} to {len(y):,} rows")
    from sklearn.base import clone

    return clone(candidates[best]).fit(X, y), best, risks[best]


def trainable(X: Frame) -> Any:
    """Return rows that scikit-learn can be fitted on: a matrix where there are numbers only and no names needed."""
    if type(X).__module__.startswith("pyarrow"):
        matrix = as_matrix(X)
        if matrix is X:
            raise SettingsError(
                "rows cannot be trained on: expected a frame of pandas or polars where columns hold text, got one of "
                "Arrow; install pandas, or hand in a model of your own"
            )
        return matrix
    return X


def _candidates(X: Any, y: Array, loss: Loss) -> Iterator[tuple[str, Any]]:
    """Yield models that can be converted exactly, by what they are called."""
    from sklearn import ensemble, tree

    labels = _are_labels(loss)
    small = tree.DecisionTreeClassifier if labels else tree.DecisionTreeRegressor
    strong = ensemble.HistGradientBoostingClassifier if labels else ensemble.HistGradientBoostingRegressor
    for depth in (3, 6, 10):
        leaf = max(1, min(20, len(y) // 50))
        yield f"a tree of depth {depth}", _encoded(small(max_depth=depth, min_samples_leaf=leaf, random_state=SEED), X)
    for leaves in (8, 31):
        made = strong(max_leaf_nodes=leaves, max_iter=100, early_stopping=False, random_state=SEED)
        yield f"boosted trees of {leaves} leaves", _encoded(made, X)


def _are_labels(loss: Loss) -> bool:
    return not isinstance(loss, (Absolute, Squared))


def _encoded(model: Any, X: Any) -> Any:
    """Put encoders before a model where columns hold text; columns that are neither text nor numbers are left out."""
    if isinstance(X, np.ndarray):
        return model
    import narwhals as nw
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    schema = nw.from_native(X, eager_only=True).schema
    numeric = [name for name, kind in schema.items() if kind.is_numeric() or kind == nw.Boolean]
    text = [name for name, kind in schema.items() if kind in (nw.String, nw.Categorical, nw.Enum)]
    if len(numeric) == len(schema):
        return model
    encoder = OneHotEncoder(max_categories=MOST_TEXTS, handle_unknown="infrequent_if_exist", sparse_output=False)
    columns = ColumnTransformer([("numbers", "passthrough", numeric), ("text", encoder, text)])
    return Pipeline([("columns", columns), ("model", model)])


def _cross_validated(model: Any, X: Any, y: Array, loss: Loss) -> float:
    """Return the mean loss on rows that the model was not fitted to; infinity if it cannot be fitted."""
    from sklearn.base import clone

    order = np.random.default_rng(SEED).permutation(len(y))[:MOST_ROWS]
    if len(order) < 2 * FOLDS:
        return float(np.inf)
    rows, lost = Rows(X), 0.0
    for fold in range(FOLDS):
        held = np.arange(len(order)) % FOLDS == fold
        fit, check = np.sort(order[~held]), np.sort(order[held])
        fitted = clone(model).fit(rows.take(fit).native, y[fit])
        lost += float(loss(_within(fitted.predict(rows.take(check).native), loss), y[check]).sum())
    return lost / len(order)


def _within(answers: Array, loss: Loss) -> Array:
    """Return answers within the range of the labels, which a regression may leave by a little."""
    return np.clip(answers, loss.low, loss.high) if isinstance(loss, (Absolute, Squared)) else answers


def rows_of(part: Part, mask: Mask) -> Part:
    """Return the rows of a group; raise GroupError if there are none."""
    own = np.flatnonzero(mask)
    if not len(own):
        raise GroupError(
            f"group has no train rows: expected some of {len(part):,}, got none; hand in a model of your own, or a "
            "wider group"
        )
    return Part(Rows(part.X).take(own).native, part.y[own])


def on_public(part: Part, mask: Mask, before: Array, after: Array, loss: Loss) -> Preflight:
    """Return what a model does on the public rows of a group; `before` and `after` are answers for these rows."""
    own = np.flatnonzero(mask)
    if not len(own):
        return Preflight(len(part), 0, 0.0, 0.0, 0.0)
    was, will = (loss(_within(answers, loss), part.y[own]) for answers in (before, after))
    contribution = float((was - will).sum() / len(part))
    return Preflight(len(part), len(own), float(was.mean()), float(will.mean()), contribution)
