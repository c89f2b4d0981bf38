"""Opening a bounty: what is given is checked, the initial model is scored in the sandbox, and all of it is kept."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty._version import __version__
from biasbounty.arrays import Array, shown
from biasbounty.core.answers import LabelType
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.errors import RefusedError, SettingsError, SubmissionError
from biasbounty.exchange.onnx_audit import audit
from biasbounty.exchange.schema import Schema
from biasbounty.ledger.chain import Head
from biasbounty.ledger.keys import SigningKey
from biasbounty.ledger.lists import initial_hash
from biasbounty.losses import Loss
from biasbounty.service.columns import Answers, Initial, numbered
from biasbounty.service.context import Context, Limits, Random
from biasbounty.service.data import Data, Part, verify_alike
from biasbounty.service.rows import INITIAL, INITIAL_ANSWERS, joined, put_data, write_schema
from biasbounty.service.slips import best_constant, find_slips
from biasbounty.service.standing import write_standing
from biasbounty.service.terms import Terms
from biasbounty.store.artifacts import put_file
from biasbounty.store.books import Pen, put_secrets, write_entry
from biasbounty.store.tables import bounties, rounds


@dataclass(frozen=True)
class Prepared:
    """A bounty checked and scored, and nothing kept yet."""

    terms: Terms
    data: Data
    model: bytes
    schema: Schema
    answers: Array
    """Of the initial model, on public rows and then the holdout's."""
    standing: str
    warnings: tuple[str, ...]


def prepare(context: Context, terms: Terms, model: bytes, data: Data, expected: Array | None = None) -> Prepared:
    """Check what an organizer gives, and run the initial model once.

    Args:
        context: Whose limits the model runs in.
        terms: The terms.
        model: The initial model, as ONNX.
        data: The rows.
        expected: What the initial model answers on public rows where it was made; the file is refused if it differs.
    """
    verify_alike(data)
    schema = Schema.of(data.public.X)
    audit(model, schema)
    answers = initial_answers(context.limits, model, joined(data.public.X, data.holdout.X))
    size = len(data.public)
    if expected is not None:
        _require_parity(answers[:size], expected)
    loss = terms.make_loss()
    holdout = LocalHoldout(numbered(len(data.holdout), size), data.holdout.y)
    holdout.open(Initial(answers), loss)
    public = LocalHoldout(numbered(size), data.public.y)
    public.open(Initial(answers), loss, holdout.labels)
    examination = terms.make_checker().begin(holdout.size, repairs=terms.repairs, zero_one=loss.zero_one, public=True)
    slips = find_slips(data, public.risk(0), _constant(data.public, loss, holdout.labels))
    return Prepared(terms, data, model, schema, answers, write_standing(examination), (examination.guarantee, *slips))


def _constant(part: Part, loss: Loss, labels: LabelType) -> tuple[float, Any]:
    """Return the risk of always giving the answer that is best for these rows, and that answer."""
    answer, rows = best_constant(part.y), LocalHoldout(numbered(len(part)), part.y)
    rows.open(Initial(np.array([answer] * len(part)).astype(labels.dtype)), loss, labels)
    return rows.risk(0), answer


def _require_parity(answers: Array, expected: Array) -> None:
    """Raise unless the file answers what the organizer says that the model does."""
    if expected.shape != answers.shape:
        raise SettingsError(
            f"expected answers have the wrong length: expected {len(answers)}, one for each public row, got "
            f"{expected.shape}"
        )
    differs = ~(np.isclose(answers, expected) if answers.dtype.kind == "f" else answers == expected)
    if differs.any():
        row = int(np.argmax(differs))
        raise SettingsError(
            f"initial model disagrees with its own answers: expected the same on {len(answers)} public rows, got "
            f"others on {int(differs.sum())}, the first at row {row}: {shown(answers[row])} instead of "
            f"{shown(expected[row])}; convert it anew"
        )


def initial_answers(limits: Limits, model: bytes, rows: Any) -> Array:
    """Return the initial model's answers for rows."""
    try:
        with limits.sandbox(rows) as sandbox:
            answers: Array = sandbox.predict(model)
        return LabelType.of(answers).cast(answers, who="initial model")
    except RefusedError:
        raise
    except SubmissionError as error:
        raise SettingsError(f"initial model cannot be used: {error}") from error


def open_bounty(context: Context, prepared: Prepared) -> str:
    """Keep a prepared bounty, write the first entry of its ledger, and return its id."""
    bounty, key, secret = _drawn(context.random)
    pen = Pen(bounty, key, secret, context.now())
    with context.database.write() as connection:
        connection.execute(bounties.insert().values(_first_row(prepared, bounty, pen.now)))
        put_secrets(connection, bounty, key, secret)
        hashes = put_data(connection, bounty, prepared.data, prepared.terms.label)
        model = put_file(connection, bounty, INITIAL, prepared.model)
        everyone = Answers(_all(prepared.answers), prepared.answers)
        put_file(connection, bounty, INITIAL_ANSWERS, everyone.as_bytes())
        first = {"number": 0, "submission": None, "repairs": "[]", "payout": 0, "hash": initial_hash(model)}
        connection.execute(rounds.insert().values(bounty=bounty, **first))
        body = {
            "bounty": bounty,
            "key": key.public,
            "program": __version__,
            "terms": prepared.terms.as_json(),
            "model": model,
            "train": hashes["train"],
            "public": hashes["public"],
            "rows": len(prepared.data.holdout),
        }
        hidden = {"holdout rows": hashes["holdout rows"], "holdout labels": hashes["holdout labels"]}
        write_entry(connection, pen, Head(), "opened", body, hidden)
    return bounty


def _drawn(random: Random) -> tuple[str, SigningKey, bytes]:
    """Draw a bounty's id, its key, and the secret of its seals."""
    return random.token_hex(8), SigningKey.of(random.token_bytes(32)), random.token_bytes(32)


def _first_row(prepared: Prepared, bounty: str, now: str) -> dict[str, Any]:
    return {
        "id": bounty,
        "name": prepared.terms.name,
        "state": "open",
        "settings": json.dumps(prepared.terms.as_json()),
        "schema": write_schema(prepared.schema),
        "opened": now,
        "size": 0,
        "head": Head().hash,
        "received": 0,
        "judged": 0,
        "round": 0,
        "paid": 0,
        "standing": prepared.standing,
    }


def _all(answers: Array) -> Any:
    return np.ones(len(answers), np.bool_)
