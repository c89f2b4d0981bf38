"""Training: the finders at work without hunters, as scikit-learn estimators (Algorithm 5, TrainByOpt).

`BountyClassifier` and `BountyRegressor` start from a simple model and let a finder submit to it. Each round is found
and tested on rows that no round before it has seen; it is accepted if it contributes three quarters of epsilon there,
and the first that does not ends the training (`stop_reason_`). What is fitted is a `PointerDecisionList`
(`decision_list_`). docs/training.md says what is guaranteed.
"""

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from biasbounty import losses
from biasbounty.arrays import Array, as_array, is_number, shown
from biasbounty.core.answers import LabelType, require_function
from biasbounty.core.checkers import Checker
from biasbounty.core.decision_list import PointerDecisionList
from biasbounty.core.rows import Rows
from biasbounty.errors import SettingsError
from biasbounty.finders.alternating import AlternatingFinder
from biasbounty.finders.features import Features
from biasbounty.finders.initial import Clipped, Constant, best_constant, centres
from biasbounty.finders.interface import Finder, Floats, Progress, column
from biasbounty.finders.parts import Pieces, cut, draw_pieces, most_rounds
from biasbounty.finders.rounds import HEAVY_ROWS, NOTHING_TESTED, Sample, Training, Trial
from biasbounty.finders.ternary import TernaryFinder
from biasbounty.losses import Loss
from biasbounty.values import RowFunction

EPSILON = 0.05
LARGEST = 1e100
"""No row stands for more rows than this."""
BLOCK = 8192
"""So many rows are hashed at a time."""


class _BountyEstimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share; see the module."""

    finder: Finder | None
    base: Any
    epsilon: float
    checker: Checker | None
    initial: RowFunction | None
    loss: str | Loss
    random_state: Any

    decision_list_: PointerDecisionList
    history_: tuple[Trial, ...]
    stop_reason_: str
    guarantee_: str
    n_parts_: int
    n_features_in_: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None, progress: Progress | None = None) -> Self:
        """Train rounds until there is a reason to stop.

        Args:
            X: Rows: an array of numbers, or a pandas or polars frame, which may have text; values may be missing.
            y: Their labels.
            sample_weight: How many rows each stands for: one of weight 3 is three equal rows, one of weight 0 none.
                Weights that mean anything else are to be divided by the largest, or a row may test what it taught.
            progress: Told how many steps are done, of how many at most.
        """
        self._check_settings()
        _require_progress(progress)
        X, y = self._validated(X, y)
        weights = _weights(sample_weight, len(y))
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = Rows(X).take(kept).native, y[kept], weights[kept]
        y = self._learn_labels(y)
        if (y == y[0]).all() and self.initial is None:
            return self._settle_for(y[:1])
        state = check_random_state(self.random_state)
        pieces = draw_pieces(_content(X, y), weights, int(state.randint(2**31 - 1)))
        self._train(Sample(Rows(X), y), pieces, np.random.default_rng(state.randint(2**31 - 1)), progress)
        if weights is not None and weights.max() > 1:
            self.guarantee_ += HEAVY_ROWS
        return self

    def predict(self, X: Any) -> Array:
        """Answer a label for each row, as the newest round does."""
        check_is_fitted(self, "decision_list_")
        if nw.dependencies.is_into_dataframe(X):
            validate_data(self, X, reset=False, skip_check_array=True)
        else:
            X = validate_data(self, X, reset=False, ensure_all_finite=False)
        return self.decision_list_.predict(X)

    @property
    def n_rounds_(self) -> int:
        """How many rounds were accepted."""
        return len(self.decision_list_.heads) - 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _learn_labels(self, y: Array) -> Array:
        """Check the labels, remember what has to be known of them, and return them in the type to be answered."""

    @abstractmethod
    def _candidates(self, y: Array, shares: Floats | None) -> Array:
        """Return the constants that the initial model is chosen from."""

    @abstractmethod
    def _default_finder(self) -> Finder:
        """Return the finder for when none is given."""

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss, once labels are learned."""

    def _unit(self, sample: Sample, pieces: Pieces) -> float:  # noqa: ARG002
        """Return the contribution that an epsilon of 1 means."""
        return 1.0

    def _wrapped(self, model: RowFunction) -> RowFunction:
        """Return a model as it is to stand in the list."""
        return model

    def _check_settings(self) -> None:
        if not (is_number(self.epsilon) and 0 < self.epsilon <= 1):
            raise SettingsError(f"epsilon is out of range: expected 0 < epsilon <= 1, got {shown(self.epsilon)}")
        for what, given, verb, example in (
            ("finder", self.finder, "find", "AlternatingFinder()"),
            ("checker", self.checker, "begin", "Anytime()"),
        ):
            if given is not None and (isinstance(given, type) or not callable(getattr(given, verb, None))):
                raise SettingsError(f"{what} is none: expected a {what} such as {example}, got {shown(given)}")
        if self.finder is not None and self.base is not None:
            raise SettingsError(
                "base is given beside a finder: expected one of them, got both; the finder learns with a base of its "
                f"own, as in {type(self.finder).__name__}(base=...)"
            )
        if self.initial is not None:
            _require_fitted(self.initial)

    def _validated(self, X: Any, y: Any) -> tuple[Any, Array]:
        """Return rows as the frame they are, or else as an array; and labels as an array."""
        y = None if y is None else as_array(y)
        if not nw.dependencies.is_into_dataframe(X):
            _require_in_memory(X)
            X, y = validate_data(self, X, y, ensure_all_finite=False)
        else:
            validate_data(self, X, y, skip_check_array=True)
            y = column_or_1d(y, warn=True)
        column(y, "labels", len(X))
        if not len(y):
            raise SettingsError("rows are empty: expected at least one row, got 0")
        return X, y

    def _settle_for(self, answer: Array) -> Self:
        """Answer always the same."""
        self.decision_list_ = PointerDecisionList(Constant(answer), labels=LabelType.of(answer))
        self.history_, self.n_parts_, self.guarantee_ = (), 0, NOTHING_TESTED
        self.stop_reason_ = f"constant labels: each is {shown(answer[0])}, and so is every answer"
        return self

    def _train(self, sample: Sample, pieces: Pieces, rng: np.random.Generator, progress: Progress | None) -> None:
        parts = [pieces] if self.checker is not None else cut(pieces, self.epsilon)
        training = Training(
            sample,
            self._initial(sample, parts[0].split()[0]),
            LabelType.of(sample.y),
            finder=self._default_finder() if self.finder is None else self.finder,
            loss=self._loss(),
            rng=rng,
            wrap=self._wrapped,
            progress=progress,
        )
        most = most_rounds(self.epsilon)
        if self.checker is not None:
            self.stop_reason_ = training.by_checker(pieces, self.checker, most)
        else:
            least = Fraction(str(float(self.epsilon))) * 3 / 4 * Fraction(self._unit(sample, pieces))
            self.stop_reason_ = training.by_parts(parts, float(least), most)
        self.decision_list_, self.history_, self.guarantee_ = training.model, training.history, training.guarantee
        self.n_parts_ = len(parts)
        if progress is not None:
            progress(most, most)

    def _initial(self, sample: Sample, pieces: Pieces) -> RowFunction:
        """Return the model to start from: the one given, or the constant that does best on some rows."""
        if self.initial is not None:
            return self._wrapped(self.initial)
        taken = sample.take(pieces)
        return best_constant(self._candidates(taken.y, taken.shares), taken.y, taken.shares, self._loss())[0]


class BountyClassifier(ClassifierMixin, _BountyEstimator):  # type: ignore[misc]
    """A classifier trained in rounds, each better on a group that was found for it (docs/training.md).

    Args:
        finder: Who looks for a group and a model; a `TernaryFinder` if not given.
        base: What the finder learns with, where none is given: a regressor, of costs (`TernaryFinder`), or a
            classifier (`AlternatingFinder`).
        epsilon: A round has to contribute three quarters of it; there are at most 2/epsilon rounds.
        checker: Who judges rounds, all on one half of the rows; if not given, each is tested on rows of its own.
        initial: A fitted model to start from, learned from other rows; if not given, the best constant answer. Wrap an
            estimator in `sklearn.frozen.FrozenEstimator`, so that a clone stays fitted.
        loss: "zero_one", or a loss of classes made by `biasbounty.losses`.
        random_state: Which rows go together, and the finder's chance: a seed, or a RandomState.
    """

    classes_: Array

    def __init__(
        self,
        finder: Finder | None = None,
        base: Any = None,
        epsilon: float = EPSILON,
        checker: Checker | None = None,
        initial: RowFunction | None = None,
        loss: str | Loss = "zero_one",
        random_state: Any = None,
    ) -> None:
        self.finder = finder
        self.base = base
        self.epsilon = epsilon
        self.checker = checker
        self.initial = initial
        self.loss = loss
        self.random_state = random_state

    def predict(self, X: Any) -> Array:
        """Answer a class for each row, as the newest round does."""
        answers = super().predict(X)
        return answers if answers.dtype.kind == "U" else answers.astype(self.classes_.dtype, copy=False)

    def _learn_labels(self, y: Array) -> Array:
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise SettingsError("labels are no classes: expected whole numbers, booleans or text, got an infinite one")
        check_classification_targets(y)
        self._loss().check_labels(y)
        self.classes_ = np.unique(y)
        return y

    def _candidates(self, y: Array, shares: Floats | None) -> Array:  # noqa: ARG002
        return self.classes_

    def _default_finder(self) -> Finder:
        if callable(getattr(self.base, "fit", None)) and not isinstance(self.base, type) and is_classifier(self.base):
            return AlternatingFinder(self.base)
        return TernaryFinder(self.base)

    def _loss(self) -> Loss:
        return losses.get(self.loss)


class BountyRegressor(RegressorMixin, _BountyEstimator):  # type: ignore[misc]
    """A regressor trained in rounds, each better on a group that was found for it (docs/training.md).

    Losses are fractions of the range that the labels span (`range_`), and answers are moved into it. Epsilon counts in
    units of the risk of the best constant: for squared loss, three quarters of it is what R2 has to rise by.

    Args:
        finder: Who looks for a group and a model; an `AlternatingFinder` if not given.
        base: What the finder learns with, where none is given: a regressor.
        epsilon: A round has to contribute three quarters of it; there are at most 2/epsilon rounds.
        checker: Who judges rounds, all on one half of the rows; if not given, each is tested on rows of its own.
        initial: A fitted model to start from, learned from other rows; if not given, the best constant answer. Wrap an
            estimator in `sklearn.frozen.FrozenEstimator`, so that a clone stays fitted.
        loss: "squared" or "absolute", over the range that the labels span; or one that declares its range, such as
            `biasbounty.losses.absolute(low, high)`.
        random_state: Which rows go together, and the finder's chance: a seed, or a RandomState.
    """

    range_: tuple[float, float]

    def __init__(
        self,
        finder: Finder | None = None,
        base: Any = None,
        epsilon: float = EPSILON,
        checker: Checker | None = None,
        initial: RowFunction | None = None,
        loss: str | Loss = "squared",
        random_state: Any = None,
    ) -> None:
        self.finder = finder
        self.base = base
        self.epsilon = epsilon
        self.checker = checker
        self.initial = initial
        self.loss = loss
        self.random_state = random_state

    def _learn_labels(self, y: Array) -> Array:
        if y.dtype.kind not in "biuf" or not np.isfinite(y).all():
            raise SettingsError(f"labels are no numbers: expected finite ones, got {shown(y[:5].tolist())}")
        y = y.astype(np.float64)
        own, loss = (float(y.min()), float(y.max())), self.loss
        self.range_ = (loss.low, loss.high) if isinstance(loss, (losses.Absolute, losses.Squared)) else own
        if self.range_[0] < self.range_[1]:
            self._require_distances()
            self._loss().check_labels(y)
        elif self.initial is not None:
            raise SettingsError(
                f"labels span no range: expected two that differ, got only {own[0]:g}; declare the range: "
                "loss=losses.squared(low, high)"
            )
        return y

    def _require_distances(self) -> None:
        if self._loss().zero_one or isinstance(self._loss(), losses.CostMatrix):
            raise SettingsError(
                f"loss is one of classes: expected squared, absolute or a function of numbers, got {self._loss()!r}; "
                "for classes there is BountyClassifier"
            )

    def _candidates(self, y: Array, shares: Floats | None) -> Array:
        return centres(y, shares)

    def _default_finder(self) -> Finder:
        return AlternatingFinder(self.base)

    def _loss(self) -> Loss:
        named = {"squared": losses.squared, "absolute": losses.absolute}
        return named[self.loss](*self.range_) if self.loss in named else losses.get(self.loss)

    def _unit(self, sample: Sample, pieces: Pieces) -> float:
        taken = sample.take(pieces)
        return best_constant(self._candidates(taken.y, taken.shares), taken.y, taken.shares, self._loss())[1]

    def _wrapped(self, model: RowFunction) -> RowFunction:
        return Clipped(model, *self.range_)


def _content(X: Any, y: Array) -> Iterator[Floats]:
    """Yield all that is in each row, its label included, as numbers; in blocks, so that little memory is needed."""
    labels = y if y.dtype.kind in "biuf" else np.unique(y, return_inverse=True)[1]
    for at, block in enumerate(Features.learned_in_blocks(X, BLOCK)):
        yield np.column_stack([block, labels[at * BLOCK : (at + 1) * BLOCK]])


def _weights(sample_weight: Any, size: int) -> Floats | None:
    """Return how many rows each stands for, or None if each stands for itself."""
    if sample_weight is None:
        return None
    weights = np.asarray(as_array(sample_weight))
    if weights.shape != (size,) or weights.dtype.kind not in "biuf":
        raise SettingsError(
            f"sample_weight has the wrong shape or type: expected {size} numbers, one for each row, "
            f"got {weights.dtype} of shape {weights.shape}"
        )
    weights = weights.astype(np.float64)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        row = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
        raise SettingsError(
            f"sample_weight is no weight: expected finite numbers from 0, got {weights[row]} at row {row}"
        )
    if weights.max() > LARGEST:
        raise SettingsError(
            f"sample_weight is too large: expected none above {LARGEST:g}, got {weights.max():g}; divide by the mean"
        )
    if not weights.any():
        raise SettingsError("sample_weight is zero for all rows: expected some row that counts, got none")
    return weights


def _require_in_memory(X: Any) -> None:
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        raise SettingsError(f"rows are not in memory: expected a frame, got {type(X).__name__}; collect it")


def _require_progress(progress: Any) -> None:
    if progress is not None and not callable(progress):
        raise SettingsError(
            f"progress cannot be called: expected a function of the steps done and of how many, got {shown(progress)}"
        )


def _require_fitted(initial: RowFunction) -> None:
    require_function(initial, SettingsError, "initial model")
    try:
        if isinstance(initial, BaseEstimator):
            check_is_fitted(initial)
    except NotFittedError as error:
        raise SettingsError(
            f"initial model is not fitted: expected a fitted one, got {shown(initial)}; a clone is never fitted "
            "(GridSearchCV and cross_val_score make clones), so wrap it: sklearn.frozen.FrozenEstimator(model)"
        ) from error
