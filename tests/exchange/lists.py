"""Random decision lists of predicates and ONNX, and random rows for them."""

import sqlite3
from typing import Any

import numpy as np
import pandas as pd

import biasbounty as bb
from biasbounty.core.decision_list import Node, PointerDecisionList, RepairNode, UpdateNode
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import parse
from tests.exchange import leaves
from tests.exchange.databases import REAL, TEXTS, Table, Writer

KINDS = ("binary", "classes", "regression", "floats", "words", "flags")
WIDTH = 4
WORDS = ["", "é", "yes", "no"]
NUMBERS = ("count", "real", "or der", "date", "since")


def array_rows(rng: np.random.Generator, size: int) -> Any:
    """Draw an array: some whole numbers, some missing, some without end."""
    X = np.where(rng.random((size, WIDTH)) < 0.5, rng.integers(-3, 8, (size, WIDTH)), rng.normal(size=(size, WIDTH)))
    return np.where(rng.random((size, WIDTH)) < 0.15, rng.choice(np.array([np.nan, *REAL]), (size, WIDTH)), X)


def frame_rows(rng: np.random.Generator, size: int) -> Any:
    """Draw a frame of numbers of several types, moments and text."""
    return pd.DataFrame(
        {
            "count": rng.integers(0, 256, size).astype(np.uint8),
            "real": rng.choice(np.array([np.nan, *REAL]), size),
            "or der": rng.choice(np.array([np.nan, 0.1, *REAL[2:-2]], np.float32), size),
            "date": rng.random(size) < 0.5,
            "since": np.datetime64("1969-12-31") + rng.integers(0, 3, size).astype("timedelta64[D]"),
            "job": rng.choice(np.array([None, *TEXTS], object), size),
            'qu"oted': rng.choice(np.array(TEXTS[:4], object), size),
        }
    )


class Lists:
    """Draws decision lists for rows like these, which answer in one kind of label."""

    def __init__(self, rng: np.random.Generator, X: Any, kind: str) -> None:
        self._rng, self._kind = rng, kind
        self._schema = bb.Schema.of(X, categories=False)
        self._framed = self._schema.named
        names = tuple(column.name for column in self._schema.columns if column.kind == "numbers")
        texts = tuple(column.name for column in self._schema.columns if column.kind == "text")
        self._writer = Writer(rng, Table((), sqlite3.connect(":memory:"), names, texts or names))
        self._texts = texts

    def draw(self, nodes: int, repairs: float = 0.3) -> PointerDecisionList:
        """Draw a list: rounds of one to three nodes."""
        drawn: list[Node] = []
        heads = [0]
        while len(drawn) < nodes:
            for place in range(int(self._rng.integers(1, 4))):
                landings = [round for round, head in enumerate(heads) if head < len(drawn) + 1]
                if place and self._rng.random() < 2 * repairs:
                    pointer = int(self._rng.choice(landings))
                    drawn.append(RepairNode(self.group(), pointer, "team", "sent back"))
                else:
                    drawn.append(UpdateNode(self.group(), self.model(), "team-é", "a note"))
            heads.append(len(drawn))
        return PointerDecisionList(self.model(first=True), tuple(drawn), tuple(heads))

    def group(self) -> Any:
        """Draw a group: mostly predicates."""
        if self._rng.random() < 0.6:
            return self._predicate()
        return OnnxModel(self._framed_group() if self._framed else self._array_group())

    def _predicate(self) -> Any:
        while True:
            words = self._writer.condition(2)
            try:
                return parse(words, self._schema)
            except bb.errors.PredicateError:
                continue

    def _array_group(self) -> bytes:
        rng = self._rng
        name, bound = f"x{rng.integers(WIDTH)}", float(rng.integers(-1, 4))
        ways = [
            lambda: leaves.above(name, bound, leaves.DOUBLE, int(rng.integers(1, 3))),
            lambda: leaves.above(name, bound, leaves.FLOAT),
            lambda: leaves.above(name, bound, leaves.INT64),
            lambda: leaves.classes(rng, WIDTH, 2, int(rng.choice([leaves.FLOAT, leaves.INT64]))),
            lambda: leaves.below_mean(WIDTH),
        ]
        return ways[int(rng.integers(len(ways)))]()

    def _framed_group(self) -> bytes:
        rng = self._rng
        if rng.random() < 0.3:
            text = str(rng.choice(TEXTS))
            return leaves.word(self._texts[0], text, int(rng.choice([leaves.INT64, leaves.FLOAT])), 1)
        element = int(rng.choice([leaves.DOUBLE, leaves.FLOAT, leaves.INT64]))
        return leaves.above(str(rng.choice(NUMBERS)), float(rng.integers(-1, 4)), element)

    def model(self, first: bool = False) -> OnnxModel:
        """Draw a model: the first one tells the type of the labels."""
        return OnnxModel(self._framed_model(first) if self._framed else self._array_model(first))

    def _array_model(self, first: bool) -> bytes:
        rng = self._rng
        opset = 17 if first else int(rng.choice([9, 13, 17, 21]))
        if self._kind == "words":
            return leaves.worded(rng, WIDTH, WORDS)
        if self._kind == "flags":
            return leaves.classes(rng, WIDTH, 2, leaves.BOOL if first else leaves.INT64, opset)
        if self._kind in ("regression", "floats"):
            return leaves.linear(rng, WIDTH, opset) if first or rng.random() < 0.7 else leaves.below_mean(WIDTH)
        many = 2 if self._kind == "binary" else 5
        if not first and rng.random() < 0.2:
            return leaves.below_mean(WIDTH)
        element = leaves.INT64 if first else int(rng.choice([leaves.INT64, leaves.FLOAT, 3, 12]))
        return leaves.classes(rng, WIDTH, many, element, opset)

    def _framed_model(self, first: bool) -> bytes:
        rng = self._rng
        if self._kind == "words":
            return leaves.same(str(rng.choice(self._texts)), leaves.STRING, leaves.STRING, int(rng.integers(1, 3)))
        if self._kind == "regression":
            return leaves.same("count", leaves.DOUBLE, leaves.DOUBLE if first else leaves.FLOAT)
        if self._kind == "floats":
            return leaves.same("count", leaves.FLOAT, leaves.FLOAT if first else leaves.INT64)
        out = leaves.BOOL if self._kind == "flags" and first else leaves.INT64
        if rng.random() < 0.5:
            return leaves.same("date", leaves.FLOAT, out)
        return leaves.word(self._texts[-1], str(rng.choice(TEXTS[:4])), out)
