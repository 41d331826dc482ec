"""Shows that a long step works, and for how long."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import TextIO

_TERMINAL_SECONDS = 1.0
_PLAIN_SECONDS = 10.0


@contextlib.contextmanager
def shown(step: str, so_far: Callable[[], str], stream: TextIO | None) -> Generator[None]:
    """Show the step and its time until the block ends: on one line of a terminal, else on a line now and then."""
    if stream is None:
        yield
        return
    is_terminal, begin, ended, state = stream.isatty(), time.monotonic(), threading.Event(), "failed"

    def show(state: str, end: str) -> None:
        line = f"{step}: {state}, {time.monotonic() - begin:.0f} s"
        print(f"\r\033[K{line}" if is_terminal else line, end=end, file=stream, flush=True)

    def show_until_ended() -> None:
        while not ended.wait(_TERMINAL_SECONDS if is_terminal else _PLAIN_SECONDS):
            show(so_far(), end="" if is_terminal else "\n")

    ticks = threading.Thread(target=show_until_ended)
    show("begun", end="" if is_terminal else "\n")
    ticks.start()
    try:
        yield
        state = "done"
    finally:
        ended.set()
        ticks.join()
        show(state, end="\n")
