"""The end of a call that carries a connection, while its caller may still be sending."""

from __future__ import annotations

import asyncio

FAREWELL_SECONDS = 5.0


async def caller_leaves() -> None:
    """Wait until the caller ends the call, as it does when a message without data has told it of the end.

    If the server ended the call, a message of the caller that is on its way would fail; grpc's client then takes the
    whole call for failed, and gives up what it has not read yet. Callers that do not know of that message lose nothing
    but this time.
    """
    await asyncio.sleep(FAREWELL_SECONDS)
