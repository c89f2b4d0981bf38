"""Keys: a bounty signs its ledger by Ed25519."""

from dataclasses import dataclass

from biasbounty.errors import LedgerError, MissingExtraError

PREFIX = b"biasbounty ledger 1\n"
"""Signed before each digest, so that no signature of ours is good for anything else."""

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
except ImportError as error:  # pragma: no cover
    raise MissingExtraError("ledgers need cryptography: install biasbounty[ledger]") from error


@dataclass(frozen=True)
class SigningKey:
    """A bounty's secret key. `str` and `repr` do not tell it."""

    _key: Ed25519PrivateKey

    @staticmethod
    def new() -> "SigningKey":
        """Draw a new key."""
        return SigningKey(Ed25519PrivateKey.generate())

    @staticmethod
    def of(secret: bytes) -> "SigningKey":
        """Read a key that was kept as its 32 bytes."""
        return SigningKey(Ed25519PrivateKey.from_private_bytes(secret))

    def __repr__(self) -> str:
        return f"SigningKey(public={self.public})"

    @property
    def secret(self) -> bytes:
        """The 32 bytes to keep."""
        return self._key.private_bytes_raw()

    @property
    def public(self) -> str:
        """The public key, in hexadecimal."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, digest: str) -> str:
        """Return the signature of an entry's digest, in hexadecimal."""
        return self._key.sign(PREFIX + bytes.fromhex(digest)).hex()


class VerifyingKey:
    """A bounty's public key."""

    def __init__(self, public: str) -> None:
        try:
            self._key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        except ValueError as error:
            raise LedgerError(f"key is none: expected 64 hexadecimal digits, got {public!r:.80}") from error

    def verify_signature(self, digest: str, signature: str, where: str) -> None:
        """Raise LedgerError unless the signature is of this key and digest."""
        try:
            self._key.verify(bytes.fromhex(signature), PREFIX + bytes.fromhex(digest))
        except (InvalidSignature, ValueError) as error:
            raise LedgerError(
                f"{where} is not signed by the bounty's key: expected its signature, got another"
            ) from error
