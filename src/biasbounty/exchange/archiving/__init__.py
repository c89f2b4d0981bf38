"""Archiving: the parts of `exchange.archive`, which keeps a decision list as one file."""
