"""The way into a VM: each connection to the relay's socket becomes one connection inside the VM's network.

The first line names the target as JSON, `["tcp", host, port]` or `["unix", path]`. The answer is one line: `ok`, or the
reason for the refusal. From then on bytes go both ways.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CHUNK_BYTES = 65536


async def serve_relay(path: Path) -> asyncio.Server:
    return await asyncio.start_unix_server(_relay, path)


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        inner_reader, inner_writer = await _connect(json.loads(await reader.readline()))
    except OSError as error:
        writer.write(f"{error}\n".encode())
        writer.close()
        return
    writer.write(b"ok\n")
    await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))
    for each in (writer, inner_writer):
        each.close()


async def _connect(target: list[str | int]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    kind, *address = target
    if kind == "unix":
        return await asyncio.open_unix_connection(str(address[0]))
    host, port = address
    return await asyncio.open_connection("127.0.0.1" if host == "localhost" else str(host), int(port))


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await source.read(CHUNK_BYTES):
            sink.write(chunk)
            await sink.drain()
    if sink.can_write_eof():
        with contextlib.suppress(OSError):
            sink.write_eof()
