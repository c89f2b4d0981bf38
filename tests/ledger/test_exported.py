"""An export is a file of a stranger's: read, or refused in words."""

import io
from hashlib import sha256

import numpy as np

from biasbounty.errors import LedgerError
from biasbounty.ledger.chain import Head, extend
from biasbounty.ledger.exported import LEDGER, Exported, Writer
from biasbounty.ledger.keys import SigningKey
from biasbounty.ledger.verification import verify_ledger

CASES = 600


def _export() -> bytes:
    """Return the export of a bounty that was just opened, with three artifacts."""
    rng, key = np.random.default_rng(1), SigningKey.of(bytes(range(32)))
    files = {name: rng.bytes(400) for name in ("model", "train", "public")}
    hashes = {name: sha256(data).hexdigest() for name, data in files.items()}
    line = extend(Head(), "opened", "2026-01-01T00:00:00Z", {"key": key.public, **hashes}, key)
    file = io.BytesIO()
    with Writer(file) as writer:
        writer.write_lines(LEDGER, [line.as_text()])
        for name, data in files.items():
            writer.write_artifact(hashes[name], data)
    return file.getvalue()


def test_an_export_whose_bits_are_flipped_is_refused_in_words_or_says_the_same() -> None:
    data = _export()
    whole = Exported.read(data)
    verify_ledger(whole)
    rng, refused = np.random.default_rng(0), 0
    for place in rng.integers(len(data), size=CASES):
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(rng.integers(8))
        try:
            read = Exported.read(bytes(flipped))
            verify_ledger(read)
        except LedgerError:
            refused += 1
        else:
            assert read.lines == whole.lines
            assert all(read.artifact(digest) == whole.artifact(digest) for digest in whole.hashes)
    assert CASES / 2 < refused < CASES
