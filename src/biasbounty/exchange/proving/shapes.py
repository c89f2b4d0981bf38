"""Rules for operators that move values: those that keep all values of a row in that row, at the same place for each."""

from biasbounty.exchange.proving.steps import Outcome, Step, axis_of, other_axis, rule
from biasbounty.exchange.proving.values import (
    Aligned,
    Fixed,
    Length,
    N,
    NotProved,
    Shape,
    Sizes,
    broadcast,
    product,
    sizes,
)

_END = 2**31 - 1
"""From here on, the end of a slice means the end of the axis."""


@rule("Concat")
def joined(step: Step) -> Outcome:
    """Join rows side by side."""
    parts = [step.rows(place) for place in range(len(step.inputs))]
    if len({(part.rank, part.batch) for part in parts}) != 1:
        raise NotProved("joins rows along different axes")
    axis = step.axis("axis", 1, parts[0])
    lengths = [part.shape[axis] for part in parts]
    known = [length for length in lengths if isinstance(length, int)]
    return parts[0].with_length(axis, sum(known) if len(known) == len(lengths) else None)


@rule("Split")
def parted(step: Step) -> Outcome:
    """Cut each row."""
    rows = step.rows(0)
    axis, count = step.axis("axis", 0, rows), len(step.node.output)
    sizes: Shape | None = step.numbers("split", 1)
    if sizes is None:
        length = rows.shape[axis]
        sizes = (length // count if isinstance(length, int) and length % count == 0 else None,) * count
    return tuple(rows.with_length(axis, size) for size in sizes)


@rule("Slice")
def sliced(step: Step) -> Outcome:
    """Take a part of each row."""
    rows = step.rows(0)
    starts, ends = step.numbers("starts", 1) or (), step.numbers("ends", 2) or ()
    axes, strides = step.numbers("axes", 3), step.numbers("steps", 4)
    axes = tuple(range(len(starts))) if axes is None else axes
    strides = (1,) * len(starts) if strides is None else strides
    if not len(starts) == len(ends) == len(axes) == len(strides):
        raise NotProved("has other numbers of starts, ends and axes")
    for start, end, axis, stride in zip(starts, ends, axes, strides, strict=True):
        whole = (start, stride) == (0, 1) and end >= _END
        place = axis_of(axis, rows.rank) if whole else other_axis(axis, rows)
        rows = rows if whole else rows.with_length(place, _taken(rows.shape[place], start, end, stride))
    return rows


def _taken(length: Length, start: int, end: int, stride: int) -> Length:
    return len(range(length)[start:end:stride]) if isinstance(length, int) and stride > 0 else None


@rule("Gather")
def gathered(step: Step) -> Outcome:
    """Take values of each row at fixed places, or of a constant at places that rows name."""
    data, places = step.given(0), step.given(1)
    if isinstance(data, Aligned) and isinstance(places, Fixed) and places.shape is not None:
        return data.with_length(step.axis("axis", 0, data), *places.shape)
    if isinstance(data, Fixed) and data.shape and isinstance(places, Aligned):
        axis = axis_of(step.number("axis", 0), len(data.shape))
        return Aligned((*data.shape[:axis], *places.shape, *data.shape[axis + 1 :]))
    raise NotProved("takes rows by number")


@rule("GatherElements")
def gathered_elements(step: Step) -> Outcome:
    """Take values of each row, or of a constant, at places that the row names."""
    data, places = step.given(0), step.rows(1)
    axis = axis_of(step.number("axis", 0), places.rank)
    if isinstance(data, Aligned) and (data.rank, data.batch) == (places.rank, places.batch) and axis != data.batch:
        return places
    if isinstance(data, Fixed) and axis == places.batch:
        return places
    raise NotProved("takes rows by number")


@rule("GatherND")
def gathered_at(step: Step) -> Outcome:
    """Take values of a constant, at places that rows name."""
    data, places = step.fixed(0), step.rows(1, least=2)
    depth = places.shape[-1]
    if step.number("batch_dims", 0) or data.shape is None or not isinstance(depth, int):
        raise NotProved("takes at places that cannot be followed")
    return Aligned((*places.shape[:-1], *data.shape[depth:]))


@rule("ScatterElements")
def scattered(step: Step) -> Outcome:
    """Put values of each row at places that the row names."""
    parts = [step.rows(place) for place in range(3)]
    if len({(part.rank, part.batch) for part in parts}) > 1:
        raise NotProved("puts rows into those along other axes")
    step.axis("axis", 0, parts[0])
    return parts[0]


@rule("Reshape")
def reshaped(step: Step) -> Outcome:
    """Give each row another shape: values stay in order, so they stay in their row if the axes before it are kept."""
    rows, wanted = step.rows(0), _wanted(step)
    if rows.batch < 0:
        return Aligned(_known(wanted))
    before = rows.shape[: rows.batch]
    own, held = wanted[rows.batch + 1 :], product(rows.shape[rows.batch + 1 :])
    if (
        None not in before
        and wanted[: rows.batch] == before
        and wanted[rows.batch : rows.batch + 1] == (N,)
        and N not in own
        and _is_whole(own, held, step)
    ):
        return Aligned((*before, N, *_inferred(own, held)))
    ones = next((place for place, length in enumerate(wanted) if length != 1), len(wanted) - 1)
    own = wanted[ones + 1 :]
    in_order = product(before) == 1 and N not in own
    is_whole = wanted[ones] is N and _is_whole(own, held, step)
    if in_order and (is_whole or (wanted[ones] == -1 and held and product(own) == held)):
        return Aligned((*wanted[:ones], N, *_inferred(own, held)))
    raise NotProved(
        "might move values from one row to another: expected a shape that begins with 0, or with -1 and then lengths "
        "that are known to hold a row"
    )


def _is_whole(own: Shape, held: int | None, step: Step) -> bool:
    """Say whether lengths after the number of rows hold a row, for sure if that number is asked for in the graph.

    The runtime then writes -1 for it, and has other rows come of lengths that do not.
    """
    return -1 in own or not isinstance(step.given(1), Sizes) or (held is not None and product(own) == held)


def _wanted(step: Step) -> Shape:
    """Return the shape that is asked for; where it says 0, the length is that of the same axis before."""
    rows, given = step.rows(0), step.given(1)
    numbers = step.numbers("shape") if "shape" in step.attributes else getattr(given, "numbers", None)
    if not numbers:
        raise NotProved("has a shape that is not written in the graph: expected constants")
    if step.number("allowzero", 0) or 0 not in numbers:
        return tuple(numbers)
    if any(length == 0 and place >= rows.rank for place, length in enumerate(numbers)):
        raise NotProved("copies the length of an axis that is not there")
    return tuple(rows.shape[place] if length == 0 else length for place, length in enumerate(numbers))


def _known(wanted: Shape) -> Shape:
    return tuple(length if isinstance(length, int) and length >= 0 else None for length in wanted)


def _inferred(own: Shape, held: int | None) -> Shape:
    """Return the lengths within a row; of one that is -1, what is left over."""
    others = product(tuple(length for length in own if length != -1))
    left = held // others if held is not None and others and held % others == 0 else None
    return tuple(left if length == -1 else length for length in own)


@rule("Flatten")
def flattened(step: Step) -> Outcome:
    """Make each row flat."""
    rows, axis = step.rows(0), step.number("axis", 1)
    axis = axis + rows.rank if axis < 0 else axis
    before, after = rows.shape[:axis], rows.shape[axis:]
    if N in before and product(tuple(length for length in before if length is not N)) == 1:
        return Aligned((N, product(after)))
    if N in after and product(tuple(length for length in after if length is not N)) == 1:
        return Aligned((product(before), N))
    raise NotProved("makes other rows: expected axis 1")


@rule("Squeeze")
def squeezed(step: Step) -> Outcome:
    """Drop axes of length 1, that are named."""
    rows, axes = step.rows(0), step.numbers("axes", 1)
    if not axes:  # named but none of them: onnxruntime then drops all
        raise NotProved("drops the axis of the rows where there is one row: expected axes to be given")
    dropped = {other_axis(axis, rows) for axis in axes}
    return Aligned(tuple(length for axis, length in enumerate(rows.shape) if axis not in dropped))


@rule("Unsqueeze")
def unsqueezed(step: Step) -> Outcome:
    """Put in axes of length 1."""
    rows, axes = step.rows(0), step.numbers("axes", 1) or ()
    rank = rows.rank + len(axes)
    added = {axis_of(axis, rank) for axis in axes}
    if not axes or len(added) != len(axes):
        raise NotProved("puts in an axis twice, or none")
    kept = iter(rows.shape)
    return Aligned(tuple(1 if axis in added else next(kept) for axis in range(rank)))


@rule("Transpose")
def transposed(step: Step) -> Outcome:
    """Change the order of axes."""
    rows = step.rows(0)
    order = step.numbers("perm")
    order = tuple(reversed(range(rows.rank))) if order is None else order
    if sorted(order) != list(range(rows.rank)):
        raise NotProved("orders axes that are not there")
    return Aligned(tuple(rows.shape[axis] for axis in order))


@rule("Expand")
def expanded(step: Step) -> Outcome:
    """Repeat values within each row, or a constant for each row."""
    value, numbers = step.given(0), getattr(step.given(1), "numbers", None)
    shape = getattr(value, "shape", None)
    if not numbers or shape is None or any(isinstance(length, int) and length < 1 for length in numbers):
        raise NotProved("has a shape that is not written in the graph: expected constants")
    return Aligned(broadcast(shape, tuple(numbers)))


@rule("ConstantOfShape")
def filled(step: Step) -> Outcome:
    """Make the same of each row."""
    numbers = getattr(step.given(0), "numbers", None)
    if numbers is None:
        raise NotProved("makes a tensor whose shape cannot be followed")
    return Aligned(numbers)


@rule("Tile")
def tiled(step: Step) -> Outcome:
    """Repeat values within each row."""
    rows, times = step.rows(0), step.numbers("repeats", 1) or ()
    if len(times) != rows.rank or (N in rows.shape and times[rows.batch] != 1):
        raise NotProved("repeats rows, or as often as is not written in the graph")
    return Aligned(tuple(_often(length, often) for length, often in zip(rows.shape, times, strict=True)))


def _often(length: Length, often: int) -> Length:
    return length * often if isinstance(length, int) else length


@rule("Pad")
def padded(step: Step) -> Outcome:
    """Put values around those of each row."""
    rows, pads, axes = step.rows(0), step.numbers("pads", 1) or (), step.numbers("axes", 3)
    step.all_fixed(1)
    places = tuple(range(rows.rank)) if axes is None else axes
    if len(pads) != 2 * len(places):
        raise NotProved("has other numbers of pads and axes")
    for place, axis in enumerate(places):
        if pads[place] or pads[place + len(places)]:
            rows = rows.with_length(other_axis(axis, rows), None)
    return rows


@rule("OneHot")
def one_hot(step: Step) -> Outcome:
    """Make an axis of the values."""
    rows = step.rows(0)
    step.all_fixed(1)
    axis = axis_of(step.number("axis", -1), rows.rank + 1)
    depth = (step.fixed(1).numbers or (None,))[0]
    return Aligned((*rows.shape[:axis], depth, *rows.shape[axis:]))


@rule("Shape")
def lengths(step: Step) -> Outcome:
    """Return the lengths of the axes, the number of rows among them."""
    shape = step.rows(0).shape
    end = step.attributes["end"].i if "end" in step.attributes else len(shape)
    part = shape[slice(step.number("start", 0), end)]
    return sizes(part)
