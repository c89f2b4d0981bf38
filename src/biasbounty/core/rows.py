"""Rows: the one way the core looks at a numpy array or a data frame.

Arrays are rows along their first axis. Frames (pandas, polars, pyarrow and whatever narwhals knows) are handed to
groups and models in their own type, so that a group may say `X["AGEP"] < 25`.
"""

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from biasbounty.errors import SettingsError

Ids = npt.NDArray[np.intp]

READINGS = 4
"""Gathering a column (of a frame) or a cache line (of an array) costs about as much as reading it this often."""
CACHE_LINE = 64


class Rows:
    """The rows of an array or frame: how many, and any of them by number.

    `gather_cost` estimates what gathering a row costs, in readings of one column of it.
    """

    def __init__(self, native: Any) -> None:
        self.native = native
        if isinstance(native, np.ndarray) and native.ndim:
            self._frame = None
            width = int(np.prod(native.shape[1:])) * native.itemsize
            self.gather_cost = READINGS * -(-max(width, 1) // CACHE_LINE)
            return
        try:
            self._frame = nw.from_native(native, eager_only=True)
        except TypeError as error:
            raise SettingsError(
                f"rows have the wrong type: expected a numpy array, a pandas or a polars frame, "
                f"got {type(native).__name__}"
            ) from error
        self.gather_cost = READINGS * max(1, len(self._frame.columns))

    def __len__(self) -> int:
        return len(self.native) if self._frame is None else len(self._frame)

    def take(self, ids: Ids) -> "Rows":
        """Return these rows, in this order, in their own type."""
        if self._frame is None:
            return Rows(self.native.take(ids, axis=0))
        return Rows(self._frame[ids].to_native())
