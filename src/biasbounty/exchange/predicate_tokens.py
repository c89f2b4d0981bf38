"""Tokens: the first gate. Predicate text is cut into tokens, and only what a predicate needs goes on to the parser.

What is refused here was never parsed: text that is too long, has too many terms or values or is nested too deep, words
and signs of SQL that no predicate has, comments, functions. The parser sees column names only as numbered placeholders
in quotes, so that no name can mean anything to it.
"""

import re
from collections import Counter
from dataclasses import dataclass

from sqlglot import Token, Tokenizer, TokenType

from biasbounty.arrays import shown
from biasbounty.errors import PredicateError
from biasbounty.exchange.predicate_words import RESERVED

MOST_BYTES = 4096
MOST_PARTS = 2000
"""How many words and signs there may be: fewer than bytes, so that a text of signs alone makes no tokens at all."""
MOST_TERMS = 64
MOST_VALUES = 512
"""How many numbers and texts there may be in all."""
MOST_DEPTH = 16
"""How many parentheses and NOTs may be open at once."""

_OWN_WORDS = {"AND", "OR", "NOT", "IN", "BETWEEN", "IS", "NULL", "TRUE", "FALSE"}
_EPOCH = ["EXTRACT", "(", "EPOCH", "FROM"]
_COMPARISONS = {TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE}
_SIGNS = _COMPARISONS | {TokenType.L_PAREN, TokenType.R_PAREN, TokenType.COMMA, TokenType.DASH}
_VALUES = {TokenType.NUMBER, TokenType.STRING, TokenType.TRUE, TokenType.FALSE}
_BEGIN_VALUES = _VALUES | {TokenType.DASH, TokenType.NULL}
_PARTS = re.compile(r"""'[^']*'?|"[^"]*"?|[0-9][\w.]*(?:(?<=[eE])[+-]\w+)?|\w+|[<>=!]+|\S""")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Tokens:
    """What goes on to the parser, and the columns' names by the number of their placeholder."""

    text: str
    tokens: tuple[Token, ...]
    names: tuple[str, ...]


def tokens_of(text: str) -> Tokens:
    """Cut predicate text into tokens; raise PredicateError for any that no predicate has, and for too many."""
    require_small(text)
    try:
        tokens = Tokenizer().tokenize(text)
    except Exception as error:  # whatever a tokenizer makes of a stranger's text is a refusal
        raise PredicateError(
            "predicate cannot be read: expected every quote closed, got one that is open; write 'text' and "
            '"column name", doubling a quote within'
        ) from error
    if not tokens:
        raise PredicateError("predicate is empty: expected a condition such as AGEP < 25, got no words; write one")
    _require_all_read(text, tokens)
    read, names = _translated(tokens)
    _require_shallow(read)
    _require_few(read)
    _require_plain_nots(read)
    return Tokens(text, tuple(read), names)


def require_small(text: str, who: str = "predicate") -> None:
    """Raise PredicateError unless text is Unicode, neither long nor of many parts, and without NUL."""
    try:
        size = len(text.encode()) if len(text) <= MOST_BYTES else len(text)
    except UnicodeEncodeError as error:
        raise PredicateError(
            "predicate is no text: expected Unicode, got half of a surrogate pair; send it as UTF-8"
        ) from error
    if size > MOST_BYTES:
        raise PredicateError(
            f"{who} is too long: expected at most {MOST_BYTES} bytes, got {size}; submit it in parts, or a model"
        )
    if "\0" in text:
        raise PredicateError("predicate has a NUL character: expected text, got one at its place; leave it out")
    parts = len(_PARTS.findall(text))
    if parts > MOST_PARTS:
        raise PredicateError(
            f"{who} is too much: expected at most {MOST_PARTS} words and signs, got {parts}; submit it in parts, or a "
            "model"
        )


def _require_all_read(text: str, tokens: list[Token]) -> None:
    """Refuse whatever the tokenizer passed over but spaces: comments, hints."""
    ends = [0, *(token.end + 1 for token in tokens)]
    starts = [*(token.start for token in tokens), len(text)]
    for end, start in zip(ends, starts, strict=True):
        if text[end:start].strip():
            raise _refusal("has a part that is no condition", text[end:start].strip(), "leave comments out")


def _translated(tokens: list[Token]) -> tuple[list[Token], tuple[str, ...]]:
    """Return the tokens that the parser is to see."""
    read: list[Token] = []
    names: dict[str, int] = {}
    words = [_word(token) for token in tokens]
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if words[at : at + 4] == _EPOCH:
            read += tokens[at : at + 4]
            at += 4
            continue
        read.append(_named(token, names) if _is_name(token, words[at]) else _required(token, words[at]))
        if at:
            _require_neighbors(tokens[at - 1], token, words[at - 1])
        at += 1
    return read, tuple(names)


def _word(token: Token) -> str:
    """Return a bare word in capitals; only of plain letters, since those of others may be another word's."""
    if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return ""
    return token.text.upper() if token.text.isascii() else token.text


def _is_name(token: Token, word: str) -> bool:
    """Say whether a token names a column: in double quotes, or a plain word that is not one of SQL's own."""
    if token.token_type == TokenType.IDENTIFIER:
        return True
    return word.isidentifier() and word not in RESERVED


def _named(token: Token, names: dict[str, int]) -> Token:
    number = names.setdefault(token.text, len(names))
    return Token(TokenType.IDENTIFIER, str(number), token.line, token.col, token.start, token.end)


def _required(token: Token, word: str) -> Token:
    """Return a token that predicates have; raise for any other."""
    kind = token.token_type
    if kind == TokenType.STRING or kind in _SIGNS or word in _OWN_WORDS:
        return token
    if kind == TokenType.NUMBER and _NUMBER.fullmatch(token.text):
        return token
    if word in RESERVED:
        advice = "a column of this name goes in double quotes"
    else:
        advice = "a column's name that is no plain word goes in double quotes, text in single ones"
    raise _refusal("has a part that no predicate has", token.text, advice)


def _require_neighbors(token: Token, following: Token, word: str) -> None:
    """Refuse what the parser may pass over: values side by side, a comma without values around it."""
    kind, then = token.token_type, following.token_type
    is_operand = kind in _VALUES or kind == TokenType.R_PAREN or _is_name(token, word)
    if (kind == TokenType.DASH and then != TokenType.NUMBER) or (then == TokenType.DASH and is_operand):
        raise _refusal("calculates", "-", "a minus only goes before a number, as in x > -1")
    if then == TokenType.L_PAREN and _is_name(token, word):
        raise _refusal("calls a function", f"{token.text}(", "compare columns themselves with values")
    side_by_side = (kind in _VALUES or _is_name(token, word)) and then in _VALUES
    bare_comma = (kind == TokenType.COMMA and then not in _BEGIN_VALUES) or (
        then == TokenType.COMMA and kind not in _VALUES and kind != TokenType.NULL
    )
    if side_by_side or bare_comma:
        raise _refusal("cannot be read", f"{token.text} {following.text}", "look there for a word that is missing")


def _require_plain_nots(tokens: list[Token]) -> None:
    """Refuse a NOT that stands after something it could not belong to, unless as NOT IN or NOT BETWEEN; or last."""
    ends = _VALUES | {TokenType.R_PAREN, TokenType.IDENTIFIER, TokenType.NULL}
    for at, token in enumerate(tokens):
        if token.token_type != TokenType.NOT:
            continue
        before = tokens[at - 1].token_type if at else None
        then = tokens[at + 1].token_type if at + 1 < len(tokens) else None
        if then is None or (before in ends and then not in (TokenType.IN, TokenType.BETWEEN)):
            raise _refusal("cannot be read", "NOT", "it goes before a condition, or as in NOT IN and NOT BETWEEN")


def _require_few(tokens: list[Token]) -> None:
    """Refuse too many terms or values; every term has just one of these signs or words."""
    kinds = Counter(token.token_type for token in tokens)
    signs = sum(kinds[kind] for kind in (*_COMPARISONS, TokenType.IN, TokenType.BETWEEN))
    terms = signs + max(kinds[TokenType.IS], kinds[TokenType.NULL])
    values = sum(kinds[kind] for kind in _VALUES)
    for what, count, most in (("terms", terms, MOST_TERMS), ("values", values, MOST_VALUES)):
        if count > most:
            raise PredicateError(
                f"predicate has too many {what}: expected at most {most}, got {count}; submit it in parts, or a model"
            )


def _require_shallow(tokens: list[Token]) -> None:
    """Refuse too many open parentheses and NOTs, and parentheses that do not match."""
    open_nots = [0]
    for token in tokens:
        kind = token.token_type
        if kind == TokenType.L_PAREN:
            open_nots.append(0)
        elif kind == TokenType.R_PAREN:
            open_nots.pop()
        elif kind == TokenType.NOT:
            open_nots[-1] += 1
        elif kind in (TokenType.AND, TokenType.OR):
            open_nots[-1] = 0
        if not open_nots:
            break
        if len(open_nots) - 1 + sum(open_nots) > MOST_DEPTH:
            raise PredicateError(
                f"predicate is nested too deep: expected at most {MOST_DEPTH} open parentheses and NOTs, got more; "
                "leave out those that are not needed"
            )
    if len(open_nots) != 1:
        raise PredicateError(
            "predicate has parentheses that do not match: expected each one closed, got one too "
            f"{'many' if open_nots else 'few'} of ( ; count them"
        )


def _refusal(problem: str, got: str, advice: str) -> PredicateError:
    return PredicateError(
        f"predicate {problem}: expected columns compared with values, joined by AND, OR and NOT, got {shown(got)}; "
        f"{advice}"
    )
