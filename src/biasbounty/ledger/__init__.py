"""The ledger: what happened in a bounty, as signed and chained entries that anyone can verify."""
