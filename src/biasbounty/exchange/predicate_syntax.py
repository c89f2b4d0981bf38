"""Syntax: tokens, parsed by sqlglot, become terms. A node of sqlglot's that is not named here is refused."""

from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel
from sqlglot.parser import Parser

from biasbounty.arrays import shown
from biasbounty.errors import PredicateError
from biasbounty.exchange.predicate_terms import Absent, All, Among, Between, Comparison, Not, Some, Subject, Term, Value
from biasbounty.exchange.predicate_tokens import Tokens
from biasbounty.exchange.predicate_words import EXACT_WHOLE

_SIGNS: dict[type[Any], tuple[str, str]] = {
    exp.EQ: ("=", "="),
    exp.NEQ: ("<>", "<>"),
    exp.LT: ("<", ">"),
    exp.LTE: ("<=", ">="),
    exp.GT: (">", "<"),
    exp.GTE: (">=", "<="),
}
"""The sign of each comparison, and the one that says the same with the sides swapped."""
_LARGEST = 1.7976931348623157e308


def term_of(tokens: Tokens) -> Term:
    """Parse tokens into a term."""
    return _Reader(tokens.names).term(_parsed(tokens))


def _parsed(tokens: Tokens) -> Any:
    parser = Parser(error_level=ErrorLevel.IMMEDIATE)
    try:
        found = parser.parse_into(exp.Condition, list(tokens.tokens), tokens.text)
    except Exception as error:  # whatever a parser makes of a stranger's text is a refusal
        raise PredicateError(
            f"predicate cannot be read: expected a condition such as AGEP < 25 AND SEX = 2, {_where(error)}; look "
            "there for a word too many or a parenthesis that is not closed"
        ) from error
    if len(found) != 1 or found[0] is None:
        raise PredicateError("predicate cannot be read: expected one condition, got none; write one such as AGEP < 25")
    return found[0]


def _where(error: Exception) -> str:
    """Say what a parser's error is near."""
    for place in getattr(error, "errors", []):
        near = f"{(place.get('start_context') or '')[-20:]}{place.get('highlight') or ''}"
        return f"got stuck at the end of {shown(near)}"
    return "got something else"


class _Reader:
    """Turns nodes of sqlglot's into terms; names are those of the placeholders."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def term(self, node: Any) -> Term:
        """Return a condition, or conditions joined."""
        kind = type(node)
        if kind in _SIGNS:
            return self._comparison(node)
        if kind in (exp.And, exp.Or):
            return self._joined(All if kind is exp.And else Some, kind, node)
        if kind is exp.Paren:
            return self.term(node.this)
        if kind is exp.Not:
            inner = self.term(node.this)
            return inner.term if isinstance(inner, Not) else Not(inner)
        if kind is exp.In and _only(node, "this", "expressions"):
            return self._among(node)
        if kind is exp.Between and _only(node, "this", "low", "high"):
            return Between(self._subject(node.this), _value(node.args["low"]), _value(node.args["high"]))
        if kind is exp.Is and type(node.expression) is exp.Null:
            return Absent(self._subject(node.this))
        raise _refusal("has a part that is no condition")

    def _joined(self, joiner: type[All] | type[Some], kind: type[Any], node: Any) -> Term:
        """Join what a chain of ANDs or ORs joins, in order; parentheses that join alike are left out."""
        terms: list[Term] = []
        chain = [node]
        while chain:
            one = chain.pop()
            if type(one) is kind:
                chain += [one.expression, one.this]
                continue
            term = self.term(one)
            terms += term.terms if isinstance(term, joiner) else [term]
        return joiner(tuple(terms))

    def _comparison(self, node: Any) -> Term:
        sign, swapped = _SIGNS[type(node)]
        if self._is_subject(node.this):
            return Comparison(self._subject(node.this), sign, _value(node.expression))
        return Comparison(self._subject(node.expression), swapped, _value(node.this))

    def _among(self, node: Any) -> Term:
        subject = self._subject(node.this)
        values = {_value(one) for one in node.expressions}
        if not values:
            raise _refusal("has an empty list")
        if len({isinstance(value, str) for value in values}) > 1:
            raise _refusal("mixes text and numbers in a list")
        ordered = tuple(sorted(values))
        return Comparison(subject, "=", ordered[0]) if len(ordered) == 1 else Among(subject, ordered)

    def _is_subject(self, node: Any) -> bool:
        return type(node) in (exp.Column, exp.Extract)

    def _subject(self, node: Any) -> Subject:
        if type(node) is exp.Column and _only(node, "this") and _is_placeholder(node.this):
            return Subject(self._names[int(node.this.name)])
        if type(node) is exp.Extract and type(node.this) is exp.Var and type(node.expression) is exp.Column:
            return Subject(self._subject(node.expression).name, epoch=True)
        raise _refusal("has a condition on something other than a column")


def _is_placeholder(node: Any) -> bool:
    """Say whether this is a name that stood in the text: the parser takes some words of SQL for names as well."""
    return type(node) is exp.Identifier and bool(node.args.get("quoted"))


def _only(node: Any, *parts: str) -> bool:
    """Say whether a node has no parts but these."""
    return all(not value or name in parts for name, value in node.args.items())


def _value(node: Any) -> Value:
    kind = type(node)
    if kind is exp.Literal:
        return str(node.this) if node.is_string else _number(node.this)
    if kind is exp.Neg and type(node.this) is exp.Literal and not node.this.is_string:
        return -_number(node.this.this)
    if kind is exp.Boolean:
        return int(node.this)
    if kind is exp.Null:
        raise _refusal("compares with NULL, which is never true")
    raise _refusal("compares a column with something other than a value")


def _number(text: str) -> int | float:
    """Return the number that a text means; of all ways to hold it, always the same one."""
    number: int | float = int(text) if text.isdecimal() else float(text)
    if abs(number) > _LARGEST:
        raise PredicateError(
            f"number is too large: expected at most {_LARGEST}, got {shown(text[:40], str)}; no column holds "
            "such numbers"
        )
    if abs(number) < EXACT_WHOLE:
        return int(number) if number == int(number) else number
    return float(number) if float(number) == number else number


def _refusal(problem: str) -> PredicateError:
    return PredicateError(
        f"predicate {problem}: expected conditions such as AGEP < 25, RAC1P IN (1, 2), SCHL BETWEEN 16 AND 20 or JOB "
        "IS NULL, got another; compare one column with values, and for what is missing write IS NULL"
    )
