"""Streams of machine events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.vmpool.errors import InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from services.vmpool.feed import Feed
    from services.vmpool.store.event_log import EventLog, MachineEvent


class Watching:
    """What WatchMachines does."""

    def __init__(self, events: EventLog, feed: Feed) -> None:
        self._events = events
        self._feed = feed

    async def follow(self, after_seq: int) -> AsyncIterator[MachineEvent]:
        """Events after a number, then new ones as they come, for ever.

        From 0 on, and from a number that this log has not reached (it was begun anew since), the stream begins with
        the last event of every machine that is not over; all of these have numbers that one can resume after.
        """
        if after_seq < 0:
            raise InvalidFieldError("after_seq", f"must not be negative; it is {after_seq}")
        with self._feed.follow() as news:
            seq = after_seq
            if seq == 0 or seq > await self._events.last_seq():
                seq = await self._events.last_seq()
                for event in await self._events.present():
                    # What happened since the number was read comes below.
                    if event.seq <= seq:
                        yield event
            while True:
                news.clear()
                while batch := await self._events.after(seq):
                    for event in batch:
                        yield event
                    seq = batch[-1].seq
                await news.wait()
