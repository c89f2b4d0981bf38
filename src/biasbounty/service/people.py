"""People: tokens, what each allows, and the hunters they stand for.

A token is 32 random bytes, shown once and kept as a hash, so it is found by its hash and never compared. The ledger has
hunters' ids; their names and teams are in one table, and can be erased.
"""

from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias, get_args

from sqlalchemy import Connection, Row, func, literal, select, text

from biasbounty.errors import ConflictError, NotAllowedError, NotFoundError, SettingsError
from biasbounty.given import require_words
from biasbounty.service.context import Context
from biasbounty.store.books import is_id
from biasbounty.store.tables import hunters, submissions, tokens, words

Scope: TypeAlias = Literal["organizer", "hunter", "observer"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
PREFIX = "bb_"
"""So that a token is known for one where it does not belong."""


@dataclass(frozen=True)
class Identity:
    """Who asks."""

    token: str
    scope: Scope
    hunter: str | None = None

    def require(self, *scopes: Scope) -> None:
        """Raise unless the token is of one of these scopes."""
        if self.scope not in scopes:
            raise NotAllowedError(
                f"token does not allow this: expected that of an {' or '.join(scopes)}, got {self.scope}"
            )


@dataclass(frozen=True)
class Token:
    """A token as its organizer sees it, without its secret."""

    id: str
    scope: Scope
    label: str
    created: str
    revoked: bool
    hunter: str | None = None
    name: str | None = None
    team: str | None = None


def init(context: Context) -> str:
    """Return the first organizer's token, once."""
    with context.database.write() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("LOCK TABLE tokens IN EXCLUSIVE MODE"))
        if connection.scalar(select(func.count()).select_from(tokens)):
            raise ConflictError("service has tokens already: expected a new database; use a token that you have")
        return _keep(context, connection, "organizer", "the first organizer", None)[1]


def create_token(
    context: Context, scope: Scope, label: str, name: str | None = None, team: str | None = None
) -> tuple[Token, str]:
    """Make a token, and for a hunter's scope the hunter; return it with its secret, which is not kept."""
    if scope not in SCOPES:
        raise SettingsError(f"scope is unknown: expected one of {', '.join(SCOPES)}, got {scope!r:.40}")
    for what, given in (("label", label), ("name", name), ("team", team)):
        if given is not None:
            require_words(given, what)
    hunter = context.random.token_hex(8) if scope == "hunter" else None
    with context.database.write() as connection:
        if hunter is not None:
            connection.execute(hunters.insert().values(id=hunter, name=name, team=team))
        token, secret = _keep(context, connection, scope, label, hunter)
    return replace(token, name=name, team=team), secret


def renew_token(context: Context, token: str) -> tuple[Token, str]:
    """Make a token that takes the place of another, for the same hunter; the old one is none from now on."""
    with context.database.write() as connection:
        row = _find(connection, token)
        if row.revoked:
            raise ConflictError("token is revoked: expected one that is not; create a new one")
        connection.execute(tokens.update().where(tokens.c.id == token).values(revoked=True))
        return _keep(context, connection, row.scope, row.label, row.hunter)


def _keep(context: Context, connection: Connection, scope: Scope, label: str, hunter: str | None) -> tuple[Token, str]:
    secret = PREFIX + context.random.token_urlsafe(32)
    token = Token(context.random.token_hex(8), scope, label, context.now(), False, hunter)
    row = {"id": token.id, "hash": _hash(secret), "scope": scope, "hunter": hunter, "label": label}
    connection.execute(tokens.insert().values(**row, created=token.created, revoked=False))
    return token, secret


def identify(context: Context, secret: str) -> Identity:
    """Return whose token this is."""
    with context.database.read() as connection:
        row = connection.execute(select(tokens).where(tokens.c.hash == _hash(secret))).one_or_none()
    if row is None or row.revoked:
        raise NotAllowedError("token is none: expected one that was created here and not revoked")
    return Identity(row.id, row.scope, row.hunter)


def list_tokens(context: Context) -> list[Token]:
    """Return all tokens, without their secrets."""
    chosen = select(tokens, hunters.c.name, hunters.c.team).outerjoin(hunters, hunters.c.id == tokens.c.hunter)
    with context.database.read() as connection:
        return [_token(row) for row in connection.execute(chosen.order_by(tokens.c.created, tokens.c.id))]


def revoke_token(context: Context, token: str) -> None:
    """Let a token be none from now on; not the last one of an organizer, who would be locked out."""
    with context.database.write() as connection:
        row = _find(connection, token)
        if row.scope == "organizer" and not row.revoked and not _others(connection, token):
            raise ConflictError("token is the last of an organizer: expected another one there; create it first")
        connection.execute(tokens.update().where(tokens.c.id == token).values(revoked=True))


def _find(connection: Connection, token: str) -> Row[Any]:
    """Return a token's row, which stays as it is until the transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("LOCK TABLE tokens IN SHARE ROW EXCLUSIVE MODE"))
    row = connection.execute(select(tokens).where(tokens.c.id == token)).one_or_none() if is_id(token) else None
    if row is None:
        raise NotFoundError(f"token does not exist: expected the id of one, got {token!r:.40}")
    return row


def _others(connection: Connection, token: str) -> int:
    """Count the other tokens of organizers."""
    where = (tokens.c.scope == "organizer", tokens.c.revoked.is_(False), tokens.c.id != token)
    return int(connection.scalar(select(func.count()).where(*where)) or 0)


def erase_hunter(context: Context, hunter: str) -> None:
    """Forget a hunter's name, team and words, and revoke the tokens. The ledger keeps an id that stands for nobody."""
    with context.database.write() as connection:
        found = hunters.update().where(hunters.c.id == hunter).values(name=None, team=None)
        if not (is_id(hunter) and connection.execute(found).rowcount):
            raise NotFoundError(f"hunter does not exist: expected the id of one, got {hunter!r:.40}")
        mine = tokens.c.hunter == hunter
        connection.execute(tokens.update().where(mine).values(revoked=True, label="erased"))
        connection.execute(words.delete().where(words.c.hunter == hunter))
        keys = submissions.update().where(submissions.c.hunter == hunter)
        connection.execute(keys.values(note="", key=literal("erased ") + submissions.c.id))


def _hash(secret: str) -> str:
    return sha256(secret.encode("utf-8", "replace")).hexdigest()


def _token(row: Row[Any]) -> Token:
    return Token(row.id, row.scope, row.label, row.created, row.revoked, row.hunter, row.name, row.team)
