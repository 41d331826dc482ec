"""Streams of machine events."""

from __future__ import annotations

from collections.abc import AsyncIterator

from servicekit.feed import Feed
from services.vmpool.errors import InvalidFieldError
from services.vmpool.store.event_log import EventLog, MachineEvent


class Watching:
    """Streams the machines' events from any number on, for WatchMachines."""

    def __init__(self, events: EventLog, feed: Feed) -> None:
        self._events = events
        self._feed = feed

    async def follow(self, after_seq: int) -> AsyncIterator[MachineEvent | None]:
        """Events after a number, then new ones as they come, for ever.

        If `after_seq` is 0, or a number that this log has not reached because it was restarted, the stream begins with
        the last event of every machine that is not over, and None when it has all. A follower can resume after any of
        their numbers.
        """
        _check(after_seq)
        with self._feed.follow() as news:
            seq = after_seq
            begins_anew = seq == 0 or seq > await self._events.last_seq()
            if begins_anew:
                seq = await self._events.last_seq()
                for event in await self._events.present():
                    # Events since the number was read come below.
                    if event.seq <= seq:
                        yield event
            while True:
                news.clear()
                while batch := await self._events.after(seq):
                    for event in batch:
                        yield event
                    seq = batch[-1].seq
                if begins_anew:
                    yield None
                    begins_anew = False
                await news.wait()

    async def follow_machine(self, machine_id: str, after_seq: int) -> AsyncIterator[MachineEvent]:
        """One machine's events after a number, then new ones as they come, until nothing more will happen to it.

        Raises MachineNotFoundError if there is no such machine.
        """
        _check(after_seq)
        seq = after_seq
        with self._feed.follow() as news:
            while True:
                news.clear()
                last = await self._events.last_of(machine_id)
                while seq < last.seq:
                    for event in await self._events.of_machine_after(machine_id, seq):
                        yield event
                        seq = event.seq
                if last.is_last and seq >= last.seq:
                    return
                await news.wait()


def _check(after_seq: int) -> None:
    if after_seq < 0:
        raise InvalidFieldError("after_seq", f"must not be negative; it is {after_seq}")
