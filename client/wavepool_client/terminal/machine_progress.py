"""Shows a machine's start: a line for each event, and on a terminal a clock that ticks between them."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from wavepool_client.text.machines import event_text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console

    from wavepool_client.http.event_stream import Event


class Clock:
    """The line at the bottom: the last event, with its elapsed time counted on."""

    def __init__(self, monotonic_seconds: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_seconds = monotonic_seconds
        self._fields: dict[str, Any] = {"status": "requested"}
        self._since = monotonic_seconds()

    def show(self, event: Event) -> None:
        """Takes in an event."""
        self._fields, self._since = event.data, self._monotonic_seconds()

    def __rich__(self) -> Text:
        """The line as it is now; rich asks for it several times a second."""
        elapsed = self._fields.get("elapsed_seconds")
        if not isinstance(elapsed, int | float):
            return Text(event_text(self._fields))
        return Text(event_text({**self._fields, "elapsed_seconds": elapsed + self._monotonic_seconds() - self._since}))


@contextmanager
def start_shown_on(console: Console) -> Generator[Callable[[Event], None]]:
    """Gives a function that shows one event."""
    if not console.is_terminal:
        yield lambda event: console.print(escape(event_text(event.data)))
        return
    clock = Clock()
    with console.status(clock):

        def show(event: Event) -> None:
            console.print(f"[dim]{event.status:<16}[/dim] {escape(event_text(event.data))}")
            clock.show(event)

        yield show
