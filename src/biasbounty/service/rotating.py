"""Rotating: a bounty's key and the secret of its seals are changed, and everything so far still verifies.

The entry that names the new key is signed by the old one. Seals of later entries are salted by the new secret.
"""

from biasbounty.ledger.keys import SigningKey
from biasbounty.service.context import Context
from biasbounty.store.books import change_secrets, head_of, lock, pen_for


def rotate_keys(context: Context, bounty: str) -> str:
    """Change the key and the secret; return the new public key."""
    key, secret = SigningKey.of(context.random.token_bytes(32)), context.random.token_bytes(32)
    with context.database.write() as connection:
        row = lock(connection, bounty)
        change_secrets(connection, pen_for(connection, bounty, context.now()), head_of(row), key, secret)
    return key.public
