"""RoundModel: a round of the patched model, as the server exports it: one ONNX file that answers rows when called."""

from functools import cached_property

from biasbounty.exchange.onnx_model import OnnxModel


class RoundModel(OnnxModel):
    """An exported round, run on all rows at once.

    It asks each leaf about its own rows only, which no proof of shapes follows; but that each answer depends on its own
    row alone, the export made sure of.
    """

    @cached_property
    def row_wise(self) -> bool:
        """Whether each answer depends on its own row alone: by how it was made."""
        return True
