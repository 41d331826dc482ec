"""Messages between the judge and the host of a problem definition: lengths, a JSON object, the bytes of its arrays.

Both sides use this module. It imports only Python's own modules, since the host runs on another interpreter.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, cast

MAX_HEADER_BYTES = 4 << 20
_LEAST_SECONDS = 0.001
_PIECE_BYTES = 1 << 20
_LENGTHS = struct.Struct("<QQ")


class FramingError(Exception):
    """The received bytes are not a message, or it is too large."""


def send(connection: socket.socket, header: dict[str, Any], payloads: Sequence[bytes | memoryview] = ()) -> None:
    """Send one message; raises OSError."""
    text = json.dumps(header).encode()
    size = sum(memoryview(payload).nbytes for payload in payloads)
    connection.sendall(_LENGTHS.pack(len(text), size) + text)
    for payload in payloads:
        connection.sendall(payload)


def receive(
    connection: socket.socket, most_bytes: int, deadline: float | None = None
) -> tuple[dict[str, Any], bytearray]:
    """Receive one message with at most `most_bytes` of arrays, all of it by `deadline` (of time.monotonic).

    Raises EOFError if the connection is closed, OSError (including TimeoutError), and FramingError.
    """
    header_bytes, payload_bytes = _LENGTHS.unpack(_exactly(connection, _LENGTHS.size, deadline))
    if header_bytes > MAX_HEADER_BYTES or payload_bytes > most_bytes:
        raise FramingError(f"{payload_bytes >> 20} MiB of arrays, where at most {most_bytes >> 20} MiB are taken")
    text = _exactly(connection, header_bytes, deadline)
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FramingError("the header is not JSON, or too deep") from error
    if not isinstance(header, dict):
        raise FramingError("the header is no object")
    return cast("dict[str, Any]", header), _exactly(connection, payload_bytes, deadline)


def _exactly(connection: socket.socket, count: int, deadline: float | None) -> bytearray:
    data = bytearray(count)
    view = memoryview(data)
    while view:
        if deadline is not None:
            connection.settimeout(max(deadline - time.monotonic(), _LEAST_SECONDS))
        got = connection.recv_into(view, min(len(view), _PIECE_BYTES))
        if not got:
            raise EOFError
        view = view[got:]
    return data
