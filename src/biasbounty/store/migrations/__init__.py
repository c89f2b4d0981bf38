"""Migrations: each change of the tables, in order. `biasbounty.store.migrating` runs them."""
