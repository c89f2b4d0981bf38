"""The drawing of a pointer decision list, as SVG made by hand: no plotting library in the core.

The newest node is at the left, the initial model at the far right; a row walks from left to right and stops at the
first node whose group holds it. Repairs are shaded, and an arrow below leads from each to the node where the round that
its pointer names begins. Every word in it may come from a stranger, so all of them are escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _GAP, _TOP, _MARGIN = 112, 66, 20, 34, 10
_INK, _QUIET, _LINE, _PAPER, _SHADE, _POINTER = "#1a1a1a", "#5f6368", "#8a8f98", "#ffffff", "#dcdfe4", "#b4441a"


@dataclass(frozen=True)
class Box:
    """One node as it is drawn."""

    number: int
    round: int
    title: str
    hunter: str | None
    pointer: int | None
    """The round it points to, if it is a repair."""


def draw(boxes: Sequence[Box], heads: Sequence[int], hidden: int = 0) -> str:
    """Draw the nodes given, newest first, then what is below them: hidden nodes, or the initial model."""
    place = {box.number: at for at, box in enumerate(boxes)}
    arrows = [
        (place[box.number], place.get(heads[box.pointer], len(boxes)), box.pointer)
        for box in boxes
        if box.pointer is not None
    ]
    deepest = max((_depth(a, b) for a, b, _ in arrows), default=0)
    width = 2 * _MARGIN + (len(boxes) + 1) * (_WIDTH + _GAP) - _GAP
    height = _TOP + _HEIGHT + deepest + (28 if arrows else 12)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="Pointer decision list, newest node first" font-family="system-ui, sans-serif">',
        '<defs><marker id="pointer" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 8 4 0 8z" fill="{_POINTER}"/></marker>'
        '<marker id="next" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        f'<path d="M0 0 8 4 0 8z" fill="{_LINE}"/></marker></defs>',
        *(_node(box, at, is_head=heads[box.round] == box.number) for at, box in enumerate(boxes)),
        _last(len(boxes), hidden),
        *(_arrow(start, end, pointer) for start, end, pointer in arrows),
        "</svg>",
    ]
    return "".join(parts)


def _left(at: int) -> int:
    return _MARGIN + at * (_WIDTH + _GAP)


def _text(x: float, y: float, words: str, *, size: int = 12, fill: str = _INK, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{x:g}" y="{y:g}" text-anchor="middle"'
    return f'<text {place} font-size="{size}" fill="{fill}"{weight}>{_safe(words)}</text>'


def _safe(words: str) -> str:
    """Escape a stranger's words, without the control characters that no document may hold."""
    return escape("".join(letter for letter in words if letter.isprintable()))


def _short(words: str, most: int = 16) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def _box(at: int, fill: str, *, dashed: bool = False) -> str:
    dash = ' stroke-dasharray="4 3"' if dashed else ""
    return (
        f'<rect x="{_left(at)}" y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" '
        f'fill="{fill}" stroke="{_LINE}"{dash}/>'
    )


def _node(box: Box, at: int, *, is_head: bool) -> str:
    middle, repair = _left(at) + _WIDTH / 2, box.pointer is not None
    answer = f"repair: as round {box.pointer}" if repair else f"update by {box.hunter}" if box.hunter else "update"
    step = _left(at) + _WIDTH
    return "".join(
        (
            f"<g><title>{_safe(f'node {box.number}, round {box.round}: {box.title} - {answer}')}</title>",
            _box(at, _SHADE if repair else _PAPER),
            _text(middle, _TOP + 20, f"node {box.number}", size=10, fill=_QUIET),
            _text(middle, _TOP + 38, _short(box.title), bold=True),
            _text(middle, _TOP + 55, _short(answer, 18), size=11, fill=_QUIET),
            _text(middle, _TOP - 12, f"round {box.round}", size=11, fill=_INK) if is_head else "",
            f'<path d="M{step} {_TOP + _HEIGHT / 2:g} h{_GAP - 2}" stroke="{_LINE}" marker-end="url(#next)"/></g>',
        )
    )


def _last(at: int, hidden: int) -> str:
    middle = _left(at) + _WIDTH / 2
    if hidden:
        return _box(at, _PAPER, dashed=True) + _text(middle, _TOP + 38, f"{hidden:,} older nodes", fill=_QUIET)
    return (
        _box(at, _PAPER, dashed=True)
        + _text(middle, _TOP + 20, "node 0", size=10, fill=_QUIET)
        + _text(middle, _TOP + 38, "initial model", bold=True)
        + _text(middle, _TOP - 12, "round 0", size=11)
    )


def _depth(start: int, end: int) -> int:
    return 22 + 9 * min(end - start, 12)


def _arrow(start: int, end: int, pointer: int) -> str:
    """Lead from under a repair to under the node where its round begins."""
    left, right = _left(start) + _WIDTH / 2, _left(end) + _WIDTH / 2 - 10
    bottom = _TOP + _HEIGHT
    depth = _depth(start, end) * 4 / 3
    curve = f"M{left:g} {bottom} C{left:g} {bottom + depth:g} {right:g} {bottom + depth:g} {right:g} {bottom + 2}"
    return f'<path d="{curve}" fill="none" stroke="{_POINTER}" stroke-width="1.4" marker-end="url(#pointer)"/>' + _text(
        (left + right) / 2, bottom + depth * 0.75 + 14, f"round {pointer}", size=11, fill=_POINTER
    )
