"""Rules for operators that compute: value by value, by products with constants, and along axes other than the batch."""

from biasbounty.exchange.proving.steps import Outcome, Step, axis_of, other_axis, rule, together
from biasbounty.exchange.proving.values import Aligned, Fixed, N, NotProved, Shape, broadcast

_ONE_BY_ONE = """
Abs Acos Acosh Add And Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Celu Cos
Cosh Div Elu Equal Erf Exp Floor Gelu Greater GreaterOrEqual HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Less
LessOrEqual Log Max Mean Min Mish Mod Mul Neg Not Or Pow Reciprocal RegexFullMatch Relu Round Selu Shrink
Sigmoid Sign Sin Sinh Softplus Softsign Sqrt StringConcat Sub Sum Swish Tan Tanh ThresholdedRelu Where Xor
"""
_REDUCTIONS = """
ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare
"""
_OF_IMAGES = """
AveragePool DepthToSpace GlobalAveragePool GlobalLpPool GlobalMaxPool LRN LpPool MaxPool SpaceToDepth
"""


@rule(_ONE_BY_ONE)
def one_by_one(step: Step) -> Outcome:
    """Combine values that stand at the same place."""
    if "broadcast" in step.attributes or "axis" in step.attributes:
        raise NotProved("broadcasts as operators did before version 7")
    return together(step)


@rule("CastLike")
def cast_like(step: Step) -> Outcome:
    """Cast rows to the type of another tensor, which says nothing else."""
    return step.rows(0)


@rule("Clip")
def clipped(step: Step) -> Outcome:
    """Keep values between two constants."""
    step.all_fixed(1)
    return step.rows(0)


@rule("Dropout")
def dropout(step: Step) -> Outcome:
    """Leave values as they are, outside training."""
    step.all_fixed(1)
    if step.given(2) is not None and step.fixed(2).numbers != (0,):
        raise NotProved("may be in training mode, where it answers at random")
    kept = step.rows(0)
    return kept, kept


@rule("Softmax LogSoftmax Hardmax")
def softmax(step: Step) -> Outcome:
    """Work along one axis, or before version 13 along all from one on; the default is the last, and was 1."""
    rows = step.rows(0, least=2)
    if axis_of(step.number("axis", 1), rows.rank) <= rows.batch:
        raise NotProved("works along the axis of the rows: expected a later one")
    return rows


@rule("LpNormalization")
def lp_normalization(step: Step) -> Outcome:
    """Work along one axis, the last by default."""
    rows = step.rows(0)
    step.axis("axis", -1, rows)
    return rows


@rule("LayerNormalization RMSNormalization")
def layer_normalization(step: Step) -> Outcome:
    """Work along all axes from one on; scale and shift are constants."""
    rows = step.rows(0)
    step.all_fixed(1)
    if axis_of(step.number("axis", -1), rows.rank) <= rows.batch:
        raise NotProved("works along the axis of the rows: expected a later one")
    return _with_constants(step, rows)


def _with_constants(step: Step, rows: Aligned) -> Aligned:
    """Return rows that constants are added to, or the like, if these say the same to each row and make no more of it.

    The runtime takes it that they do not, and may write down the shape before it sees any.
    """
    made = together(step).shape
    if len(made) != rows.rank or any(
        length not in (None, other) for length, other in zip(rows.shape, made, strict=True)
    ):
        raise NotProved("makes more of its first input: expected the others to fit into it")
    return rows


@rule("PRelu")
def slopes(step: Step) -> Outcome:
    """Multiply what is below 0 by slopes, which fit into it."""
    return _with_constants(step, step.rows(0))


@rule("BatchNormalization")
def batch_normalization(step: Step) -> Outcome:
    """Work on each value alone, outside training."""
    if step.number("training_mode", 0) or len([name for name in step.node.output if name]) > 1:
        raise NotProved("is in training mode, where it takes means over the rows")
    step.all_fixed(1)
    return step.batches(0)


@rule("InstanceNormalization GroupNormalization")
def instance_normalization(step: Step) -> Outcome:
    """Work within each row."""
    step.all_fixed(1)
    return step.batches(0, least=3)


@rule("Conv")
def convolution(step: Step) -> Outcome:
    """Work within each row, with constant weights."""
    step.all_fixed(1)
    rows, weights = step.batches(0, least=3), step.fixed(1)
    channels = weights.shape[0] if weights.shape else None
    return Aligned((rows.shape[0], channels, *(None,) * (rows.rank - 2)))


@rule(_OF_IMAGES)
def of_images(step: Step) -> Outcome:
    """Work within each row."""
    rows = step.batches(0, least=3)
    return Aligned((rows.shape[0], *(None,) * (rows.rank - 1)))


@rule("Gemm")
def gemm(step: Step) -> Outcome:
    """Multiply rows by a constant, and add."""
    rows, weights, added = step.batches(0), step.fixed(1), step.given(2)
    if rows.rank != 2 or step.number("transA", 0) or "broadcast" in step.attributes:
        raise NotProved("multiplies across rows")
    if weights.shape is None or len(weights.shape) != 2:
        raise NotProved("multiplies by what is no constant matrix")
    made = Aligned((rows.shape[0], weights.shape[0 if step.number("transB", 0) else 1]))
    return made if added is None else _with_constants(Step(step.node, (made, added), {}), made)


@rule("MatMul")
def matrix_product(step: Step) -> Outcome:
    """Multiply along axes other than the batch's."""
    first, second = _factor(step, 0), _factor(step, 1)
    if first[-1] is N or second[-2:][0] is N:
        raise NotProved("multiplies across rows")
    if len(second) == 1:
        return Aligned(first[:-1])
    if len(first) == 1:
        return Aligned((*second[:-2], second[-1]))
    return Aligned((*broadcast(first[:-2], second[:-2]), first[-2], second[-1]))


def _factor(step: Step, place: int) -> Shape:
    value = step.given(place)
    if not isinstance(value, (Aligned, Fixed)) or not value.shape:
        raise NotProved("multiplies by what is of unknown shape")
    return value.shape


@rule(_REDUCTIONS)
def reduction(step: Step) -> Outcome:
    """Work along given axes, none of them the batch's."""
    rows, axes = step.rows(0), step.numbers("axes", 1)
    if not axes:
        if step.number("noop_with_empty_axes", 0):
            return rows
        raise NotProved("works along all axes, that of the rows too: expected axes to be given")
    return _without(rows, {other_axis(axis, rows) for axis in axes}, step)


@rule("ArgMax ArgMin")
def place_of_extreme(step: Step) -> Outcome:
    """Work along one axis, the first by default."""
    rows = step.rows(0)
    return _without(rows, {step.axis("axis", 0, rows)}, step)


def _without(rows: Aligned, axes: set[int], step: Step) -> Aligned:
    if step.number("keepdims", 1):
        return Aligned(tuple(1 if axis in axes else length for axis, length in enumerate(rows.shape)))
    return Aligned(tuple(length for axis, length in enumerate(rows.shape) if axis not in axes))


@rule("CumSum CumProd")
def running(step: Step) -> Outcome:
    """Work along one axis."""
    rows, axes = step.rows(0), step.numbers("axis", 1)
    if axes is None or len(axes) != 1:
        raise NotProved("has an axis that is not written in the graph")
    other_axis(axes[0], rows)
    return rows


@rule("TopK")
def largest(step: Step) -> Outcome:
    """Work along one axis, the last by default."""
    rows = step.rows(0)
    axis = step.axis("axis", -1, rows)
    count = step.number("k", 0) if "k" in step.attributes else (step.fixed(1).numbers or (None,))[0]
    found = rows.with_length(axis, count)
    return found, found


@rule("Trilu")
def triangle(step: Step) -> Outcome:
    """Work on the last two axes."""
    step.all_fixed(1)
    rows = step.rows(0, least=2)
    if rows.batch >= rows.rank - 2:
        raise NotProved("works along the axis of the rows: expected it before the last two")
    return rows


@rule("QuantizeLinear DequantizeLinear")
def quantization(step: Step) -> Outcome:
    """Work value by value, where scale and zero are one for all."""
    step.all_fixed(1)
    if any(step.fixed(place).shape not in ((), (1,)) for place in range(1, len(step.inputs))):
        raise NotProved("has scales along an axis")
    return step.rows(0)
