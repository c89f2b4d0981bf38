"""Messages to the worker: a header and arrays in one piece of memory, which is handed over as a file descriptor.

Only the parent writes them, so the worker believes them. They are sealed: nobody changes them any more, so jobs that
share them share nothing they could tell each other by.
"""

import json
import mmap
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasbounty.arrays import Array, is_text

_ALIGNED = 64
_LENGTH = 8


@dataclass(frozen=True, eq=False)
class Message:
    """What is asked, in words and numbers, and the arrays that it is about."""

    header: dict[str, Any]
    arrays: tuple[Array, ...] = ()

    def pack(self) -> int:
        """Write the message into memory of its own; return a file descriptor, which the caller closes."""
        bodies = [_contiguous(array) for array in self.arrays]
        forms = [_form(array) for array in self.arrays]
        head = json.dumps([self.header, forms]).encode()
        memory = os.memfd_create("message", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        with open(memory, "wb", closefd=False) as file:
            file.write(len(head).to_bytes(_LENGTH, "little") + head)
            for body in bodies:
                file.seek(-file.tell() % _ALIGNED, os.SEEK_CUR)
                file.write(body.data)
            file.truncate()
        _seal(memory)
        return memory

    @staticmethod
    def unpack(memory: int) -> "Message":
        """Read a message; its arrays stay where they are, and cannot be written to."""
        held = memoryview(mmap.mmap(memory, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ))
        end = _LENGTH + int.from_bytes(held[:_LENGTH], "little")
        header, forms = json.loads(bytes(held[_LENGTH:end]))
        arrays = []
        for form in forms:
            if "texts" in form:
                arrays.append(np.array(form["texts"], object).reshape(form["shape"]))
                continue
            array = np.ndarray(form["shape"], form["dtype"], held, start := end + -end % _ALIGNED)
            arrays.append(array)
            end = start + array.nbytes
        return Message(header, tuple(arrays))


def _seal(memory: int) -> None:
    import fcntl

    fcntl.fcntl(
        memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    )


def _contiguous(array: Array) -> Array:
    """Return an array's bytes; of text none, which goes into the header."""
    return np.empty(0, np.uint8) if is_text(array) else np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _form(array: Array) -> dict[str, Any]:
    if is_text(array):
        return {"shape": array.shape, "texts": array.reshape(-1).tolist()}
    return {"shape": array.shape, "dtype": array.dtype.str}
