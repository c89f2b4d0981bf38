"""Golden files: archives as each version wrote them, and what the lists in them answer. They are never changed."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import biasbounty as bb
from biasbounty.core.answers import LabelType
from biasbounty.core.decision_list import PointerDecisionList, RepairNode, UpdateNode
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import parse
from tests.exchange import leaves

HERE = Path(__file__).parent
ROWS = pd.DataFrame(
    {
        "age": [17.0, 30.0, np.nan, 64.5, 80.0, 5.0],
        "or der": [1, 2, 3, 4, 5, 6],
        "job": ["cook", None, "b'c", "judge", "é", "cook"],
    }
)


def golden_list() -> PointerDecisionList:
    """Return a list with some of everything: two kinds of group, a model twice, repairs, text that is hard to quote."""
    schema = bb.Schema.of(ROWS)

    def group(words: str) -> Any:
        return parse(words, schema)

    rank, cook = OnnxModel(leaves.same("or der", leaves.INT64, leaves.INT64)), OnnxModel(leaves.word("job", "cook"))
    nodes = (
        UpdateNode(group("age < 20 OR job = 'b''c'"), rank, "team-é", "the young"),
        UpdateNode(OnnxModel(leaves.above("age", 40.0)), rank),
        RepairNode(group('"or der" IN (2, 4) AND NOT age BETWEEN 1 AND 18'), 0, None, 'a "note"\n'),
        UpdateNode(group("job IS NULL OR job >= 'judge'"), cook, "team-2"),
    )
    return PointerDecisionList(cook, nodes, (0, 1, 3, 4), labels=LabelType(np.dtype(np.int64)))


def answers_in_every_round(decision_list: PointerDecisionList) -> list[list[int]]:
    """Return what a list answers to the rows in each of its rounds."""
    return [decision_list.predict(ROWS, round).tolist() for round in range(len(decision_list.heads))]
