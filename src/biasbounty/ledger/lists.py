"""Lists: the hash of a round, which stands for all that the decision list holds up to it.

Each round's hash covers the one before, so equal hashes are equal lists: the initial model, then of each accepted
submission its group, its model and its repairs, files by their SHA-256.
"""

from collections.abc import Sequence
from hashlib import sha256

from biasbounty.ledger.canonical import canonical


def initial_hash(model: str) -> str:
    """Return the hash of round 0, given that of the initial model."""
    return sha256(canonical({"model": model})).hexdigest()


def round_hash(before: str, kind: str, group: str, model: str, repairs: Sequence[Sequence[int]]) -> str:
    """Return the hash of the round that an accepted submission makes of the one before."""
    added = {"group": group, "kind": kind, "model": model, "repairs": [list(each) for each in repairs]}
    return sha256(canonical({"added": added, "before": before})).hexdigest()
