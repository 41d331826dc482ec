"""The last lines of a log that is read from its beginning."""

from __future__ import annotations

from collections import deque

from services.vmpool.errors import InvalidFieldError

MOST_TAIL_LINES = 10_000
"""Lines that are kept in memory while a log is read."""


class LogTail:
    """Keeps the last `lines` lines of the pieces that it is fed; the last line may be unfinished."""

    def __init__(self, lines: int) -> None:
        self._whole: deque[bytes] = deque(maxlen=lines)
        self._unfinished = b""

    def feed(self, piece: bytes) -> None:
        """Take the next piece, which may be cut anywhere."""
        *whole, self._unfinished = (self._unfinished + piece).split(b"\n")
        self._whole.extend(line + b"\n" for line in whole)

    def text(self) -> bytes:
        """The last lines of everything so far."""
        lines = [*self._whole, self._unfinished] if self._unfinished else [*self._whole]
        return b"".join(lines[-(self._whole.maxlen or 0) :])


def check_tail_lines(tail_lines: int, field: str = "tail_lines") -> int:
    """Number of last lines to show, 0 for all; InvalidFieldError gives the limits."""
    if not 0 <= tail_lines <= MOST_TAIL_LINES:
        nearest = min(max(tail_lines, 0), MOST_TAIL_LINES)
        raise InvalidFieldError(
            field, f"must be 0 (all) to {MOST_TAIL_LINES}; it is {tail_lines}, and the nearest is {nearest}"
        )
    return tail_lines
