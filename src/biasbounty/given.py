"""Given: what an organizer or a hunter hands to a `Bounty`, refused in words where it is no such thing."""

from typing import Any

from biasbounty.core.checkers import Checker
from biasbounty.core.holdout import Holdout
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.errors import SettingsError
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.schema import Schema
from biasbounty.values import MOST_WORDS


def one_holdout(X: Any, y: Any, holdout: Holdout | None) -> Holdout:
    """Return the holdout that was given, or one of the rows and labels that were."""
    if holdout is not None and (X is not None or y is not None):
        raise SettingsError("holdout is given twice: expected either X and y, or holdout=, got both")
    if holdout is not None:
        return holdout
    if X is None or y is None:
        missing = " and ".join(name for name, given in (("X", X), ("y", y)) if given is None)
        raise SettingsError(f"holdout is not given: expected either X and y, or holdout=, and {missing} is missing")
    return LocalHoldout(X, y)


def require_checker(checker: Any) -> Checker:
    """Raise unless this can be set to work on a holdout."""
    if isinstance(checker, type) or not callable(getattr(checker, "begin", None)):
        raise SettingsError(f"checker is none: expected a checker such as Anytime() or Paper(...), got {checker!r}")
    given: Checker = checker
    return given


def require_schema(schema: Any) -> Schema | None:
    """Raise unless this is a schema, or nothing."""
    if schema is not None and not isinstance(schema, Schema):
        raise SettingsError(
            f"schema is none: expected a Schema, got {type(schema).__name__}; make one by Schema.of(X), of rows that "
            "may be shown"
        )
    return schema


def require_words(words: Any, what: str) -> str:
    """Raise unless this is text that can be shown."""
    if not isinstance(words, str):
        raise SettingsError(f"{what} is no text: expected a str, got {type(words).__name__}")
    if len(words) > MOST_WORDS or not all(letter.isprintable() or letter in "\n\t" for letter in words):
        raise SettingsError(
            f"{what} cannot be shown: expected at most {MOST_WORDS} printable characters, got {words[:40]!r}"
        )
    return words


def require_sandbox(sandbox: Any) -> Any:
    """Raise unless this runs ONNX on rows, or is nothing."""
    if sandbox is not None and (isinstance(sandbox, type) or not callable(getattr(sandbox, "run", None))):
        raise SettingsError(
            f"sandbox is none: expected a biasbounty.sandbox.Sandbox, got {type(sandbox).__name__}; open one with "
            "Sandbox(X)"
        )
    return sandbox


def as_function(given: Any, sandbox: Any = None, schema: Schema | None = None) -> Any:
    """Return ONNX bytes as a callable on rows, which runs in the sandbox if there is one; anything else as it is."""
    if not isinstance(given, (bytes, bytearray, memoryview)):
        return given
    return OnnxModel(bytes(given), None if sandbox is None else sandbox.run, schema)
