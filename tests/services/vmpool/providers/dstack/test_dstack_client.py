"""The client against servers that are slow, broken or gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from services.vmpool.providers.dstack.client import DstackClient
from services.vmpool.providers.dstack.config import Server
from services.vmpool.providers.dstack.refusal import RefusedError

HUNG = b""


@asynccontextmanager
async def client_of(answer: bytes, asked: list[bytes], timeout_seconds: float = 30) -> AsyncGenerator[DstackClient]:
    """A client of a server that gives this answer to every request; HUNG gives none."""
    over = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answer)
        if answer == HUNG:
            await over.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = DstackClient(Server(f"http://127.0.0.1:{port}", "main", "t0ken", timedelta(seconds=timeout_seconds)))
    try:
        yield client
    finally:
        over.set()
        await client.close()
        server.close()


def reported(status: str, body: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()


async def test_an_answer_is_json_and_the_question_carries_token_version_and_project() -> None:
    asked: list[bytes] = []
    async with client_of(reported("200 OK", '{"status": "hibernating"}'), asked) as client:
        assert await client.ask_project("runs/get", "{}") == {"status": "hibernating"}
    (question,) = asked
    assert question.startswith(b"POST /api/project/main/runs/get ")
    assert b"Authorization: Bearer t0ken\r\n" in question
    assert b"X-API-VERSION: 0.22." in question


async def test_an_empty_answer_is_none() -> None:
    async with client_of(reported("200 OK", ""), []) as client:
        assert await client.ask_project("runs/stop") is None


async def test_a_hung_server_is_a_timeout() -> None:
    async with client_of(HUNG, [], timeout_seconds=0.2) as client:
        with pytest.raises(TimeoutError, match=r"has not answered for 0\.2 s"):
            await client.ask("/api/server/get_info")


async def test_a_server_that_fails_tells_nothing() -> None:
    async with client_of(reported("502 Bad Gateway", "<html>"), []) as client:
        with pytest.raises(ConnectionError, match="failed at /api/server/get_info with 502"):
            await client.ask("/api/server/get_info")


async def test_a_refusal_keeps_the_servers_code_and_words() -> None:
    body = '{"detail": [{"code": "resource_not_exists", "msg": "Run not found"}]}'
    async with client_of(reported("400 Bad Request", body), []) as client:
        with pytest.raises(RefusedError, match="Run not found") as refused:
            await client.ask_project("runs/get")
    assert refused.value.is_not_found
