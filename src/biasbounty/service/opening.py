"""Opening a bounty: what is given is checked, the initial model is scored in the sandbox, and all of it is kept."""

import secrets as random
from dataclasses import dataclass
from typing import Any

from biasbounty._version import __version__
from biasbounty.arrays import Array
from biasbounty.core.answers import LabelType
from biasbounty.core.local_holdout import LocalHoldout
from biasbounty.exchange.onnx_audit import audit
from biasbounty.exchange.schema import Schema
from biasbounty.ledger.chain import Head
from biasbounty.ledger.keys import SigningKey
from biasbounty.service.columns import Answers, Initial, numbered
from biasbounty.service.context import Context
from biasbounty.service.data import Data, verify_alike
from biasbounty.service.rows import INITIAL, INITIAL_ANSWERS, put_data, write_schema
from biasbounty.service.standing import write_standing
from biasbounty.service.terms import Terms
from biasbounty.store.artifacts import put_file
from biasbounty.store.books import KEY, SEAL, Pen, write_entry
from biasbounty.store.tables import bounties, rounds, secrets


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


def prepare(context: Context, terms: Terms, model: bytes, data: Data) -> Prepared:
    """Check what an organizer gives, and run the initial model once."""
    verify_alike(data)
    schema = Schema.of(data.public.X)
    audit(model, schema)
    answers = _initial_answers(context, model, data)
    size = len(data.public)
    loss = terms.make_loss()
    holdout = LocalHoldout(numbered(len(data.holdout), size), data.holdout.y)
    holdout.open(Initial(answers), loss)
    LocalHoldout(numbered(size), data.public.y).open(Initial(answers), loss, holdout.labels)
    examination = terms.make_checker().begin(holdout.size, repairs=terms.repairs, zero_one=loss.zero_one, public=True)
    return Prepared(
        terms, data, model, schema, answers, write_standing(examination), (examination.guarantee, *data.warnings())
    )


def _initial_answers(context: Context, model: bytes, data: Data) -> Array:
    import pyarrow as pa

    with context.limits.sandbox(pa.concat_tables([data.public.X, data.holdout.X])) as sandbox:
        answers: Array = sandbox.predict(model)
    return LabelType.of(answers).cast(answers, who="initial model")


def open_bounty(context: Context, prepared: Prepared) -> str:
    """Keep a prepared bounty, write the first entry of its ledger, and return its id."""
    bounty, key, secret = random.token_hex(8), SigningKey.new(), random.token_bytes(32)
    pen = Pen(bounty, key, secret, context.now())
    with context.database.write() as connection:
        connection.execute(bounties.insert().values(_first_row(prepared, bounty, pen.now)))
        for name, value in ((KEY, key.secret), (SEAL, secret)):
            connection.execute(secrets.insert().values(bounty=bounty, name=name, value=value))
        hashes = put_data(connection, bounty, prepared.data, prepared.terms.label)
        model = put_file(connection, bounty, INITIAL, prepared.model)
        everyone = Answers(_all(prepared.answers), prepared.answers)
        put_file(connection, bounty, INITIAL_ANSWERS, everyone.as_bytes())
        connection.execute(rounds.insert().values(bounty=bounty, number=0, submission=None, repairs="[]"))
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


def _first_row(prepared: Prepared, bounty: str, now: str) -> dict[str, Any]:
    import json

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
    import numpy as np

    return np.ones(len(answers), np.bool_)
