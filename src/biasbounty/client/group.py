"""Group: a group that was learned from rows, for its hunter to read and to hand in."""

from dataclasses import dataclass
from typing import Any

from biasbounty.arrays import Mask
from biasbounty.core.answers import mask_of
from biasbounty.core.rows import Rows
from biasbounty.exchange.onnx_model import OnnxModel
from biasbounty.exchange.predicate import Predicate, parse
from biasbounty.exchange.schema import Schema


@dataclass(frozen=True, eq=False)
class Group:
    """A group that was learned, with a model for it.

    Called on rows it says which are in it.
    """

    found: Any
    words: str
    """What it is, in words."""
    model: Any
    """A model that was fitted to it."""

    def __call__(self, X: Any) -> Mask:
        """Say of each row whether it is in the group."""
        return mask_of(self.found, Rows(X))

    def __str__(self) -> str:
        return self.words


def mask_for(group: Any, X: Any, schema: Schema) -> Mask:
    """Return which rows are in a group, whatever it is: text, ONNX, an estimator or a function."""
    if isinstance(group, (str, Predicate)):
        return parse(str(group), schema)(X)
    if isinstance(group, (bytes, bytearray, memoryview)):
        group = OnnxModel(bytes(group), schema=schema)
    return mask_of(group, Rows(X))
