"""Shows the steps of a submission or a reservation as they come: a spinner on a terminal, plain lines elsewhere."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.markup import escape

from wavepool_client.text.narration import narrate

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rich.console import Console

    from wavepool_client.http.event_stream import Event


@contextmanager
def shown_on(
    console: Console, waiting_for: str, describe: Callable[[Event], str] = narrate
) -> Generator[Callable[[Event], None]]:
    """Gives a function that shows one event as `describe` says; on a terminal a spinner shows that work goes on."""

    def line(event: Event) -> str:
        return f"[dim]{event.status:<16}[/dim] {escape(describe(event))}"

    if not console.is_terminal:
        yield lambda event: console.print(line(event))
        return
    with console.status(escape(waiting_for)) as status:

        def show(event: Event) -> None:
            console.print(line(event))
            status.update(escape(describe(event).splitlines()[0]))

        yield show
