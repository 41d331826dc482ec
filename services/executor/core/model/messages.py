"""The messages between judge and runner as bytes; `runner/protocol.hpp` is the other side. See docs/protocols.md."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum

_MAGIC = 0x31525057
_ORDER = struct.Struct("<IIQQQ")
_REPLY = struct.Struct("<IIQIiQQQQ72s")
REPLY_BYTES = _REPLY.size


class Order(IntEnum):
    """The judge's orders; docs/protocols.md says what their two numbers mean."""

    LOAD = 1
    CALL = 2
    PING = 3
    END = 4
    PREPARE = 5
    CHAIN = 6
    FETCH = 7
    FLUSH = 8
    PROBE = 9
    PROGRAM = 10
    REDRAW = 11
    STORE = 12
    DIGEST = 13
    EXCERPT = 14


class Reply(IntEnum):
    """The runner's answers. A CALL has two: DONE and, unless its data stay on the device, STORED."""

    READY = 1
    LOADED = 2
    DONE = 3
    STORED = 4
    PONG = 5
    FAILED = 6
    PREPARED = 7
    FLUSHED = 8
    DIGESTED = 9
    EXCERPTED = 10


class Step(IntEnum):
    """The step that a runner was at when it answered FAILED."""

    NONE = 0
    PROTOCOL = 1
    ALLOCATE = 2
    COPY_IN = 3
    LAUNCH = 4
    RUN = 5
    COPY_OUT = 6
    LATE = 7
    """Something tried to write to the outputs after the call had ended."""


@dataclass(frozen=True)
class ReplyMessage:
    """An answer of the runner; every field is a claim. `status` is the HIP error and `text` its name.

    In a DIGESTED answer, the two halves of the digest stand in `event_ns` and `clock_ns`. `stream_ns` and `device_ns`
    are by the device's own clock (`spans.py`), and 0 if it has none.
    """

    reply: Reply
    sequence: int
    step: Step
    status: int
    event_ns: int
    clock_ns: int
    text: str
    stream_ns: int = 0
    device_ns: int = 0


class ProtocolError(Exception):
    """The runner sent something that no runner of ours sends."""


def order_bytes(order: Order, sequence: int, first: int = 0, second: int = 0) -> bytes:
    """An order as bytes, with the numbers that it needs."""
    return _ORDER.pack(_MAGIC, order, sequence, first, second)


def reply_from_bytes(data: bytes) -> ReplyMessage:
    """Parses a reply; raises ProtocolError for bytes that are not one."""
    magic, reply, sequence, step, status, event_ns, clock_ns, stream_ns, device_ns, text = _REPLY.unpack(data)
    if magic != _MAGIC:
        raise ProtocolError("a message without the protocol's mark")
    try:
        known = (Reply(reply), Step(step))
    except ValueError as error:
        raise ProtocolError(f"an unknown message: {error}") from error
    name = text.split(b"\0", 1)[0].decode("ascii", "replace")
    return ReplyMessage(known[0], sequence, known[1], status, event_ns, clock_ns, name, stream_ns, device_ns)
