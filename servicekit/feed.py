"""Tells followers in this process that there is something new to read, so that none of them polls."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager


class Feed:
    """A bell: every follower has its own event, which `notify` sets."""

    def __init__(self) -> None:
        self._followers: set[asyncio.Event] = set()

    def notify(self) -> None:
        """Wakes all followers."""
        for follower in self._followers:
            follower.set()

    @contextmanager
    def follow(self) -> Generator[asyncio.Event]:
        """Yields an event to wait for; clear it before reading, so that no change is missed."""
        follower = asyncio.Event()
        self._followers.add(follower)
        try:
            yield follower
        finally:
            self._followers.discard(follower)
