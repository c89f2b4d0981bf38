"""Texts before another, as a regular expression (RE2's): ONNX compares texts for equality only."""

from biasbounty.arrays import shown
from biasbounty.errors import ConversionError

MOST_LETTERS = 100
"""Each letter nests the pattern deeper; RE2 grows slow long before the 1,000 at which it refuses."""


def pattern_below(text: str) -> str:
    """Return a pattern that matches those texts which come before this one, by their code points."""
    if len(text) > MOST_LETTERS:
        raise ConversionError(
            f"text is too long to be put in order: expected at most {MOST_LETTERS} letters, got {len(text)} in "
            f"{shown(text[:MOST_LETTERS])}...; compare with the beginning of it"
        )
    return f"(?s){_below(text)}" if text else r"[^\x{0}-\x{10FFFF}]"


def _below(text: str) -> str:
    """Match what ends before the text does, or has a lesser letter where the two first differ."""
    pattern = ""
    for letter in reversed(text):
        ways = ["", *_lesser(letter), *([rf"\x{{{ord(letter):x}}}{pattern}"] if pattern else [])]
        pattern = f"(?:{'|'.join(ways)})"
    return pattern


def _lesser(letter: str) -> list[str]:
    """Match a text that begins with a lesser letter."""
    return [rf"[\x{{0}}-\x{{{ord(letter) - 1:x}}}].*"] if ord(letter) else []
