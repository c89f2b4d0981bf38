"""A ledger that anybody can verify, and nobody can change unseen."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasbounty.errors import LedgerError
from biasbounty.ledger.canonical import LARGEST, canonical, exact, parse
from biasbounty.ledger.chain import Head, extend, head_after, verified
from biasbounty.ledger.entries import BEFORE_ALL, Line, read_line
from biasbounty.ledger.keys import SigningKey, VerifyingKey
from biasbounty.ledger.seals import open_seal, seal, verify_opening

KEY = SigningKey.of(bytes(range(32)))
OTHER = SigningKey.of(bytes(range(1, 33)))
NOW = "2026-01-01T00:00:00Z"

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
plain = st.recursive(
    st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)


def _chain(bodies: Sequence[dict[str, Any]], key: SigningKey = KEY) -> list[bytes]:
    head, texts = Head(), []
    for place, body in enumerate(bodies):
        line = extend(
            head, "opened" if not place else "judged", NOW, {**body, "key": key.public} if not place else body, key
        )
        head = head_after(line)
        texts.append(line.as_text())
    return texts


LINES = _chain([{"loss": "zero_one"}, *({"submission": number, "accepted": number % 2 == 0} for number in range(5))])


@given(plain)
def test_a_value_has_one_text_and_comes_back_from_it(value: Any) -> None:
    assert parse(canonical(value)) == value
    assert canonical(parse(canonical(value))) == canonical(value)


@pytest.mark.parametrize("value", [1.5, float("nan"), LARGEST + 1, b"x", {1: 2}, {"a": [object()]}, "\ud800"], ids=str)
def test_what_has_no_canonical_text_is_refused(value: Any) -> None:
    with pytest.raises(LedgerError, match="expected"):
        canonical(value)


@pytest.mark.parametrize(
    "text", [b'{"b":1,"a":2}', b'{"a": 1}', b"1.0", b"NaN", b'{"a":1,"a":1}', b"\xff", b"[" * 9999, b""]
)
def test_text_that_is_not_canonical_is_refused(text: bytes) -> None:
    with pytest.raises(LedgerError):
        parse(text)


def test_a_deep_value_is_written_or_refused_and_never_recurses_out() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(LedgerError, match="entry is too deep"):
        canonical(deep)


def test_floats_are_written_as_exact_text() -> None:
    assert float.fromhex(exact(0.1)) == 0.1


def test_a_ledger_verifies_and_ends_at_its_head() -> None:
    lines = list(verified(LINES))
    assert [line.entry.number for line in lines] == list(range(6))
    assert lines[0].entry.previous == BEFORE_ALL
    assert [line.as_text() for line in lines] == LINES
    assert list(verified(LINES, key=KEY.public)) == lines
    assert list(verified(LINES, [head_after(line) for line in lines])) == lines


@given(st.integers(0, 5), st.data())
def test_no_byte_can_be_changed_unseen(place: int, data: st.DataObject) -> None:
    text = LINES[place]
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != text[at]))
    changed = text[:at] + bytes([other]) + text[at + 1 :]
    with pytest.raises(LedgerError):
        list(verified([*LINES[:place], changed, *LINES[place + 1 :]]))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (LINES[:2] + LINES[3:], "out of order: expected number 2, got 3"),
        ([*LINES[:2], LINES[3], LINES[2]], "out of order"),
        (LINES[1:], "out of order: expected number 0, got 1"),
        ([LINES[0], LINES[0]], "out of order: expected number 1, got 0"),
        ([*_chain([{"loss": "other"}]), *LINES[1:]], "entry 1 does not follow"),
    ],
)
def test_entries_cannot_be_dropped_moved_or_put_elsewhere(lines: list[bytes], words: str) -> None:
    with pytest.raises(LedgerError, match=words):
        list(verified(lines))


def test_another_key_s_signature_is_none() -> None:
    forged = _chain([{"loss": "zero_one"}], OTHER)
    assert len(list(verified(forged))) == 1  # who knows no key believes the first entry
    with pytest.raises(LedgerError, match="entry 0 is not signed by the bounty's key"):
        list(verified(forged, key=KEY.public))
    last = read_line(LINES[1])
    with pytest.raises(LedgerError, match="entry 1 is not signed"):
        list(verified([LINES[0], replace(last, signature=OTHER.sign(last.entry.digest)).as_text()]))


def test_a_key_can_be_changed_by_the_one_before_only() -> None:
    head = head_after(read_line(LINES[-1]))
    change = extend(head, "key", NOW, {"key": OTHER.public}, KEY)
    after = extend(head_after(change), "judged", NOW, {}, OTHER)
    assert len(list(verified([*LINES, change.as_text(), after.as_text()], key=KEY.public))) == 8
    by_itself = extend(head, "key", NOW, {"key": OTHER.public}, OTHER)
    with pytest.raises(LedgerError, match="entry 6 is not signed"):
        list(verified([*LINES, by_itself.as_text()]))
    stale = extend(head_after(change), "judged", NOW, {}, KEY)
    with pytest.raises(LedgerError, match="entry 7 is not signed"):
        list(verified([*LINES, change.as_text(), stale.as_text()]))


def test_a_receipt_catches_a_ledger_that_was_rewritten() -> None:
    receipt = head_after(read_line(LINES[3]))
    rewritten = _chain([{"loss": "zero_one"}, *({"submission": number, "accepted": True} for number in range(5))])
    assert len(list(verified(rewritten, key=KEY.public))) == 6
    with pytest.raises(LedgerError, match="ledger was rewritten: expected the hash .* at entry 3"):
        list(verified(rewritten, [receipt]))
    with pytest.raises(LedgerError, match="ledger is shorter than a receipt: expected 4 entries, got 2"):
        list(verified(LINES[:2], [receipt]))
    with pytest.raises(LedgerError, match="receipts differ at entry 3"):
        list(verified(LINES, [receipt, replace(receipt, hash=BEFORE_ALL)]))


def test_a_first_entry_without_a_key_is_refused() -> None:
    line = extend(Head(), "opened", NOW, {}, KEY)
    with pytest.raises(LedgerError, match="entry 0 names no key"):
        list(verified([line.as_text()]))
    with pytest.raises(LedgerError, match="key is none"):
        VerifyingKey("12")


@pytest.mark.parametrize("change", [{"hash": 1}, {"more": 1}, {"entry": []}, {"signature": None}])
def test_a_line_with_other_fields_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(LedgerError):
        read_line(canonical({**json.loads(LINES[0]), **change}))


@given(plain, plain, st.integers(0, 1000))
def test_a_seal_opens_to_what_was_sealed_and_nothing_else(value: Any, other: Any, number: int) -> None:
    commitment = seal(b"secret", number, value)
    opening = open_seal(b"secret", number, value)
    verify_opening(opening, commitment)
    for wrong in (
        replace(opening, value=[value]),
        replace(opening, salt="00" * 32),
        open_seal(b"other", number, value),
    ):
        with pytest.raises(LedgerError, match=f"entry {number} was sealed with another value"):
            verify_opening(wrong, commitment)


def test_equal_values_are_sealed_differently_in_each_entry() -> None:
    assert len({seal(b"secret", number, True) for number in range(1000)}) == 1000


def test_a_secret_key_is_not_shown() -> None:
    assert KEY.secret.hex() not in repr(KEY) + str(KEY)
    assert SigningKey.of(KEY.secret).public == KEY.public != SigningKey.new().public
    assert isinstance(read_line(LINES[0]), Line)
