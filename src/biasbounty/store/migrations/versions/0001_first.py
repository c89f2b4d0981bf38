"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "artifacts",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_artifacts"),
    )
    op.create_table(
        "bounties",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("schema", sa.Text(), nullable=False),
        sa.Column("opened", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("head", sa.Text(), nullable=False),
        sa.Column("received", sa.Integer(), nullable=False),
        sa.Column("judged", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("paid", sa.BigInteger(), nullable=False),
        sa.Column("standing", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_bounties"),
    )
    op.create_table(
        "hunters",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("team", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_hunters"),
    )
    op.create_table(
        "events",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("bounty", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("entry", sa.Integer(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["bounty"], ["bounties.id"], name="fk_events_bounty"),
        sa.PrimaryKeyConstraint("number", name="pk_events"),
    )
    op.create_index("ix_events_bounty_number", "events", ["bounty", "number"], unique=False)
    op.create_table(
        "files",
        sa.Column("bounty", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["bounty"], ["bounties.id"], name="fk_files_bounty"),
        sa.ForeignKeyConstraint(["hash"], ["artifacts.hash"], name="fk_files_hash"),
        sa.PrimaryKeyConstraint("bounty", "role", name="pk_files"),
    )
    op.create_table(
        "lines",
        sa.Column("bounty", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["bounty"], ["bounties.id"], name="fk_lines_bounty"),
        sa.PrimaryKeyConstraint("bounty", "number", name="pk_lines"),
    )
    op.create_table(
        "sealed",
        sa.Column("bounty", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["bounty"], ["bounties.id"], name="fk_sealed_bounty"),
        sa.PrimaryKeyConstraint("bounty", "number", name="pk_sealed"),
    )
    op.create_table(
        "secrets",
        sa.Column("bounty", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("since", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["bounty"], ["bounties.id"], name="fk_secrets_bounty"),
        sa.PrimaryKeyConstraint("bounty", "name", "since", name="pk_secrets"),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("bounty", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("hunter", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("received", sa.Text(), nullable=False),
        sa.Column("group_kind", sa.Text(), nullable=False),
        sa.Column("group_hash", sa.Text(), nullable=False),
        sa.Column("model_hash", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("entry", sa.Integer(), nullable=False),
        sa.Column("entry_hash", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("ready", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("judged", sa.Text(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("verdict_entry", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["bounty"], ["bounties.id"], name="fk_submissions_bounty"),
        sa.ForeignKeyConstraint(["hunter"], ["hunters.id"], name="fk_submissions_hunter"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("bounty", "hunter", "key", name="uq_submissions_bounty_hunter_key"),
        sa.UniqueConstraint("bounty", "place", name="uq_submissions_bounty_place"),
    )
    op.create_index(
        "ix_submissions_bounty_hunter_received", "submissions", ["bounty", "hunter", "received"], unique=False
    )
    op.create_index("ix_submissions_state_received_place", "submissions", ["state", "received", "place"], unique=False)
    op.create_table(
        "tokens",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("hunter", sa.Text(), nullable=True),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("revoked", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["hunter"], ["hunters.id"], name="fk_tokens_hunter"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("hash", name="uq_tokens_hash"),
    )
    op.create_table(
        "words",
        sa.Column("bounty", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hunter", sa.Text(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["bounty"], ["bounties.id"], name="fk_words_bounty"),
        sa.PrimaryKeyConstraint("bounty", "number", name="pk_words"),
    )
    op.create_table(
        "leases",
        sa.Column("submission", sa.Text(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("deadline", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["submission"], ["submissions.id"], name="fk_leases_submission"),
        sa.PrimaryKeyConstraint("submission", name="pk_leases"),
    )
    op.create_table(
        "rounds",
        sa.Column("bounty", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("submission", sa.Text(), nullable=True),
        sa.Column("repairs", sa.Text(), nullable=False),
        sa.Column("payout", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["bounty"], ["bounties.id"], name="fk_rounds_bounty"),
        sa.ForeignKeyConstraint(["submission"], ["submissions.id"], name="fk_rounds_submission"),
        sa.PrimaryKeyConstraint("bounty", "number", name="pk_rounds"),
    )
    op.create_index("ix_rounds_submission", "rounds", ["submission"], unique=False)
    op.create_table(
        "scores",
        sa.Column("submission", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["submission"], ["submissions.id"], name="fk_scores_submission"),
        sa.PrimaryKeyConstraint("submission", name="pk_scores"),
    )
