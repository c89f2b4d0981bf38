"""System calls that Python has no function for, by way of the C library."""

import ctypes
import os
from functools import cache
from typing import Any


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library; raise OSError where it fails, or where there is none."""
    try:
        function = getattr(_library(), name)
    except AttributeError as error:
        raise OSError(0, f"the C library has no {name}") from error
    result = int(function(*(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@cache
def _library() -> Any:
    return ctypes.CDLL(None, use_errno=True)
