"""The channel between parent and worker: short messages, each whole, some with file descriptors."""

import json
import socket
from collections.abc import Sequence
from typing import Any

_MOST_BYTES = 1 << 16
_MOST_DESCRIPTORS = 2


def send(channel: socket.socket, words: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send a message; raise OSError if nobody is there."""
    socket.send_fds(channel, [json.dumps(words).encode()], list(descriptors))


def receive(channel: socket.socket) -> tuple[dict[str, Any], tuple[int, ...]]:
    """Receive a message, and file descriptors that are the caller's from now on; raise EOFError at the end."""
    data, descriptors, _, _ = socket.recv_fds(channel, _MOST_BYTES, _MOST_DESCRIPTORS)
    if not data:
        raise EOFError
    return json.loads(data), tuple(descriptors)
