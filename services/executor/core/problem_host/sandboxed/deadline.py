"""Time limits for parts of a definition's work, inside its own process."""

# pyright: basic
# Type checkers do not find the modules beside this one; the host does.

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from author_class import FILE_NAME

_IMPORTING = "<frozen importlib._bootstrap>"
_LOOK_SECONDS = 0.05
CLOCK_FACTOR = 3
"""The ratio of the time on the clock, which a busy machine stretches, to the processor's time."""


class TooLongError(BaseException):
    """The time is up. It is no Exception, so that a definition does not catch it as one of its own."""


class _Clock:
    """Says whether the time of the block that runs now is up."""

    is_up = False


@contextmanager
def at_most(seconds: float) -> Generator[None]:
    """Raise TooLongError if the block takes more of this thread's processor time, or CLOCK_FACTOR times that in all.

    It is raised in the definition's own code, or before the next call of torch: inside torch it would damage its state.
    """
    processor_end, clock_end = time.thread_time() + seconds, time.monotonic() + CLOCK_FACTOR * seconds

    def look(_: int, frame: FrameType | None) -> None:
        _Clock.is_up = time.thread_time() >= processor_end or time.monotonic() >= clock_end
        if _Clock.is_up and frame is not None and frame.f_code.co_filename == FILE_NAME:
            raise TooLongError

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS, _LOOK_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        _Clock.is_up = False


def raise_if_up() -> None:
    """Raise TooLongError if the time is up; imports may finish, as half a package is worse than none."""
    if not _Clock.is_up:
        return
    frame = sys._getframe()  # noqa: SLF001  the way to see who calls
    while frame is not None:
        if frame.f_code.co_filename == _IMPORTING:
            return
        frame = frame.f_back
    raise TooLongError
