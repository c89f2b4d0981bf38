"""What Alembic runs: the steps, in the transaction that `biasbounty.store.migrating` has begun."""

from alembic import context

from biasbounty.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()
