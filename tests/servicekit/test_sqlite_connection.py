from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from servicekit.sqlite_connection import SqliteConnection

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_connection_that_is_stopped_while_it_closes_is_closed_all_the_same(tmp_path: Path) -> None:
    connection = await SqliteConnection(str(tmp_path / "db"))
    busy, over = threading.Event(), threading.Event()

    def hold() -> None:
        busy.set()
        over.wait(10)

    connection._tx.put_nowait((None, hold))
    assert await asyncio.to_thread(busy.wait, 10)
    closing = asyncio.create_task(connection.close())
    await asyncio.sleep(0)
    stopped = connection.stop()
    over.set()

    async with asyncio.timeout(10):
        await closing
        assert stopped is not None
        await stopped
    assert connection.stop() is stopped
