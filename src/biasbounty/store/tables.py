"""Tables: what is kept, and how.

`lines` is the ledger, and with `artifacts`, `sealed` and `words` the only source; whatever a bounty has become can be
rebuilt from these. `bounties`, `submissions` and `rounds` are projections of it, written in the same transaction.
`leases` and `scores` are work in progress, which can be done again. Tokens are kept as hashes.

What changes here changes in a migration too (`migrations/versions`); a test compares the two.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Number = BigInteger().with_variant(Integer, "sqlite")


def _of_bounty(*, primary_key: bool = False) -> Column[str]:
    return Column("bounty", Text, ForeignKey("bounties.id"), nullable=False, primary_key=primary_key)


bounties = Table(
    "bounties",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("schema", Text, nullable=False),
    Column("opened", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("head", Text, nullable=False),
    Column("received", Integer, nullable=False),
    Column("judged", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("paid", BigInteger, nullable=False),
    Column("standing", Text, nullable=False),
)
"""`size` and `head` are the ledger's head; `received` and `judged` count submissions; `standing` is the checker's."""

secrets = Table(
    "secrets",
    metadata,
    _of_bounty(primary_key=True),
    Column("name", Text, primary_key=True),
    Column("since", Integer, primary_key=True, autoincrement=False),
    Column("value", LargeBinary, nullable=False),
)
"""The key of the ledger and the secret of its seals, each with the entry from which on it holds."""

artifacts = Table(
    "artifacts",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)

files = Table(
    "files",
    metadata,
    _of_bounty(primary_key=True),
    Column("role", Text, primary_key=True),
    Column("hash", Text, ForeignKey("artifacts.hash"), nullable=False),
)
"""Which artifact plays which part in a bounty: its model, its rows, and the files of its rounds."""

lines = Table(
    "lines",
    metadata,
    _of_bounty(primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("text", LargeBinary, nullable=False),
)

sealed = Table(
    "sealed",
    metadata,
    _of_bounty(primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("value", Text, nullable=False),
)
"""What the entry of this number holds a commitment to, until the bounty closes."""

words = Table(
    "words",
    metadata,
    _of_bounty(primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("hunter", Text),
    Column("text", Text, nullable=False),
)
"""What somebody wrote, shown to all: the entry of this number holds a commitment to it, so that it can be erased."""

submissions = Table(
    "submissions",
    metadata,
    Column("id", Text, primary_key=True),
    _of_bounty(),
    Column("place", Integer, nullable=False),
    Column("hunter", Text, ForeignKey("hunters.id"), nullable=False),
    Column("key", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("received", Text, nullable=False),
    Column("group_kind", Text, nullable=False),
    Column("group_hash", Text, nullable=False),
    Column("model_hash", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("entry", Integer, nullable=False),
    Column("entry_hash", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("ready", Text),
    Column("reason", Text),
    Column("judged", Text),
    Column("verdict", Text),
    Column("verdict_entry", Integer),
    UniqueConstraint("bounty", "place"),
    UniqueConstraint("bounty", "hunter", "key"),
    Index("ix_submissions_state_received_place", "state", "received", "place"),
    Index("ix_submissions_bounty_hunter_received", "bounty", "hunter", "received"),
)
"""`ready` is when the judge may come to it at the earliest; `state` is shown only then (`service.views`)."""

leases = Table(
    "leases",
    metadata,
    Column("submission", Text, ForeignKey("submissions.id"), primary_key=True),
    Column("worker", Text, nullable=False),
    Column("deadline", Text, nullable=False),
)

scores = Table(
    "scores",
    metadata,
    Column("submission", Text, ForeignKey("submissions.id"), primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
"""Answers on public and holdout rows, as `service.columns` packs them. Never shown."""

rounds = Table(
    "rounds",
    metadata,
    _of_bounty(primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("submission", Text, ForeignKey("submissions.id")),
    Column("repairs", Text, nullable=False),
    Column("payout", BigInteger, nullable=False),
    Column("hash", Text, nullable=False),
    Index("ix_rounds_submission", "submission"),
)
"""`hash` is that of all that the list holds up to this round (`ledger.lists`)."""

hunters = Table(
    "hunters",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text),
    Column("team", Text),
)
"""Personal data is here alone, and can be erased; the ledger has ids."""

tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("hash", Text, nullable=False, unique=True),
    Column("scope", Text, nullable=False),
    Column("hunter", Text, ForeignKey("hunters.id")),
    Column("label", Text, nullable=False),
    Column("created", Text, nullable=False),
    Column("revoked", Boolean, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("number", _Number, primary_key=True, autoincrement=True),
    _of_bounty(),
    Column("kind", Text, nullable=False),
    Column("entry", Integer),
    Column("body", Text, nullable=False),
    Index("ix_events_bounty_number", "bounty", "number"),
)
"""What was announced, for pages and webhooks: nothing that is not shown to anyone, and no words (see `words`)."""
