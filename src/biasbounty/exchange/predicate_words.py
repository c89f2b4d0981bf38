"""Names, texts and numbers as predicate text: one way to write each, which reads back as the same."""

import re

from biasbounty.arrays import plain

_SQL_WORDS = """
ALL AND ANY AS ASC BETWEEN BY CASE CAST CROSS DESC DISTINCT ELSE END EXCEPT EXISTS EXTRACT FALSE FROM FULL GROUP
HAVING IN INNER INTERSECT INTERVAL INTO IS JOIN LEFT LIKE LIMIT NATURAL NOT NULL OFFSET ON OR ORDER OUTER RIGHT
SELECT SET SOME TABLE THEN TO TRUE UNION UNIQUE USING VALUES WHEN WHERE WITH
"""
RESERVED = frozenset(_SQL_WORDS.split())
"""Words that name a column only in quotes."""
EXACT_WHOLE = 1e15
"""Whole numbers below this are written without exponent or point."""
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quoted_name(name: str) -> str:
    """Return a column's name as predicate text: in double quotes unless it is a plain identifier."""
    if _IDENTIFIER.fullmatch(name) and name.upper() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Return a text as predicate text: in single quotes, those within it doubled."""
    return "'" + text.replace("'", "''") + "'"


def number_words(number: float) -> str:
    """Return a number as predicate text that reads back as the same number."""
    number = plain(number)
    if isinstance(number, int):
        return str(number)
    return str(int(number)) if number == int(number) and abs(number) < EXACT_WHOLE else repr(number)


def value_words(value: float | str) -> str:
    """Return a value as predicate text."""
    return quoted_text(value) if isinstance(value, str) else number_words(value)
