"""Rules for the operators of ai.onnx.ml: encoders, scalers, trees, linear models.

Most of them read a tensor of one axis as one row, so rows must have two axes to stay apart.
"""

from biasbounty.exchange.auditing.walk import MACHINE_LEARNING
from biasbounty.exchange.proving.steps import Outcome, Step, rule
from biasbounty.exchange.proving.values import Aligned, Fixed, N, NotProved, product


@rule("Binarizer LabelEncoder CategoryMapper", MACHINE_LEARNING)
def one_by_one(step: Step) -> Outcome:
    """Map each value alone."""
    return step.rows(0)


@rule("Scaler Imputer Normalizer", MACHINE_LEARNING)
def scaled(step: Step) -> Outcome:
    """Map each row alone."""
    return _matrix(step)


def _matrix(step: Step) -> Aligned:
    rows = step.batches(0)
    if rows.rank != 2:
        raise NotProved(f"takes its input as one row: expected two axes, got {rows.rank}")
    return rows


@rule("OneHotEncoder", MACHINE_LEARNING)
def one_hot(step: Step) -> Outcome:
    """Make a last axis of each value."""
    held = [attribute for name, attribute in step.attributes.items() if name in ("cats_int64s", "cats_strings")]
    count = len(held[0].ints) or len(held[0].strings) if len(held) == 1 else None
    return Aligned((*step.rows(0).shape, count))


@rule("ArrayFeatureExtractor", MACHINE_LEARNING)
def picked(step: Step) -> Outcome:
    """Take values of each row at fixed places along the last axis, or of a constant at the place that a row names."""
    rows, places = step.given(0), step.given(1)
    if isinstance(rows, Aligned) and rows.rank > 1 and rows.shape[-1] is not N:
        shape = step.fixed(1).shape
        return rows.with_length(rows.rank - 1, None if shape is None else product(shape))
    one_each = isinstance(places, Aligned) and product(tuple(each for each in places.shape if each is not N)) == 1
    if isinstance(rows, Fixed) and rows.shape and one_each:
        return Aligned((*(rows.shape[:-1] or (1,)), N))
    raise NotProved("takes rows by number")


@rule("FeatureVectorizer", MACHINE_LEARNING)
def side_by_side(step: Step) -> Outcome:
    """Join rows side by side, each as wide as it says."""
    widths = step.numbers("inputdimensions") or ()
    if [step.batches(place).shape for place in range(len(step.inputs))] != [(N, width) for width in widths]:
        raise NotProved("joins rows of other widths than it says")
    return Aligned((N, sum(widths)))


@rule("TreeEnsemble TreeEnsembleRegressor", MACHINE_LEARNING)
def tree_regressor(step: Step) -> Outcome:
    """Answer with one value or more for each row."""
    return _matrix(step).with_length(1, step.number("n_targets", 1))


@rule("LinearRegressor", MACHINE_LEARNING)
def linear_regressor(step: Step) -> Outcome:
    """Answer with one value or more for each row."""
    return _matrix(step).with_length(1, step.number("targets", 1))


@rule("SVMRegressor", MACHINE_LEARNING)
def support_vectors(step: Step) -> Outcome:
    """Answer with one value for each row."""
    return _matrix(step).with_length(1, 1)


@rule("TreeEnsembleClassifier LinearClassifier SVMClassifier", MACHINE_LEARNING)
def classifier(step: Step) -> Outcome:
    """Answer with a label and scores for each row."""
    rows, classes = _matrix(step), _classes(step)
    return rows.with_length(1), rows.with_length(1, classes)


def _classes(step: Step) -> int | None:
    """Return how many scores a row has, where that is sure: one for each class."""
    held = [attribute for name, attribute in step.attributes.items() if name.startswith("classlabels_")]
    count = max((len(one.ints) or len(one.strings) for one in held), default=0)
    scored = {"TreeEnsembleClassifier": count, "LinearClassifier": _intercepts(step)}.get(step.node.op_type)
    sure = len(held) == 1 and count > 1 and (scored == count or (scored, count) == (1, 2))
    return count if sure else None


def _intercepts(step: Step) -> int:
    return len(step.attributes["intercepts"].floats) if "intercepts" in step.attributes else 0


@rule("TfIdfVectorizer")
def counted_words(step: Step) -> Outcome:
    """Count words within each row."""
    return _matrix(step).with_length(1, None)
